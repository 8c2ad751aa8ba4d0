package io.carillon.spring;

import io.carillon.worker.HandlerFunction;
import io.carillon.worker.Outputs;
import io.carillon.worker.Run;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Map;
import org.springframework.util.ReflectionUtils;

/** A method of a bean as a handler. */
final class BeanHandler implements HandlerFunction {
  final String name;
  final int concurrency;

  /** The bean and the method, for messages. */
  final String place;

  private final Object bean;
  private final Method method;

  /**
   * @param method can be invoked on the bean, and takes a {@link Run} or nothing
   */
  BeanHandler(CarillonHandler annotation, String place, Object bean, Method method) {
    this.name = annotation.value();
    this.concurrency = annotation.concurrency();
    this.place = place;
    this.bean = bean;
    this.method = method;
    ReflectionUtils.makeAccessible(method);
  }

  @Override
  public Outputs run(Run run) throws Exception {
    Object returned;
    try {
      returned = method.getParameterCount() == 0 ? method.invoke(bean) : method.invoke(bean, run);
    } catch (InvocationTargetException e) {
      ReflectionUtils.rethrowException(e.getTargetException());
      throw e; // not reached
    }
    if (returned instanceof Outputs) {
      return (Outputs) returned;
    }
    return returned == null ? Outputs.none() : outputs((Map<?, ?>) returned);
  }

  @SuppressWarnings("unchecked") // a key that is not a text is told in the run's log
  private static Outputs outputs(Map<?, ?> values) {
    return Outputs.of((Map<String, ?>) values);
  }
}
