#include "scheduler/liveness/executor_table.h"

#include <gtest/gtest.h>

namespace carillon::scheduler {
namespace {

constexpr SteadyTime kStart{1000s};

ExecutorRecord Record(const std::string& incarnation) {
  return {.id = ExecutorId("x1"), .incarnation = Incarnation(incarnation), .slots = 4};
}

class ExecutorTableTest : public ::testing::Test {
 protected:
  bool Beat(const std::string& incarnation, SteadyTime now, int free_slots = 4) {
    return table_.HeartbeatFrom(ExecutorId("x1"), Incarnation(incarnation),
                                {.free_slots = free_slots}, WallTime{}, now);
  }
  // Of an executor of a large fleet that holds nothing.
  void QuietBeat(const std::string& incarnation, SteadyTime now) {
    EXPECT_TRUE(table_.HeartbeatFrom(ExecutorId("x1"), Incarnation(incarnation),
                                     {.free_slots = 4, .next_in = 15s}, WallTime{}, now));
  }
  ExecutorState State() { return table_.Find(ExecutorId("x1"))->state; }
  using Admission = ExecutorTable::Admission;
  ExecutorTable table_{{}};
};

TEST_F(ExecutorTableTest, UnknownProcessMustRegister) {
  EXPECT_FALSE(Beat("e1", kStart));
  table_.Accept(Record("e1"), kStart);
  EXPECT_TRUE(Beat("e1", kStart));
  EXPECT_FALSE(Beat("e2", kStart));
}

TEST_F(ExecutorTableTest, OneThatIsInTroubleIsUnhealthyAndGetsNothing) {
  table_.Accept(Record("e1"), kStart);
  Beat("e1", kStart);
  EXPECT_TRUE(table_.TakeChanges().at(0).usable);
  table_.JudgeHealth(kStart);
  const auto beat = [this](const std::string& trouble, SteadyTime now) {
    EXPECT_TRUE(table_.HeartbeatFrom(ExecutorId("x1"), Incarnation("e1"),
                                     {.free_light_slots = 9, .trouble = trouble}, WallTime{}, now));
  };
  beat("the warden does not respond", kStart + 1s);
  EXPECT_FALSE(table_.TakeChanges().at(0).usable);
  EXPECT_TRUE(table_.JudgeHealth(kStart + 1s));
  EXPECT_FALSE(table_.JudgeHealth(kStart + 2s)) << "as before";
  EXPECT_EQ(table_.Records().at(0).state, ExecutorState::kUnhealthy);
  EXPECT_EQ(table_.Records().at(0).trouble, "the warden does not respond");
  beat("", kStart + 3s);
  EXPECT_TRUE(table_.TakeChanges().at(0).usable);
  EXPECT_TRUE(table_.JudgeHealth(kStart + 3s));
  EXPECT_EQ(table_.Records().at(0).state, ExecutorState::kOnline);
}

TEST_F(ExecutorTableTest, OneWhoseHostFailsIsPausedUntilItIsLookedAt) {
  table_.Accept(Record("e1"), kStart);
  Beat("e1", kStart);
  const auto fail = [this](int count, SteadyTime now) {
    for (int i = 0; i < count; ++i) {
      table_.AttemptEnded(ExecutorId("x1"), JobNo(static_cast<uint64_t>(i)), HostWord::kFault, now);
    }
  };
  fail(4, kStart);
  EXPECT_TRUE(table_.TakeChanges().at(0).usable);
  fail(1, kStart);
  EXPECT_FALSE(table_.TakeChanges().at(0).usable);
  EXPECT_EQ(table_.Records().at(0).breaker, (BreakerView{.pause = 30s}));
  table_.JudgeHealth(kStart + 5s);
  Beat("e1", kStart + 29s);
  EXPECT_FALSE(table_.TakeChanges().at(0).usable);
  Beat("e1", kStart + 30s);
  table_.JudgeHealth(kStart + 30s);
  ExecutorView view = table_.TakeChanges().at(0);
  EXPECT_TRUE(view.usable);
  EXPECT_TRUE(view.one_at_a_time);
  fail(1, kStart + 31s);
  EXPECT_FALSE(table_.TakeChanges().at(0).usable);
  EXPECT_EQ(table_.Records().at(0).breaker, (BreakerView{.pause = 60s}));
  ExecutorRecord stored = Record("e1");
  stored.enabled = false;
  table_.Refresh({stored});
  stored.enabled = true;
  table_.Refresh({stored});
  Beat("e1", kStart + 32s);
  table_.JudgeHealth(kStart + 32s);
  view = table_.TakeChanges().at(0);
  EXPECT_TRUE(view.usable);
  EXPECT_FALSE(view.one_at_a_time);
  EXPECT_EQ(table_.Records().at(0).breaker, std::nullopt);
}

TEST_F(ExecutorTableTest, SuccessorOfASilentProcessWaitsThenIsAdmitted) {
  table_.Accept(Record("e1"), kStart);
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 1s), Admission::kWait);
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 5s), Admission::kWait);
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 6s), Admission::kAdmit);
}

TEST_F(ExecutorTableTest, QuietProcessIsNotReplacedBeforeTheTimeThatItAnnounced) {
  table_.Accept(Record("e1"), kStart);
  QuietBeat("e1", kStart);
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 6s), Admission::kWait);
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 17s - 1us), Admission::kWait);
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 17s), Admission::kAdmit);
  QuietBeat("e1", kStart + 15s);
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 17s), Admission::kRefuse);
}

TEST_F(ExecutorTableTest, BeatThatALaterOneHasOvertakenAnnouncesNothing) {
  table_.Accept(Record("e1"), kStart);
  const auto beat = [this](int64_t sent_us, Duration next_in, int free_slots, SteadyTime now) {
    EXPECT_TRUE(table_.HeartbeatFrom(
        ExecutorId("x1"), Incarnation("e1"),
        {.sent_us = sent_us, .free_slots = free_slots, .next_in = next_in}, WallTime{}, now));
  };
  beat(200, 15s, 4, kStart);
  beat(100, 2s, 3, kStart + 1s);
  EXPECT_EQ(table_.TakeChanges().at(0).free_slots, 4);
  table_.JudgeHealth(kStart + 15s);
  EXPECT_EQ(State(), ExecutorState::kOnline);
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 15s), Admission::kWait);
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 18s), Admission::kAdmit) << "it was heard at 1 s";
  // Another process has another clock.
  table_.Accept(Record("e2"), kStart + 18s);
  EXPECT_TRUE(table_.HeartbeatFrom(ExecutorId("x1"), Incarnation("e2"),
                                   {.sent_us = 50, .free_slots = 2}, WallTime{}, kStart + 18s));
  EXPECT_EQ(table_.TakeChanges().at(0).free_slots, 2);
}

TEST_F(ExecutorTableTest, AClockThatWentFarBackIsBelieved) {
  table_.Accept(Record("e1"), kStart);
  for (const auto& [sent_us, free_slots] : {std::pair(90'000'000, 4), std::pair(30'000'000, 3)}) {
    EXPECT_TRUE(table_.HeartbeatFrom(ExecutorId("x1"), Incarnation("e1"),
                                     {.sent_us = sent_us, .free_slots = free_slots}, WallTime{},
                                     kStart + 1s));
  }
  EXPECT_EQ(table_.TakeChanges().at(0).free_slots, 3);
}

TEST_F(ExecutorTableTest, ProcessWhoseStreamHasEndedIsReplacedAtOnce) {
  table_.Accept(Record("e1"), kStart);
  QuietBeat("e1", kStart);
  table_.StreamEnded(ExecutorId("x1"), Incarnation("e0"), kStart + 1s);
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 1s), Admission::kWait) << "of another process";
  table_.StreamEnded(ExecutorId("x1"), Incarnation("e1"), kStart + 1s);
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 1s), Admission::kAdmit);
  QuietBeat("e1", kStart + 2s);
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 2s), Admission::kWait) << "it is back";
}

// Two hosts have one id by mistake, and the network of the first one fails for a moment.
TEST_F(ExecutorTableTest, SecondHostDoesNotTakeTheNameWhenAStreamEnds) {
  table_.Accept(Record("e1"), kStart);
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 1s), Admission::kWait);
  Beat("e1", kStart + 2s);
  table_.StreamEnded(ExecutorId("x1"), Incarnation("e1"), kStart + 3s);
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 3s), Admission::kRefuse);
  EXPECT_EQ(table_.Admit(Record("e3"), kStart + 3s), Admission::kAdmit) << "a restart";
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 8s), Admission::kAdmit) << "it was silent";
}

TEST_F(ExecutorTableTest, StreamThatDoesNotComeBackIsALoss) {
  table_.Accept(Record("e1"), kStart);
  QuietBeat("e1", kStart);
  table_.StreamEnded(ExecutorId("x1"), Incarnation("e1"), kStart + 1s);
  table_.JudgeHealth(kStart + 7s);
  EXPECT_EQ(State(), ExecutorState::kOnline);
  table_.JudgeHealth(kStart + 8s);
  EXPECT_EQ(State(), ExecutorState::kUnhealthy);
  EXPECT_EQ(table_.TakeFallen().size(), 1u);
  table_.StreamEnded(ExecutorId("x1"), Incarnation("e1"), kStart + 9s);  // of a second try
  table_.JudgeHealth(kStart + 20s);
  EXPECT_EQ(State(), ExecutorState::kLost);
  EXPECT_EQ(table_.TakeFallen().size(), 1u);
  EXPECT_TRUE(table_.TakeFallen().empty());
  EXPECT_TRUE(Beat("e1", kStart + 21s));
  EXPECT_EQ(State(), ExecutorState::kOnline);
}

TEST_F(ExecutorTableTest, QuietOneThatDoesNotTakeItsTaskIsSuspected) {
  table_.Accept(Record("e1"), kStart);
  QuietBeat("e1", kStart);
  table_.TakeChanges();
  const auto suspect = [this](SteadyTime since, SteadyTime now) {
    table_.Suspect(ExecutorId("x1"), Incarnation("e1"), since, now);
    return State();
  };
  EXPECT_EQ(suspect(kStart - 1s, kStart + 5s), ExecutorState::kOnline) << "it was heard since";
  EXPECT_EQ(suspect(kStart + 1s, kStart + 2s), ExecutorState::kOnline) << "too soon";
  EXPECT_EQ(suspect(kStart + 1s, kStart + 6s), ExecutorState::kUnhealthy);
  EXPECT_FALSE(table_.TakeChanges().at(0).usable);
  EXPECT_EQ(table_.TakeSwitched().size(), 1u) << "what it is told makes it speak";
  table_.JudgeHealth(kStart + 7s);
  EXPECT_EQ(State(), ExecutorState::kUnhealthy);
  QuietBeat("e1", kStart + 8s);
  EXPECT_EQ(State(), ExecutorState::kOnline);
  EXPECT_TRUE(table_.TakeChanges().at(0).usable);
}

// With a short timeout the only task that it got may be elsewhere long before that.
TEST_F(ExecutorTableTest, PatienceIsLongerThanAShortTimeoutOfTasks) {
  const ExecutorId x1("x1");
  table_.Accept(Record("e1"), kStart);
  QuietBeat("e1", kStart);
  EXPECT_FALSE(table_.Suspect(x1, Incarnation("e1"), kStart + 1s, kStart + 1500ms));
  EXPECT_EQ(table_.TakeSwitched().size(), 1u) << "it is told to speak at once";
  table_.JudgeHealth(kStart + 4900ms);
  EXPECT_EQ(State(), ExecutorState::kOnline);
  table_.JudgeHealth(kStart + 5s);
  EXPECT_EQ(State(), ExecutorState::kUnhealthy);
  QuietBeat("e1", kStart + 6s);
  EXPECT_EQ(State(), ExecutorState::kOnline);
  EXPECT_FALSE(table_.Suspect(x1, Incarnation("e1"), kStart + 7s, kStart + 7500ms));
  QuietBeat("e1", kStart + 7600ms);
  table_.JudgeHealth(kStart + 12s);
  EXPECT_EQ(State(), ExecutorState::kOnline) << "it has answered";
}

TEST_F(ExecutorTableTest, RoutingLooksOnlyAtBeatsThatSaySomething) {
  table_.Accept(Record("e1"), kStart);
  const auto seen = [this](const Heartbeat& beat) {
    EXPECT_TRUE(table_.HeartbeatFrom(ExecutorId("x1"), Incarnation("e1"), beat, {}, kStart));
    const bool changed = table_.has_changes();
    table_.TakeChanges();
    return changed;
  };
  const Heartbeat idle{.load = {.cpu = 0.3}, .free_slots = 4};
  EXPECT_TRUE(seen(idle)) << "the first one";
  EXPECT_FALSE(seen(idle));
  Heartbeat beat = idle;
  beat.load.cpu = 0.34;
  EXPECT_FALSE(seen(beat));
  beat.load.cpu = 0.36;
  EXPECT_TRUE(seen(beat));
  EXPECT_TRUE(seen(idle));
  beat = idle;
  beat.free_slots = 3;
  EXPECT_TRUE(seen(beat));
  EXPECT_TRUE(seen(idle));
  beat = idle;
  beat.running.emplace_back();
  EXPECT_TRUE(seen(beat));
  EXPECT_TRUE(seen(beat)) << "each list is a report";
  EXPECT_TRUE(seen(idle)) << "no list any more";
  EXPECT_FALSE(seen(idle));
  table_.MessageFrom(ExecutorId("x1"), Incarnation("e1"), kStart);
  EXPECT_TRUE(seen(idle)) << "the report after a claim";
  EXPECT_FALSE(seen(idle));
}

TEST_F(ExecutorTableTest, QuietIntervalFollowsTheExecutorsThatLive) {
  ExecutorTable table({.quiet_each = 1s});
  EXPECT_EQ(table.quiet_heartbeat(), 2s);
  for (int i = 0; i < 9; ++i) {
    table.Accept({.id = ExecutorId("q" + std::to_string(i)), .incarnation = Incarnation("e1")},
                 kStart);
  }
  table.JudgeHealth(kStart);
  EXPECT_EQ(table.quiet_heartbeat(), 9s);
  EXPECT_EQ(table.Counts().at(ExecutorState::kOnline), 9);
  table.JudgeHealth(kStart + 11s);
  EXPECT_EQ(table.quiet_heartbeat(), 2s) << "all are lost";
}

TEST_F(ExecutorTableTest, StateThatTheStoreHasIsNotToldToIt) {
  table_.Accept(Record("e1"), kStart);
  EXPECT_TRUE(table_.TakeStateChanges().empty());
  table_.JudgeHealth(kStart + 11s);
  EXPECT_EQ(table_.TakeStateChanges().size(), 1u);
  ExecutorRecord lost = Record("e1");
  lost.id = ExecutorId("x2");
  lost.state = ExecutorState::kLost;
  table_.Accept(lost, kStart + 11s);
  EXPECT_EQ(table_.TakeStateChanges().size(), 1u);
}

TEST_F(ExecutorTableTest, SecondLivingProcessIsRefused) {
  table_.Accept(Record("e1"), kStart);
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 1s), Admission::kWait);
  Beat("e1", kStart + 2s);
  Beat("e1", kStart + 4s);
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 4s), Admission::kRefuse);
}

TEST_F(ExecutorTableTest, OneThatLeavesGetsNothingAndItsSuccessorIsAdmittedAtOnce) {
  table_.Accept(Record("e1"), kStart);
  Beat("e1", kStart);
  table_.TakeChanges();
  EXPECT_TRUE(table_.JudgeHealth(kStart));
  EXPECT_TRUE(table_.HeartbeatFrom(ExecutorId("x1"), Incarnation("e1"), {.leaving = true},
                                   WallTime{}, kStart + 1s));
  ASSERT_EQ(table_.TakeChanges().size(), 1u);
  EXPECT_EQ(table_.Records().at(0).state, ExecutorState::kOffline);
  EXPECT_TRUE(table_.JudgeHealth(kStart + 1s));
  EXPECT_EQ(table_.Admit(Record("e2"), kStart + 1s), Admission::kAdmit);
  EXPECT_FALSE(table_.JudgeHealth(kStart + 60s)) << "silent, as it said it would be";
  EXPECT_EQ(table_.Records().at(0).state, ExecutorState::kOffline);
  table_.Accept(Record("e2"), kStart + 61s);
  EXPECT_TRUE(Beat("e2", kStart + 61s));
  EXPECT_EQ(table_.Records().at(0).state, ExecutorState::kOnline);
  EXPECT_FALSE(table_.HeartbeatFrom(ExecutorId("x1"), Incarnation("e1"), {.leaving = true},
                                    WallTime{}, kStart + 62s))
      << "a goodbye that comes late is of another process";
  EXPECT_EQ(table_.Records().at(0).state, ExecutorState::kOnline);
}

TEST_F(ExecutorTableTest, OneThatLeftIsForgottenLikeALostOne) {
  table_.Accept(Record("e1"), kStart);
  table_.HeartbeatFrom(ExecutorId("x1"), Incarnation("e1"), {.leaving = true}, WallTime{}, kStart);
  table_.TakeChanges();
  table_.JudgeHealth(kStart + 59min);
  EXPECT_EQ(table_.Records().size(), 1u);
  table_.JudgeHealth(kStart + 1h);
  EXPECT_EQ(table_.Records().size(), 0u);
}

TEST_F(ExecutorTableTest, EachChangeOfStateIsToldOnce) {
  EXPECT_FALSE(table_.JudgeHealth(kStart));
  table_.Accept(Record("e1"), kStart);
  EXPECT_TRUE(table_.JudgeHealth(kStart)) << "a new one";
  EXPECT_FALSE(table_.JudgeHealth(kStart + 1s));
  EXPECT_TRUE(table_.JudgeHealth(kStart + 20s)) << "lost";
  EXPECT_TRUE(Beat("e1", kStart + 21s));
  EXPECT_TRUE(table_.JudgeHealth(kStart + 21s)) << "back";
  EXPECT_FALSE(table_.JudgeHealth(kStart + 22s));
}

TEST_F(ExecutorTableTest, SameProcessRegistersAgainAtOnce) {
  table_.Accept(Record("e1"), kStart);
  EXPECT_EQ(table_.Admit(Record("e1"), kStart + 1ms), Admission::kAdmit);
}

TEST_F(ExecutorTableTest, LostOneIsForgottenWhenWhoeverRoutesKnowsIt) {
  table_.Accept(Record("e1"), kStart);
  table_.TakeChanges();
  EXPECT_TRUE(table_.JudgeHealth(kStart + 2h));  // the loss is noticed only now
  EXPECT_EQ(table_.Records().size(), 1u);
  ASSERT_EQ(table_.TakeChanges().size(), 1u);
  EXPECT_TRUE(table_.JudgeHealth(kStart + 2h)) << "one less to count";
  EXPECT_TRUE(table_.Records().empty());
  const std::vector<ExecutorView> gone = table_.TakeChanges();
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].id, ExecutorId("x1"));
  EXPECT_TRUE(gone[0].forgotten);
  EXPECT_TRUE(table_.TakeChanges().empty());
  EXPECT_FALSE(Beat("e1", kStart + 3h));  // it has to register again
  EXPECT_EQ(table_.Admit(Record("e1"), kStart + 3h), Admission::kAdmit);
}

TEST_F(ExecutorTableTest, OneThatIsBackBeforeAnybodyLookedWasNeverForgotten) {
  table_.Accept(Record("e1"), kStart);
  table_.TakeChanges();
  table_.JudgeHealth(kStart + 2h);
  table_.TakeChanges();
  table_.JudgeHealth(kStart + 2h);
  table_.Accept(Record("e1"), kStart + 2h);
  const std::vector<ExecutorView> back = table_.TakeChanges();
  ASSERT_EQ(back.size(), 1u);
  EXPECT_FALSE(back[0].forgotten);
}

TEST_F(ExecutorTableTest, FullTableIsToldApartFromASecondProcess) {
  ExecutorTable small({.executors_max = 1});
  small.Accept(Record("e1"), kStart);
  ExecutorRecord other = Record("e1");
  other.id = ExecutorId("x2");
  EXPECT_EQ(small.Admit(other, kStart), Admission::kFull);
  EXPECT_EQ(small.Admit(Record("e1"), kStart), Admission::kAdmit);
}

TEST_F(ExecutorTableTest, SilenceMakesItUnusableAndABeatUsableAgain) {
  table_.Accept(Record("e1"), kStart);
  Beat("e1", kStart);
  EXPECT_TRUE(table_.TakeChanges().at(0).usable);
  EXPECT_TRUE(table_.JudgeHealth(kStart)) << "a new one";
  EXPECT_FALSE(table_.JudgeHealth(kStart + 6s));
  EXPECT_TRUE(table_.JudgeHealth(kStart + 7s));
  EXPECT_FALSE(table_.TakeChanges().at(0).usable);
  EXPECT_TRUE(table_.JudgeHealth(kStart + 10s));
  EXPECT_EQ(table_.Records().at(0).state, ExecutorState::kLost);
  Beat("e1", kStart + 11s);
  EXPECT_TRUE(table_.TakeChanges().at(0).usable);
}

TEST_F(ExecutorTableTest, SwitchesOfTheStoreAreFollowed) {
  table_.Accept(Record("e1"), kStart);
  table_.TakeChanges();
  ExecutorRecord stored = Record("e1");
  stored.enabled = false;
  table_.Refresh({stored});
  EXPECT_FALSE(table_.TakeChanges().at(0).usable);
  stored.enabled = true;
  stored.draining = true;
  table_.Refresh({stored});
  EXPECT_FALSE(table_.TakeChanges().at(0).usable);
}

TEST_F(ExecutorTableTest, NewProcessHasNoRoomBeforeItsFirstBeat) {
  table_.Accept(Record("e1"), kStart);
  Beat("e1", kStart, 4);
  EXPECT_EQ(table_.TakeChanges().at(0).free_slots, 4);
  table_.Accept(Record("e2"), kStart + 10s);
  EXPECT_EQ(table_.TakeChanges().at(0).free_slots, 0);
}

}  // namespace
}  // namespace carillon::scheduler
