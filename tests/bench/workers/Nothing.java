import io.carillon.worker.Outputs;
import io.carillon.worker.Worker;

/** As nothing.py, with the Java SDK. */
public class Nothing {
  public static void main(String[] args) throws Exception {
    Worker worker = Worker.of("bench");
    worker.handler("nothing").concurrency(4096).run(run -> Outputs.none());
    worker.start();
    worker.await();
  }
}
