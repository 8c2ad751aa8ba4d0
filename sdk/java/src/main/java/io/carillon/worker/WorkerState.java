package io.carillon.worker;

import com.google.protobuf.ByteString;
import io.carillon.v1.Ask;
import io.carillon.v1.Done;
import io.carillon.v1.FromWorker;
import io.carillon.v1.HandlerOffer;
import io.carillon.v1.Hello;
import io.carillon.v1.Lease;
import io.carillon.v1.LogLine;
import io.carillon.v1.Masked;
import io.carillon.v1.ToWorker;
import io.grpc.Status;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The current session, the attempts whose functions run, and what the executor is still to be told.
 *
 * <p>One lock guards all of it. That is the contract with the executor: an attempt that Hello names
 * neither as held nor as done never began. So a Run is accepted, a break is noted and Hello is
 * built under this lock, and the end of a function moves its attempt from the running ones to the
 * unconfirmed ends in one step.
 *
 * <p>Nothing here blocks on the network. Messages are sent by {@link Connector}.
 */
final class WorkerState {
  private static final int RECENT_TICKETS_MAX = 10_000;
  private static final int PROTOCOL = 1;
  private static final int INSTANCE_BYTES = 16;

  /** For the answer that the worker drains; older executors do not give one. */
  private static final long ANSWER_NS = TimeUnit.SECONDS.toNanos(2);

  // Constant after construction.
  private final String app;
  private final String version;
  private final Map<String, Handler> handlers;
  private final Executor pool;

  /** Tells the executor which worker of this process it is, also among those of other class loaders. */
  private final ByteString instance;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // Guarded by lock.
  private final Map<ByteString, Attempt> running = new LinkedHashMap<>();
  private final Map<ByteString, List<String>> masked = new HashMap<>();
  private final Set<ByteString> recentTickets = Collections.newSetFromMap(new RecentTickets());
  private final Outbox outbox = new Outbox();
  private Stream stream = null; // the current one, null after a break
  private Long session = null; // null until Welcome
  private boolean draining = false;
  private boolean drainingTold = false; // in the current stream
  private long drainingSinceNs = 0; // since when it is known that an answer is missing
  private boolean nothingComes = false; // answered: no Run of the current stream is on its way
  private boolean stopping = false; // the drain timeout has ended
  private boolean drained = false;
  private Status refusal = null;

  /** Remembers the newest tickets, so that a repeated Run is recognised after its end. */
  private static final class RecentTickets extends LinkedHashMap<ByteString, Boolean> {
    private static final long serialVersionUID = 1L;

    @Override
    protected boolean removeEldestEntry(Map.Entry<ByteString, Boolean> eldest) {
      return size() > RECENT_TICKETS_MAX;
    }
  }

  /**
   * @param pool gives each attempt a thread of its own
   */
  WorkerState(String app, String version, Map<String, Handler> handlers, Executor pool) {
    this.app = app;
    this.version = version;
    this.handlers = new HashMap<>(handlers);
    this.pool = pool;
    byte[] random = new byte[INSTANCE_BYTES];
    new SecureRandom().nextBytes(random);
    this.instance = ByteString.copyFrom(random);
  }

  // ---- Called by the sender thread.

  /** Makes a stream the current one, without a session yet, and returns its first message. */
  FromWorker begin(Stream newStream) {
    lock.lock();
    try {
      stream = newStream;
      session = null;
      nothingComes = false;
      drainingTold = draining;
      drainingSinceNs = System.nanoTime();
      return FromWorker.newBuilder().setHello(hello()).setDraining(draining).build();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until the stream can take a message and there is one.
   *
   * @return null when the stream is not the current one any more, or the worker is finished
   */
  FromWorker next(Stream current) {
    lock.lock();
    try {
      for (; ; ) {
        if (stream != current) {
          return null;
        }
        if (finishedLocked()) {
          forgetStream();
          return null;
        }
        boolean tell = draining && !drainingTold;
        if (session != null && (tell || outbox.hasBatch()) && current.isReady()) {
          FromWorker.Builder message = FromWorker.newBuilder().setDraining(tell);
          if (tell) {
            drainingTold = true;
            drainingSinceNs = System.nanoTime();
          }
          outbox.takeBatch(message);
          return message.build();
        }
        awaitNews();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits, but not beyond the end of the worker. */
  void pause(Duration duration) {
    lock.lock();
    try {
      waitUntil(this::finishedLocked, duration);
    } catch (InterruptedException e) {
      // Nobody interrupts the sender thread; trying again early does no harm.
    } finally {
      lock.unlock();
    }
  }

  /** Returns true when there is nothing left to tell the executor, or it refused the worker. */
  boolean finished() {
    lock.lock();
    try {
      return finishedLocked();
    } finally {
      lock.unlock();
    }
  }

  /** Returns why the executor refused this worker for good, or null. */
  Status refusal() {
    lock.lock();
    try {
      return refusal;
    } finally {
      lock.unlock();
    }
  }

  // ---- Called by the stream.

  /** Ends the session at once: from here on no Run of it is accepted. */
  void broken(Stream which, Status status) {
    lock.lock();
    try {
      if (stream == which) {
        forgetStream();
        // One that has something to lose tries again: the executor may change its mind.
        if (isFinal(status.getCode()) && running.isEmpty() && outbox.allConfirmed()) {
          refusal = status;
        }
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Tells the sender thread that the stream may be able to take messages again. */
  void wake() {
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void receive(Stream from, ToWorker message) {
    lock.lock();
    try {
      if (stream != from) {
        return;
      }
      if (message.hasWelcome()) {
        session = message.getWelcome().getSession();
      }
      for (io.carillon.v1.Run run : message.getRunsList()) {
        accept(run);
      }
      for (Lease lease : message.getLeasesList()) {
        extend(lease);
      }
      for (Ask ask : message.getAsksList()) {
        Attempt attempt = running.get(ask.getTicket());
        if (attempt != null) {
          attempt.ask(ask.getWhy());
        }
      }
      for (ByteString ticket : message.getDoneStoredList()) {
        outbox.confirm(ticket);
        masked.remove(ticket);
      }
      nothingComes |= message.getDrained();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  // ---- Called by attempts.

  /** Adds a line of a running attempt; lines that come after its end are dropped. */
  void log(LogLine line) {
    lock.lock();
    try {
      if (running.containsKey(line.getTicket())) {
        outbox.addLine(line);
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Notes the progress of a running attempt. */
  void saveProgress(ByteString ticket, String progress) {
    lock.lock();
    try {
      if (running.containsKey(ticket)) {
        outbox.addProgress(ticket, progress);
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Notes the checkpoint of a running attempt. */
  void saveCheckpoint(ByteString ticket, ByteString checkpoint) {
    lock.lock();
    try {
      if (running.containsKey(ticket)) {
        outbox.addCheckpoint(ticket, checkpoint);
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Notes that the function of an attempt does not run any more. */
  void finish(Attempt attempt, Done done) {
    lock.lock();
    try {
      running.remove(attempt.ticket());
      end(done);
    } finally {
      lock.unlock();
    }
  }

  // ---- Called by the program.

  /**
   * Stops taking runs, waits up to {@code timeout} for the functions, asks them to stop, and waits
   * up to {@code confirmTimeout} more until the executor has confirmed all ends and sends no Run.
   */
  void drain(Duration timeout, Duration confirmTimeout) throws InterruptedException {
    lock.lock();
    try {
      draining = true;
      drainingSinceNs = System.nanoTime();
      changed.signalAll();
      try {
        waitUntil(running::isEmpty, timeout);
      } finally {
        askToStop();
      }
      waitUntilDrained(confirmTimeout);
    } finally {
      drained = true;
      changed.signalAll();
      lock.unlock();
    }
  }

  // ---- The rest needs the lock.

  /** Waits for a change, or until a save is to be sent. */
  private void awaitNews() {
    long waitUs = session == null ? Long.MAX_VALUE : outbox.waitUs();
    if (waitUs == Long.MAX_VALUE || waitUs == 0) {
      changed.awaitUninterruptibly(); // what is to be sent waits for the stream, which wakes this thread
      return;
    }
    try {
      changed.awaitNanos(TimeUnit.MICROSECONDS.toNanos(waitUs));
    } catch (InterruptedException e) {
      // Nobody interrupts the sender thread; looking again early does no harm.
    }
  }

  private Hello hello() {
    Hello.Builder hello =
        Hello.newBuilder()
            .setProtocol(PROTOCOL)
            .setInstance(instance)
            .setApp(app)
            .setVersion(version)
            .setSdk("java " + Worker.SDK_VERSION)
            .addAllHeld(running.keySet());
    for (Handler handler : handlers.values()) {
      hello.addHandlers(
          HandlerOffer.newBuilder().setName(handler.name).setConcurrency(handler.concurrency));
    }
    outbox.describe(hello);
    for (Map.Entry<ByteString, List<String>> entry : masked.entrySet()) {
      hello.addMasked(
          Masked.newBuilder().setTicket(entry.getKey()).addAllValues(entry.getValue()));
    }
    return hello.build();
  }

  private void accept(io.carillon.v1.Run run) {
    if (session == null || session != run.getSession()) {
      return; // the executor has concluded, or will, that this attempt never began
    }
    ByteString ticket = run.getTicket();
    if (running.containsKey(ticket)
        || outbox.isUnconfirmed(ticket)
        || !recentTickets.add(ticket)) {
      return;
    }
    if (run.getMaskedCount() > 0) {
      masked.put(ticket, new ArrayList<>(run.getMaskedList()));
    }
    Handler handler = handlers.get(run.getHandler());
    if (handler == null) {
      end(Attempt.failed(ticket, "this worker has no handler named " + run.getHandler()));
    } else if (stopping) {
      end(Attempt.neverBegan(ticket, "the worker is stopping; the function did not begin"));
    } else {
      start(new Attempt(run, handler, this));
    }
  }

  private void start(Attempt attempt) {
    running.put(attempt.ticket(), attempt);
    try {
      pool.execute(attempt::execute);
    } catch (RuntimeException | Error e) {
      finish(attempt, Attempt.failed(attempt.ticket(), "no thread could be started: " + e));
    }
  }

  private void extend(Lease lease) {
    for (ByteString ticket : lease.getTicketsList()) {
      Attempt attempt = running.get(ticket);
      if (attempt != null) {
        attempt.extendLease(lease.getEndUs());
      }
    }
  }

  private void end(Done done) {
    outbox.addEnd(done, TimeUnit.MILLISECONDS.toMicros(Instant.now().toEpochMilli()));
    changed.signalAll();
  }

  private void askToStop() {
    stopping = true;
    for (Attempt attempt : running.values()) {
      attempt.askToDrain();
    }
  }

  private void forgetStream() {
    stream = null;
    session = null;
  }

  private boolean finishedLocked() {
    boolean told = session == null || drainingTold;
    return refusal != null || (drained && told && running.isEmpty() && outbox.allConfirmed());
  }

  private void waitUntil(BooleanSupplier condition, Duration timeout)
      throws InterruptedException {
    long left = MonotonicClock.nanos(timeout);
    while (!condition.getAsBoolean() && left > 0) {
      left = changed.awaitNanos(left);
    }
  }

  private void waitUntilDrained(Duration timeout) throws InterruptedException {
    long end = System.nanoTime() + MonotonicClock.nanos(timeout);
    for (; ; ) {
      long now = System.nanoTime();
      long answer = drainingSinceNs + ANSWER_NS - now;
      // A Run that this worker has never read would count as lost.
      boolean silent = stream == null || nothingComes || answer <= 0;
      boolean over = running.isEmpty() && (refusal != null || (outbox.allConfirmed() && silent));
      if (over || end - now <= 0) {
        return;
      }
      changed.awaitNanos(answer > 0 ? Math.min(answer, end - now) : end - now);
    }
  }

  private static boolean isFinal(Status.Code code) {
    return code == Status.Code.PERMISSION_DENIED
        || code == Status.Code.FAILED_PRECONDITION
        || code == Status.Code.INVALID_ARGUMENT;
  }
}
