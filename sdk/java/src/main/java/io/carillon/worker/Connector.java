package io.carillon.worker;

import io.carillon.v1.FromWorker;
import io.carillon.v1.WorkerServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import io.grpc.stub.StreamObserver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Keeps a stream to the executor, and sends all messages from one thread.
 *
 * <p>Each stream gets a channel of its own: gRPC's channels wait up to two minutes between attempts
 * to connect, and a restarted executor must not wait that long for its workers.
 */
final class Connector {
  private static final Logger LOGGER = Logger.getLogger(Worker.class.getName());
  private static final long BACKOFF_MIN_MS = 100;
  private static final long BACKOFF_MAX_MS = 5_000;
  private static final long WARN_EVERY_NS = TimeUnit.MINUTES.toNanos(1);
  private static final int MESSAGE_BYTES_MAX = 64 * 1024 * 1024;

  private final Path socket;
  private final WorkerState state;
  private final Runnable atEnd;
  private final EventLoopGroup network =
      new EpollEventLoopGroup(1, new DefaultThreadFactory("carillon-network", true));

  // Used by the sender thread only.
  private long backoffMs = BACKOFF_MIN_MS;
  private boolean warned = false;
  private long warnedNs = 0;

  /**
   * @param atEnd called once, by the sender thread, when the worker is finished
   */
  Connector(Path socket, WorkerState state, Runnable atEnd) {
    this.socket = socket;
    this.state = state;
    this.atEnd = atEnd;
  }

  void start() {
    Thread sender = new Thread(this::run, "carillon-sender");
    sender.setDaemon(true);
    sender.start();
  }

  private void run() {
    try {
      while (!state.finished()) {
        Status end = attach();
        if (!state.finished()) {
          warn(end);
          state.pause(nextPause());
        }
      }
    } finally {
      atEnd.run();
      network.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
  }

  /** Serves one stream and returns how it ended. */
  private Status attach() {
    if (!Files.exists(socket)) {
      return Status.UNAVAILABLE.withDescription("no such socket, or no permission to see it");
    }
    ManagedChannel channel = null;
    Stream stream = new Stream(state);
    try {
      channel = open();
      // Before the call, so that its first events belong to the current stream.
      FromWorker hello = state.begin(stream);
      send(channel, stream, hello);
    } catch (RuntimeException | Error e) {
      // The call was closed while a message was on its way, the channel could not be made, or
      // memory ran out. Whatever was not confirmed is in the next Hello.
      state.broken(stream, Status.UNAVAILABLE);
      return stream.end() != null ? stream.end() : Status.fromThrowable(e);
    } finally {
      close(channel);
    }
    if (stream.welcomed()) {
      backoffMs = BACKOFF_MIN_MS;
    }
    return stream.end() != null ? stream.end() : Status.OK;
  }

  private void send(ManagedChannel channel, Stream stream, FromWorker hello) {
    StreamObserver<FromWorker> call = WorkerServiceGrpc.newStub(channel).attach(stream);
    FromWorker message = hello;
    while (message != null) {
      call.onNext(message);
      message = state.next(stream);
    }
    if (stream.end() == null) {
      call.onCompleted();
    }
  }

  private ManagedChannel open() {
    return NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toString()))
        .channelType(EpollDomainSocketChannel.class, DomainSocketAddress.class)
        .eventLoopGroup(network)
        // Removes an option that gRPC sets and unix sockets lack: each connection would warn of it.
        .withOption(ChannelOption.SO_KEEPALIVE, null)
        .directExecutor()
        .usePlaintext()
        .overrideAuthority("localhost")
        .maxInboundMessageSize(MESSAGE_BYTES_MAX)
        .build();
  }

  /** Lets the executor end the stream if the worker is finished; otherwise closes it at once. */
  private void close(ManagedChannel channel) {
    if (channel == null) {
      return;
    }
    try {
      if (state.finished()) {
        channel.shutdown().awaitTermination(1, TimeUnit.SECONDS);
      }
    } catch (InterruptedException e) {
      // Nobody interrupts the sender thread.
    } finally {
      channel.shutdownNow();
    }
  }

  /** Returns 0.1 s, doubled with each failure up to 5 s, less up to half of it by chance. */
  private Duration nextPause() {
    long ms = backoffMs - ThreadLocalRandom.current().nextLong(backoffMs / 2);
    backoffMs = Math.min(2 * backoffMs, BACKOFF_MAX_MS);
    return Duration.ofMillis(ms);
  }

  private void warn(Status end) {
    long now = System.nanoTime();
    if (!warned || now - warnedNs >= WARN_EVERY_NS) {
      warned = true;
      warnedNs = now;
      LOGGER.log(
          Level.WARNING,
          "No connection to the Carillon executor at {0}; trying again. {1}",
          new Object[] {socket, text(end)});
    }
  }

  private static String text(Status end) {
    String cause = end.getCause() == null ? "" : " (" + end.getCause().getMessage() + ")";
    String description = end.getDescription() == null ? "" : ": " + end.getDescription();
    return end.getCode() + description + cause;
  }
}
