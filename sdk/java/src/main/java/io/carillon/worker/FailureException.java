package io.carillon.worker;

/**
 * Fails the attempt under a name of its own, which conditions of its job such as {@code retry_on}
 * know as {@code error:CODE}. Every other exception has the simple name of its class.
 */
public class FailureException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String code;

  public FailureException(String message) {
    this(message, null, null);
  }

  /**
   * @param code up to 48 letters, digits, "_", "." and "-"; null for the name of the class
   */
  public FailureException(String message, String code, Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  /** Returns the name that the function gave, or null. */
  public final String code() {
    return code;
  }
}
