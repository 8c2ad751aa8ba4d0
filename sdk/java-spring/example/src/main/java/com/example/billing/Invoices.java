package com.example.billing;

import io.carillon.spring.CarillonHandler;
import io.carillon.worker.Run;
import org.springframework.stereotype.Component;

/** The letters to customers. */
@Component
public class Invoices {
  /** Sends an invoice to the parameter "customer". */
  @CarillonHandler("send_invoices")
  public void send(Run run) {
    Object customer = run.parameter("customer");
    if (customer == null) {
      throw new IllegalArgumentException("the parameter customer is missing");
    }
    run.log("sent an invoice to %s", customer);
  }
}
