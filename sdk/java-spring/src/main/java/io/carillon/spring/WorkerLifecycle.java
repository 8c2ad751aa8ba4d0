package io.carillon.spring;

import io.carillon.worker.Worker;
import io.carillon.worker.WorkerRefusedException;
import java.time.Duration;
import java.util.StringJoiner;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Runs the worker of an application context: from when everything else has started until before
 * anything else stops, so that functions find their data sources open to their end.
 *
 * <p>{@link #stop()} blocks while the worker drains. If it returned earlier, Spring would go on to
 * close data sources when its own time for the phase has ended.
 */
final class WorkerLifecycle implements SmartLifecycle, DisposableBean {
  private static final Log LOG = LogFactory.getLog(WorkerLifecycle.class);

  /** How long Spring Boot waits at an orderly stop. Its default is that of a worker. */
  private static final String DRAIN_TIMEOUT = "spring.lifecycle.timeout-per-shutdown-phase";

  private static final String LOGBACK = "ch.qos.logback.classic.LoggerContext";
  private static final int VERSION_LENGTH_MAX = 64;

  private final HandlerScanner scanner;
  private final CarillonProperties properties;
  private final Environment environment;
  private volatile Worker worker = null; // null unless it runs

  WorkerLifecycle(
      HandlerScanner scanner, CarillonProperties properties, Environment environment) {
    this.scanner = scanner;
    this.properties = properties;
    this.environment = environment;
  }

  /**
   * @throws IllegalStateException if the name of the application or of a handler is not valid
   */
  @Override
  public void start() {
    if (worker != null) {
      return;
    }
    if (scanner.handlers().isEmpty()) {
      LOG.info("No bean has a @CarillonHandler method, so no worker is started");
      return;
    }
    if (properties.isCaptureLogs() && ClassUtils.isPresent(LOGBACK, getClass().getClassLoader())) {
      RunAppender.install();
    }
    Worker started = build();
    String offered = register(started);
    try {
      started.start();
    } catch (UnsupportedOperationException e) {
      if (System.getProperty("os.name").startsWith("Linux")) {
        throw e;
      }
      // The application can still be developed here.
      LOG.warn("No handlers are offered: " + e.getMessage());
      return;
    }
    worker = started;
    LOG.info("Offering " + offered + " to the Carillon executor of this host");
    // Keeps an application without a web server alive.
    new Thread(() -> await(started), "carillon-worker").start();
  }

  @Override
  public void stop() {
    Worker stopping = worker;
    if (stopping != null) {
      stopping.drain();
      worker = null; // a worker starts only once, a context again
    }
  }

  /** Stops the worker of an application that failed after its start, which Spring does not stop. */
  @Override
  public void destroy() {
    stop();
  }

  @Override
  public boolean isRunning() {
    return worker != null;
  }

  private Worker build() {
    String app = first(properties.getApp(), "spring.application.name");
    if (app == null) {
      throw new IllegalStateException("set carillon.worker.app or spring.application.name");
    }
    try {
      Worker.Builder builder =
          Worker.builder(app).version(version()).drainTimeout(drainTimeout()).shutdownHook(false);
      if (StringUtils.hasText(properties.getSocket())) {
        builder.socket(properties.getSocket());
      }
      return builder.build();
    } catch (IllegalArgumentException e) {
      throw new IllegalStateException(
          "properties carillon.worker: " + e.getMessage()
              + (StringUtils.hasText(properties.getApp()) ? "" : "; set carillon.worker.app"),
          e);
    }
  }

  /** Registers all handlers and returns their names. */
  private String register(Worker building) {
    StringJoiner offered = new StringJoiner(", ");
    for (BeanHandler handler : scanner.handlers()) {
      try {
        building.handler(handler.name).concurrency(handler.concurrency).run(handler);
      } catch (IllegalArgumentException | IllegalStateException e) {
        throw new IllegalStateException(handler.place + ": " + e.getMessage(), e);
      }
      offered.add(handler.name);
    }
    return offered.toString();
  }

  private String version() {
    if (StringUtils.hasText(properties.getVersion())) {
      return properties.getVersion();
    }
    String version = first(null, "spring.application.version");
    if (version == null) {
      return "";
    }
    return version.substring(0, Math.min(version.length(), VERSION_LENGTH_MAX));
  }

  private Duration drainTimeout() {
    return Binder.get(environment).bind(DRAIN_TIMEOUT, Duration.class).orElse(Duration.ofSeconds(30));
  }

  /** Returns the value if there is one, else that of the property, else null. */
  private String first(String value, String property) {
    String text = StringUtils.hasText(value) ? value : environment.getProperty(property);
    return StringUtils.hasText(text) ? text : null;
  }

  private static void await(Worker started) {
    try {
      started.await();
    } catch (WorkerRefusedException e) {
      LOG.error("The Carillon executor refuses this application, so it offers no handlers", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
