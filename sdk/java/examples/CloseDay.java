import io.carillon.worker.Outputs;
import io.carillon.worker.Worker;
import java.time.Duration;

/** Offers billing/close_day. README.md says how to run it. */
public class CloseDay {
  public static void main(String[] args) throws InterruptedException {
    Worker worker = Worker.of("billing");
    worker.handler("close_day").concurrency(2).run(run -> {
      for (int account = run.shardIndex(); account < 10; account += run.shardTotal()) {
        run.waitFor(Duration.ofMillis(200)); // throws when the function should stop
        run.log("closed account %d for %s", account, run.runId());
      }
      return Outputs.of("day", run.fireTime().toString());
    });
    worker.start();
    worker.await(); // until SIGTERM or SIGINT has drained the worker
  }
}
