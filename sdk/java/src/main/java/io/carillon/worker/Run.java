package io.carillon.worker;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * One attempt, as its function sees it. All methods may be called from any thread.
 *
 * <p>A stop is cooperative: a thread is never interrupted or ended from outside. Functions that
 * take longer than a few seconds call {@link #check()} between steps, at least once a second.
 */
public interface Run {
  /**
   * Returns the run whose function this thread executes, or null; for appenders of logging
   * libraries. Threads that the function starts do not inherit it.
   */
  static Run current() {
    return Attempt.CURRENT.get();
  }

  /** Returns the run's id. All attempts of a run share it, so it serves as an idempotency key. */
  String runId();

  /** Returns the number of the attempt, 1 for the first. */
  int attempt();

  /** Returns the id of the job. */
  String jobId();

  /** Returns the planned time of the run. */
  Instant fireTime();

  /** Returns this run's shard, 0 to {@link #shardTotal()} - 1. */
  int shardIndex();

  /** Returns the number of shards. */
  int shardTotal();

  /** Returns the job's parameters. Values are String, Long, Double or Boolean. */
  Map<String, Object> parameters();

  /** Returns one parameter, or null if the job does not have it. */
  Object parameter(String name);

  /** Returns the job's variables, with the values of secrets. */
  Map<String, String> env();

  /** Returns the id that traces and log lines of this run share. */
  String traceId();

  /**
   * Writes formatted text to the run's log, as {@link String#format} does. Without arguments the
   * text is written as it is. Text with line ends becomes several lines, as does a line of more
   * than 16 KiB. Never blocks: lines are dropped and counted when 4 MiB of the worker's lines wait.
   */
  void log(String format, Object... arguments);

  /** Writes text to the run's log without formatting it. The limits of {@link #log} apply. */
  void print(String text);

  /** Returns the bytes that an earlier attempt of the run saved last. */
  Optional<byte[]> checkpoint();

  /**
   * Keeps up to 1 MiB for the next attempt of the run. The bytes are in the database a few seconds
   * later, and in any case before the attempt is over, unless its process or its host ends.
   *
   * @throws IllegalArgumentException for more than 1 MiB
   */
  void saveCheckpoint(byte[] data);

  /**
   * Shows that {@code done} of {@code of} is done, with a text of up to 2,000 bytes. Cheap: call it
   * as often as you like.
   *
   * @throws IllegalArgumentException if that is not between 0 and 100 %
   */
  void progress(double done, double of, String text);

  /**
   * Returns if the function should go on.
   *
   * @throws TimedOutException after the job's timeout
   * @throws CancelledException after the run was cancelled
   * @throws LeaseLostException from 3 s before the end of the attempt's lease
   * @throws DrainingException when the worker drains and its drain timeout has ended
   */
  void check();

  /** Returns true if {@link #check()} would throw. */
  boolean stopping();

  /**
   * Waits, and throws as soon as {@link #check()} would. Use it instead of Thread.sleep.
   *
   * @throws StoppedException if the function should stop
   * @throws InterruptedException if the program interrupts the thread
   */
  void waitFor(Duration duration) throws InterruptedException;
}
