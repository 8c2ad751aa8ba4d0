package io.carillon.worker;

import static io.carillon.worker.FakeExecutor.ticket;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.carillon.v1.Done;
import io.carillon.v1.FromWorker;
import io.carillon.v1.Hello;
import io.carillon.v1.LogLine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutboxTest {
  private final Outbox outbox = new Outbox();

  private static LogLine line(String ticket, String text) {
    return LogLine.newBuilder().setTicket(ticket(ticket)).setText(text).build();
  }

  private static Done done(String ticket) {
    return Done.newBuilder().setTicket(ticket(ticket)).setState(Done.State.COMPLETED).build();
  }

  private static Done largeDone(String ticket) {
    return done(ticket).toBuilder().putOutputs("x", repeated('x', 64 * 1024)).build();
  }

  private static String repeated(char c, int times) {
    char[] text = new char[times];
    Arrays.fill(text, c);
    return new String(text);
  }

  private FromWorker take() {
    FromWorker.Builder message = FromWorker.newBuilder();
    outbox.takeBatch(message);
    return message.build();
  }

  private Hello describe() {
    Hello.Builder hello = Hello.newBuilder();
    outbox.describe(hello);
    return hello.build();
  }

  @Test
  void batchesHaveAtMost256EntriesAndOneMebibyte() {
    for (int i = 0; i < 600; i++) {
      outbox.addLine(line("a", "text"));
    }
    outbox.addEnd(done("a"), 0);
    assertEquals(256, take().getLogsCount());
    assertEquals(0, take().getDoneCount());
    FromWorker last = take();
    assertEquals(88, last.getLogsCount());
    assertEquals(1, last.getDoneCount());
    assertFalse(outbox.hasBatch());

    for (int i = 0; i < 100; i++) {
      outbox.addLine(line("b", repeated('x', 16 * 1024)));
    }
    assertTrue(take().getSerializedSize() < 1_100_000);
    for (int i = 0; i < 300; i++) {
      outbox.addEnd(done("d" + i), 0);
    }
    int ends = 0;
    while (outbox.hasBatch()) {
      int count = take().getDoneCount();
      assertTrue(count <= 256);
      ends += count;
    }
    assertEquals(300, ends);
  }

  @Test
  void linesBeyondFourMebibytesAreDroppedAndCounted() {
    for (int i = 0; i < 1000; i++) {
      outbox.addLine(line("a", repeated('x', 16 * 1024)));
    }
    outbox.addEnd(done("a"), 0);
    List<LogLine> lines = new ArrayList<>();
    int ends = 0;
    while (outbox.hasBatch()) {
      FromWorker message = take();
      lines.addAll(message.getLogsList());
      ends += message.getDoneCount();
    }
    int kept = lines.size() - 1;
    assertTrue(kept >= 250 && kept < 256, "kept " + kept);
    assertEquals(
        "carillon: " + (1000 - kept) + " log lines were dropped: the worker's buffer was full",
        lines.get(kept).getText());
    assertEquals(1, ends);
  }

  @Test
  void droppedLinesAreToldAtTheirPlace() {
    for (int i = 0; i < 300; i++) {
      outbox.addLine(line("a", repeated('x', 16 * 1024)));
    }
    take();
    outbox.addLine(line("a", "after"));
    String before = "";
    while (outbox.hasBatch()) {
      for (LogLine line : take().getLogsList()) {
        if (line.getText().equals("after")) {
          assertTrue(before.contains("log lines were dropped"), before);
        }
        before = line.getText();
      }
    }
    assertEquals("after", before);
  }

  @Test
  void helloNamesEndsWithUnsentLinesAsHeldAndSendsThemAfterTheLines() {
    outbox.addEnd(done("plain"), 0);
    outbox.addLine(line("lines", "text"));
    outbox.addEnd(done("lines"), 0);
    Hello hello = describe();
    assertEquals(Collections.singletonList(done("plain")), hello.getDoneList());
    assertEquals(Collections.singletonList(ticket("lines")), hello.getHeldList());
    FromWorker message = take();
    assertEquals(1, message.getLogsCount());
    assertEquals(Collections.singletonList(done("lines")), message.getDoneList());

    hello = describe();
    assertEquals(Arrays.asList(done("plain"), done("lines")), hello.getDoneList());
    assertFalse(outbox.hasBatch());
    outbox.confirm(ticket("plain"));
    assertEquals(Collections.singletonList(done("lines")), describe().getDoneList());
    outbox.confirm(ticket("lines"));
    assertTrue(outbox.allConfirmed());
    assertEquals(0, describe().getDoneCount());
  }

  @Test
  void helloStaysBelowOneMebibyteAndNamesEveryEnd() {
    for (int i = 0; i < 100; i++) {
      outbox.addEnd(largeDone("t" + i), 0);
    }
    Hello hello = describe();
    assertTrue(hello.getSerializedSize() < 1_100_000);
    assertEquals(100, hello.getDoneCount() + hello.getHeldCount());
    int rest = 0;
    while (outbox.hasBatch()) {
      rest += take().getDoneCount();
    }
    assertEquals(hello.getHeldCount(), rest);
  }

  @Test
  void onlyTheLatestSaveIsSentAndBeforeItsEnd() {
    outbox.addProgress(ticket("a"), "1");
    outbox.addProgress(ticket("a"), "2");
    outbox.addCheckpoint(ticket("a"), ticket("state"));
    FromWorker first = take();
    assertEquals(1, first.getSavesCount());
    assertEquals("2", first.getSaves(0).getProgress());
    assertEquals(ticket("state"), first.getSaves(0).getCheckpoint());
    outbox.addProgress(ticket("a"), "3");
    assertFalse(outbox.hasBatch());
    assertTrue(outbox.waitUs() > 0 && outbox.waitUs() <= Outbox.SAVE_EVERY_US);
    outbox.addEnd(done("a"), 0);
    FromWorker second = take();
    assertEquals("3", second.getSaves(0).getProgress());
    assertFalse(second.getSaves(0).hasCheckpoint());
    assertEquals(1, second.getDoneCount());

    Hello hello = describe();
    assertEquals(Collections.singletonList(ticket("a")), hello.getHeldList());
    FromWorker again = take();
    assertEquals("3", again.getSaves(0).getProgress());
    assertEquals(ticket("state"), again.getSaves(0).getCheckpoint());
    assertEquals(1, again.getDoneCount());
    outbox.confirm(ticket("a"));
    describe();
    assertFalse(outbox.hasBatch());
  }

  @Test
  void textIsCutBetweenCharacters() {
    assertEquals("aä", Utf8.cut("aäö", 4));
    assertEquals("aäö", Utf8.cut("aäö", 5));
    assertEquals("a", Utf8.cut("a\uD83D\uDE00", 4));
    assertEquals("a\uD83D\uDE00", Utf8.cut("a\uD83D\uDE00", 5));
    assertEquals("?", Utf8.cut("\uD83D", 5));
    assertEquals("", Utf8.cut("ä", 1));
  }
}
