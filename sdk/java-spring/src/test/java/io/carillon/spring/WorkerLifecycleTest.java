package io.carillon.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.carillon.v1.Done;
import io.carillon.v1.HandlerOffer;
import io.carillon.v1.LogLine;
import io.carillon.worker.FakeExecutor;
import io.carillon.worker.Run;
import io.grpc.Status;
import java.net.URL;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.io.UrlResource;
import org.springframework.core.io.support.PropertiesLoaderUtils;

/** The worker of an application, from its start to its stop. */
class WorkerLifecycleTest {
  private static final long LIMIT_S = 60;

  @TempDir Path folder;
  private Path socket;
  private String[] properties;

  @BeforeEach
  void properties() {
    socket = folder.resolve("worker.sock");
    properties =
        new String[] {"spring.application.name=billing", "carillon.worker.socket=" + socket};
  }

  /** Stands for a connection pool. */
  static class DataSource implements DisposableBean {
    volatile boolean closed = false;

    @Override
    public void destroy() {
      closed = true;
    }
  }

  static class Books {
    static CountDownLatch begun;
    static CountDownLatch gate;
    static volatile boolean closedMeanwhile;
    private final DataSource data;

    Books(DataSource data) {
      this.data = data;
    }

    @CarillonHandler(value = "work", concurrency = 2)
    public Map<String, Object> work(Run run) {
      run.log("for %s", run.parameter("day"));
      return Collections.singletonMap("closed", 3);
    }

    @CarillonHandler("hold")
    public void hold() throws InterruptedException {
      begun.countDown();
      gate.await();
      closedMeanwhile = data.closed;
    }

    @CarillonHandler("fail")
    public void fail() {
      throw new IllegalArgumentException("no such account");
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Application {
    @Bean
    DataSource data() {
      return new DataSource();
    }

    @Bean
    Books books(DataSource data) {
      return new Books(data);
    }
  }

  private static void start(FakeExecutor.Session session, String handler) {
    session.start(session.run(handler).setHandler(handler).setParametersJson("{\"day\": \"today\"}"));
  }

  private static Thread keeper() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("carillon-worker"))
        .findAny()
        .orElse(null);
  }

  @Test
  void handlersAreOfferedAndRun() throws Exception {
    try (FakeExecutor executor = new FakeExecutor(socket);
        ConfigurableApplicationContext context =
            Applications.start(Application.class, properties)) {
      FakeExecutor.Session session = executor.welcome(1);
      assertEquals("billing", session.hello.getApp());
      assertEquals(
          2,
          session.hello.getHandlersList().stream()
              .filter(offer -> offer.getName().equals("work"))
              .mapToInt(HandlerOffer::getConcurrency)
              .sum());
      assertEquals(3, session.hello.getHandlersCount());
      start(session, "work");
      Done done = session.storeDone();
      assertEquals(Done.State.COMPLETED, done.getState());
      assertEquals(Collections.singletonMap("closed", "3"), done.getOutputsMap());
      assertEquals("for today", session.logs.get(0).getText());
      assertFalse(keeper().isDaemon(), "the program would end at once without a web server");
    }
  }

  @Test
  void failureHasTheStackTraceOfTheMethod() throws Exception {
    try (FakeExecutor executor = new FakeExecutor(socket);
        ConfigurableApplicationContext context =
            Applications.start(Application.class, properties)) {
      FakeExecutor.Session session = executor.welcome(1);
      start(session, "fail");
      Done done = session.storeDone();
      assertEquals(Done.State.FAILED, done.getState());
      assertEquals("IllegalArgumentException: no such account", done.getError());
      String text =
          session.logs.stream().map(LogLine::getText).reduce("", (one, other) -> one + other + "\n");
      assertTrue(text.startsWith("java.lang.IllegalArgumentException: no such account\n"), text);
      assertTrue(text.contains("at " + Books.class.getName() + ".fail("), text);
    }
  }

  static class Talkative {
    @CarillonHandler("work")
    public Map<Integer, Object> work() {
      LoggerFactory.getLogger("ledger").warn("account {}", 7, new IllegalStateException("empty"));
      return Collections.singletonMap(1, "odd");
    }
  }

  /** Returns all lines of the log of one run of Talkative. */
  private static String talk(FakeExecutor executor) throws InterruptedException {
    FakeExecutor.Session session = executor.welcome(1);
    start(session, "work");
    Done done = session.storeDone();
    assertEquals(Done.State.COMPLETED, done.getState());
    assertEquals(0, done.getOutputsCount());
    return session.logs.stream().map(LogLine::getText).reduce("", (one, other) -> one + other + "\n");
  }

  @Test
  void logOfARunHasItsLoggersLinesAndWrongOutputs() throws Exception {
    try (FakeExecutor executor = new FakeExecutor(socket);
        ConfigurableApplicationContext context = Applications.start(Talkative.class, properties);
        ConfigurableApplicationContext second =
            Applications.start(
                Talkative.class,
                "carillon.worker.app=second",
                "carillon.worker.socket=" + folder.resolve("none.sock"))) {
      String text = talk(executor);
      String begin = "WARN ledger: account 7\njava.lang.IllegalStateException: empty\n";
      assertTrue(text.startsWith(begin), text);
      assertEquals(text.indexOf("WARN"), text.lastIndexOf("WARN"), text);
      assertTrue(text.contains("carillon: no output was kept: "), text);
    }
  }

  @Test
  void logOfARunCanBeKeptApart() throws Exception {
    ((Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).detachAppender("carillon");
    properties =
        new String[] {properties[0], properties[1], "carillon.worker.capture-logs=false"};
    try (FakeExecutor executor = new FakeExecutor(socket);
        ConfigurableApplicationContext context = Applications.start(Talkative.class, properties)) {
      String text = talk(executor);
      assertFalse(text.contains("WARN"), text);
    }
  }

  @Test
  void stopWaitsForTheFunctionsBeforeOtherBeansEnd() throws Exception {
    Books.begun = new CountDownLatch(1);
    Books.gate = new CountDownLatch(1);
    Books.closedMeanwhile = true;
    try (FakeExecutor executor = new FakeExecutor(socket)) {
      ConfigurableApplicationContext context = Applications.start(Application.class, properties);
      DataSource data = context.getBean(DataSource.class);
      Thread keeper = keeper();
      FakeExecutor.Session session = executor.welcome(1);
      start(session, "hold");
      assertTrue(Books.begun.await(LIMIT_S, TimeUnit.SECONDS));
      Thread closing = new Thread(context::close);
      closing.start();
      session.takeDraining();
      Books.gate.countDown();
      assertEquals(Done.State.COMPLETED, session.storeDone().getState());
      closing.join(TimeUnit.SECONDS.toMillis(LIMIT_S));
      assertFalse(Books.closedMeanwhile);
      assertTrue(data.closed);
      keeper.join(TimeUnit.SECONDS.toMillis(LIMIT_S));
      assertFalse(keeper.isAlive());
    }
  }

  @Test
  void contextThatStartsAgainHasAWorkerAgain() throws Exception {
    try (FakeExecutor executor = new FakeExecutor(socket);
        ConfigurableApplicationContext context =
            Applications.start(Application.class, properties)) {
      executor.welcome(1);
      context.stop();
      assertFalse(context.getBean(WorkerLifecycle.class).isRunning());
      context.start();
      FakeExecutor.Session session = executor.welcome(2);
      start(session, "work");
      assertEquals(Done.State.COMPLETED, session.storeDone().getState());
    }
  }

  @Test
  void applicationStartsWithoutAnExecutor() throws Exception {
    try (ConfigurableApplicationContext context =
        Applications.start(Application.class, properties)) {
      assertTrue(context.getBean(WorkerLifecycle.class).isRunning());
      try (FakeExecutor executor = new FakeExecutor(socket)) {
        FakeExecutor.Session session = executor.welcome(1);
        start(session, "work");
        assertEquals(Done.State.COMPLETED, session.storeDone().getState());
      }
    }
  }

  @Test
  void refusalIsLogged() throws Exception {
    Logger logger = (Logger) LoggerFactory.getLogger(WorkerLifecycle.class);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    try (FakeExecutor executor = new FakeExecutor(socket);
        ConfigurableApplicationContext context =
            Applications.start(Application.class, properties)) {
      logger.addAppender(log);
      Thread keeper = keeper();
      executor.accept().end(Status.PERMISSION_DENIED.withDescription("not billing"));
      keeper.join(TimeUnit.SECONDS.toMillis(LIMIT_S));
      assertEquals(1, log.list.size());
      assertEquals(
          "PERMISSION_DENIED: not billing", log.list.get(0).getThrowableProxy().getMessage());
    } finally {
      logger.detachAppender(log);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class FailsLate {
    @Bean
    ApplicationListener<ContextRefreshedEvent> listener() {
      return event -> {
        throw new IllegalStateException("the cache cannot be filled");
      };
    }

    @Bean
    Books books() {
      return new Books(new DataSource());
    }
  }

  @Test
  void applicationThatFailsAfterTheStartEndsItsWorker() throws Exception {
    assertThrows(
        IllegalStateException.class, () -> Applications.start(FailsLate.class, properties));
    Thread keeper = keeper();
    if (keeper != null) {
      keeper.join(TimeUnit.SECONDS.toMillis(LIMIT_S));
      assertFalse(keeper.isAlive());
    }
  }

  @Test
  void propertiesNameTheWorker() throws Exception {
    try (FakeExecutor executor = new FakeExecutor(socket);
        ConfigurableApplicationContext context =
            Applications.start(
                Application.class,
                "spring.application.name=Billing Service",
                "spring.application.version=1.0",
                "carillon.worker.app=billing",
                "carillon.worker.version=2.0",
                "carillon.worker.socket=" + socket,
                "spring.main.lazy-initialization=true")) {
      FakeExecutor.Session session = executor.welcome(1);
      assertEquals("billing", session.hello.getApp());
      assertEquals("2.0", session.hello.getVersion());
      assertEquals(3, session.hello.getHandlersCount());
    }
  }

  @Test
  void versionIsThatOfTheApplicationAndCutThere() throws Exception {
    try (FakeExecutor executor = new FakeExecutor(socket);
        ConfigurableApplicationContext context =
            Applications.start(
                Application.class,
                "spring.application.name=billing",
                "spring.application.version=1.0-" + new String(new char[90]).replace('\0', 'x'),
                "carillon.worker.socket=" + socket)) {
      String version = executor.welcome(1).hello.getVersion();
      assertEquals(64, version.length());
      assertTrue(version.startsWith("1.0-x"));
    }
  }

  private String failure(String... properties) {
    Throwable cause =
        assertThrows(
            RuntimeException.class, () -> Applications.start(Application.class, properties));
    while (cause.getCause() instanceof IllegalStateException) {
      cause = cause.getCause();
    }
    return cause.getMessage();
  }

  @Test
  void namesThatCannotBeAreRefusedWithTheProperty() {
    assertEquals("set carillon.worker.app or spring.application.name", failure());
    String unfit = failure("spring.application.name=Billing Service");
    assertTrue(unfit.startsWith("properties carillon.worker: application name \"Billing S"), unfit);
    assertTrue(unfit.endsWith("; set carillon.worker.app"), unfit);
    String wrong = failure("carillon.worker.app=Billing");
    assertTrue(wrong.endsWith("does not match [a-z0-9][a-z0-9_-]{0,62}"), wrong);
  }

  static class Misnamed {
    @CarillonHandler("Close Day")
    public void work() {}
  }

  @Test
  void nameOfAHandlerThatCannotBeIsRefusedWithItsPlace() {
    Throwable cause =
        assertThrows(
            RuntimeException.class, () -> Applications.start(Misnamed.class, properties));
    String message = String.valueOf(cause.getMessage()) + cause.getCause();
    assertTrue(message.contains("Misnamed.work(): handler name \"Close Day\" does not"), message);
  }

  @Test
  void nothingStartsWithoutHandlersOrIfDisabled() {
    try (ConfigurableApplicationContext context = Applications.start(DataSource.class)) {
      assertFalse(context.getBean(WorkerLifecycle.class).isRunning());
    }
    try (ConfigurableApplicationContext context =
        Applications.start(Application.class, "carillon.worker.enabled=false")) {
      assertEquals(0, context.getBeansOfType(WorkerLifecycle.class).size());
    }
  }

  @EnableAutoConfiguration
  @Configuration(proxyBeanMethods = false)
  static class Automatic {
    @Bean
    Books books() {
      return new Books(new DataSource());
    }
  }

  @Test
  void starterIsFoundByItself() throws Exception {
    try (FakeExecutor executor = new FakeExecutor(socket);
        ConfigurableApplicationContext context =
            new SpringApplicationBuilder(Automatic.class)
                .web(WebApplicationType.NONE)
                .properties(properties)
                .run()) {
      assertEquals(3, executor.welcome(1).hello.getHandlersCount());
    }
    // For Spring Boot before 2.7.
    ClassLoader loader = getClass().getClassLoader();
    boolean found = false;
    for (URL url : Collections.list(loader.getResources("META-INF/spring.factories"))) {
      Properties factories = PropertiesLoaderUtils.loadProperties(new UrlResource(url));
      found |=
          CarillonAutoConfiguration.class
              .getName()
              .equals(factories.getProperty(EnableAutoConfiguration.class.getName()));
    }
    assertTrue(found);
    assertNotNull(
        getClass().getResource("/META-INF/spring-configuration-metadata.json"),
        "editors do not know the properties");
  }
}
