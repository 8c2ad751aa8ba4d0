import com.google.gson.Gson;
import io.carillon.worker.HandlerFunction;
import io.carillon.worker.Outputs;
import io.carillon.worker.Run;
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

/** As journal_worker.py, with the Java SDK: JournalWorker APP JOURNAL GATE CONCURRENCY. */
public class JournalWorker {
  private static Path journal;
  private static Path gate;
  private static int active;

  private static synchronized void note(Run run, String what, Map<String, Object> more) throws Exception {
    Map<String, Object> line = new LinkedHashMap<>(more);
    line.put("run", run.runId());
    line.put("attempt", run.attempt());
    line.put("what", what);
    Files.write(journal, (new Gson().toJson(line) + "\n").getBytes("UTF-8"), StandardOpenOption.APPEND);
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
    Worker worker = Worker.of(args[0]);
    journal = Paths.get(args[1]);
    gate = Paths.get(args[2]);
    int concurrency = Integer.parseInt(args[3]);
    worker.handler("work").concurrency(concurrency).run(noted(run -> {
      run.log("the password is %s", run.env().get("PASSWORD"));
      return Outputs.of("answer", 42, "text", run.env().getOrDefault("PASSWORD", "none"));
    }));
    worker.handler("fail_once").concurrency(concurrency).run(noted(run -> {
      if (run.attempt() == 1) throw new IllegalStateException("the first attempt fails");
      return Outputs.none();
    }));
    worker.handler("hold").concurrency(concurrency).run(noted(run -> {
      while (!Files.exists(gate)) run.waitFor(Duration.ofMillis(20));
      return Outputs.none();
    }));
    // Notes that it should stop, and does so only when the gate opens.
    worker.handler("stubborn").concurrency(concurrency).run(noted(run -> {
      boolean told = false;
      while (!Files.exists(gate)) {
        try {
          run.waitFor(Duration.ofMillis(20));
        } catch (StoppedException stopped) {
          if (!told) note(run, "stopping", Collections.emptyMap());
          told = true;
          Thread.sleep(20);
        }
      }
      run.check();
      return Outputs.none();
    }));
    worker.start();
    worker.await();
  }
}
