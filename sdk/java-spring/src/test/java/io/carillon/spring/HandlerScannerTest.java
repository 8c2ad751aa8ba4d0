package io.carillon.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.carillon.worker.Outputs;
import io.carillon.worker.Run;
import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.scheduling.annotation.Async;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Which methods of which beans become handlers, and how they are called. */
class HandlerScannerTest {
  private static final String PREFIX = HandlerScannerTest.class.getName() + "$";

  private static AnnotationConfigApplicationContext scan(Class<?>... beans) {
    AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    context.getBeanFactory().registerScope("refresh", new SimpleThreadScope());
    context.getBeanFactory().registerScope("request", new SimpleThreadScope());
    context.register(HandlerScanner.class);
    for (Class<?> bean : beans) {
      context.registerBean(bean.getSimpleName(), bean);
    }
    context.refresh();
    return context;
  }

  private static Map<String, BeanHandler> handlers(Class<?>... beans) {
    Map<String, BeanHandler> named = new TreeMap<>();
    for (BeanHandler handler : scan(beans).getBean(HandlerScanner.class).handlers()) {
      named.put(handler.name, handler);
    }
    return named;
  }

  /** Returns the message of the refusal, without the package of the classes here. */
  private static String refusal(Class<?>... beans) {
    String message = assertThrows(IllegalStateException.class, () -> scan(beans)).getMessage();
    return message.replace(PREFIX, "");
  }

  @Target(ElementType.METHOD)
  @Retention(RetentionPolicy.RUNTIME)
  @CarillonHandler(value = "composed", concurrency = 3)
  @interface Composed {}

  static class Forms {
    @CarillonHandler("nothing")
    public void nothing() {}

    @CarillonHandler("with_run")
    public void withRun(Run run) {}

    @CarillonHandler("a.map")
    public Map<String, Object> map() {
      return Collections.singletonMap("closed", 3);
    }

    @CarillonHandler(value = "outputs", concurrency = 2)
    Outputs outputs(Run run) {
      return Outputs.of("closed", 3);
    }

    @CarillonHandler("odd_map")
    public Map<Integer, Object> oddMap() {
      return Collections.singletonMap(1, null);
    }

    @Composed
    protected void composed() {}

    @CarillonHandler("null_map")
    public Map<String, String> nullMap() {
      return null;
    }
  }

  @Test
  void methodsOfAllFormsAreFoundAndCalled() throws Exception {
    Map<String, BeanHandler> found = handlers(Forms.class);
    assertEquals(
        new TreeSet<>(
            Arrays.asList(
                "nothing", "with_run", "a.map", "outputs", "odd_map", "composed", "null_map")),
        found.keySet());
    assertEquals(1, found.get("nothing").concurrency);
    assertEquals(2, found.get("outputs").concurrency);
    assertEquals(3, found.get("composed").concurrency);
    assertSame(Outputs.none(), found.get("nothing").run(null));
    assertSame(Outputs.none(), found.get("with_run").run(null));
    assertSame(Outputs.none(), found.get("null_map").run(null));
    assertSame(Outputs.none(), found.get("composed").run(null));
    for (String name : Arrays.asList("a.map", "outputs", "odd_map")) {
      assertFalse(found.get(name).run(null) == Outputs.none(), name);
    }
  }

  static class Base {
    @CarillonHandler("inherited")
    public void inherited() {}
  }

  static class Derived extends Base {
    @Override
    public void inherited() {}
  }

  interface Closer {
    @CarillonHandler("by_interface")
    void close();
  }

  @Configuration(proxyBeanMethods = false)
  static class Declared {
    @Bean
    @Lazy
    Closer closer() {
      return () -> {};
    }
  }

  @Test
  void inheritedAndDeclaredMethodsAreFoundOnce() {
    assertEquals(
        new TreeSet<>(Arrays.asList("by_interface", "inherited")),
        handlers(Derived.class, Declared.class).keySet());
  }

  static class Failing {
    @CarillonHandler("checked")
    public void checked() throws IOException {
      throw new IOException("no space");
    }

    @CarillonHandler("error")
    public void error() {
      throw new StackOverflowError("too deep");
    }
  }

  @Test
  void exceptionIsThatOfTheMethod() {
    Map<String, BeanHandler> found = handlers(Failing.class);
    IOException e = assertThrows(IOException.class, () -> found.get("checked").run(null));
    assertEquals("no space", e.getMessage());
    assertEquals("checked", e.getStackTrace()[0].getMethodName());
    assertThrows(StackOverflowError.class, () -> found.get("error").run(null));
  }

  /** Notes how transactions end, instead of a database. */
  static class Transactions extends AbstractPlatformTransactionManager {
    private static final long serialVersionUID = 1L;
    final List<String> ends = new ArrayList<>();

    @Override
    protected Object doGetTransaction() {
      return "transaction";
    }

    @Override
    protected void doBegin(Object transaction, TransactionDefinition definition) {}

    @Override
    protected void doCommit(DefaultTransactionStatus status) {
      ends.add("commit");
    }

    @Override
    protected void doRollback(DefaultTransactionStatus status) {
      ends.add("rollback");
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement(proxyTargetClass = true)
  static class ByClass {
    @Bean
    PlatformTransactionManager transactions() {
      return new Transactions();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement
  static class ByInterface {
    @Bean
    PlatformTransactionManager transactions() {
      return new Transactions();
    }
  }

  @Transactional
  static class Ledger {
    private final String field = "set";

    @CarillonHandler("book")
    public Map<String, Object> book() {
      return Collections.singletonMap(
          field, TransactionSynchronizationManager.isActualTransactionActive());
    }

    @CarillonHandler("fail")
    public void fail() {
      throw new IllegalArgumentException("unbalanced");
    }
  }

  @Test
  void transactionsSurroundCalls() throws Exception {
    AnnotationConfigApplicationContext context = scan(ByClass.class, Ledger.class);
    assertTrue(AopUtils.isCglibProxy(context.getBean(Ledger.class)));
    for (BeanHandler handler : context.getBean(HandlerScanner.class).handlers()) {
      if (handler.name.equals("book")) {
        handler.run(null);
      } else {
        assertThrows(IllegalArgumentException.class, () -> handler.run(null));
      }
    }
    Set<String> ends = new TreeSet<>(context.getBean(Transactions.class).ends);
    assertEquals(new TreeSet<>(Arrays.asList("commit", "rollback")), ends);
  }

  @Transactional
  static class Service implements Runnable {
    @Override
    @CarillonHandler("run")
    public void run() {}

    @CarillonHandler("hidden")
    public void hidden() {}
  }

  @Transactional
  static class Whole implements Runnable {
    @Override
    @CarillonHandler("run")
    public void run() {}
  }

  @Test
  void proxyOfAnInterfaceHasItsMethods() throws Exception {
    AnnotationConfigApplicationContext context = scan(ByInterface.class, Whole.class);
    assertTrue(AopUtils.isJdkDynamicProxy(context.getBean("Whole")));
    context.getBean(HandlerScanner.class).handlers().iterator().next().run(null);
    assertEquals(
        Collections.singletonList("commit"), context.getBean(Transactions.class).ends);
    String refusal = refusal(ByInterface.class, Service.class);
    assertTrue(refusal.startsWith("bean Service, Service.hidden(): "), refusal);
    assertTrue(refusal.contains("proxy-target-class"), refusal);
  }

  @Transactional
  static class Sealed {
    @CarillonHandler("sealed")
    public final void work() {}

    @Transactional
    public void other() {}
  }

  static class Plain {
    @CarillonHandler("plain")
    public final void work() {}
  }

  @Test
  void finalMethodIsRefusedBehindAProxyOnly() {
    String refusal = refusal(ByClass.class, Sealed.class);
    assertTrue(refusal.contains("Sealed.work(): the method is final"), refusal);
    assertEquals(Collections.singleton("plain"), handlers(ByClass.class, Plain.class).keySet());
  }

  @Lazy
  static class LazyOne {
    static int made = 0;

    LazyOne() {
      ++made;
    }

    @CarillonHandler("lazy")
    public void work() {}
  }

  @Test
  void lazyBeanIsMade() {
    assertEquals(Collections.singleton("lazy"), handlers(LazyOne.class).keySet());
    assertEquals(1, LazyOne.made);
  }

  @Scope("prototype")
  static class Prototype {
    @CarillonHandler("prototype")
    public void work() {}
  }

  @Scope(value = "request", proxyMode = ScopedProxyMode.TARGET_CLASS)
  static class PerRequest {
    @CarillonHandler("per_request")
    public void work() {}
  }

  @Scope(value = "refresh", proxyMode = ScopedProxyMode.TARGET_CLASS)
  static class Refreshed {
    @CarillonHandler("refreshed")
    public void work() {}
  }

  @Configuration(proxyBeanMethods = false)
  static class Scoped {
    @Bean
    @Scope(value = "request", proxyMode = ScopedProxyMode.TARGET_CLASS)
    PerRequest perRequest() {
      return new PerRequest();
    }

    @Bean
    @Scope(value = "refresh", proxyMode = ScopedProxyMode.TARGET_CLASS)
    Refreshed refreshed() {
      return new Refreshed();
    }
  }

  static class Factory implements FactoryBean<Plain> {
    @Override
    public Plain getObject() {
      return new Plain();
    }

    @Override
    public Class<?> getObjectType() {
      return Plain.class;
    }

    @Override
    public boolean isSingleton() {
      return false;
    }
  }

  @Test
  void otherScopesAreRefusedByName() throws Exception {
    for (Class<?> one : Arrays.asList(Prototype.class, Factory.class)) {
      String refusal = refusal(one);
      assertTrue(refusal.contains("bean " + one.getSimpleName() + ","), refusal);
      assertTrue(refusal.contains("the scope prototype"), refusal);
    }
    String refusal = refusal(Scoped.class);
    assertTrue(refusal.contains("bean perRequest, PerRequest.work(): "), refusal);
    assertTrue(refusal.endsWith("the scope request"), refusal);
    assertFalse(refusal.contains("refreshed"), refusal);
  }

  @Configuration(proxyBeanMethods = false)
  static class Refreshing {
    @Bean
    @Scope(value = "refresh", proxyMode = ScopedProxyMode.TARGET_CLASS)
    Refreshed refreshed() {
      return new Refreshed();
    }
  }

  @Test
  void beanOfTheRefreshScopeIsCalledThroughItsProxy() throws Exception {
    assertSame(Outputs.none(), handlers(Refreshing.class).get("refreshed").run(null));
  }

  static class Wrong {
    @CarillonHandler("hidden")
    private void hidden() {}

    @CarillonHandler("fixed")
    public static void fixed() {}

    @CarillonHandler("text")
    public String text() {
      return "";
    }

    @CarillonHandler("param")
    public void param(String text) {}

    @CarillonHandler("params")
    public void params(Run run, String text) {}

    @Async
    @CarillonHandler("later")
    public void later() {}

    @CarillonHandler("right")
    public void right() {}
  }

  @Test
  void allMethodsThatCannotWorkAreNamed() {
    List<String> lines = new ArrayList<>(Arrays.asList(refusal(Wrong.class).split("\n")));
    Collections.sort(lines);
    String[][] expected = {
      {"fixed", "neither private nor static"},
      {"hidden", "neither private nor static"},
      {"later", "@Async"},
      {"param", "one parameter of type io.carillon.worker.Run, or none, not [class java.lang.String]"},
      {"params", "one parameter of type io.carillon.worker.Run, or none"},
      {"text", "returns void, Map or io.carillon.worker.Outputs, not java.lang.String"},
    };
    assertEquals(expected.length, lines.size(), lines.toString());
    for (int index = 0; index < expected.length; ++index) {
      String name = expected[index][0];
      String begin = "@CarillonHandler(\"" + name + "\") of bean Wrong, Wrong." + name + "(): ";
      assertTrue(lines.get(index).startsWith(begin), lines.get(index));
      assertTrue(lines.get(index).contains(expected[index][1]), lines.get(index));
    }
  }

  static class Again {
    @CarillonHandler("plain")
    public void again() {}
  }

  @Test
  void twoHandlersOfANameAreBothNamed() {
    assertEquals(
        "two handlers have the name \"plain\": bean Plain, Plain.work() and bean Again, Again.again()",
        refusal(Plain.class, Again.class));
  }
}
