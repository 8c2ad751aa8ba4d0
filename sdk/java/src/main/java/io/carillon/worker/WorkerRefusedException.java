package io.carillon.worker;

import io.grpc.Status;

/**
 * Thrown by {@link Worker#await()} when the executor refuses this worker for good: its user may not
 * run the application, the protocol is unknown, or the worker's description is wrong. The message
 * is the executor's.
 */
public final class WorkerRefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String code;

  WorkerRefusedException(Status status) {
    super(
        status.getDescription() == null
            ? status.getCode().name()
            : status.getCode().name() + ": " + status.getDescription());
    this.code = status.getCode().name();
  }

  /** Returns PERMISSION_DENIED, FAILED_PRECONDITION or INVALID_ARGUMENT. */
  public String code() {
    return code;
  }
}
