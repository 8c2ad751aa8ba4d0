package io.carillon.worker;

/** Fails the attempt, and tells that another one would fail as well: none follows. */
public class NoRetryException extends FailureException {
  private static final long serialVersionUID = 1L;

  public NoRetryException(String message) {
    super(message);
  }

  public NoRetryException(String message, Throwable cause) {
    super(message, null, cause);
  }

  /** See {@link FailureException#FailureException(String, String, Throwable)}. */
  public NoRetryException(String message, String code, Throwable cause) {
    super(message, code, cause);
  }
}
