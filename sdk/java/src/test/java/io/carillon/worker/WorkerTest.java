package io.carillon.worker;

import static io.carillon.worker.FakeExecutor.ticket;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.carillon.v1.Ask;
import io.carillon.v1.Done;
import io.carillon.v1.HandlerOffer;
import io.carillon.v1.LogLine;
import io.carillon.v1.ToWorker;
import io.grpc.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A worker against an executor that the test controls message by message. */
@Timeout(120)
class WorkerTest {
  private static final Duration LONG = Duration.ofMinutes(10);

  @TempDir Path folder;

  private final BlockingQueue<String> begun = new LinkedBlockingQueue<>();
  private final CountDownLatch release = new CountDownLatch(1);
  private Path socket;
  private FakeExecutor executor;
  private Worker worker;

  @BeforeEach
  void startExecutor() throws Exception {
    socket = folder.resolve("worker.sock");
    executor = new FakeExecutor(socket);
  }

  @AfterEach
  void stop() throws Exception {
    release.countDown();
    if (worker != null) {
      worker.drain();
    }
    executor.close();
  }

  /** Starts a worker whose handler "work" is the given function. */
  private void startWorker(HandlerFunction function) {
    startWorker(Duration.ZERO, function);
  }

  private void startWorker(Duration drainTimeout, HandlerFunction function) {
    worker =
        Worker.builder("billing")
            .version("7.1")
            .socket(socket)
            .drainTimeout(drainTimeout)
            .confirmTimeout(Duration.ofMillis(drainTimeout.isZero() ? 50 : 5_000))
            .shutdownHook(false)
            .build();
    worker.handler("work").concurrency(3).run(function);
    worker.start();
  }

  /** A function that tells that it began and waits for the test, whatever it is asked. */
  private Outputs untilReleased(Run run) throws InterruptedException {
    begun.add(run.runId());
    release.await();
    return Outputs.of("kept", true);
  }

  /** A function that tells that it began and waits until it should stop. */
  private Outputs untilStopped(Run run) throws InterruptedException {
    begun.add(run.runId());
    run.waitFor(LONG);
    return Outputs.none();
  }

  private String takeBegun() throws InterruptedException {
    String run = begun.poll(60, TimeUnit.SECONDS);
    assertNotNull(run, "no function began");
    return run;
  }

  @Test
  void helloDescribesTheWorker() throws Exception {
    startWorker(run -> null);
    FakeExecutor.Session session = executor.welcome(1);
    assertEquals(1, session.hello.getProtocol());
    assertEquals(16, session.hello.getInstance().size());
    assertEquals("billing", session.hello.getApp());
    assertEquals("7.1", session.hello.getVersion());
    assertEquals("java 0.1.0", session.hello.getSdk());
    assertEquals(
        Collections.singletonList(
            HandlerOffer.newBuilder().setName("work").setConcurrency(3).build()),
        session.hello.getHandlersList());
    assertEquals(0, session.hello.getHeldCount());
    assertEquals(0, session.hello.getDoneCount());
  }

  @Test
  void functionSeesItsRunAndReturnsOutputs() throws Exception {
    startWorker(
        run ->
            Outputs.of("day", run.parameter("day"))
                .and("parameters", run.parameters())
                .and("types", run.parameter("n") instanceof Long)
                .and("secret", run.env().get("PASSWORD"))
                .and("fire", run.fireTime().equals(Instant.parse("2026-03-01T02:00:00.000001Z")))
                .and("shard", run.shardIndex() + "/" + run.shardTotal())
                .and("ids", Arrays.asList(run.runId(), run.jobId(), run.traceId(), run.attempt())));
    FakeExecutor.Session session = executor.welcome(1);
    session.start(
        session
            .run("a")
            .setAttempt(2)
            .setFireWallUs(1_772_330_400_000_001L)
            .setShardIndex(1)
            .setShardTotal(4)
            .setTraceId("t1")
            .putEnv("PASSWORD", "x")
            .setParametersJson("{\"day\":\"läuft\",\"n\":9007199254740993,\"r\":1.5,\"b\":true}"));
    Done done = session.storeDone();
    assertEquals(Done.State.COMPLETED, done.getState());
    assertEquals("läuft", done.getOutputsOrThrow("day"));
    assertEquals(
        "{\"day\":\"läuft\",\"n\":9007199254740993,\"r\":1.5,\"b\":true}",
        done.getOutputsOrThrow("parameters"));
    assertEquals("true", done.getOutputsOrThrow("types"));
    assertEquals("x", done.getOutputsOrThrow("secret"));
    assertEquals("true", done.getOutputsOrThrow("fire"));
    assertEquals("1/4", done.getOutputsOrThrow("shard"));
    assertEquals("[\"job@a\",\"job\",\"t1\",2]", done.getOutputsOrThrow("ids"));
  }

  @Test
  void exceptionFailsTheAttemptAndItsTraceIsLoggedBefore() throws Exception {
    startWorker(
        run -> {
          run.log("closing %d of %s", 3, "x");
          run.print("100%\nnext");
          throw new IllegalStateException("no ledger");
        });
    FakeExecutor.Session session = executor.welcome(1);
    session.start("a");
    Done done = session.storeDone();
    assertEquals(Done.State.FAILED, done.getState());
    assertEquals("IllegalStateException: no ledger", done.getError());
    List<String> out = texts(session, false);
    assertEquals(Arrays.asList("closing 3 of x", "100%", "next"), out);
    List<String> trace = texts(session, true);
    assertEquals("java.lang.IllegalStateException: no ledger", trace.get(0));
    assertTrue(trace.get(1).contains("at io.carillon.worker.WorkerTest"), trace.get(1));
  }

  @Test
  void failureSaysHowItIsToBeRetried() throws Exception {
    Map<String, RuntimeException> thrown = new LinkedHashMap<>();
    thrown.put("plain", new IllegalStateException("no"));
    thrown.put("named", new FailureException("no", "out-of.stock", null));
    thrown.put("wrong", new FailureException("no", "a b,c" + String.join("", Collections.nCopies(60, "x")), null));
    thrown.put("final", new NoRetryException("never"));
    thrown.put("after", new RetryAfterException(Duration.ofMillis(1200), "later"));
    thrown.put("long", new RetryAfterException(Duration.ofDays(2), "later", "busy", null));
    thrown.put("past", new RetryAfterException(Duration.ofSeconds(-5), "now"));
    startWorker(
        run -> {
          throw thrown.get(run.runId().substring(4));
        });
    FakeExecutor.Session session = executor.welcome(1);
    List<String> found = new ArrayList<>();
    for (String what : thrown.keySet()) {
      session.start(what);
      Done done = session.storeDone();
      assertEquals(Done.State.FAILED, done.getState());
      found.add(
          done.getCode() + " " + done.getNoRetry() + " "
              + (done.hasRetryAfter() ? done.getRetryAfter() : "-"));
      if (what.equals("named")) {
        assertEquals("out-of.stock: no", done.getError());
      }
    }
    assertEquals(
        Arrays.asList(
            "IllegalStateException false -",
            "out-of.stock false -",
            "a_b_c" + String.join("", Collections.nCopies(43, "x")) + " false -",
            "NoRetryException true -",
            "RetryAfterException false 2",
            "busy false 3600",
            "RetryAfterException false 0"),
        found);
  }

  @Test
  void errorFailsTheAttempt() throws Exception {
    startWorker(
        run -> {
          throw new StackOverflowError();
        });
    FakeExecutor.Session session = executor.welcome(1);
    session.start("a");
    assertEquals("StackOverflowError", session.storeDone().getError());
  }

  @Test
  void outputsThatCannotBeKeptAreExplained() throws Exception {
    char[] text = new char[70_000];
    Arrays.fill(text, 'x');
    startWorker(run -> Outputs.of("small", 1, "text", new String(text)));
    FakeExecutor.Session session = executor.welcome(1);
    session.start("a");
    Done done = session.storeDone();
    assertEquals(Done.State.COMPLETED, done.getState());
    assertEquals(0, done.getOutputsCount());
    assertEquals(
        Collections.singletonList(
            "carillon: no output was kept: 70010 bytes; at most 16384 are allowed in all,"
                + " and text has the most"),
        texts(session, true));
  }

  @Test
  void longLinesBecomeSeveral() throws Exception {
    char[] text = new char[20_000];
    Arrays.fill(text, 'é');
    startWorker(
        run -> {
          run.print(new String(text));
          return Outputs.none();
        });
    FakeExecutor.Session session = executor.welcome(1);
    session.start("a");
    session.storeDone();
    List<String> lines = texts(session, false);
    assertEquals(
        Arrays.asList(8191, 8191, 3618),
        lines.stream().map(String::length).collect(Collectors.toList()));
    assertEquals(new String(text), String.join("", lines));
  }

  @Test
  void loggersWriteToTheRunOfTheirThread() throws Exception {
    Logger logger = Logger.getLogger("ledger");
    logger.setUseParentHandlers(false);
    RunLogHandler handler = new RunLogHandler();
    logger.addHandler(handler);
    try {
      startWorker(
          run -> {
            begun.add(run.runId());
            release.await(); // so that all run at the same time
            logger.log(Level.WARNING, "no {0} in {1}", new Object[] {"account", run.runId()});
            logger.fine("below the level of the logger");
            Thread other = new Thread(() -> logger.warning("in a thread without a run"));
            other.start();
            other.join();
            logger.log(Level.INFO, "failed", new IllegalStateException("no ledger"));
            return Outputs.of("current", Run.current() == run);
          });
      FakeExecutor.Session session = executor.welcome(1);
      for (String ticket : Arrays.asList("a", "b", "c")) {
        session.start(ticket);
        takeBegun();
      }
      logger.warning("of no run");
      assertNull(Run.current());
      release.countDown();
      for (int i = 0; i < 3; i++) {
        Done done = session.storeDone();
        assertEquals("true", done.getOutputsOrThrow("current"));
        List<String> lines =
            session.logs.stream()
                .filter(line -> line.getTicket().equals(done.getTicket()))
                .map(LogLine::getText)
                .collect(Collectors.toList());
        String runId = "job@" + done.getTicket().toStringUtf8();
        assertEquals("WARNING ledger: no account in " + runId, lines.get(0));
        assertEquals("INFO ledger: failed", lines.get(1));
        assertEquals("java.lang.IllegalStateException: no ledger", lines.get(2));
        assertTrue(lines.get(3).contains("at io.carillon.worker.WorkerTest"), lines.get(3));
      }
    } finally {
      logger.removeHandler(handler);
    }
  }

  @Test
  void wrongParametersFailTheAttempt() throws Exception {
    startWorker(run -> Outputs.none());
    FakeExecutor.Session session = executor.welcome(1);
    session.start(session.run("a").setParametersJson("[1]"));
    Done done = session.storeDone();
    assertEquals(Done.State.FAILED, done.getState());
    assertTrue(done.getError().contains("not a JSON object"), done.getError());
  }

  @Test
  void unknownHandlerFailsTheAttempt() throws Exception {
    startWorker(run -> Outputs.none());
    FakeExecutor.Session session = executor.welcome(1);
    session.start(session.run("a").setHandler("other"));
    Done done = session.storeDone();
    assertEquals(Done.State.FAILED, done.getState());
    assertEquals("this worker has no handler named other", done.getError());
  }

  @Test
  void moreRunsThanConcurrencyAreRunAnyway() throws Exception {
    startWorker(this::untilReleased);
    FakeExecutor.Session session = executor.welcome(1);
    for (String ticket : Arrays.asList("a", "b", "c", "d", "e")) {
      session.start(ticket);
    }
    for (int i = 0; i < 5; i++) {
      takeBegun();
    }
    release.countDown();
    for (int i = 0; i < 5; i++) {
      assertEquals(Done.State.COMPLETED, session.storeDone().getState());
    }
  }

  @Test
  void cancelStopsTheFunction() throws Exception {
    startWorker(this::untilStopped);
    FakeExecutor.Session session = executor.welcome(1);
    session.start("a");
    takeBegun();
    session.ask("a", Ask.Why.CANCEL);
    Done done = session.storeDone();
    assertEquals(Done.State.CANCELLED, done.getState());
    assertEquals("the run was cancelled", done.getError());
  }

  @Test
  void timeoutAskedStopsTheFunction() throws Exception {
    startWorker(this::untilStopped);
    FakeExecutor.Session session = executor.welcome(1);
    session.start("a");
    takeBegun();
    session.ask("a", Ask.Why.TIMEOUT);
    assertEquals(Done.State.TIMED_OUT, session.storeDone().getState());
  }

  @Test
  void deadlineStopsTheFunctionWithoutTheExecutor() throws Exception {
    startWorker(this::untilStopped);
    FakeExecutor.Session session = executor.welcome(1);
    session.start(session.run("a").setDeadlineUs(MonotonicClock.us() + 50_000));
    assertEquals(Done.State.TIMED_OUT, session.storeDone().getState());
  }

  @Test
  void leaseStopsTheFunctionThreeSecondsBeforeItsEnd() throws Exception {
    startWorker(this::untilStopped);
    FakeExecutor.Session session = executor.welcome(1);
    long stopUs = MonotonicClock.us() + 100_000;
    session.start(session.run("a").setLeaseEndUs(stopUs + 3_000_000));
    assertEquals(Done.State.LOST, session.storeDone().getState());
    assertTrue(MonotonicClock.us() >= stopUs);
  }

  @Test
  void leaseIsExtendedAndNeverShortened() throws Exception {
    BlockingQueue<Boolean> looks = new LinkedBlockingQueue<>();
    BlockingQueue<Boolean> stopping = new LinkedBlockingQueue<>();
    startWorker(
        run -> {
          begun.add(run.runId());
          while (looks.take()) {
            stopping.add(run.stopping());
          }
          run.check();
          return Outputs.none();
        });
    FakeExecutor.Session session = executor.welcome(1);
    long now = MonotonicClock.us();
    session.start(session.run("a").setLeaseEndUs(now));
    takeBegun();
    looks.add(true);
    assertTrue(stopping.take());
    session.lease("a", now + TimeUnit.HOURS.toMicros(1));
    session.lease("a", now);
    barrier(session);
    looks.add(true);
    assertFalse(stopping.take());
    looks.add(false);
    assertEquals(Done.State.COMPLETED, session.storeDone().getState());
  }

  @Test
  void functionThatReturnsIsCompletedThoughAskedToStop() throws Exception {
    startWorker(this::untilReleased);
    FakeExecutor.Session session = executor.welcome(1);
    session.start("a");
    takeBegun();
    session.ask("a", Ask.Why.CANCEL);
    session.ask("a", Ask.Why.TIMEOUT);
    barrier(session);
    release.countDown();
    Done done = session.storeDone();
    assertEquals(Done.State.COMPLETED, done.getState());
    assertEquals("true", done.getOutputsOrThrow("kept"));
  }

  @Test
  void runOfAnotherSessionIsDropped() throws Exception {
    startWorker(run -> Outputs.none());
    executor.welcome(1).end(Status.UNAVAILABLE);
    FakeExecutor.Session session = executor.welcome(2);
    session.start(session.run("stale").setSession(1));
    session.start("b");
    Done done = session.storeDone();
    assertEquals(ticket("b"), done.getTicket());
    barrier(session);
    assertTrue(session.logs.isEmpty());
  }

  @Test
  void runBeforeWelcomeIsDropped() throws Exception {
    startWorker(run -> Outputs.none());
    FakeExecutor.Session session = executor.accept();
    session.start("early");
    session.number = 5;
    session.send(
        ToWorker.newBuilder()
            .setWelcome(io.carillon.v1.Welcome.newBuilder().setSession(5))
            .addRuns(session.run("b"))
            .build());
    assertEquals(ticket("b"), session.storeDone().getTicket());
    barrier(session);
  }

  @Test
  void heldAndDoneAreRepeatedAfterABreak() throws Exception {
    startWorker(
        run -> run.runId().equals("job@held") ? untilReleased(run) : Outputs.of("n", 1));
    FakeExecutor.Session session = executor.welcome(1);
    session.start("held");
    takeBegun();
    session.start("stored");
    session.storeDone();
    session.start("unconfirmed");
    Done sent = session.takeDone();
    session.end(Status.UNAVAILABLE);

    session = executor.welcome(2);
    assertEquals(Collections.singletonList(ticket("held")), session.hello.getHeldList());
    assertEquals(Collections.singletonList(sent), session.hello.getDoneList());
    session.end(Status.INTERNAL);

    session = executor.welcome(3);
    assertEquals(Collections.singletonList(ticket("held")), session.hello.getHeldList());
    assertEquals(Collections.singletonList(sent), session.hello.getDoneList());
    session.confirm("unconfirmed");
    barrier(session);
    release.countDown();
    assertEquals(ticket("held"), session.storeDone().getTicket());
    barrier(session);
    session.end(Status.UNAVAILABLE);

    session = executor.welcome(4);
    assertEquals(0, session.hello.getHeldCount());
    assertEquals(0, session.hello.getDoneCount());
  }

  @Test
  void functionThatEndsDuringABreakIsReported() throws Exception {
    startWorker(
        run -> {
          Outputs outputs = untilReleased(run);
          run.log("ended");
          return outputs;
        });
    FakeExecutor.Session session = executor.welcome(1);
    session.start("a");
    takeBegun();
    executor.close();
    release.countDown();
    executor = new FakeExecutor(socket);

    // Whether the function had ended before this Hello is a matter of chance, and so is whether its
    // line was given to the broken stream. OutboxTest has the cases one by one.
    session = executor.welcome(2);
    if (session.hello.getDoneCount() == 0) {
      assertEquals(Collections.singletonList(ticket("a")), session.hello.getHeldList());
      assertEquals(Done.State.COMPLETED, session.storeDone().getState());
    } else {
      assertEquals(ticket("a"), session.hello.getDone(0).getTicket());
      assertEquals(Done.State.COMPLETED, session.hello.getDone(0).getState());
      assertEquals(0, session.hello.getHeldCount());
    }
  }

  @Test
  void shutdownHookDrains() throws Exception {
    Process program =
        new ProcessBuilder(
                System.getProperty("java.home") + "/bin/java",
                "-Xshare:auto",
                "-cp",
                System.getProperty("java.class.path"),
                Program.class.getName(),
                socket.toString())
            .inheritIO()
            .start();
    try {
      FakeExecutor.Session session = executor.welcome(1);
      session.start("a");
      while (session.logs.isEmpty()) {
        session.take(); // the function began
      }
      program.destroy(); // SIGTERM
      session.takeDraining();
      session.ask("a", Ask.Why.CANCEL);
      assertEquals(Done.State.CANCELLED, session.storeDone().getState());
      assertTrue(program.waitFor(60, TimeUnit.SECONDS));
    } finally {
      program.destroyForcibly();
    }
  }

  /** A program that a user could have written. */
  static final class Program {
    public static void main(String[] arguments) throws InterruptedException {
      Worker worker = Worker.builder("billing").socket(arguments[0]).build();
      worker
          .handler("work")
          .run(
              run -> {
                run.log("began");
                run.waitFor(LONG);
                return Outputs.none();
              });
      worker.start();
      worker.await();
    }
  }

  @Test
  void duplicateTicketIsIgnored() throws Exception {
    startWorker(this::untilReleased);
    FakeExecutor.Session session = executor.welcome(1);
    session.start("a");
    takeBegun();
    session.start("a"); // while it runs
    release.countDown();
    session.takeDone();
    session.start("a"); // before it is confirmed
    barrier(session);
    session.confirm("a");
    session.start("a"); // after it is confirmed
    barrier(session);
    assertNull(begun.poll(), "a function began twice");
  }

  @Test
  void drainWaitsForFunctionsAndConfirmations() throws Exception {
    startWorker(LONG, this::untilReleased);
    FakeExecutor.Session session = executor.welcome(1);
    session.start("a");
    takeBegun();
    Thread drain = new Thread(worker::drain);
    drain.start();
    session.takeDraining();
    release.countDown();
    assertEquals(Done.State.COMPLETED, session.takeDone().getState());
    assertTrue(drain.isAlive());
    session.confirm("a");
    drain.join(60_000);
    assertFalse(drain.isAlive());
    session.awaitEnd();
    worker.await();
  }

  @Test
  void drainStopsFunctionsAfterItsTimeout() throws Exception {
    startWorker(Duration.ofMillis(50), this::untilStopped);
    FakeExecutor.Session session = executor.welcome(1);
    session.start("a");
    takeBegun();
    Thread drain = new Thread(worker::drain);
    drain.start();
    Done done = session.takeDone();
    assertEquals(Done.State.LOST, done.getState());
    assertEquals("the worker is stopping", done.getError());
    assertFalse(done.getNeverBegan());
    session.start("late");
    done = session.takeDone();
    assertEquals(ticket("late"), done.getTicket());
    assertEquals(Done.State.LOST, done.getState());
    assertTrue(done.getNeverBegan());
    assertTrue(begun.isEmpty());
    session.confirm("a");
    session.confirm("late");
    drain.join(60_000);
    assertFalse(drain.isAlive());
  }

  @Test
  void drainingIsRepeatedAfterABreak() throws Exception {
    startWorker(LONG, this::untilReleased);
    FakeExecutor.Session session = executor.welcome(1);
    session.start("a");
    takeBegun();
    Thread drain = new Thread(worker::drain);
    drain.start();
    session.takeDraining();
    session.end(Status.UNAVAILABLE);
    session = executor.welcome(2);
    assertTrue(session.first.getDraining());
    release.countDown();
    session.storeDone();
    drain.join(60_000);
    assertFalse(drain.isAlive());
  }

  @Test
  void drainWaitsForWhatIsOnItsWay() throws Exception {
    executor.answersDraining = false;
    startWorker(LONG, run -> Outputs.none());
    FakeExecutor.Session session = executor.welcome(1);
    Thread drain = new Thread(worker::drain);
    drain.start();
    session.takeDraining();
    session.start("a"); // crossed the message
    Done done = session.storeDone();
    assertEquals(Done.State.LOST, done.getState());
    assertTrue(done.getNeverBegan());
    session.send(ToWorker.newBuilder().setDrained(true).build());
    drain.join(60_000);
    assertFalse(drain.isAlive());
  }

  @Test
  void drainDoesNotWaitLongForAnExecutorThatDoesNotAnswer() throws Exception {
    executor.answersDraining = false;
    startWorker(LONG, run -> Outputs.none());
    executor.welcome(1);
    long begun = System.nanoTime();
    worker.drain();
    assertTrue(System.nanoTime() - begun >= TimeUnit.SECONDS.toNanos(2));
  }

  @Test
  void drainGivesUpOnAnExecutorThatConfirmsNothing() throws Exception {
    startWorker(run -> Outputs.none());
    FakeExecutor.Session session = executor.welcome(1);
    session.start("a");
    session.takeDone();
    worker.drain();
    worker.await();
  }

  @Test
  void refusalEndsTheWorker() throws Exception {
    for (Status status :
        Arrays.asList(
            Status.PERMISSION_DENIED, Status.FAILED_PRECONDITION, Status.INVALID_ARGUMENT)) {
      startWorker(run -> Outputs.none());
      executor.accept().end(status.withDescription("user 7 may not run billing"));
      WorkerRefusedException refused =
          assertThrows(WorkerRefusedException.class, worker::await);
      assertEquals(status.getCode().name(), refused.code());
      assertTrue(refused.getMessage().contains("user 7 may not run billing"));
    }
  }

  @Test
  void refusalIsNotFinalWhileThereIsSomethingToReport() throws Exception {
    startWorker(this::untilReleased);
    FakeExecutor.Session session = executor.welcome(1);
    session.start("a");
    takeBegun();
    session.end(Status.PERMISSION_DENIED);
    executor.accept().end(Status.INVALID_ARGUMENT);
    release.countDown(); // it returns, and its result is not confirmed
    executor.accept().end(Status.FAILED_PRECONDITION);
    session = executor.welcome(2);
    if (session.hello.getDoneCount() == 1) {
      session.confirm("a");
    } else {
      session.storeDone();
    }
    barrier(session);
    session.end(Status.PERMISSION_DENIED);
    assertThrows(WorkerRefusedException.class, worker::await);
  }

  @Test
  void eachWorkerHasAnInstanceOfItsOwn() throws Exception {
    startWorker(run -> Outputs.none());
    FakeExecutor.Session first = executor.welcome(1);
    first.end(Status.UNAVAILABLE);
    FakeExecutor.Session again = executor.welcome(2);
    assertEquals(first.hello.getInstance(), again.hello.getInstance());
    Worker other = worker;
    try {
      startWorker(run -> Outputs.none());
      FakeExecutor.Session second = executor.welcome(3);
      assertNotEquals(first.hello.getInstance(), second.hello.getInstance());
    } finally {
      other.drain();
    }
  }

  @Test
  void progressMustBeFinite() throws Exception {
    BlockingQueue<String> refused = new LinkedBlockingQueue<>();
    startWorker(
        run -> {
          for (double of : new double[] {Double.POSITIVE_INFINITY, Double.NaN, 0}) {
            try {
              run.progress(of, of, "");
            } catch (IllegalArgumentException e) {
              refused.add(e.getMessage());
            }
          }
          return Outputs.none();
        });
    FakeExecutor.Session session = executor.welcome(1);
    session.start("a");
    session.storeDone();
    assertEquals(3, refused.size());
  }

  @Test
  void otherErrorsAreRetried() throws Exception {
    startWorker(run -> Outputs.none());
    for (Status status :
        Arrays.asList(Status.RESOURCE_EXHAUSTED, Status.UNAVAILABLE, Status.UNAUTHENTICATED)) {
      executor.accept().end(status);
    }
    FakeExecutor.Session session = executor.welcome(1);
    session.start("a");
    session.storeDone();
  }

  @Test
  void workerWaitsForASocketThatIsMissing() throws Exception {
    executor.close();
    java.nio.file.Files.deleteIfExists(socket);
    startWorker(run -> Outputs.none());
    executor = new FakeExecutor(socket);
    FakeExecutor.Session session = executor.welcome(1);
    session.start("a");
    session.storeDone();
  }

  @Test
  void manyRunsAndLinesArriveOnceAndInOrder() throws Exception {
    startWorker(
        run -> {
          for (int i = 0; i < 20; i++) {
            run.log("%s %d", run.runId(), i);
          }
          return Outputs.none();
        });
    FakeExecutor.Session session = executor.welcome(1);
    ToWorker.Builder runs = ToWorker.newBuilder();
    for (int i = 0; i < 200; i++) {
      runs.addRuns(session.run("t" + i));
    }
    session.send(runs.build());
    HashSet<Object> tickets = new HashSet<>();
    for (int i = 0; i < 200; i++) {
      Done done = session.storeDone();
      tickets.add(done.getTicket());
      List<String> lines =
          session.logs.stream()
              .filter(line -> line.getTicket().equals(done.getTicket()))
              .map(LogLine::getText)
              .collect(Collectors.toList());
      assertEquals(20, lines.size());
      for (int n = 0; n < 20; n++) {
        assertEquals("job@" + done.getTicket().toStringUtf8() + " " + n, lines.get(n));
      }
    }
    assertEquals(200, tickets.size());
  }

  /** Returns after the worker has handled all that was sent before. */
  private void barrier(FakeExecutor.Session session) throws InterruptedException {
    String name = "barrier" + System.nanoTime();
    session.start(session.run(name).setHandler("barrier"));
    assertEquals(ticket(name), session.storeDone().getTicket());
  }

  private static List<String> texts(FakeExecutor.Session session, boolean error) {
    return session.logs.stream()
        .filter(line -> line.getError() == error)
        .map(LogLine::getText)
        .collect(Collectors.toList());
  }
}
