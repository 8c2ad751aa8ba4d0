// The words of workers about their attempts: ends, hints for the retry, outputs, and lines of logs.
#include <gtest/gtest.h>

#include "tests/unit/executor/worker/worker_table_fixture.h"

namespace carillon::executor::worker_table_test {
namespace {

class WorkerReportsTest : public WorkerTableTest {
 protected:
  void SetUp() override { book_.Attach(1, Id(10), 0, Hello(), Now()); }
  static WorkerLogLine Line(std::string text, bool error = false) {
    return {.ticket = TicketOf(Held(1)), .error = error, .text = std::move(text)};
  }
};

TEST_F(WorkerReportsTest, AFailureHasItsCodeAndWhatItAsksForTheRetry) {
  Start(1);
  FromWorkerMessage message = DoneOf(1, RunState::kFailed);
  message.done[0].code = "OutOfStock";
  message.done[0].no_retry = true;
  message.done[0].retry_after = 30s;
  book_.Take(1, message, Now());
  const auto ends = Ends();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].result.reason, reason::kHandlerError);
  EXPECT_EQ(ends[0].result.error_code, "OutOfStock");
  EXPECT_TRUE(ends[0].result.no_retry);
  EXPECT_EQ(ends[0].result.retry_after, Duration(30s));
}

TEST_F(WorkerReportsTest, ACodeThatIsASecretIsNotTold) {
  Start(1);
  FromWorkerMessage message = DoneOf(1, RunState::kFailed);
  message.done[0].code = "open-sesame";
  book_.Take(1, message, Now());
  EXPECT_EQ(Ends().at(0).result.error_code, "");
}

TEST_F(WorkerReportsTest, OutputsThatCannotBeKeptDoNotFailWhatIsDone) {
  Start(1);
  FromWorkerMessage message = DoneOf(1);
  message.done[0].outputs = {{"no name", "x"}};
  book_.Take(1, message, Now());
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].stream, LogStream::kCarillon);
  EXPECT_EQ(lines[0].text.find("no output was kept: "), 0u) << lines[0].text;
  const auto ends = Ends();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].result.state, RunState::kCompleted);
  EXPECT_EQ(ends[0].result.reason, "");
  EXPECT_TRUE(ends[0].result.outputs.empty());
}

TEST_F(WorkerReportsTest, TheLogIsCutAtItsLimitOnBothStreams) {
  book_ = WorkerTable(/*log_bytes_max=*/10);
  book_.Attach(1, Id(10), 0, Hello(), Now());
  Start(1);
  FromWorkerMessage message;
  message.logs = {Line("abc"), Line("def", true), Line("one too many"), Line("x", true)};
  book_.Take(1, message, Now());
  book_.Take(1, message, Now());
  book_.Note(Held(1), "a note", Now());
  book_.Take(1, DoneOf(1), Now());
  std::vector<std::string> texts;
  for (const LogEntry& line : Lines()) texts.push_back(line.text);
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "abc\n", "def\n",
                       "the log has reached its limit of 10 bytes: the rest is not stored\n",
                       "a note\n"}));
  EXPECT_EQ(Ends().size(), 1u);
}

TEST_F(WorkerReportsTest, AHugeLineAndManyEmptyOnesCountAsWell) {
  book_ = WorkerTable(/*log_bytes_max=*/1000);
  book_.Attach(1, Id(10), 0, Hello(), Now());
  Start(1);
  FromWorkerMessage message;
  for (int i = 0; i < 256; ++i) message.logs.push_back(Line(""));
  for (int i = 0; i < 10; ++i) book_.Take(1, message, Now());
  EXPECT_EQ(Lines().size(), 1001u) << "the last one is the marker";
  Start(2);
  FromWorkerMessage huge;
  huge.logs = {Line(std::string(20'000, 'x'))};
  huge.logs[0].ticket = TicketOf(Held(2));
  events_.clear();
  book_.Take(1, huge, Now());
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].stream, LogStream::kCarillon);
}

TEST_F(WorkerReportsTest, ALongLineIsSplitBetweenCharactersAndLosesNothing) {
  Start(1);
  std::string text(16'382, 'x');
  for (int i = 0; i < 10'000; ++i) text += "\u4e2d";
  FromWorkerMessage message;
  message.logs = {Line(text)};
  book_.Take(1, message, Now());
  std::string all;
  std::vector<size_t> sizes;
  for (const LogEntry& line : Lines()) {
    sizes.push_back(line.text.size());
    all += line.text.substr(0, line.text.size() - 1);
  }
  EXPECT_EQ(all, text);
  EXPECT_EQ(sizes, (std::vector<size_t>{16'383, 16'384, 13'618}));
}

TEST_F(WorkerReportsTest, WhatWasLeftOutIsNotedOnceForEachKind) {
  Start(1);
  FromWorkerMessage message;
  message.dropped = {{TicketOf(Held(1)), "a save"}, {TicketOf(Held(1)), "a line"}};
  book_.Take(1, message, Now());
  book_.Take(1, message, Now());
  EXPECT_EQ(Lines().size(), 2u);
}

}  // namespace
}  // namespace carillon::executor::worker_table_test
