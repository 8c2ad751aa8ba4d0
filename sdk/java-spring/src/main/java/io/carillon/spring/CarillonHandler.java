package io.carillon.spring;

import io.carillon.worker.Outputs;
import io.carillon.worker.Run;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Map;

/**
 * Offers a method of a bean as a handler. A job calls it as "application/name".
 *
 * <p>The method takes a {@link Run} or nothing, and returns nothing, {@link Outputs} or a {@link
 * Map} of outputs. An exception fails the attempt; its stack trace is in the run's log.
 *
 * <pre>{@code
 * @CarillonHandler("close_day")
 * public Map<String, Object> closeDay(Run run) { … }
 * }</pre>
 *
 * <p>It is called through the bean, so {@code @Transactional} and other aspects apply.
 */
@Documented
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface CarillonHandler {
  /** The name of the handler: {@code [a-z0-9][a-z0-9_.-]{0,62}}, unique in the application. */
  String value();

  /** How many attempts may run at once in this process, 1 to 10,000. */
  int concurrency() default 1;
}
