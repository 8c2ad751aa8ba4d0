package io.carillon.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Paths;
import java.util.Collections;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a program may say about its worker, its handlers and their values. */
class SettingsTest {
  @Test
  void versionIsThatOfThePom() {
    assertEquals(System.getProperty("carillon.version"), Worker.SDK_VERSION);
  }

  @Test
  void socketComesFromTheEnvironment() {
    assertEquals(
        Paths.get("/run/carillon/worker.sock"),
        Worker.socketFrom(Collections.<String, String>emptyMap()));
    assertEquals(
        Paths.get("/x.sock"),
        Worker.socketFrom(Collections.singletonMap("CARILLON_WORKER_SOCKET", "/x.sock")));
  }

  @Test
  void wrongNamesAndNumbersAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> Worker.of("Billing"));
    assertThrows(IllegalArgumentException.class, () -> Worker.of("a.b"));
    Worker worker = Worker.of("billing");
    assertThrows(IllegalArgumentException.class, () -> worker.handler("a/b"));
    assertThrows(IllegalArgumentException.class, () -> worker.handler("a").concurrency(0));
    assertThrows(IllegalArgumentException.class, () -> worker.handler("a").concurrency(10_001));
    assertThrows(IllegalStateException.class, worker::start);
    assertThrows(IllegalStateException.class, worker::await);
    worker.handler("a.b").run(run -> null);
    assertThrows(IllegalStateException.class, () -> worker.handler("a.b").run(run -> null));
    worker.drain();
    assertThrows(IllegalStateException.class, worker::start);
  }

  @Test
  void parametersKeepTheirTypes() {
    Map<String, Object> values =
        Json.parameters("{\"s\":\"1\",\"l\":-9223372036854775808,\"d\":1e3,\"b\":false}");
    assertEquals("1", values.get("s"));
    assertEquals(Long.MIN_VALUE, values.get("l"));
    assertEquals(1000.0, values.get("d"));
    assertEquals(false, values.get("b"));
    assertEquals(1e30, Json.parameters("{\"n\":1000000000000000000000000000000}").get("n"));
    assertTrue(Json.parameters("").isEmpty());
    assertThrows(IllegalArgumentException.class, () -> Json.parameters("{"));
    assertThrows(IllegalArgumentException.class, () -> Json.parameters("{\"a\":[]}"));
  }
}
