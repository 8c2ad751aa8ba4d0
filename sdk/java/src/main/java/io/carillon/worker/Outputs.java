package io.carillon.worker;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The results of a function that later steps of a workflow can read: texts by name. Immutable.
 *
 * <p>A value is a text, number, boolean, null, or a map, list or array of these. Other values than
 * texts are written as JSON. Names are [A-Za-z_][A-Za-z0-9_]{0,63}. There may be 64 outputs, of 16
 * KiB in all; beyond that the attempt ends as FAILED.
 */
public final class Outputs {
  static final int BYTES_MAX = 16 * 1024;

  private static final Outputs NONE = new Outputs(Collections.<String, String>emptyMap());

  private final Map<String, String> texts;

  private Outputs(Map<String, String> texts) {
    this.texts = texts;
  }

  /** Returns no outputs. */
  public static Outputs none() {
    return NONE;
  }

  /**
   * Returns one output; add others with {@link #and}.
   *
   * @throws IllegalArgumentException for a value of another type, or a number that is not finite
   */
  public static Outputs of(String name, Object value) {
    return NONE.and(name, value);
  }

  /** Returns two outputs. See {@link #of(String, Object)} for errors. */
  public static Outputs of(String name1, Object value1, String name2, Object value2) {
    return of(name1, value1).and(name2, value2);
  }

  /** Returns an output for each entry. See {@link #of(String, Object)} for errors. */
  public static Outputs of(Map<String, ?> values) {
    Outputs outputs = NONE;
    for (Map.Entry<String, ?> entry : values.entrySet()) {
      outputs = outputs.and(entry.getKey(), entry.getValue());
    }
    return outputs;
  }

  /** Returns these outputs and one more. See {@link #of(String, Object)} for errors. */
  public Outputs and(String name, Object value) {
    if (name == null || name.isEmpty()) {
      throw new IllegalArgumentException("an output needs a name");
    }
    Map<String, String> more = new LinkedHashMap<>(texts);
    more.put(name, value instanceof CharSequence ? value.toString() : Json.write(value));
    return new Outputs(Collections.unmodifiableMap(more));
  }

  /** Returns the text of each value. */
  Map<String, String> texts() {
    return texts;
  }

  /** Returns the size of names and values in bytes of UTF-8. */
  int bytes() {
    int bytes = 0;
    for (Map.Entry<String, String> entry : texts.entrySet()) {
      bytes += Utf8.size(entry.getKey()) + Utf8.size(entry.getValue());
    }
    return bytes;
  }
}
