package io.carillon.worker;

/** Collects the settings of one handler. {@link #run} registers it with its worker. */
public final class HandlerBuilder {
  private final Worker worker;
  private final String name;
  private int concurrency = 1;

  HandlerBuilder(Worker worker, String name) {
    this.worker = worker;
    this.name = name;
  }

  /**
   * Sets how many attempts may run at once in this process. The default is 1.
   *
   * @param attempts 1 to 10,000
   * @throws IllegalArgumentException if it is outside these limits
   */
  public HandlerBuilder concurrency(int attempts) {
    if (attempts < 1 || attempts > 10_000) {
      throw new IllegalArgumentException(
          "concurrency of handler " + name + " must be 1 to 10,000, not " + attempts);
    }
    this.concurrency = attempts;
    return this;
  }

  /**
   * Registers the function and returns the worker.
   *
   * @throws IllegalStateException if the worker has started or already has this handler
   */
  public Worker run(HandlerFunction function) {
    worker.register(new Handler(name, concurrency, function));
    return worker;
  }
}
