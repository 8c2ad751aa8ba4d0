#include "executor/output/attempt_log.h"

#include <gtest/gtest.h>

namespace carillon::executor {
namespace {

class AttemptLogTest : public ::testing::Test {
 protected:
  static constexpr OutputStream kOut = OutputStream::kOut;
  static constexpr OutputStream kErr = OutputStream::kErr;

  AttemptLog::Now At(Duration since) const {
    return {SteadyTime(1s) + since, FromUnixMicros(1'000'000) + since};
  }
  // Returns all due entries, as "stream:text" with their sequence numbers.
  std::vector<std::string> Take(AttemptLog& log, Duration since) {
    std::vector<std::string> taken;
    while (const LogChunk* chunk = log.Take(At(since).steady)) {
      const auto entries = DecodeEntries(chunk->entries, chunk->count);
      EXPECT_TRUE(entries.ok());
      uint64_t seq = chunk->first_seq;
      for (const LogEntry& entry : *entries) {
        taken.push_back(std::to_string(seq++) + " " + std::string(Name(entry.stream)) + ":" +
                        entry.text);
      }
      if (chunk->last) taken.push_back("last");
      firsts_.push_back(chunk->first_seq);
    }
    return taken;
  }

  using Lines = std::vector<std::string>;
  LogBudget budget_;
  std::vector<uint64_t> firsts_;
};

TEST_F(AttemptLogTest, LinesOfBothStreamsInOrder) {
  AttemptLog log(budget_, {});
  log.Append(kOut, "a\nb\n", At(0ms));
  log.Append(kErr, "bad\n", At(1ms));
  log.Append(kOut, "c", At(2ms));
  EXPECT_EQ(Take(log, 50ms), Lines()) << "gathered for a moment";
  EXPECT_EQ(log.NextDue(), At(100ms).steady);
  EXPECT_EQ(Take(log, 100ms), (Lines{"1 stdout:a\n", "2 stdout:b\n", "3 stderr:bad\n"}));
  log.Append(kOut, "d\n", At(200ms));
  log.End(At(210ms));
  EXPECT_EQ(Take(log, 210ms), (Lines{"4 stdout:cd\n", "last"}));
  EXPECT_FALSE(log.over());
  for (const uint64_t first : firsts_) log.Confirm(first);
  EXPECT_TRUE(log.over());
  EXPECT_EQ(budget_.used, 0u);
}

TEST_F(AttemptLogTest, CrsAtTheEndOfALineAreDropped) {
  AttemptLog log(budget_, {});
  log.Append(kOut, "one\r", At(0ms));
  log.Append(kOut, "\n10%\r20%\r\r\n\r\nend\r", At(1ms));
  log.End(At(2ms));
  EXPECT_EQ(Take(log, 2ms), (Lines{"1 stdout:one\n", "2 stdout:10%\r20%\n", "3 stdout:\n",
                                   "4 stdout:end\r", "last"}));
}

TEST_F(AttemptLogTest, NoteIsALineByCarillonUntilTheEnd) {
  AttemptLog log(budget_, {});
  log.Note("a note", At(0ms));
  EXPECT_EQ(log.NextDue(), At(100ms).steady);
  EXPECT_EQ(Take(log, 100ms), Lines{"1 carillon:a note\n"});
  log.End(At(200ms));
  log.Note("too late", At(210ms));
  EXPECT_EQ(Take(log, 300ms), Lines{"last"});
}

TEST_F(AttemptLogTest, TheNoteOfTheEndIsBehindAnUnfinishedLine) {
  AttemptLog log(budget_, {});
  log.Append(kOut, "last words", At(0ms));
  log.End(At(10ms), "a process was left");
  EXPECT_EQ(Take(log, 10ms),
            (Lines{"1 stdout:last words", "2 carillon:a process was left\n", "last"}));
}

TEST_F(AttemptLogTest, EntryHasTheTimeOfItsFirstByte) {
  AttemptLog log(budget_, {});
  log.Append(kOut, "slow", At(5ms));
  log.Append(kOut, " line\n", At(80ms));
  log.End(At(90ms));
  const LogChunk* chunk = log.Take(At(90ms).steady);
  ASSERT_NE(chunk, nullptr);
  EXPECT_EQ(DecodeEntries(chunk->entries, 1)->at(0),
            (LogEntry{At(5ms).wall, LogStream::kStdout, "slow line\n"}));
}

TEST_F(AttemptLogTest, PromptWithoutNewlineIsToldAfterAWhile) {
  AttemptLog log(budget_, {});
  log.Append(kOut, "password: ", At(0ms));
  EXPECT_EQ(log.NextDue(), At(AttemptLog::kLinePatience).steady);
  EXPECT_EQ(Take(log, AttemptLog::kLinePatience - 1us), Lines());
  EXPECT_EQ(Take(log, AttemptLog::kLinePatience), Lines());
  EXPECT_EQ(Take(log, AttemptLog::kLinePatience + AttemptLog::kGather),
            (Lines{"1 stdout:password: "}));
  log.Append(kOut, "ok\n", At(900ms));
  EXPECT_EQ(Take(log, 1s), (Lines{"2 stdout:ok\n"}));
}

TEST_F(AttemptLogTest, UnfinishedLinesStayInTheOrderInWhichTheyBegan) {
  AttemptLog log(budget_, {});
  log.Append(kErr, "password: ", At(0ms));
  log.Append(kOut, "x", At(0ms));
  log.End(At(0ms));
  EXPECT_EQ(Take(log, 0ms), (Lines{"1 stderr:password: ", "2 stdout:x", "last"}));
}

TEST_F(AttemptLogTest, LongLineComesInPieces) {
  AttemptLog log(budget_, {});
  const std::string line(kLogEntryBytesMax + 10, 'x');
  log.Append(kOut, line + "\n", At(0ms));
  log.End(At(1ms));
  EXPECT_EQ(Take(log, 1ms), (Lines{"1 stdout:" + std::string(kLogEntryBytesMax, 'x'),
                                   "2 stdout:" + std::string(10, 'x') + "\n", "last"}));
}

TEST_F(AttemptLogTest, ChunksAreBounded) {
  AttemptLog log(budget_, {});
  for (int i = 0; i < 20'000; ++i) log.Append(kOut, "0123456789\n", At(0ms));
  size_t chunks = 0;
  uint64_t next = 1;
  while (const LogChunk* chunk = log.Take(At(1s).steady)) {
    EXPECT_LE(chunk->entries.size(), kLogChunkBytesMax);
    EXPECT_EQ(chunk->first_seq, next);
    next += chunk->count;
    ++chunks;
  }
  EXPECT_EQ(next, 20'001u);
  EXPECT_LE(chunks, 8u);
}

TEST_F(AttemptLogTest, WithoutAByteNothingIsTold) {
  AttemptLog log(budget_, {});
  log.End(At(1ms));
  EXPECT_EQ(Take(log, 1s), Lines());
  EXPECT_TRUE(log.over());
}

TEST_F(AttemptLogTest, EndAfterEverythingWasToldIsToldToo) {
  AttemptLog log(budget_, {});
  log.Append(kOut, "a\n", At(0ms));
  EXPECT_EQ(Take(log, 100ms), (Lines{"1 stdout:a\n"}));
  log.End(At(200ms));
  EXPECT_EQ(Take(log, 200ms), (Lines{"last"}));
  EXPECT_EQ(firsts_, (std::vector<uint64_t>{1, 2}));
}

TEST_F(AttemptLogTest, WhatNobodyTakesIsLeftOutAndSaid) {
  AttemptLog log(budget_, {.log_bytes_max = 1u << 20, .waiting_bytes_max = 60});
  log.Append(kOut, "0123456789\n", At(0ms));
  log.Append(kOut, "0123456789\n", At(0ms));
  log.Append(kErr, "lost, twelve\n", At(0ms));
  EXPECT_EQ(Take(log, 1s), (Lines{"1 stdout:0123456789\n", "2 stdout:0123456789\n"}));
  log.Confirm(1);
  log.Append(kOut, "on\n", At(2s));
  EXPECT_EQ(Take(log, 3s),
            (Lines{"3 carillon:13 bytes are missing here: the log was not collected in time\n",
                   "4 stdout:on\n"}));
  log.Append(kOut, std::string(100, 'y') + "\n", At(4s));
  log.End(At(4s));
  EXPECT_EQ(Take(log, 4s),
            (Lines{"5 carillon:101 bytes are missing here: the log was not collected in time\n",
                   "last"}));
}

TEST_F(AttemptLogTest, BudgetIsShared) {
  budget_.bytes_max = 60;
  AttemptLog one(budget_, {});
  one.Append(kOut, "0123456789012345678901234567890\n", At(0ms));
  {
    AttemptLog other(budget_, {});
    other.Append(kOut, "0123456789012345678901234567890\n", At(0ms));
    EXPECT_EQ(Take(other, 1s), Lines());
    other.Append(kOut, "short\n", At(1s));
    EXPECT_EQ(Take(other, 2s).size(), 2u) << "a marker, and what fits again";
  }
  EXPECT_EQ(budget_.used, 13u + 32u) << "what is gone gives its part back";
}

TEST_F(AttemptLogTest, LogHasAnEnd) {
  AttemptLog log(budget_, {.log_bytes_max = 8});
  log.Append(kOut, "12345\n", At(0ms));
  log.Append(kOut, "678\n", At(0ms));
  log.Append(kOut, "never\n", At(0ms));
  log.End(At(1ms));
  const Lines taken = Take(log, 1ms);
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken[0], "1 stdout:12345\n");
  EXPECT_NE(taken[1].find("2 carillon:the log has reached its limit of 8 bytes"),
            std::string::npos);
  EXPECT_EQ(taken[2], "last");
}

TEST_F(AttemptLogTest, NewListenerHearsWhatWasNotConfirmed) {
  AttemptLog log(budget_, {});
  log.Append(kOut, "a\n", At(0ms));
  Take(log, 1s);
  log.Append(kOut, "b\n", At(1s));
  Take(log, 2s);
  log.Confirm(1);
  log.ReportAllAgain();
  EXPECT_EQ(Take(log, 2s), (Lines{"2 stdout:b\n"}));
  log.Confirm(77);  // there is no such entry
  log.Confirm(2);
  log.Confirm(2);
  EXPECT_EQ(budget_.used, 0u);
}

}  // namespace
}  // namespace carillon::executor
