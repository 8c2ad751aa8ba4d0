package io.carillon.worker;

/**
 * Thrown when the job's timeout has ended. The attempt ends as TIMED_OUT.
 */
public final class TimedOutException extends StoppedException {
  private static final long serialVersionUID = 1L;

  public TimedOutException(String message) {
    super(message);
  }
}
