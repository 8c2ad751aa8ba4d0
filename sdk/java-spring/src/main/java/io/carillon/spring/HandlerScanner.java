package io.carillon.spring;

import io.carillon.worker.Outputs;
import io.carillon.worker.Run;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.scheduling.annotation.Async;

/**
 * Finds the {@link CarillonHandler} methods of all beans, when all singletons are there.
 *
 * <p>A lazy bean with such a method is made here. A handler that could not work is refused now, and
 * so the application does not start: a run that fails at night would say the same too late.
 */
final class HandlerScanner implements SmartInitializingSingleton, BeanFactoryAware {
  private static final Log LOG = LogFactory.getLog(HandlerScanner.class);

  /** The scope of Spring Cloud, whose proxy always has a bean behind it, in any thread. */
  private static final String REFRESH_SCOPE = "refresh";

  private ConfigurableListableBeanFactory beans;
  private final Map<String, BeanHandler> handlers = new LinkedHashMap<>();
  private final List<String> problems = new ArrayList<>();

  @Override
  public void setBeanFactory(BeanFactory beanFactory) {
    beans = (ConfigurableListableBeanFactory) beanFactory;
  }

  /** Returns the handlers by their distinct names. */
  Collection<BeanHandler> handlers() {
    return Collections.unmodifiableCollection(handlers.values());
  }

  /**
   * @throws IllegalStateException if there are handlers that cannot be offered; names all of them
   */
  @Override
  public void afterSingletonsInstantiated() {
    for (String bean : beans.getBeanNamesForType(Object.class)) {
      if (!ScopedProxyUtils.isScopedTarget(bean)) {
        methods(bean).forEach((method, annotation) -> add(bean, method, annotation));
      }
    }
    if (!problems.isEmpty()) {
      throw new IllegalStateException(String.join("\n", problems));
    }
  }

  private Map<Method, CarillonHandler> methods(String bean) {
    try {
      Class<?> type = AutoProxyUtils.determineTargetClass(beans, bean);
      if (type == null || !AnnotationUtils.isCandidateClass(type, CarillonHandler.class)) {
        return Collections.emptyMap();
      }
      MethodIntrospector.MetadataLookup<CarillonHandler> annotation =
          method -> AnnotatedElementUtils.findMergedAnnotation(method, CarillonHandler.class);
      return MethodIntrospector.selectMethods(type, annotation);
    } catch (RuntimeException | LinkageError e) {
      // Its class names others that are absent, as classes with optional parts do.
      LOG.debug("the methods of bean " + bean + " cannot be listed", e);
      return Collections.emptyMap();
    }
  }

  private void add(String bean, Method method, CarillonHandler annotation) {
    String place =
        "bean " + bean + ", " + method.getDeclaringClass().getName() + "." + method.getName() + "()";
    String problem = problem(bean, method);
    if (problem != null) {
      problems.add("@CarillonHandler(\"" + annotation.value() + "\") of " + place + ": " + problem);
      return;
    }
    Object instance = beans.getBean(bean);
    Method invocable;
    try {
      invocable = AopUtils.selectInvocableMethod(method, instance.getClass());
    } catch (IllegalStateException e) { // its interfaces lack the method
      problems.add(place + ": " + e.getMessage());
      return;
    }
    BeanHandler handler = new BeanHandler(annotation, place, instance, invocable);
    BeanHandler other = handlers.putIfAbsent(handler.name, handler);
    if (other != null) {
      problems.add(
          "two handlers have the name \"" + handler.name + "\": " + other.place + " and " + place);
    }
  }

  /** Returns why the method cannot be a handler, or null. */
  private String problem(String bean, Method method) {
    if (Modifier.isPrivate(method.getModifiers()) || Modifier.isStatic(method.getModifiers())) {
      return "a handler is neither private nor static, because it is called through its bean";
    }
    Class<?>[] parameters = method.getParameterTypes();
    if (parameters.length > 1 || (parameters.length == 1 && parameters[0] != Run.class)) {
      return "a handler has one parameter of type io.carillon.worker.Run, or none, not "
          + Arrays.toString(parameters);
    }
    Class<?> returned = method.getReturnType();
    if (returned != void.class
        && returned != Void.class
        && returned != Outputs.class
        && !Map.class.isAssignableFrom(returned)) {
      return "a handler returns void, Map or io.carillon.worker.Outputs, not " + returned.getName();
    }
    if (AnnotatedElementUtils.hasAnnotation(method, Async.class)
        || AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), Async.class)) {
      return "a handler is not @Async: its run would end before its work";
    }
    String scope = scope(bean);
    if (!scope.equals(BeanDefinition.SCOPE_SINGLETON) && !scope.equals(REFRESH_SCOPE)) {
      return "a handler belongs to a singleton, and this bean has the scope " + scope;
    }
    if (Modifier.isFinal(method.getModifiers()) && AopUtils.isCglibProxy(beans.getBean(bean))) {
      return "the method is final, so the proxy of its bean cannot pass calls on";
    }
    return null;
  }

  private String scope(String bean) {
    String target = ScopedProxyUtils.getTargetBeanName(bean);
    String defined = beans.containsBeanDefinition(target) ? target : bean;
    String scope =
        beans.containsBeanDefinition(defined)
            ? beans.getMergedBeanDefinition(defined).getScope()
            : null;
    if (scope != null && !scope.isEmpty() && !scope.equals(BeanDefinition.SCOPE_SINGLETON)) {
      return scope;
    }
    // A factory that makes a new object for each caller is itself a singleton.
    return beans.isSingleton(bean)
        ? BeanDefinition.SCOPE_SINGLETON
        : BeanDefinition.SCOPE_PROTOTYPE;
  }
}
