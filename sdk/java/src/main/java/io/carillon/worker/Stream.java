package io.carillon.worker;

import io.carillon.v1.FromWorker;
import io.carillon.v1.ToWorker;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;

/** One stream to the executor. Passes what arrives to the worker's state. */
final class Stream implements ClientResponseObserver<FromWorker, ToWorker> {
  private final WorkerState state;
  private volatile ClientCallStreamObserver<FromWorker> call = null;
  private volatile boolean welcomed = false;
  private volatile Status end = null;

  Stream(WorkerState state) {
    this.state = state;
  }

  /** Returns true if the stream can take a message without buffering it. */
  boolean isReady() {
    ClientCallStreamObserver<FromWorker> current = call;
    return current != null && current.isReady();
  }

  /** Returns true if the executor accepted the Hello. */
  boolean welcomed() {
    return welcomed;
  }

  /** Returns how the stream ended, or null. */
  Status end() {
    return end;
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<FromWorker> newCall) {
    call = newCall;
    newCall.setOnReadyHandler(state::wake);
  }

  @Override
  public void onNext(ToWorker message) {
    welcomed |= message.hasWelcome();
    state.receive(this, message);
  }

  @Override
  public void onError(Throwable error) {
    ended(Status.fromThrowable(error));
  }

  @Override
  public void onCompleted() {
    ended(Status.UNAVAILABLE.withDescription("the executor ended the stream"));
  }

  private void ended(Status status) {
    end = status;
    state.broken(this, status);
  }
}
