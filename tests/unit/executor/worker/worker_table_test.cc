// The rules of workers: one call per attempt, ends only by their word or death, and slots.
#include "executor/worker/worker_table.h"

#include <gtest/gtest.h>

#include "executor/leases/lease_watch.h"
#include "tests/unit/executor/worker/worker_table_fixture.h"

namespace carillon::executor::worker_table_test {
namespace {

TEST_F(WorkerTableTest, ARunLeavesOnlyAfterItsRecordIsOnDisk) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  book_.Start(Begin(1), Now());
  EXPECT_TRUE(Runs(1).empty());
  Write();
  ASSERT_EQ(Runs(1).size(), 1u);
  EXPECT_EQ(records_.at(0).worker, Id(10));
  book_.Start(Begin(1), Now());  // asked twice
  Write();
  EXPECT_TRUE(Runs(1).empty());
  EXPECT_EQ(*book_.offers(), (HandlerOffers{{"app/work", 2}}));
}

TEST_F(WorkerTableTest, ItsEndIsReportedOnceAndKeptUntilItIsStored) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  Start(1);
  book_.Take(1, DoneOf(1), Now());
  book_.Take(1, DoneOf(1, RunState::kFailed), Now());
  const auto ends = Ends();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].result.state, RunState::kCompleted);
  EXPECT_TRUE(sent_[1].done_stored.empty());
  book_.Forget({Held(1)});
  Collect();
  EXPECT_EQ(sent_[1].done_stored.size(), 1u);
  EXPECT_EQ(book_.TakeRemovals().size(), 1u);
  // Its confirmation was lost: only that is repeated.
  book_.Take(1, DoneOf(1), Now());
  EXPECT_TRUE(Ends().empty());
  EXPECT_EQ(sent_[1].done_stored.size(), 2u);
}

TEST_F(WorkerTableTest, ARecordThatIsReadyDuringABreakIsSentInTheNextSession) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  book_.Start(Begin(1), Now());
  book_.Detach(1, Now());
  Write();
  book_.Attach(2, Id(10), 0, Hello(), Now());
  EXPECT_EQ(Runs(2).size(), 1u);
  EXPECT_TRUE(Ends().empty());
}

TEST_F(WorkerTableTest, ARestartedDaemonFindsThemAgain) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  Start(1);
  Start(2);
  Start(3);
  WorkerTable next;
  for (const StartRecord& record : records_) next.Adopt(record, Now());
  EXPECT_EQ(next.TakeEvents().size(), 2u) << "the third waited for a slot";
  book_ = std::move(next);
  WorkerHello hello = Hello();
  hello.held = {TicketOf(Held(1))};
  hello.done = {{.ticket = TicketOf(Held(2))}};
  hello.masked = {{TicketOf(Held(1)), {"open-sesame"}}};
  book_.Attach(2, Id(10), 0, hello, Now());
  auto ends = Ends();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].attempt.token, Held(2).token);
  FromWorkerMessage message = DoneOf(1, RunState::kFailed);
  message.done[0].error = "open-sesame is wrong";
  book_.Take(2, message, Now());
  ends = Ends();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].result.error, "*** is wrong");
}

TEST_F(WorkerTableTest, AWorkerThatCameBackIsNotAwayForAnyOfItsAttempts) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  Start(1);
  Start(2);
  book_ = WorkerTable();
  WorkerHello hello = Hello();
  for (const StartRecord& record : records_) {
    at_ += 1ms;  // the records are read one after the other
    book_.Adopt(record, Now());
    hello.held.push_back(TicketOf(record.attempt));
  }
  Silences();
  book_.Attach(2, Id(10), 0, hello, Now());
  at_ += 60s;
  book_.Tick(Now());
  EXPECT_EQ(Silences(), (std::map<uint64_t, bool>{}));
}

TEST_F(WorkerTableTest, SlotsAreKeptAndTheLeastBusyIsChosen) {
  book_.Attach(1, Id(10), 0, Hello(1), Now());
  book_.Attach(2, Id(11), 0, Hello(3), Now());
  for (uint64_t number = 1; number <= 5; ++number) Start(number);
  EXPECT_EQ(Runs(1).size(), 1u);
  EXPECT_EQ(Runs(2).size(), 3u);
  // The fifth waits for a slot that was just given up, but not for ever.
  at_ += 1s;
  book_.Take(1, DoneOf(1), Now());
  Write();
  const bool placed = Runs(1).size() == 1;
  book_.Take(2, DoneOf(1), Now());
  Write();
  EXPECT_TRUE(placed || Runs(2).size() == 1);
  Ends();
  Start(6);
  at_ += WorkerTable::kPlaceWait;
  book_.Tick(Now());
  const auto ends = Ends();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].result.reason, reason::kNotStarted);
}

TEST_F(WorkerTableTest, ADrainingWorkerGetsNoMore) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  Start(1);
  EXPECT_EQ(Runs(1).size(), 1u);
  book_.Take(1, {.draining = true}, Now());
  EXPECT_TRUE(book_.offers()->empty());
  Start(2);
  EXPECT_TRUE(Runs(1).empty());
}

TEST_F(WorkerTableTest, WhatADrainingWorkerWasNotSentIsGivenBackBeforeTheAnswer) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  Start(1);
  EXPECT_EQ(Runs(1).size(), 1u);
  book_.Start(Begin(2), Now());  // its record is being written
  book_.Take(1, {.draining = true}, Now());
  Write();
  const auto ends = Ends();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].attempt.token, Held(2).token);
  EXPECT_EQ(ends[0].result.reason, reason::kNotStarted);
  EXPECT_TRUE(Runs(1).empty());
  EXPECT_TRUE(sent_[1].drained);
  sent_[1].drained = false;
  book_.Take(1, {.draining = true}, Now());
  Collect();
  EXPECT_FALSE(sent_[1].drained) << "one answer is enough";
  WorkerHello again = Hello();
  again.held = {TicketOf(Held(1))};
  again.draining = true;
  book_.Attach(2, Id(10), 0, again, Now());
  Collect();
  EXPECT_TRUE(sent_[2].drained);
  EXPECT_TRUE(Ends().empty());
}

TEST_F(WorkerTableTest, ATimeoutAndACancelAskOnceAndEndNothing) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  Start(1);
  Start(2);
  book_.Cancel(Held(1), Now());
  book_.Cancel(Held(1), Now());
  EXPECT_EQ(book_.NextTick(), SteadyTime(60s));
  at_ = 60s;
  book_.Tick(Now());
  book_.Tick(Now());
  EXPECT_TRUE(Ends().empty());
  ASSERT_EQ(sent_[1].asks.size(), 3u) << "a cancel of the first, a timeout of both";
  EXPECT_EQ(sent_[1].asks[0].why, WorkerAsk::Why::kCancel);
  EXPECT_EQ(sent_[1].asks[1].why, WorkerAsk::Why::kTimeout);
  // Its next Hello brings the asks again.
  WorkerHello hello = Hello();
  hello.held = {TicketOf(Held(1)), TicketOf(Held(2))};
  book_.Attach(2, Id(10), 0, hello, Now());
  Collect();
  EXPECT_EQ(sent_[2].asks.size(), 3u);
  book_.Take(2, DoneOf(1, RunState::kCancelled), Now());
  book_.Take(2, DoneOf(2), Now());
  const auto ends = Ends();
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[0].result.state, RunState::kCancelled);
  EXPECT_EQ(ends[1].result.state, RunState::kCompleted) << "it finished its work after all";
}

TEST_F(WorkerTableTest, WhatWaitsForASlotIsCancelledAtOnce) {
  book_.Attach(1, Id(10), 0, Hello(1), Now());
  Start(1);
  Start(2);
  book_.Cancel(Held(2), Now());
  const auto ends = Ends();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].result.state, RunState::kCancelled);
  book_.Forget({Held(2)});
  book_.Take(1, DoneOf(1), Now());
  Write();
  EXPECT_EQ(Runs(1).size(), 1u) << "only the first";
  EXPECT_EQ(book_.NextTick(), SteadyTime::max());
}

TEST_F(WorkerTableTest, ATimeoutBeforeItIsSentIsAskedWithIt) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  book_.Start(Begin(1), Now());
  at_ = 60s;
  book_.Tick(Now());
  Write();
  Collect();
  ASSERT_EQ(sent_[1].runs.size(), 1u);
  ASSERT_EQ(sent_[1].asks.size(), 1u);
  EXPECT_EQ(sent_[1].asks[0].why, WorkerAsk::Why::kTimeout);
}

TEST_F(WorkerTableTest, LeasesAreSentOnAndOnlyGrow) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  Start(1);
  book_.RenewLeases({Held(1)}, SteadyTime(30s));
  book_.RenewLeases({Held(1)}, SteadyTime(25s));
  Collect();
  EXPECT_EQ(sent_[1].leases.size(), 1u);
  EXPECT_TRUE(sent_[1].leases.contains(SteadyTime(30s)));
  at_ = 30s - kLeaseMargin;
  book_.Take(1, DoneOf(1, RunState::kLost), Now());
  EXPECT_EQ(Ends().at(0).result.reason, reason::kLeaseEnded);
}

TEST_F(WorkerTableTest, OnlyTheWorkerKnowsTheLeaseOfAnAdoptedAttempt) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  Start(1);
  for (const bool draining : {false, true}) {
    WorkerTable next;
    next.Adopt(records_.at(0), Now());
    book_ = std::move(next);
    WorkerHello hello = Hello();
    hello.done = DoneOf(1, RunState::kLost).done;
    hello.draining = draining;
    book_.Attach(2, Id(10), 0, hello, Now());
    EXPECT_EQ(Ends().at(0).result.reason, draining ? reason::kWorkerStopped : reason::kLeaseEnded);
  }
}

TEST_F(WorkerTableTest, SavesComeBeforeTheEndAndOnlyFromTheOwnWorker) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  book_.Attach(2, Id(20), 0, Hello(1, "other"), Now());
  Start(1);
  FromWorkerMessage message = DoneOf(1, RunState::kFailed);
  message.saves.push_back(
      {.ticket = TicketOf(Held(1)), .progress = "42 at open-sesame", .checkpoint = "open-sesame"});
  book_.Take(2, {.saves = message.saves}, Now());
  Collect();
  EXPECT_TRUE(events_.empty()) << "of a worker that does not have the attempt";
  book_.Take(1, message, Now());
  book_.Take(1, {.saves = message.saves}, Now());
  Collect();
  ASSERT_EQ(events_.size(), 2u) << "nothing is saved after the end";
  const auto& save = std::get<AttemptContent>(events_[0]);
  EXPECT_EQ(save.attempt.token, Held(1).token);
  EXPECT_EQ(save.progress, "42 at ***");
  EXPECT_EQ(save.checkpoint, "open-sesame");
  EXPECT_TRUE(std::holds_alternative<AttemptEnded>(events_[1]));
}

TEST_F(WorkerTableTest, OutputsAndLogsAreMaskedAndBounded) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  Start(1);
  FromWorkerMessage message = DoneOf(1);
  message.logs.push_back({.ticket = TicketOf(Held(1)), .text = "it is open-sesame"});
  message.done[0].outputs = {{"a", "open-sesame"}};
  book_.Take(1, message, Now());
  Collect();
  ASSERT_EQ(events_.size(), 3u) << "lines, the end of the log, the end";
  const auto& lines = std::get<AttemptOutput>(events_[0]).chunk;
  EXPECT_EQ(lines.first_seq, 1u);
  EXPECT_EQ(DecodeEntries(lines.entries, lines.count)->at(0).text, "it is ***\n");
  EXPECT_TRUE(std::get<AttemptOutput>(events_[1]).chunk.last);
  EXPECT_EQ(std::get<AttemptEnded>(events_[2]).result.outputs.at("a"), "***");
}

TEST_F(WorkerTableTest, ALaterDaemonGivesNewNumbersToLinesAlsoIfTheClockWasSetBack) {
  const auto line = [](Duration time) {
    FromWorkerMessage message;
    message.logs.push_back({.ticket = TicketOf(Held(1)), .time = WallTime(time), .text = "x"});
    return message;
  };
  const auto number = [this] {
    Collect();
    const uint64_t first = std::get<AttemptOutput>(events_.back()).chunk.first_seq;
    events_.clear();
    return first;
  };
  book_.Attach(1, Id(10), 0, Hello(), Now());
  Start(1);
  for (uint64_t expected = 1; expected <= 3; ++expected) {
    book_.Take(1, line(5s), Now());
    EXPECT_EQ(number(), expected);
  }
  uint64_t before = 3;
  for (int restart = 0; restart < 2; ++restart) {
    WorkerTable next;
    at_ += 1s;
    next.Adopt(records_.at(0), Now());
    book_ = std::move(next);
    WorkerHello hello = Hello();
    hello.held = {TicketOf(Held(1))};
    book_.Attach(2, Id(10), 0, hello, Now());
    book_.Take(2, line(Duration(-3600s)), Now());
    const uint64_t after = number();
    EXPECT_GT(after, before);
    before = after;
  }
}

TEST_F(WorkerTableTest, AStartThatCannotBeRecordedDoesNotHappen) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  book_.Start(Begin(1), Now());
  book_.NotRecorded({IdOf(Held(1))}, "the disk is full", Now());
  EXPECT_TRUE(Runs(1).empty());
  EXPECT_EQ(Ends().at(0).result.reason, reason::kNotStarted);
}

}  // namespace
}  // namespace carillon::executor::worker_table_test
