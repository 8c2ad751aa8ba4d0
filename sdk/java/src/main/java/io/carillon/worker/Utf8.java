package io.carillon.worker;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Measures and cuts text by its size in UTF-8. */
final class Utf8 {
  private Utf8() {}

  /** Returns the text's size in bytes. */
  static int size(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }

  /**
   * Returns the longest prefix of at most {@code bytes} bytes that ends between two characters.
   * Surrogates without their partner, which UTF-8 cannot hold, become question marks.
   */
  static String cut(String text, int bytes) {
    byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
    int end = encoded.length;
    if (end > bytes) {
      end = bytes;
      // 10xxxxxx is inside a character: go back to its first byte, and leave it out.
      while (end > 0 && (encoded[end] & 0xC0) == 0x80) {
        end--;
      }
    }
    return new String(encoded, 0, end, StandardCharsets.UTF_8);
  }

  /**
   * Splits a text into pieces of at most {@code bytes} bytes, between two characters. Surrogates
   * without their partner become question marks.
   */
  static List<String> pieces(String text, int bytes) {
    byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
    List<String> pieces = new ArrayList<>();
    int begin = 0;
    while (encoded.length - begin > bytes) {
      int end = begin + bytes;
      while ((encoded[end] & 0xC0) == 0x80) {
        end--;
      }
      pieces.add(new String(encoded, begin, end - begin, StandardCharsets.UTF_8));
      begin = end;
    }
    pieces.add(new String(encoded, begin, encoded.length - begin, StandardCharsets.UTF_8));
    return pieces;
  }
}
