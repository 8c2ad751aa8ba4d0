// Logs of real processes, as the warden reports them.
#include "tests/unit/executor/warden/warden_fixture.h"

namespace carillon::executor {
namespace {

class WardenLogTest : public WardenFixture {
 protected:
  struct Line {
    LogStream stream;
    std::string text;
    bool operator==(const Line&) const = default;
  };
  // Returns the reported lines of the attempt. A piece that was reported twice counts once.
  std::vector<Line> LinesOf(const StartAttempt& start) {
    std::map<uint64_t, LogChunk> pieces;
    for (const LogChunk& chunk : logs_[NameOf(start.attempt)]) pieces[chunk.first_seq] = chunk;
    std::vector<Line> lines;
    uint64_t next = 1;
    for (const auto& [first, chunk] : pieces) {
      EXPECT_EQ(first, next);
      const auto entries = DecodeEntries(chunk.entries, chunk.count);
      EXPECT_TRUE(entries.ok());
      for (const LogEntry& entry : *entries) lines.push_back({entry.stream, entry.text});
      next += chunk.count;
    }
    return lines;
  }
  bool Complete(const StartAttempt& start) {
    Pump();
    for (const LogChunk& chunk : logs_[NameOf(start.attempt)]) {
      if (chunk.last) return true;
    }
    return false;
  }
};

TEST_F(WardenLogTest, BothStreamsInTheOrderOfTheirWrites) {
  const StartAttempt start = Command("echo one; echo two >&2; echo three; printf end");
  Run(start);
  ASSERT_TRUE(test::WaitUntil([&] { return Complete(start); }));
  EXPECT_EQ(LinesOf(start), (std::vector<Line>{{LogStream::kStdout, "one\n"},
                                               {LogStream::kStderr, "two\n"},
                                               {LogStream::kStdout, "three\n"},
                                               {LogStream::kStdout, "end"}}));
}

TEST_F(WardenLogTest, WhatTheCommandLeavesRunningIsNamed) {
  StartAttempt start = Command(
      "sleep 1000 & until [ \"$(cat /proc/$!/comm)\" = sleep ]; do :; done; echo done; "
      "echo a=1 > \"$CARILLON_OUTPUT_FILE\"");
  start.masked = {"slee"};
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.state, RunState::kCompleted);
  EXPECT_EQ(result.output, "done\n") << "it is no output";
  EXPECT_EQ(result.outputs, (Outputs{{"a", "1"}}));
  ASSERT_TRUE(test::WaitUntil([&] { return Complete(start); }));
  EXPECT_EQ(LinesOf(start),
            (std::vector<Line>{{LogStream::kStdout, "done\n"},
                               {LogStream::kCarillon,
                                "1 process was still running when the command ended and was "
                                "stopped: ***p\n"}}));
}

TEST_F(WardenLogTest, WhatIsStoppedOnRequestIsNotNamed) {
  StartAttempt late = Command("sleep 1000 & trap 'exit 3' TERM; wait");
  late.timeout = 200ms;
  EXPECT_EQ(Run(late).state, RunState::kTimedOut);
  const StartAttempt cancelled = Command("sleep 1000 & sleep 1000");
  ASSERT_TRUE(client_->Start(cancelled).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return Started(cancelled.attempt); }));
  ASSERT_TRUE(client_->Cancel(cancelled.attempt, CancelMode::kGraceful).ok());
  EXPECT_EQ(End(cancelled).state, RunState::kCancelled);
  EXPECT_TRUE(LinesOf(late).empty());
  EXPECT_TRUE(LinesOf(cancelled).empty());
}

TEST_F(WardenLogTest, NoteOfTheDaemonIsALine) {
  const StartAttempt start =
      Command("echo begun; while [ ! -e " + (scratch_ / "go") + " ]; do sleep 0.02; done");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(test::WaitUntil([&] {
    Pump();
    return !logs_[NameOf(start.attempt)].empty();
  }));
  ASSERT_TRUE(client_->Note(start.attempt, "a note").ok());
  ASSERT_TRUE(test::WaitUntil([&] {
    Pump();
    return LinesOf(start).size() == 2;
  }));
  EXPECT_EQ(LinesOf(start)[1], (Line{LogStream::kCarillon, "a note\n"}));
  test::WriteFile(scratch_ / "go", "1");
  ASSERT_TRUE(test::WaitUntil([&] { return Complete(start); }));
}

TEST_F(WardenLogTest, ToldWhileTheProcessRuns) {
  const StartAttempt start = Command("echo begun; while [ ! -e " + (scratch_ / "go") +
                                     " ]; do sleep 0.02; done; echo over");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(test::WaitUntil([&] {
    Pump();
    return !logs_[NameOf(start.attempt)].empty();
  }));
  EXPECT_FALSE(Ended(start.attempt));
  EXPECT_EQ(LinesOf(start), (std::vector<Line>{{LogStream::kStdout, "begun\n"}}));
  test::WriteFile(scratch_ / "go", "1");
  ASSERT_TRUE(test::WaitUntil([&] { return Complete(start); }));
  EXPECT_EQ(LinesOf(start).size(), 2u);
}

TEST_F(WardenLogTest, NextDaemonHearsWhatTheLastOneDidNotConfirm) {
  const StartAttempt start = Command("echo kept; while [ ! -e " + (scratch_ / "go") +
                                     " ]; do sleep 0.02; done; echo over");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(test::WaitUntil([&] {
    Pump();
    return !logs_[NameOf(start.attempt)].empty();
  }));
  Detach();
  logs_.clear();
  test::WriteFile(scratch_ / "go", "1");
  Attach();
  ASSERT_TRUE(test::WaitUntil([&] { return Complete(start); }));
  EXPECT_EQ(LinesOf(start),
            (std::vector<Line>{{LogStream::kStdout, "kept\n"}, {LogStream::kStdout, "over\n"}}));
}

TEST_F(WardenLogTest, ConfirmedPiecesAreNotToldAgain) {
  const StartAttempt start = Command("echo once");
  Run(start);
  ASSERT_TRUE(test::WaitUntil([&] { return Complete(start); }));
  ASSERT_TRUE(client_->ConfirmOutput({{start.attempt, 1}}).ok());
  ASSERT_TRUE(client_->List().ok()) << "answered after what was sent before";
  Detach();
  logs_.clear();
  Attach();
  const StartAttempt other = Command("echo other");
  Run(other);
  ASSERT_TRUE(test::WaitUntil([&] { return Complete(other); }));
  EXPECT_TRUE(logs_[NameOf(start.attempt)].empty());
}

TEST_F(WardenLogTest, HundredThousandLinesArriveWhole) {
  const StartAttempt start = Command("seq 1 100000");
  ASSERT_TRUE(client_->Start(start).ok());
  size_t confirmed = 0;
  ASSERT_TRUE(test::WaitUntil([&] {
    const bool complete = Complete(start);
    const auto& chunks = logs_[NameOf(start.attempt)];
    for (; confirmed < chunks.size(); ++confirmed) {
      EXPECT_TRUE(client_->ConfirmOutput({{start.attempt, chunks[confirmed].first_seq}}).ok());
    }
    return complete;
  }));
  const std::vector<Line> lines = LinesOf(start);
  ASSERT_EQ(lines.size(), 100'000u);
  EXPECT_EQ(lines.back().text, "100000\n");
}

}  // namespace
}  // namespace carillon::executor
