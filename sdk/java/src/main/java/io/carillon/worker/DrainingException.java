package io.carillon.worker;

/**
 * Thrown when the worker drains and its drain timeout has ended. The attempt ends as LOST.
 */
public final class DrainingException extends StoppedException {
  private static final long serialVersionUID = 1L;

  public DrainingException(String message) {
    super(message);
  }
}
