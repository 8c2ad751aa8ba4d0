package io.carillon.worker;

import io.grpc.Status;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/**
 * Offers functions of this program as handlers to the Carillon executor of the same host.
 *
 * <pre>{@code
 * Worker worker = Worker.of("billing");
 * worker.handler("close_day").concurrency(2).run(run -> {
 *   for (Account a : accounts(run.shardIndex(), run.shardTotal())) {
 *     run.check();
 *     close(a, run.runId());
 *   }
 *   return Outputs.of("closed", 3);
 * });
 * worker.start();
 * worker.await();
 * }</pre>
 *
 * <p>The worker connects through a unix socket and connects again whenever the stream breaks;
 * functions that run do not notice. All its threads are daemon threads. All methods may be called
 * from any thread. A worker starts once; it cannot be started again after {@link #drain()}.
 */
public final class Worker {
  /** The version of this SDK; a test compares it with pom.xml. */
  static final String SDK_VERSION = "0.1.0";

  static final String SOCKET_VARIABLE = "CARILLON_WORKER_SOCKET";
  static final String DEFAULT_SOCKET = "/run/carillon/worker.sock";

  private static final Pattern APP_NAME = Pattern.compile("[a-z0-9][a-z0-9_-]{0,62}");
  private static final Pattern HANDLER_NAME = Pattern.compile("[a-z0-9][a-z0-9_.-]{0,62}");
  private static final int HANDLERS_MAX = 256;
  private static final int VERSION_BYTES_MAX = 64;

  // Constant after construction.
  private final String app;
  private final String version;
  private final Path socket;
  private final Duration drainTimeout;
  private final Duration confirmTimeout;
  private final boolean shutdownHook;
  private final CountDownLatch over = new CountDownLatch(1);

  // Guarded by this.
  private final Map<String, Handler> handlers = new LinkedHashMap<>();
  private WorkerState state = null; // null before start()
  private Thread hook = null;
  private boolean drainCalled = false;

  private Worker(Builder builder) {
    this.app = builder.app;
    this.version = builder.version;
    this.socket = builder.socket != null ? builder.socket : socketFrom(System.getenv());
    this.drainTimeout = builder.drainTimeout;
    this.confirmTimeout = builder.confirmTimeout;
    this.shutdownHook = builder.shutdownHook;
  }

  /**
   * Returns a worker of the given application with default settings.
   *
   * @throws IllegalArgumentException unless the name matches {@code [a-z0-9][a-z0-9_-]{0,62}}
   */
  public static Worker of(String app) {
    return builder(app).build();
  }

  /** Returns the settings of a worker, to be changed. See {@link #of} for errors. */
  public static Builder builder(String app) {
    return new Builder(app);
  }

  /**
   * Begins the registration of a handler; a job names it as "app/name".
   *
   * @throws IllegalArgumentException unless the name matches {@code [a-z0-9][a-z0-9_.-]{0,62}}
   */
  public HandlerBuilder handler(String name) {
    if (!HANDLER_NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "handler name \"" + name + "\" does not match " + HANDLER_NAME);
    }
    return new HandlerBuilder(this, name);
  }

  /**
   * Connects in the background and returns at once. If the executor is not there, the worker tries
   * again until it is. Registers a JVM shutdown hook that calls {@link #drain()}, unless {@link
   * Builder#shutdownHook} says otherwise.
   *
   * @throws IllegalStateException if the worker has no handler, or was started or drained before
   * @throws UnsupportedOperationException on other systems than Linux on x86_64 and aarch64
   */
  public synchronized void start() {
    if (state != null || drainCalled) {
      throw new IllegalStateException("a worker starts only once");
    }
    if (handlers.isEmpty()) {
      throw new IllegalStateException("register a handler before start()");
    }
    if (!Epoll.isAvailable()) {
      throw new UnsupportedOperationException(
          "a worker needs Linux on x86_64 or aarch64", Epoll.unavailabilityCause());
    }
    if (shutdownHook) {
      Thread thread = new Thread(this::drain, "carillon-shutdown");
      Runtime.getRuntime().addShutdownHook(thread);
      hook = thread;
    }
    WorkerState started = new WorkerState(app, version, handlers, threadPerAttempt());
    state = started;
    new Connector(socket, started, () -> atConnectorEnd(started)).start();
  }

  /**
   * Stops. Takes no further runs, waits up to the drain timeout (30 s unless set) for the functions
   * that run, then lets their {@link Run#check()} throw {@link DrainingException}. Returns when all
   * functions have ended and the executor has stored their results, or 10 s later. A second call
   * waits for the first.
   *
   * <p>If the calling thread is interrupted, the functions are not waited for any longer.
   */
  public void drain() {
    WorkerState started;
    boolean first;
    synchronized (this) {
      first = !drainCalled;
      drainCalled = true;
      started = state;
    }
    try {
      if (!first) {
        over.await();
      } else if (started != null) {
        started.drain(drainTimeout, confirmTimeout);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      if (first) {
        removeHook();
        over.countDown();
      }
    }
  }

  /**
   * Waits until the worker was drained, and so keeps the program alive.
   *
   * @throws IllegalStateException if the worker was not started
   * @throws WorkerRefusedException if the executor refuses this worker for good
   * @throws InterruptedException if the calling thread is interrupted
   */
  public void await() throws InterruptedException {
    WorkerState started;
    synchronized (this) {
      started = state;
    }
    if (started == null) {
      throw new IllegalStateException("call start() before await()");
    }
    over.await();
    Status refusal = started.refusal();
    if (refusal != null) {
      throw new WorkerRefusedException(refusal);
    }
  }

  synchronized void register(Handler handler) {
    if (state != null || drainCalled) {
      throw new IllegalStateException("register handlers before start()");
    }
    if (handlers.containsKey(handler.name)) {
      throw new IllegalStateException("handler " + handler.name + " is registered twice");
    }
    if (handlers.size() == HANDLERS_MAX) {
      throw new IllegalStateException("a worker has at most " + HANDLERS_MAX + " handlers");
    }
    handlers.put(handler.name, handler);
  }

  static Path socketFrom(Map<String, String> environment) {
    String path = environment.get(SOCKET_VARIABLE);
    return Paths.get(path == null || path.isEmpty() ? DEFAULT_SOCKET : path);
  }

  private void atConnectorEnd(WorkerState started) {
    if (started.refusal() != null) {
      over.countDown();
    }
  }

  private synchronized void removeHook() {
    if (hook != null) {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // The virtual machine is shutting down; the hook may be the caller.
      }
      hook = null;
    }
  }

  private static Executor threadPerAttempt() {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    AtomicInteger number = new AtomicInteger();
    ThreadFactory factory =
        task -> {
          Thread thread = new Thread(task, "carillon-attempt-" + number.incrementAndGet());
          thread.setDaemon(true);
          thread.setContextClassLoader(loader);
          return thread;
        };
    return new ThreadPoolExecutor(
        0, Integer.MAX_VALUE, 60, TimeUnit.SECONDS, new SynchronousQueue<>(), factory);
  }

  /** The settings of a worker. */
  public static final class Builder {
    private final String app;
    private String version = "";
    private Path socket = null;
    private Duration drainTimeout = Duration.ofSeconds(30);
    private Duration confirmTimeout = Duration.ofSeconds(10);
    private boolean shutdownHook = true;

    private Builder(String app) {
      if (!APP_NAME.matcher(app).matches()) {
        throw new IllegalArgumentException(
            "application name \"" + app + "\" does not match " + APP_NAME);
      }
      this.app = app;
    }

    /**
     * Sets the version of the application, which the console shows.
     *
     * @throws IllegalArgumentException if it is longer than 64 bytes
     */
    public Builder version(String version) {
      if (Utf8.size(version) > VERSION_BYTES_MAX) {
        throw new IllegalArgumentException(
            "the version is longer than " + VERSION_BYTES_MAX + " bytes");
      }
      this.version = version;
      return this;
    }

    /**
     * Sets the executor's socket. The default is the variable CARILLON_WORKER_SOCKET, and without
     * it /run/carillon/worker.sock.
     */
    public Builder socket(Path socket) {
      this.socket = Objects.requireNonNull(socket, "socket");
      return this;
    }

    /** Sets the executor's socket. See {@link #socket(Path)}. */
    public Builder socket(String socket) {
      return socket(Paths.get(socket));
    }

    /** Sets how long a drain waits before it asks functions to stop. The default is 30 s. */
    public Builder drainTimeout(Duration drainTimeout) {
      this.drainTimeout = Objects.requireNonNull(drainTimeout, "drainTimeout");
      return this;
    }

    /** Sets how long a drain waits for the executor at its end; for tests. */
    Builder confirmTimeout(Duration confirmTimeout) {
      this.confirmTimeout = confirmTimeout;
      return this;
    }

    /**
     * Sets whether {@link Worker#start()} registers a shutdown hook that drains. The default is
     * true. A program with a shutdown order of its own says false and calls {@link Worker#drain()}.
     */
    public Builder shutdownHook(boolean shutdownHook) {
      this.shutdownHook = shutdownHook;
      return this;
    }

    public Worker build() {
      return new Worker(this);
    }
  }
}
