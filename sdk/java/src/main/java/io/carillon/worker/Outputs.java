package io.carillon.worker;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The results of a function that later steps of a workflow can read: texts by name. Immutable.
 *
 * <p>A value is a text, number, boolean, null, or a map, list or array of these. Other values than
 * texts are written as JSON. Names are [A-Za-z_][A-Za-z0-9_]{0,63}. There may be 64 outputs, of 16
 * KiB in all.
 *
 * <p>Nothing here throws, because the work is done by then, and an attempt that failed would do it
 * twice. If something is wrong, the attempt ends as COMPLETED without outputs, and its log says why.
 */
public final class Outputs {
  static final int BYTES_MAX = 16 * 1024;
  private static final int COUNT_MAX = 64;
  private static final int SHOWN_NAME_BYTES_MAX = 200;
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,63}");

  private static final Outputs NONE = new Outputs(Collections.<String, String>emptyMap(), "");

  private final Map<String, String> texts;
  private final String problem; // of the first wrong output, or empty

  private Outputs(Map<String, String> texts, String problem) {
    this.texts = Collections.unmodifiableMap(texts);
    this.problem = problem;
  }

  /** Returns no outputs. */
  public static Outputs none() {
    return NONE;
  }

  /** Returns one output; add others with {@link #and}. */
  public static Outputs of(String name, Object value) {
    return NONE.and(name, value);
  }

  /** Returns two outputs. */
  public static Outputs of(String name1, Object value1, String name2, Object value2) {
    return of(name1, value1).and(name2, value2);
  }

  /** Returns an output for each entry; none for null. */
  public static Outputs of(Map<String, ?> values) {
    Map<String, String> texts = new LinkedHashMap<>();
    String problem = "";
    try {
      if (values != null) {
        for (Map.Entry<String, ?> entry : values.entrySet()) {
          problem = first(problem, put(texts, entry.getKey(), entry.getValue()));
        }
      }
    } catch (RuntimeException e) { // of a map that cannot be read, or whose keys are no texts
      problem = first(problem, String.valueOf(e));
    }
    return new Outputs(texts, problem);
  }

  /** Returns these outputs and one more. */
  public Outputs and(String name, Object value) {
    Map<String, String> more = new LinkedHashMap<>(texts);
    return new Outputs(more, first(problem, put(more, name, value)));
  }

  /** Returns the text of each value. */
  Map<String, String> texts() {
    return texts;
  }

  /** Returns why the executor would not keep these outputs, or an empty text. */
  String problem() {
    if (!problem.isEmpty()) {
      return problem;
    }
    if (texts.size() > COUNT_MAX) {
      return texts.size() + " outputs; at most " + COUNT_MAX + " are allowed";
    }
    int bytes = 0;
    int most = 0;
    String largest = "";
    for (Map.Entry<String, String> entry : texts.entrySet()) {
      int size = Utf8.size(entry.getKey()) + Utf8.size(entry.getValue());
      bytes += size;
      if (size > most) {
        most = size;
        largest = entry.getKey();
      }
    }
    return bytes <= BYTES_MAX
        ? ""
        : String.format(
            "%d bytes; at most %d are allowed in all, and %s has the most",
            bytes, BYTES_MAX, largest);
  }

  private static String first(String problem, String next) {
    return problem.isEmpty() ? next : problem;
  }

  /** Adds an output, or returns why it cannot be one. */
  private static String put(Map<String, String> texts, String name, Object value) {
    if (name == null || !NAME.matcher(name).matches()) {
      String shown = Utf8.cut(String.valueOf(name), SHOWN_NAME_BYTES_MAX);
      return "\"" + shown + "\" is not the name of an output (" + NAME + ")";
    }
    String text;
    try {
      text = value instanceof CharSequence ? value.toString() : Json.write(value);
    } catch (RuntimeException | StackOverflowError e) { // the second one: it contains itself
      return name + " is not JSON: " + (e.getMessage() == null ? e : e.getMessage());
    }
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
      return name + " is not valid Unicode";
    }
    if (text.indexOf('\0') >= 0) {
      return name + " has a NUL character";
    }
    texts.put(name, text);
    return "";
  }
}
