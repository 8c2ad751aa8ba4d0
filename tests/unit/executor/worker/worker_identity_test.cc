// Identity of workers: each speaks about its own attempts, and its absence proves nothing
// about others.
#include "executor/worker/worker_table.h"

#include <gtest/gtest.h>

#include "tests/unit/executor/worker/worker_table_fixture.h"

namespace carillon::executor::worker_table_test {
namespace {

class WorkerIdentityTest : public WorkerTableTest {};

TEST_F(WorkerIdentityTest, WhatTheNextSessionDoesNotNameNeverBegan) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  Start(1);
  Start(2);
  EXPECT_EQ(Runs(1).size(), 2u);
  book_.Detach(1, Now());
  WorkerHello hello = Hello();
  hello.held = {TicketOf(Held(1))};
  book_.Attach(2, Id(10), 0, hello, Now());
  const auto ends = Ends();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].attempt.token, Held(2).token);
  EXPECT_EQ(ends[0].result.state, RunState::kLost);
  EXPECT_EQ(ends[0].result.reason, reason::kNotStarted);
  EXPECT_TRUE(Runs(2).empty()) << "nothing is sent twice";
}

TEST_F(WorkerIdentityTest, AnotherWorkerOfTheProcessSaysNothingAboutThem) {
  book_.Attach(1, Id(10, "one"), 0, Hello(), Now());
  Start(1);
  book_.Attach(2, Id(10, "two"), 0, Hello(2, "other"), Now());
  EXPECT_TRUE(book_.TakeReplaced().empty()) << "both have a session";
  book_.Take(2, DoneOf(1), Now());
  book_.Detach(1, Now());
  book_.Attach(3, Id(10, "three"), 0, Hello(), Now());
  EXPECT_TRUE(Ends().empty());
  EXPECT_EQ(book_.Workers().size(), 3u);
  WorkerHello hello = Hello();
  hello.done = {{.ticket = TicketOf(Held(1))}};
  book_.Attach(4, Id(10, "one"), 0, hello, Now());
  const auto ends = Ends();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].result.state, RunState::kCompleted);
}

TEST_F(WorkerIdentityTest, WhatAWorkerThatStaysAwayWasSentIsSilentUntilItsWordOrDeath) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  Start(1);
  Start(2);
  Start(3);
  book_.Start(Begin(4), Now());
  book_.Take(1, DoneOf(1), Now());
  book_.Take(1, DoneOf(2), Now());
  book_.Forget({Held(1), Held(2)});
  Write();
  book_.Start(Begin(5), Now());  // waits
  book_.Detach(1, Now());
  EXPECT_EQ(book_.NextTick(), SteadyTime(WorkerTable::kPlaceWait));
  Ends();
  at_ = WorkerTable::kAwayMax - 1us;
  book_.Tick(Now());
  EXPECT_EQ(Silences(), (std::map<uint64_t, bool>{}));
  EXPECT_EQ(Ends().size(), 1u) << "what waited for a slot";
  at_ = WorkerTable::kAwayMax;
  book_.Tick(Now());
  EXPECT_EQ(Silences(), (std::map<uint64_t, bool>{{3, true}, {4, true}}));
  EXPECT_TRUE(Ends().empty());
  WorkerHello hello = Hello();
  hello.held = {TicketOf(Held(3)), TicketOf(Held(4))};
  book_.Attach(2, Id(10), 0, hello, Now());
  EXPECT_EQ(Silences(), (std::map<uint64_t, bool>{{3, false}, {4, false}}));
  book_.Detach(2, Now());
  at_ += WorkerTable::kAwayMax;
  book_.Tick(Now());
  Silences();
  book_.Died(Id(10), Now());
  const auto ends = Ends();
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[0].result.reason, reason::kWorkerDied);
  EXPECT_TRUE(book_.Workers().empty());
}

TEST_F(WorkerIdentityTest, WhatWasNotSentToAWorkerThatIsGoneNeverBegan) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  book_.Attach(2, Id(11), 0, Hello(), Now());
  book_.Start(Begin(1), Now());
  book_.Start(Begin(2), Now());
  book_.Detach(1, Now());
  book_.Detach(2, Now());
  Write();
  book_.Died(Id(10), Now());
  at_ = WorkerTable::kAwayMax;
  book_.Tick(Now());
  const auto ends = Ends();
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[0].result.reason, reason::kNotStarted);
  EXPECT_EQ(ends[1].result.reason, reason::kNotStarted);
  EXPECT_TRUE(book_.Workers().empty());
}

TEST_F(WorkerIdentityTest, ThoseThatComeAndGoAreNotKept) {
  for (uint64_t i = 1; i <= 2 * WorkerTable::kWorkersMax; ++i) {
    book_.Attach(i, Id(10, std::to_string(i)), 0, Hello(), Now());
    book_.Detach(i, Now());
    EXPECT_FALSE(book_.full());
  }
  EXPECT_TRUE(book_.Workers().empty());
  EXPECT_EQ(book_.NextTick(), SteadyTime::max());
}

TEST_F(WorkerIdentityTest, TheDeathOfAProcessEndsItsAttempts) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  Start(1);
  Start(2);
  book_.Take(1, DoneOf(1), Now());
  EXPECT_EQ(Ends().size(), 1u);
  book_.Detach(1, Now());
  EXPECT_TRUE(Ends().empty()) << "it lives, and may come back";
  book_.Died(Id(10), Now());
  const auto ends = Ends();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].attempt.token, Held(2).token);
  EXPECT_EQ(ends[0].result.reason, reason::kWorkerDied);
  EXPECT_TRUE(book_.offers()->empty());
}

TEST_F(WorkerIdentityTest, EndsThatNobodyKnowsAreTakenFromAHelloOnlyMaskedAndBounded) {
  WorkerHello hello = Hello();
  const WorkerTicket held = TicketOf(Held(1));
  hello.held = {held};
  hello.masked = {{held, {"open-sesame"}}, {TicketOf(Held(2)), {"open-sesame"}}};
  hello.done = {
      {.ticket = TicketOf(Held(2)), .state = RunState::kFailed, .error = "open-sesame is wrong"}};
  book_.Attach(1, Id(10), 0, hello, Now());
  FromWorkerMessage message = DoneOf(1, RunState::kFailed);
  message.done[0].error = "open-sesame is wrong";
  book_.Take(1, message, Now());
  const auto ends = Ends();
  ASSERT_EQ(ends.size(), 2u);
  for (const AttemptEnded& end : ends) EXPECT_EQ(end.result.error, "*** is wrong");
  book_.Take(1, DoneOf(3), Now());
  EXPECT_TRUE(Ends().empty()) << "made up";
  hello = Hello();
  for (uint64_t number = 10; number < 10 + 2 * UnknownEnds::kMax; ++number) {
    hello.done.push_back({.ticket = TicketOf(Held(number))});
  }
  book_.Attach(2, Id(10), 0, hello, Now());
  EXPECT_EQ(Ends().size(), UnknownEnds::kMax);
}

TEST_F(WorkerIdentityTest, AnEndThatAnEarlierDaemonKnewFreesTheSlotAndTheRecord) {
  book_.Attach(1, Id(10), 0, Hello(1), Now());
  Start(1);
  WorkerTable next;
  next.Adopt(records_.at(0), Now());
  book_ = std::move(next);
  book_.Forget({Held(1)});
  EXPECT_EQ(book_.TakeRemovals().size(), 1u);
  EXPECT_TRUE(book_.Workers().empty());
  EXPECT_TRUE(Ends().empty());
}

TEST_F(WorkerIdentityTest, AWorkerSpeaksOnlyAboutItsOwnAttempts) {
  book_.Attach(1, Id(10), 0, Hello(), Now());
  Start(1);
  book_.Attach(2, Id(11), 0, Hello(2, "other"), Now());
  book_.Take(2, DoneOf(1), Now());
  EXPECT_TRUE(Ends().empty());
  WorkerHello hello = Hello(2, "other");
  hello.held = {TicketOf(Held(1)), "nonsense"};
  book_.Attach(3, Id(11), 0, hello, Now());
  book_.Take(1, DoneOf(1), Now());
  EXPECT_EQ(Ends().size(), 1u);
}

}  // namespace
}  // namespace carillon::executor::worker_table_test
