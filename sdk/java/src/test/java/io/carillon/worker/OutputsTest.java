package io.carillon.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.LocalDate;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OutputsTest {
  private static String repeated(char c, int times) {
    char[] text = new char[times];
    Arrays.fill(text, c);
    return new String(text);
  }

  private static void assertProblem(String part, Outputs outputs) {
    assertTrue(outputs.problem().contains(part), outputs.problem());
  }

  @Test
  void valuesBecomeTexts() {
    Outputs outputs =
        Outputs.of("text", "a", "number", 1.5)
            .and("whole", 42)
            .and("truth", true)
            .and("nothing", null)
            .and("list", Arrays.asList(1, null, Collections.singletonMap("a", true)))
            .and("quoted", "<\"\n>")
            .and("builder", new StringBuilder("b"));
    assertEquals("", outputs.problem());
    assertEquals(
        "{text=a, number=1.5, whole=42, truth=true, nothing=null,"
            + " list=[1,null,{\"a\":true}], quoted=<\"\n>, builder=b}",
        outputs.texts().toString());
  }

  @Test
  void mapsMayHaveNullValues() {
    Outputs outputs = Outputs.of(Collections.<String, Object>singletonMap("a", null));
    assertEquals("{a=null}", outputs.texts().toString());
    assertEquals("", outputs.problem());
    assertEquals("", Outputs.of((Map<String, ?>) null).problem());
    assertEquals(0, Outputs.of((Map<String, ?>) null).texts().size());
  }

  @Test
  void wrongOutputsAreExplainedAndNothingIsThrown() {
    assertProblem("\"no name\" is not the name of an output", Outputs.of("no name", 1));
    assertProblem("\"null\" is not the name", Outputs.of(null, 1));
    assertProblem("\"\" is not the name", Outputs.of("", 1));
    assertProblem("not java.lang.Object", Outputs.of("n", new Object()));
    assertProblem("is not the name", Outputs.of(repeated('a', 65), 1));
    assertProblem("not java.time.LocalDate", Outputs.of("day", LocalDate.MIN));
    assertProblem("day is not JSON: an output cannot be NaN", Outputs.of("day", Double.NaN));
    assertProblem("a has a NUL character", Outputs.of("a", "\0"));
    assertProblem("a is not valid Unicode", Outputs.of("a", "\ud800"));
    assertProblem(
        "16385 bytes; at most 16384 are allowed in all, and a has the most",
        Outputs.of("b", "", "a", repeated('x', 16383)));
    assertEquals("", Outputs.of("a", repeated('x', 16383)).problem());
    Map<String, Object> cycle = new HashMap<>();
    cycle.put("a", cycle);
    assertProblem("a is not JSON", Outputs.of(cycle));
    Map<String, Integer> many = new HashMap<>();
    for (int i = 0; i < 65; i++) {
      many.put("n" + i, i);
    }
    assertProblem("65 outputs; at most 64", Outputs.of(many));
    many.remove("n64");
    assertEquals("", Outputs.of(many).problem());
  }

  @Test
  void keysThatAreNoTextsAreExplained() {
    @SuppressWarnings({"unchecked", "rawtypes"})
    Map<String, ?> numbers = (Map) Collections.singletonMap(1, 2);
    assertProblem("ClassCastException", Outputs.of(numbers));
  }

  @Test
  void theFirstProblemIsTold() {
    assertProblem("\"a b\"", Outputs.of("a b", 1, "c", 2).and("d e", 3));
  }
}
