package io.carillon.worker;

import com.google.protobuf.ByteString;
import io.carillon.v1.Done;
import io.carillon.v1.FromWorker;
import io.carillon.v1.Hello;
import io.carillon.v1.LogLine;
import io.carillon.v1.Save;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Holds what the executor is still to be told: log lines until they are sent, saves and ends of
 * attempts until the executor confirms the ends.
 *
 * <p>Not thread-safe; {@link WorkerState} guards it. An end is never sent before the lines and the
 * save of its attempt. Lines that were on their way when a stream broke are lost, since the protocol
 * does not confirm lines. The latest save of each attempt is sent again on the next stream.
 */
final class Outbox {
  /** The executor stores a line with its end, in 16 KiB. */
  static final int LINE_BYTES_MAX = 16 * 1024 - 1;

  static final int WAITING_BYTES_MAX = 4 * 1024 * 1024;
  static final int BATCH_MAX = 256;

  /** The least time between two saves of a running attempt. */
  static final long SAVE_EVERY_US = 1_000_000;

  /** Keeps a message well below the 4 MiB that gRPC accepts by default. */
  static final int BATCH_BYTES_MAX = 1024 * 1024;

  /** What a waiting line costs besides its bytes, so that empty lines are bounded as well. */
  private static final int LINE_OVERHEAD_BYTES = 64;

  private final ArrayDeque<LogLine> lines = new ArrayDeque<>();
  private final Map<ByteString, Mark> marks = new HashMap<>();
  private final Map<ByteString, End> unconfirmed = new LinkedHashMap<>();
  private final ArrayDeque<End> unsent = new ArrayDeque<>();
  private final Map<ByteString, Kept> saves = new LinkedHashMap<>();
  private long waitingBytes = 0;
  private long linesAdded = 0;
  private long linesSent = 0;

  /** What is known about the lines of one running attempt. */
  private static final class Mark {
    long lastLine = 0; // the value of linesAdded after its last line
    long dropped = 0;
  }

  /** The end of an attempt, which may be sent once {@code linesSent} has reached lastLine. */
  private static final class End {
    final Done done;
    final long lastLine;

    End(Done done, long lastLine) {
      this.done = done;
      this.lastLine = lastLine;
    }
  }

  /** The latest progress and checkpoint of one attempt, and what of them is still to be sent. */
  private static final class Kept {
    String progress = null;
    ByteString checkpoint = null;
    boolean sendsProgress = false;
    boolean sendsCheckpoint = false;
    long dueUs = 0;

    boolean sends() {
      return sendsProgress || sendsCheckpoint;
    }
  }

  void addProgress(ByteString ticket, String progress) {
    Kept kept = kept(ticket);
    kept.progress = progress;
    kept.sendsProgress = true;
  }

  void addCheckpoint(ByteString ticket, ByteString checkpoint) {
    Kept kept = kept(ticket);
    kept.checkpoint = checkpoint;
    kept.sendsCheckpoint = true;
  }

  /** Adds a line, or drops it if 4 MiB of lines wait. */
  void addLine(LogLine line) {
    Mark mark = marks.get(line.getTicket());
    if (mark == null) {
      mark = new Mark();
      marks.put(line.getTicket(), mark);
    }
    if (waitingBytes + cost(line) > WAITING_BYTES_MAX) {
      mark.dropped++;
      return;
    }
    tellDropped(mark, line.getTicket(), line.getWallUs());
    append(mark, line);
  }

  /** Adds the end of an attempt. No line of this attempt may follow. */
  void addEnd(Done done, long wallUs) {
    Mark mark = marks.remove(done.getTicket());
    if (mark == null) {
      mark = new Mark();
    }
    tellDropped(mark, done.getTicket(), wallUs);
    End end = new End(done, mark.lastLine);
    unconfirmed.put(done.getTicket(), end);
    unsent.add(end);
  }

  /** Forgets an end that the executor has stored. */
  void confirm(ByteString ticket) {
    unconfirmed.remove(ticket);
    saves.remove(ticket);
  }

  boolean isUnconfirmed(ByteString ticket) {
    return unconfirmed.containsKey(ticket);
  }

  boolean allConfirmed() {
    return unconfirmed.isEmpty();
  }

  /**
   * Adds all unconfirmed ends to the first message of a session.
   *
   * <p>Ends whose lines were not sent yet, ends of attempts that saved something, and ends beyond
   * 1 MiB, are named as held instead and follow as ordinary messages. The executor then neither
   * concludes that they never began, nor sees an end before its lines and its save.
   */
  void describe(Hello.Builder hello) {
    for (Kept kept : saves.values()) {
      kept.sendsProgress = kept.progress != null;
      kept.sendsCheckpoint = kept.checkpoint != null;
      kept.dueUs = 0;
    }
    unsent.clear();
    int bytes = 0;
    for (End end : unconfirmed.values()) {
      int size = end.done.getSerializedSize();
      boolean saved = saves.containsKey(end.done.getTicket());
      if (!saved && end.lastLine <= linesSent && bytes + size <= BATCH_BYTES_MAX) {
        bytes += size;
        hello.addDone(end.done);
      } else {
        hello.addHeld(end.done.getTicket());
        unsent.add(end);
      }
    }
  }

  /** Returns true if {@link #takeBatch} would add something. */
  boolean hasBatch() {
    return !lines.isEmpty() || !unsent.isEmpty() || waitUs() == 0;
  }

  /** Returns the time until a save is to be sent, or Long.MAX_VALUE if none waits. */
  long waitUs() {
    long now = MonotonicClock.us();
    long wait = Long.MAX_VALUE;
    for (Map.Entry<ByteString, Kept> entry : saves.entrySet()) {
      if (entry.getValue().sends()) {
        boolean atOnce = unconfirmed.containsKey(entry.getKey());
        wait = Math.min(wait, atOnce ? 0 : Math.max(0, entry.getValue().dueUs - now));
      }
    }
    return wait;
  }

  /**
   * Moves up to 256 saves, 256 lines and 256 ends into a message, about 1 MiB and the last save.
   */
  void takeBatch(FromWorker.Builder message) {
    int bytes = takeSaves(message);
    while (!lines.isEmpty() && message.getLogsCount() < BATCH_MAX && bytes < BATCH_BYTES_MAX) {
      LogLine line = lines.remove();
      waitingBytes -= cost(line);
      linesSent++;
      bytes += line.getSerializedSize();
      message.addLogs(line);
    }
    while (!unsent.isEmpty() && message.getDoneCount() < BATCH_MAX && bytes < BATCH_BYTES_MAX) {
      End end = unsent.peek();
      Kept kept = saves.get(end.done.getTicket());
      if (end.lastLine > linesSent || (kept != null && kept.sends())) {
        break;
      }
      unsent.remove();
      bytes += end.done.getSerializedSize();
      message.addDone(end.done);
    }
  }

  private int takeSaves(FromWorker.Builder message) {
    long now = MonotonicClock.us();
    int bytes = 0;
    for (Map.Entry<ByteString, Kept> entry : saves.entrySet()) {
      if (message.getSavesCount() == BATCH_MAX || bytes >= BATCH_BYTES_MAX) {
        break;
      }
      Kept kept = entry.getValue();
      boolean due = now >= kept.dueUs || unconfirmed.containsKey(entry.getKey());
      if (!kept.sends() || !due) {
        continue;
      }
      Save.Builder save = Save.newBuilder().setTicket(entry.getKey());
      if (kept.sendsProgress) {
        save.setProgress(kept.progress);
      }
      if (kept.sendsCheckpoint) {
        save.setCheckpoint(kept.checkpoint);
      }
      kept.sendsProgress = false;
      kept.sendsCheckpoint = false;
      kept.dueUs = now + SAVE_EVERY_US;
      message.addSaves(save);
      bytes += message.getSaves(message.getSavesCount() - 1).getSerializedSize();
    }
    return bytes;
  }

  private Kept kept(ByteString ticket) {
    return saves.computeIfAbsent(ticket, key -> new Kept());
  }

  /** Appends a line about dropped ones, whether there is room or not: it is short and rare. */
  private void tellDropped(Mark mark, ByteString ticket, long wallUs) {
    if (mark.dropped > 0) {
      String text =
          "carillon: " + mark.dropped + " log lines were dropped: the worker's buffer was full";
      mark.dropped = 0;
      append(
          mark,
          LogLine.newBuilder()
              .setTicket(ticket)
              .setWallUs(wallUs)
              .setError(true)
              .setText(text)
              .build());
    }
  }

  private void append(Mark mark, LogLine line) {
    lines.add(line);
    waitingBytes += cost(line);
    mark.lastLine = ++linesAdded;
  }

  private static int cost(LogLine line) {
    return line.getSerializedSize() + LINE_OVERHEAD_BYTES;
  }
}
