package io.carillon.worker;

/**
 * Thrown when the attempt's lease ends in less than 3 s or has ended: the executor could not renew
 * it, so the scheduler may soon start another attempt elsewhere. The attempt ends as LOST.
 */
public final class LeaseLostException extends StoppedException {
  private static final long serialVersionUID = 1L;

  public LeaseLostException(String message) {
    super(message);
  }
}
