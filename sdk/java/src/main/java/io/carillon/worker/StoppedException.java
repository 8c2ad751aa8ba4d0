package io.carillon.worker;

/**
 * Tells a function that it should stop. {@link Run#check()} and {@link Run#waitFor} throw one of
 * its subclasses; a function lets it pass, after cleaning up, and the attempt ends with the
 * matching state.
 */
public abstract class StoppedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  StoppedException(String message) {
    super(message);
  }
}
