package io.carillon.worker;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reads parameters and writes outputs. */
final class Json {
  private Json() {}

  /**
   * Reads an object of texts, numbers and booleans. Whole numbers within 64 bits become Long, other
   * numbers Double.
   *
   * @throws IllegalArgumentException if the text is something else
   */
  static Map<String, Object> parameters(String json) {
    Map<String, Object> values = new LinkedHashMap<>();
    if (!json.isEmpty()) {
      for (Map.Entry<String, JsonElement> entry : object(json).entrySet()) {
        values.put(entry.getKey(), value(entry.getKey(), entry.getValue()));
      }
    }
    return Collections.unmodifiableMap(values);
  }

  /**
   * Writes a text, number, boolean, null, or a map, list or array of these.
   *
   * @throws IllegalArgumentException for other types, and for numbers that are not finite
   */
  static String write(Object value) {
    return element(value).toString();
  }

  private static JsonObject object(String json) {
    try {
      return JsonParser.parseString(json).getAsJsonObject();
    } catch (JsonParseException | IllegalStateException e) {
      throw new IllegalArgumentException("the parameters are not a JSON object", e);
    }
  }

  private static Object value(String name, JsonElement element) {
    if (!element.isJsonPrimitive()) {
      throw new IllegalArgumentException(
          "parameter " + name + " is not a text, a number or a boolean");
    }
    JsonPrimitive primitive = element.getAsJsonPrimitive();
    if (primitive.isString()) {
      return primitive.getAsString();
    }
    return primitive.isBoolean() ? primitive.getAsBoolean() : number(primitive.getAsString());
  }

  private static Object number(String digits) {
    try {
      return Long.valueOf(digits);
    } catch (NumberFormatException e) {
      return Double.valueOf(digits);
    }
  }

  private static JsonElement element(Object value) {
    if (value == null) {
      return JsonNull.INSTANCE;
    }
    if (value instanceof String || value instanceof Character) {
      return new JsonPrimitive(value.toString());
    }
    if (value instanceof Boolean) {
      return new JsonPrimitive((Boolean) value);
    }
    if (value instanceof Number) {
      return finite((Number) value);
    }
    if (value instanceof Map) {
      return map((Map<?, ?>) value);
    }
    if (value instanceof Iterable) {
      return list((Iterable<?>) value);
    }
    if (value instanceof Object[]) {
      return list(java.util.Arrays.asList((Object[]) value));
    }
    throw new IllegalArgumentException(
        "an output may hold texts, numbers, booleans, lists and maps, not "
            + value.getClass().getName());
  }

  private static JsonElement finite(Number number) {
    double value = number.doubleValue();
    boolean floating = number instanceof Double || number instanceof Float;
    if (floating && (Double.isNaN(value) || Double.isInfinite(value))) {
      throw new IllegalArgumentException("an output cannot be " + number);
    }
    return new JsonPrimitive(number);
  }

  private static JsonElement map(Map<?, ?> values) {
    JsonObject object = new JsonObject();
    for (Map.Entry<?, ?> entry : values.entrySet()) {
      object.add(String.valueOf(entry.getKey()), element(entry.getValue()));
    }
    return object;
  }

  private static JsonElement list(Iterable<?> values) {
    JsonArray array = new JsonArray();
    for (Object value : values) {
      array.add(element(value));
    }
    return array;
  }
}
