package io.carillon.worker;

/**
 * Thrown after a person or a program cancelled the run. The attempt ends as CANCELLED.
 */
public final class CancelledException extends StoppedException {
  private static final long serialVersionUID = 1L;

  public CancelledException(String message) {
    super(message);
  }
}
