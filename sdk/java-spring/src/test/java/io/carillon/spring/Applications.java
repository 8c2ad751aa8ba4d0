package io.carillon.spring;

import java.util.Arrays;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** Starts small applications with the starter. */
final class Applications {
  private Applications() {}

  /** The starter without the other automatic configurations, which take a second. */
  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration(CarillonAutoConfiguration.class)
  static class Starter {}

  /** Starts an application of these beans and properties ("name=value"). */
  static ConfigurableApplicationContext start(Class<?> beans, String... properties) {
    // As arguments, which precede what Spring Boot finds out itself.
    String[] arguments =
        Arrays.stream(properties).map(one -> "--" + one).toArray(String[]::new);
    return new SpringApplicationBuilder(Starter.class, beans)
        .web(WebApplicationType.NONE)
        .registerShutdownHook(false)
        .run(arguments);
  }
}
