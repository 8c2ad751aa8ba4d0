package io.carillon.worker;

import java.nio.charset.StandardCharsets;

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
}
