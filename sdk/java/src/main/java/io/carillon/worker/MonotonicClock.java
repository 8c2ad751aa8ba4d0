package io.carillon.worker;

import java.time.Duration;

/**
 * Reads CLOCK_MONOTONIC of the host, which worker and executor share.
 *
 * <p>{@link System#nanoTime} promises no particular clock. HotSpot on Linux reads CLOCK_MONOTONIC
 * and adds no offset, and so do the other virtual machines built from OpenJDK. The deadline and
 * the lease of an attempt depend on this.
 */
final class MonotonicClock {
  private static final Duration DURATION_MAX = Duration.ofDays(3650);

  private MonotonicClock() {}

  /** Returns a duration in nanoseconds, at least 0 and at most ten years. */
  static long nanos(Duration duration) {
    if (duration.isNegative()) {
      return 0;
    }
    return (duration.compareTo(DURATION_MAX) < 0 ? duration : DURATION_MAX).toNanos();
  }

  /** Returns microseconds since the host booted, without the time it was suspended. */
  static long us() {
    return System.nanoTime() / 1000;
  }
}
