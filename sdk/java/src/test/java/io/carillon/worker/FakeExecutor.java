package io.carillon.worker;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import com.google.protobuf.ByteString;
import io.carillon.v1.Ask;
import io.carillon.v1.Done;
import io.carillon.v1.FromWorker;
import io.carillon.v1.Hello;
import io.carillon.v1.Lease;
import io.carillon.v1.LogLine;
import io.carillon.v1.ToWorker;
import io.carillon.v1.Welcome;
import io.carillon.v1.WorkerServiceGrpc;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import io.grpc.stub.StreamObserver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A real gRPC server on a unix socket that does only what a test tells it to. The tests of the
 * Spring Boot starter use it, too.
 */
public final class FakeExecutor implements AutoCloseable {
  private static final long LIMIT_S = 60;

  private static final EventLoopGroup GROUP =
      new EpollEventLoopGroup(1, new DefaultThreadFactory("fake-executor", true));

  /** False for an executor of an older version. */
  volatile boolean answersDraining = true;

  private final BlockingQueue<Session> streams = new LinkedBlockingQueue<>();
  private final Server server;

  public FakeExecutor(Path socket) throws Exception {
    Files.deleteIfExists(socket);
    server =
        NettyServerBuilder.forAddress(new DomainSocketAddress(socket.toString()))
            .channelType(EpollServerDomainSocketChannel.class)
            .bossEventLoopGroup(GROUP)
            .workerEventLoopGroup(GROUP)
            .withChildOption(ChannelOption.SO_KEEPALIVE, null) // unix sockets lack it
            .addService(
                new WorkerServiceGrpc.WorkerServiceImplBase() {
                  @Override
                  public StreamObserver<FromWorker> attach(StreamObserver<ToWorker> toWorker) {
                    Session session = new Session(toWorker);
                    streams.add(session);
                    return session;
                  }
                })
            .build()
            .start();
  }

  /** Waits for the next stream and its Hello, and answers nothing. */
  public Session accept() throws InterruptedException {
    Session session = streams.poll(LIMIT_S, TimeUnit.SECONDS);
    assertNotNull(session, "the worker did not connect");
    session.first = session.take();
    session.hello = session.first.getHello();
    return session;
  }

  /** Waits for the next stream and welcomes it. */
  public Session welcome(long number) throws InterruptedException {
    Session session = accept();
    session.number = number;
    session.send(
        ToWorker.newBuilder().setWelcome(Welcome.newBuilder().setSession(number)).build());
    return session;
  }

  @Override
  public void close() throws InterruptedException {
    server.shutdownNow().awaitTermination(LIMIT_S, TimeUnit.SECONDS);
  }

  static ByteString ticket(String name) {
    return ByteString.copyFromUtf8(name);
  }

  /** One stream of the worker. */
  public final class Session implements StreamObserver<FromWorker> {
    private final StreamObserver<ToWorker> toWorker;
    private final BlockingQueue<FromWorker> messages = new LinkedBlockingQueue<>();
    private final BlockingQueue<Boolean> ends = new LinkedBlockingQueue<>();
    private final Deque<Done> done = new ArrayDeque<>();
    long number = 0;
    FromWorker first = null;
    public Hello hello = null;

    /** All log lines that arrived before what the test took last. */
    public final List<LogLine> logs = new ArrayList<>();

    Session(StreamObserver<ToWorker> toWorker) {
      this.toWorker = toWorker;
    }

    synchronized void send(ToWorker message) {
      toWorker.onNext(message);
    }

    /** A run of the handler "work" with a lease of an hour and no timeout. */
    public io.carillon.v1.Run.Builder run(String ticket) {
      return io.carillon.v1.Run.newBuilder()
          .setSession(number)
          .setTicket(ticket(ticket))
          .setHandler("work")
          .setRunId("job@" + ticket)
          .setAttempt(1)
          .setJobId("job")
          .setShardTotal(1)
          .setParametersJson("{}")
          .setLeaseEndUs(MonotonicClock.us() + TimeUnit.HOURS.toMicros(1));
    }

    public void start(io.carillon.v1.Run.Builder run) {
      send(ToWorker.newBuilder().addRuns(run).build());
    }

    public void start(String ticket) {
      start(run(ticket));
    }

    void ask(String ticket, Ask.Why why) {
      Ask ask = Ask.newBuilder().setTicket(ticket(ticket)).setWhy(why).build();
      send(ToWorker.newBuilder().addAsks(ask).build());
    }

    void lease(String ticket, long endUs) {
      Lease lease = Lease.newBuilder().addTickets(ticket(ticket)).setEndUs(endUs).build();
      send(ToWorker.newBuilder().addLeases(lease).build());
    }

    void confirm(String ticket) {
      send(ToWorker.newBuilder().addDoneStored(ticket(ticket)).build());
    }

    public void end(Status status) {
      toWorker.onError(status.asRuntimeException());
    }

    FromWorker take() throws InterruptedException {
      FromWorker message = messages.poll(LIMIT_S, TimeUnit.SECONDS);
      assertNotNull(message, "the worker sent nothing");
      logs.addAll(message.getLogsList());
      done.addAll(message.getDoneList());
      return message;
    }

    /** Waits for the next Done without confirming it. */
    Done takeDone() throws InterruptedException {
      while (done.isEmpty()) {
        take();
      }
      return done.remove();
    }

    /** Waits for the next Done and confirms it. */
    public Done storeDone() throws InterruptedException {
      Done next = takeDone();
      confirm(next.getTicket().toStringUtf8());
      return next;
    }

    public void takeDraining() throws InterruptedException {
      while (!take().getDraining()) {}
    }

    void awaitEnd() throws InterruptedException {
      assertNotNull(ends.poll(LIMIT_S, TimeUnit.SECONDS), "the worker did not end the stream");
    }

    @Override
    public void onNext(FromWorker message) {
      if (message.getDraining() && answersDraining) {
        send(ToWorker.newBuilder().setDrained(true).build());
      }
      messages.add(message);
    }

    @Override
    public void onError(Throwable error) {
      ends.add(true);
    }

    @Override
    public void onCompleted() {
      ends.add(true);
      toWorker.onCompleted();
    }
  }
}
