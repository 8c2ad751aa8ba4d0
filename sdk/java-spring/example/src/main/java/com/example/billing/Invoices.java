package com.example.billing;

import io.carillon.spring.CarillonHandler;
import io.carillon.worker.Run;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** The letters to customers. */
@Component
public class Invoices {
  private static final Logger LOG = LoggerFactory.getLogger(Invoices.class);

  /** Sends an invoice to the parameter "customer". */
  @CarillonHandler("send_invoices")
  public void send(Run run) {
    Object customer = run.parameter("customer");
    if (customer == null) {
      throw new IllegalArgumentException("the parameter customer is missing");
    }
    LOG.info("sent an invoice to {}", customer); // also in the log of the run
  }
}
