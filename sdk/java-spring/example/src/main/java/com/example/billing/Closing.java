package com.example.billing;

import io.carillon.spring.CarillonHandler;
import io.carillon.worker.Run;
import java.time.Duration;
import java.util.Map;
import org.springframework.stereotype.Component;

/** The end of a business day. */
@Component
public class Closing {
  private static final Duration TIME_PER_ACCOUNT = Duration.ofMillis(100);

  /** Closes as many accounts as the parameter "accounts" says, one after the other. */
  @CarillonHandler(value = "close_day", concurrency = 2)
  public Map<String, Object> closeDay(Run run) throws InterruptedException {
    long accounts = (Long) run.parameters().getOrDefault("accounts", 3L);
    for (long account = 1; account <= accounts; ++account) {
      run.waitFor(TIME_PER_ACCOUNT); // the work; throws when the run should stop
      run.log("closed account %d for %s", account, run.runId());
      run.progress(account, accounts, "accounts");
    }
    return Map.of("closed", accounts);
  }
}
