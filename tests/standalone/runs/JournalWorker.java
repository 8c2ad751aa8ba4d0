import com.google.gson.Gson;
import io.carillon.worker.FailureException;
import io.carillon.worker.HandlerFunction;
import io.carillon.worker.NoRetryException;
import io.carillon.worker.Outputs;
import io.carillon.worker.RetryAfterException;
import io.carillon.worker.Run;
import io.carillon.worker.RunLogHandler;
import io.carillon.worker.StoppedException;
import io.carillon.worker.Worker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Logger;

/** As journal_worker.py, with the Java SDK: JournalWorker APP JOURNAL CONCURRENCY. */
public class JournalWorker {
  private static final Logger ledger = Logger.getLogger("ledger");
  private static Path journal;
  private static final CountDownLatch opened = new CountDownLatch(1);
  private static int active;

  private static synchronized void note(Run run, String what, Map<String, Object> more) throws Exception {
    Map<String, Object> line = new LinkedHashMap<>(more);
    line.put("run", run.runId());
    line.put("attempt", run.attempt());
    line.put("what", what);
    Files.write(journal, (new Gson().toJson(line) + "\n").getBytes("UTF-8"), StandardOpenOption.APPEND);
  }

  // Opens when the standard input is closed. A line there makes a second worker.
  private static void awaitGate(String app, int concurrency) {
    try {
      for (int read = System.in.read(); read >= 0; read = System.in.read()) {
        if (read == '\n') offer(app + "-b", concurrency);
      }
    } catch (java.io.IOException closed) {
      // as at its end
    }
    opened.countDown();
  }

  private static synchronized int enter() {
    return ++active;
  }

  private static synchronized void leave() {
    --active;
  }

  private static HandlerFunction noted(HandlerFunction function) {
    return run -> {
      Map<String, Object> begin = new LinkedHashMap<>();
      begin.put("parameters", run.parameters());
      begin.put("env", run.env());
      begin.put("together", enter());
      note(run, "begin", begin);
      try {
        return function.run(run);
      } finally {
        leave();
        note(run, "end", Collections.emptyMap());
      }
    };
  }

  public static void main(String[] args) throws Exception {
    journal = Paths.get(args[1]);
    ledger.addHandler(new RunLogHandler());
    int concurrency = Integer.parseInt(args[2]);
    Thread gate = new Thread(() -> awaitGate(args[0], concurrency));
    gate.setDaemon(true);
    gate.start();
    offer(args[0], concurrency).await();
  }

  private static Worker offer(String app, int concurrency) {
    Worker worker = Worker.of(app);
    worker.handler("work").concurrency(concurrency).run(noted(run -> {
      run.log("the password is %s", run.env().get("PASSWORD"));
      return Outputs.of("answer", 42, "text", run.env().getOrDefault("PASSWORD", "none"));
    }));
    worker.handler("fail_once").concurrency(concurrency).run(noted(run -> {
      if (run.attempt() == 1) throw new IllegalStateException("the first attempt fails");
      return Outputs.none();
    }));
    worker.handler("never_again").concurrency(concurrency).run(noted(run -> {
      throw new NoRetryException("the file is empty");
    }));
    worker.handler("later").concurrency(concurrency).run(noted(run -> {
      if (run.attempt() == 1) throw new RetryAfterException(Duration.ofSeconds(2), "busy");
      return Outputs.none();
    }));
    worker.handler("out_of_stock").concurrency(concurrency).run(noted(run -> {
      throw new FailureException("none left", "out_of.stock", null);
    }));
    // Writes more than the limit of a log: one huge line, or many small ones.
    worker.handler("talk").concurrency(concurrency).run(noted(run -> {
      if (Boolean.TRUE.equals(run.parameter("huge"))) {
        run.print(new String(new char[200_000]).replace('\0', 'x'));
      } else {
        for (int i = 0; i < 20_000; i++) run.print("line " + i);
      }
      return Outputs.none();
    }));
    worker.handler("too_much").concurrency(concurrency).run(noted(run ->
        Outputs.of("big", new String(new char[20_000]).replace('\0', 'x'), "small", "y")));
    worker.handler("speak").concurrency(concurrency).run(noted(run -> {
      ledger.warning("logged: " + run.env().get("PASSWORD"));
      return Outputs.none();
    }));
    worker.handler("hold").concurrency(concurrency).run(noted(run -> {
      while (opened.getCount() > 0) run.waitFor(Duration.ofMillis(20));
      return Outputs.none();
    }));
    // Notes that it should stop, and does so only when the gate opens.
    worker.handler("stubborn").concurrency(concurrency).run(noted(run -> {
      try {
        while (opened.getCount() > 0) run.waitFor(Duration.ofMillis(20));
      } catch (StoppedException stopped) {
        note(run, "stopping", Collections.emptyMap());
        opened.await();
        throw stopped;
      }
      return Outputs.none();
    }));
    // Continues from the checkpoint of the attempt before, saves one, and fails; the third attempt succeeds.
    worker.handler("resume").concurrency(concurrency).run(noted(run -> {
      String found = new String(run.checkpoint().orElse("none".getBytes("UTF-8")), "UTF-8");
      note(run, "resume", Collections.singletonMap("checkpoint", found));
      run.saveCheckpoint(("state " + run.attempt()).getBytes("UTF-8"));
      run.progress(run.attempt(), 4, "so far");
      if (run.attempt() == 1 && Boolean.TRUE.equals(run.parameter("hold"))) {
        while (opened.getCount() > 0) run.waitFor(Duration.ofMillis(20));
        run.saveCheckpoint("last words".getBytes("UTF-8"));
      }
      if (run.attempt() < 3) throw new IllegalStateException("not done yet");
      return Outputs.none();
    }));
    worker.start();
    return worker;
  }
}
