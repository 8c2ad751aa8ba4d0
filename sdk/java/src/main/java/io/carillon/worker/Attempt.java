package io.carillon.worker;

import com.google.protobuf.ByteString;
import io.carillon.v1.Ask;
import io.carillon.v1.Done;
import io.carillon.v1.LogLine;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.IllegalFormatException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** An attempt whose function runs: what its function sees, and how its result becomes a Done. */
final class Attempt implements Run {
  private static final long LEASE_MARGIN_US = 3_000_000;
  private static final int ERROR_BYTES_MAX = 4 * 1024;
  private static final int CHECKPOINT_BYTES_MAX = 1024 * 1024;
  private static final int PROGRESS_TEXT_BYTES_MAX = 2000;

  private static final int CODE_MAX = 48;
  private static final int RETRY_AFTER_MAX_S = 3600;
  private static final Pattern NO_CODE = Pattern.compile("[^A-Za-z0-9_.-]");

  private enum Stop {
    TIMEOUT,
    CANCEL,
    LEASE,
    DRAIN
  }

  /** The attempt whose function runs in a thread. Not inherited: a pool's thread outlives it. */
  static final ThreadLocal<Run> CURRENT = new ThreadLocal<>();

  // Constant after construction.
  private final io.carillon.v1.Run message;
  private final Handler handler;
  private final WorkerState state;

  // Set by the attempt's own thread before the function begins.
  private volatile Map<String, Object> parameters = Collections.emptyMap();

  // Guarded by mu, which waitFor() waits on.
  private final Object mu = new Object();
  private long leaseEndUs;
  private boolean timeoutAsked = false;
  private boolean cancelAsked = false;
  private boolean drainAsked = false;

  Attempt(io.carillon.v1.Run message, Handler handler, WorkerState state) {
    this.message = message;
    this.handler = handler;
    this.state = state;
    this.leaseEndUs = message.getLeaseEndUs();
  }

  ByteString ticket() {
    return message.getTicket();
  }

  /** Runs the function in the calling thread and reports its end. */
  void execute() {
    Thread thread = Thread.currentThread();
    String name = thread.getName();
    thread.setName("carillon-" + message.getHandler() + "-" + message.getRunId());
    Done done = null;
    CURRENT.set(this);
    try {
      done = result();
    } finally {
      CURRENT.remove();
      // If even the report of an error fails, the executor must still be told that it is over.
      state.finish(this, done != null ? done : failed(ticket(), "the function ended abnormally"));
      thread.setName(name);
    }
  }

  static Done failed(ByteString ticket, String error) {
    return done(ticket, Done.State.FAILED, error);
  }

  static Done lost(ByteString ticket, String error) {
    return done(ticket, Done.State.LOST, error);
  }

  static Done neverBegan(ByteString ticket, String error) {
    return lost(ticket, error).toBuilder().setNeverBegan(true).build();
  }

  /** Extends the lease. A lease that ends earlier than the known one changes nothing. */
  void extendLease(long endUs) {
    synchronized (mu) {
      leaseEndUs = Math.max(leaseEndUs, endUs);
      mu.notifyAll();
    }
  }

  void ask(Ask.Why why) {
    synchronized (mu) {
      timeoutAsked |= why == Ask.Why.TIMEOUT;
      cancelAsked |= why == Ask.Why.CANCEL;
      mu.notifyAll();
    }
  }

  void askToDrain() {
    synchronized (mu) {
      drainAsked = true;
      mu.notifyAll();
    }
  }

  @Override
  public String runId() {
    return message.getRunId();
  }

  @Override
  public int attempt() {
    return message.getAttempt();
  }

  @Override
  public String jobId() {
    return message.getJobId();
  }

  @Override
  public Instant fireTime() {
    long us = message.getFireWallUs();
    return Instant.ofEpochSecond(
        Math.floorDiv(us, 1_000_000L), Math.floorMod(us, 1_000_000L) * 1000);
  }

  @Override
  public int shardIndex() {
    return message.getShardIndex();
  }

  @Override
  public int shardTotal() {
    return message.getShardTotal();
  }

  @Override
  public Map<String, Object> parameters() {
    return parameters;
  }

  @Override
  public Object parameter(String name) {
    return parameters.get(name);
  }

  @Override
  public Map<String, String> env() {
    return message.getEnvMap();
  }

  @Override
  public String traceId() {
    return message.getTraceId();
  }

  @Override
  public void log(String format, Object... arguments) {
    String text = format;
    if (arguments.length > 0) {
      try {
        text = String.format(Locale.ROOT, format, arguments);
      } catch (IllegalFormatException e) {
        // A wrong format must not end a function that did its work.
      }
    }
    write(text, false);
  }

  @Override
  public void print(String text) {
    write(text, false);
  }

  @Override
  public Optional<byte[]> checkpoint() {
    return message.hasCheckpoint()
        ? Optional.of(message.getCheckpoint().toByteArray())
        : Optional.empty();
  }

  @Override
  public void saveCheckpoint(byte[] data) {
    if (data.length > CHECKPOINT_BYTES_MAX) {
      throw new IllegalArgumentException(
          "a checkpoint of " + data.length + " bytes; at most 1 MiB is allowed");
    }
    state.saveCheckpoint(ticket(), ByteString.copyFrom(data));
  }

  @Override
  public void progress(double done, double of, String text) {
    if (!(Double.isFinite(of) && of > 0 && done >= 0 && done <= of)) {
      throw new IllegalArgumentException(done + " of " + of + " is not between 0 and 100 %");
    }
    String shown = Utf8.cut(text, PROGRESS_TEXT_BYTES_MAX).replace('\0', ' ');
    state.saveProgress(ticket(), String.format(Locale.ROOT, "%.2f %s", 100 * done / of, shown));
  }

  @Override
  public void check() {
    Stop stop = stop();
    if (stop == null) {
      return;
    }
    switch (stop) {
      case TIMEOUT:
        throw new TimedOutException("the job's timeout has ended");
      case CANCEL:
        throw new CancelledException("the run was cancelled");
      case LEASE:
        throw new LeaseLostException("the attempt's lease was not renewed in time");
      default:
        throw new DrainingException("the worker is stopping");
    }
  }

  @Override
  public boolean stopping() {
    return stop() != null;
  }

  @Override
  public void waitFor(Duration duration) throws InterruptedException {
    long endUs = MonotonicClock.us() + MonotonicClock.nanos(duration) / 1000;
    synchronized (mu) {
      for (; ; ) {
        check();
        long now = MonotonicClock.us();
        if (now >= endUs) {
          return;
        }
        long next = Math.min(endUs, leaseEndUs - LEASE_MARGIN_US);
        if (message.getDeadlineUs() != 0) {
          next = Math.min(next, message.getDeadlineUs());
        }
        TimeUnit.MICROSECONDS.timedWait(mu, Math.max(1, next - now));
      }
    }
  }

  private Stop stop() {
    long now = MonotonicClock.us();
    long deadline = message.getDeadlineUs(); // 0 = none
    synchronized (mu) {
      if (timeoutAsked || (deadline != 0 && now >= deadline)) {
        return Stop.TIMEOUT;
      }
      if (cancelAsked) {
        return Stop.CANCEL;
      }
      if (now >= leaseEndUs - LEASE_MARGIN_US) {
        return Stop.LEASE;
      }
      return drainAsked ? Stop.DRAIN : null;
    }
  }

  private Done result() {
    try {
      parameters = Json.parameters(message.getParametersJson());
      return completed(handler.function.run(this));
    } catch (CancelledException e) {
      return done(ticket(), Done.State.CANCELLED, e.getMessage());
    } catch (TimedOutException e) {
      return done(ticket(), Done.State.TIMED_OUT, e.getMessage());
    } catch (LeaseLostException | DrainingException e) {
      return lost(ticket(), e.getMessage());
    } catch (Throwable e) {
      return thrown(e);
    }
  }

  private Done completed(Outputs outputs) {
    Outputs results = outputs == null ? Outputs.none() : outputs;
    Done.Builder done =
        Done.newBuilder().setTicket(ticket()).setState(Done.State.COMPLETED);
    String problem = results.problem();
    if (problem.isEmpty()) {
      return done.putAllOutputs(results.texts()).build();
    }
    write("carillon: no output was kept: " + problem, true);
    return done.build();
  }

  private Done thrown(Throwable e) {
    String type = nameOf(e);
    Done.Builder hints = Done.newBuilder();
    hints.setCode(NO_CODE.matcher(type.substring(0, Math.min(type.length(), CODE_MAX))).replaceAll("_"));
    hints.setNoRetry(e instanceof NoRetryException);
    if (e instanceof RetryAfterException) {
      hints.setRetryAfter(seconds(((RetryAfterException) e).waitTime()));
    }
    return failure(e, type).toBuilder().mergeFrom(hints.buildPartial()).build();
  }

  private static String nameOf(Throwable e) {
    String code = e instanceof FailureException ? ((FailureException) e).code() : null;
    if (code != null && !code.isEmpty()) {
      return code;
    }
    String type = e.getClass().getSimpleName();
    return type.isEmpty() ? e.getClass().getName() : type; // an anonymous class
  }

  /** Rounds up, so that the attempt never begins too early. */
  private static int seconds(Duration wait) {
    if (wait.isNegative()) {
      return 0;
    }
    if (wait.getSeconds() >= RETRY_AFTER_MAX_S) {
      return RETRY_AFTER_MAX_S;
    }
    return (int) wait.getSeconds() + (wait.getNano() > 0 ? 1 : 0);
  }

  private Done failure(Throwable e, String type) {
    try {
      StringWriter trace = new StringWriter();
      e.printStackTrace(new PrintWriter(trace, true));
      write(trace.toString(), true);
      String text = e.getMessage();
      return failed(ticket(), text == null || text.isEmpty() ? type : type + ": " + text);
    } catch (RuntimeException broken) {
      return failed(ticket(), type); // its getMessage() or printStackTrace() threw
    }
  }

  private void write(String text, boolean error) {
    Instant now = Instant.now();
    long wallUs = now.getEpochSecond() * 1_000_000 + now.getNano() / 1000;
    String body = String.valueOf(text);
    if (body.endsWith("\n")) {
      body = body.substring(0, body.length() - 1);
    }
    for (String line : body.split("\r?\n", -1)) {
      for (String piece : Utf8.pieces(line, Outbox.LINE_BYTES_MAX)) {
        state.log(
            LogLine.newBuilder()
                .setTicket(ticket())
                .setWallUs(wallUs)
                .setError(error)
                .setText(piece)
                .build());
      }
    }
  }

  private static Done done(ByteString ticket, Done.State state, String error) {
    return Done.newBuilder()
        .setTicket(ticket)
        .setState(state)
        .setError(Utf8.cut(String.valueOf(error), ERROR_BYTES_MAX))
        .build();
  }
}
