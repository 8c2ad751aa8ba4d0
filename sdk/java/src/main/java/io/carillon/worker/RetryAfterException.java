package io.carillon.worker;

import java.time.Duration;
import java.util.Objects;

/**
 * Fails the attempt; the next one, if its job allows one, does not begin before the given time has
 * passed. More than an hour counts as an hour.
 */
public class RetryAfterException extends FailureException {
  private static final long serialVersionUID = 1L;

  private final Duration wait;

  public RetryAfterException(Duration wait, String message) {
    this(wait, message, null, null);
  }

  public RetryAfterException(Duration wait, String message, Throwable cause) {
    this(wait, message, null, cause);
  }

  /** See {@link FailureException#FailureException(String, String, Throwable)}. */
  public RetryAfterException(Duration wait, String message, String code, Throwable cause) {
    super(message, code, cause);
    this.wait = Objects.requireNonNull(wait, "wait");
  }

  /** Returns the least time before the next attempt. */
  public final Duration waitTime() {
    return wait;
  }
}
