package io.carillon.worker;

import java.util.Objects;

/** A registered handler. */
final class Handler {
  final String name;
  final int concurrency;
  final HandlerFunction function;

  Handler(String name, int concurrency, HandlerFunction function) {
    this.name = name;
    this.concurrency = concurrency;
    this.function = Objects.requireNonNull(function, "function");
  }
}
