package com.example.billing;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Offers billing/close_day and billing/send_invoices as handlers, until it is stopped. */
@SpringBootApplication
public class BillingApplication {
  public static void main(String[] arguments) {
    SpringApplication.run(BillingApplication.class, arguments);
  }
}
