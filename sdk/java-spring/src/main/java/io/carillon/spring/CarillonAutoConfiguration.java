package io.carillon.spring;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

/**
 * Offers the {@link CarillonHandler} methods of all beans, unless {@code carillon.worker.enabled}
 * is false. Both beans are eager also in applications whose other beans are lazy.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(
    prefix = "carillon.worker",
    name = "enabled",
    havingValue = "true",
    matchIfMissing = true)
@EnableConfigurationProperties(CarillonProperties.class)
public class CarillonAutoConfiguration {
  @Bean
  @Lazy(false)
  static HandlerScanner carillonHandlerScanner() {
    return new HandlerScanner();
  }

  @Bean
  @Lazy(false)
  WorkerLifecycle carillonWorker(
      HandlerScanner scanner, CarillonProperties properties, Environment environment) {
    return new WorkerLifecycle(scanner, properties, environment);
  }
}
