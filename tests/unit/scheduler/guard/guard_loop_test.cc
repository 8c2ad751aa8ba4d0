#include "scheduler/guard/guard_loop.h"

#include <gtest/gtest.h>

#include "common/adapters/memory/memory_coordinator.h"
#include "tests/support/faults/fault_stores.h"
#include "tests/support/manual_clock.h"
#include "tests/twins/memory_stores.h"

namespace carillon::scheduler {
namespace {

// The guard of one member. Several share clock, store and ensemble.
struct Guarded {
  Guarded(const Clock& clock, IdentityStore& store, memory::MemoryEnsemble& ensemble,
          const std::string& name)
      : incarnation("i-" + name),
        identity(store, faults),
        coordinator(ensemble.NewClient()),
        guard(clock),
        loop({.clock = clock,
              .identity = identity,
              .coordinator = *coordinator,
              .guard = guard,
              .metrics = metrics,
              .suspend = [this] { ++suspended; },
              .forget = [this] { ++forgotten; },
              .trusted = [this] { ++trusted; }}),
        info{.id = MemberId(name), .incarnation = incarnation} {
    guard.OnHold([this] { ++held; });
  }
  StoreState state() const { return guard.standing().state; }

  const Incarnation incarnation;
  Metrics metrics;
  test::FaultPlan faults;
  test::FaultIdentityStore identity;
  std::unique_ptr<Coordinator> coordinator;
  StoreGuard guard;
  int suspended = 0;
  int forgotten = 0;
  int trusted = 0;
  int held = 0;
  GuardLoop loop;
  MemberInfo info;
};

class GuardLoopTest : public ::testing::Test {
 protected:
  Guarded& Member(const std::string& name) {
    members_.push_back(std::make_unique<Guarded>(clock_, stores_.identity, ensemble_, name));
    return *members_.back();
  }
  Guarded& Joined(const std::string& name) {
    Guarded& member = Member(name);
    EXPECT_TRUE(member.coordinator->Join(member.info).ok());
    return member;
  }
  void Run(Duration length) {
    for (Duration done{}; done < length; done += 100ms) {
      clock_.Advance(100ms);
      for (const auto& member : members_) member->loop.Step(clock_.Steady());
    }
  }
  StoreIdentity Seen() { return *stores_.identity.Identify(); }
  // Restores the store to its state `marks` marks ago.
  void GoBack(uint64_t marks) {
    StoreIdentity old = Seen();
    ASSERT_GE(old.mark, marks);
    old.mark -= marks;
    stores_.ChangeIdentity(old);
  }
  void ExpectAll(StoreState state) {
    for (const auto& member : members_)
      EXPECT_EQ(member->state(), state) << member->info.id.value();
  }

  test::ManualClock clock_;
  memory::MemoryStores stores_{clock_, {.segment_count = 4}};
  memory::MemoryEnsemble ensemble_;
  std::vector<std::unique_ptr<Guarded>> members_;
};

TEST_F(GuardLoopTest, FirstLeaderBeginsTheRecordAndTheOthersFollow) {
  Guarded& leader = Joined("a");
  Guarded& other = Joined("b");
  EXPECT_EQ(leader.state(), StoreState::kUnknown);
  Run(200ms);
  ExpectAll(StoreState::kTrusted);
  ASSERT_TRUE(ensemble_.trust());
  EXPECT_EQ(ensemble_.trust()->store_id, Seen().store_id);
  EXPECT_EQ(ensemble_.trust()->mark, Seen().mark);
  EXPECT_EQ(leader.trusted + other.trusted, 2);
}

TEST_F(GuardLoopTest, NothingIsTrustedBeforeTheRecordCanBeRead) {
  Guarded& member = Member("a");
  Run(2s);
  EXPECT_EQ(member.state(), StoreState::kUnknown);
  EXPECT_FALSE(member.guard.trusted());
  EXPECT_TRUE(member.guard.Check().ok()) << "nobody owns anything yet: reads are harmless";
  ASSERT_TRUE(member.coordinator->Join(member.info).ok());
  Run(100ms);
  EXPECT_EQ(member.state(), StoreState::kTrusted);
}

TEST_F(GuardLoopTest, LeaderAloneMovesTheMarkAndTheRecordFollows) {
  Joined("a");
  Joined("b");
  Run(1s);
  const uint64_t before = Seen().mark;
  Run(20s);
  EXPECT_EQ(Seen().mark, before + 4);
  EXPECT_EQ(ensemble_.trust()->mark, Seen().mark);
}

TEST_F(GuardLoopTest, HistoryThatWentBackIsHeldByEveryMemberWithinASecond) {
  Guarded& leader = Joined("a");
  Guarded& other = Joined("b");
  Run(20s);
  GoBack(1);
  Run(1s);
  ExpectAll(StoreState::kHeld);
  EXPECT_EQ(leader.guard.standing().doubt, StoreDoubt::kHistoryLost);
  EXPECT_EQ(leader.held, 1);
  EXPECT_EQ(other.held, 1);
  EXPECT_EQ(leader.metrics.gauge("carillon_store_held").value(), 1);
  EXPECT_EQ(other.guard.Check().code(), ErrorCode::kUnavailable);
  // The hold does not end by itself, because the mark of a held store is not increased.
  const StoreIdentity held = Seen();
  Run(2min);
  EXPECT_EQ(Seen(), held);
  ExpectAll(StoreState::kHeld);
  EXPECT_EQ(leader.held, 1) << "told once";
  EXPECT_GE(leader.suspended, 100) << "what a late take brought is suspended, too";
}

TEST_F(GuardLoopTest, OtherServerOrStoreIsHeldWhateverItsMark) {
  Guarded& member = Joined("a");
  Run(20s);
  StoreIdentity other = Seen();
  other.server_id = "another";
  other.mark += 10;
  stores_.ChangeIdentity(other);
  Run(1s);
  EXPECT_EQ(member.guard.standing().doubt, StoreDoubt::kOtherServer);
  other.store_id = "another";
  stores_.ChangeIdentity(other);
  Run(1s);
  EXPECT_EQ(member.guard.standing().doubt, StoreDoubt::kOtherStore);
}

TEST_F(GuardLoopTest, ServerWithoutAStoreIsHeldAndOneThatIsAwayIsNot) {
  Guarded& member = Joined("a");
  Run(1s);
  for (const ErrorCode code : {ErrorCode::kUnavailable, ErrorCode::kTimeout, ErrorCode::kDenied}) {
    member.faults.ArmAlways("*", code);
    Run(2s);
    EXPECT_EQ(member.state(), StoreState::kTrusted) << ErrorCodeName(code);
  }
  for (const ErrorCode code :
       {ErrorCode::kBrokenStore, ErrorCode::kCorrupt, ErrorCode::kNotFound}) {
    member.faults.ArmAlways("*", code);
    Run(2s);
    EXPECT_EQ(member.state(), StoreState::kHeld) << ErrorCodeName(code);
    EXPECT_FALSE(member.guard.standing().seen);
    EXPECT_EQ(member.loop.Accept({}).code(), code) << "there is nothing to accept";
    member.faults.Recover();
    Run(2s);
    EXPECT_EQ(member.state(), StoreState::kTrusted);
  }
}

TEST_F(GuardLoopTest, TrustedStoreThatComesBackIsGoneOnWithAndNothingIsForgotten) {
  Guarded& member = Joined("a");
  Run(20s);
  const StoreIdentity trusted = Seen();
  GoBack(2);
  Run(1s);
  ASSERT_EQ(member.state(), StoreState::kHeld);
  stores_.ChangeIdentity(trusted);
  Run(1s);
  EXPECT_EQ(member.state(), StoreState::kTrusted);
  EXPECT_EQ(member.trusted, 2);
  EXPECT_EQ(member.forgotten, 0);
  EXPECT_EQ(member.metrics.gauge("carillon_store_held").value(), 0);
}

TEST_F(GuardLoopTest, RecordOutlivesEveryMember) {
  Joined("a");
  Run(20s);
  members_.clear();
  GoBack(1);
  Guarded& fresh = Joined("a");
  Joined("b");
  Run(1s);
  ExpectAll(StoreState::kHeld);
  EXPECT_EQ(fresh.trusted, 0);
}

TEST_F(GuardLoopTest, MembersRememberWhileTheCoordinatorIsAway) {
  Guarded& leader = Joined("a");
  Guarded& other = Joined("b");
  Run(6s);
  ensemble_.Suspend(leader.incarnation);
  ensemble_.Suspend(other.incarnation);
  const uint64_t recorded = ensemble_.trust()->mark;
  Run(20s);
  EXPECT_GE(Seen().mark, recorded + 3) << "the mark moves on";
  EXPECT_EQ(ensemble_.trust()->mark, recorded);
  ExpectAll(StoreState::kTrusted);
  GoBack(2);
  ASSERT_GE(Seen().mark, recorded) << "by the record it would be sound";
  Run(1s);
  ExpectAll(StoreState::kHeld);
}

TEST_F(GuardLoopTest, EmptiedCoordinatorIsToldAgainByTheLeader) {
  Joined("a");
  Run(20s);
  ensemble_.ForgetTrust();
  Run(6s);
  ASSERT_TRUE(ensemble_.trust());
  EXPECT_EQ(ensemble_.trust()->mark, Seen().mark);
}

TEST_F(GuardLoopTest, OperatorsWordLetsEverybodyGoOn) {
  Guarded& asked = Joined("a");
  Guarded& other = Joined("b");
  Run(20s);
  GoBack(3);
  Run(1s);
  ASSERT_EQ(other.state(), StoreState::kHeld);
  const StoreIdentity shown = *other.guard.standing().seen;
  const uint64_t stamp = other.guard.Stamp();
  const Status accepted = asked.loop.Accept(shown);
  ASSERT_TRUE(accepted.ok()) << accepted.error().message;
  EXPECT_EQ(asked.state(), StoreState::kTrusted) << "at once: the audit is written next";
  EXPECT_EQ(asked.forgotten, 1);
  Run(2s);
  ExpectAll(StoreState::kTrusted);
  EXPECT_EQ(other.forgotten, 1);
  EXPECT_NE(other.guard.Stamp(), stamp) << "connections are looked at anew";
  EXPECT_GE((*stores_.segments.ListSegments())[0].epoch.value(),
            static_cast<uint64_t>(ToUnixMicros(ensemble_.trust()->accepted)));
  Run(10s);
  EXPECT_GT(Seen().mark, shown.mark + 1) << "the mark moves again";
  EXPECT_EQ(asked.loop.Accept(Seen()).code(), ErrorCode::kConflict) << "it is trusted";
  EXPECT_EQ(asked.forgotten, 1);
}

TEST_F(GuardLoopTest, OnlyWhatWasShownIsAccepted) {
  Guarded& member = Joined("a");
  Run(20s);
  GoBack(3);
  Run(1s);
  StoreIdentity shown = Seen();
  shown.mark -= 1;
  EXPECT_EQ(member.loop.Accept(shown).code(), ErrorCode::kConflict);
  shown = Seen();
  shown.server_id = "another";
  EXPECT_EQ(member.loop.Accept(shown).code(), ErrorCode::kConflict);
  EXPECT_EQ(member.state(), StoreState::kHeld);
}

TEST_F(GuardLoopTest, WordIsNotTakenWhileTheCoordinatorIsAway) {
  Guarded& member = Joined("a");
  Run(20s);
  GoBack(3);
  Run(1s);
  const StoreIdentity shown = Seen();
  ensemble_.Suspend(member.incarnation);
  EXPECT_EQ(member.loop.Accept(shown).code(), ErrorCode::kUnavailable);
  EXPECT_EQ(Seen(), shown) << "nothing was done";
  ensemble_.Restore(member.incarnation);
  EXPECT_TRUE(member.loop.Accept(shown).ok());
}

TEST_F(GuardLoopTest, LostAnswerToAnAcceptanceIsMadeGoodByLookingAgain) {
  Guarded& member = Joined("a");
  Run(20s);
  GoBack(3);
  Run(1s);
  const StoreIdentity shown = Seen();
  member.faults.Arm("Accept", test::Fault::kTimeoutAfter);
  EXPECT_EQ(member.loop.Accept(shown).code(), ErrorCode::kTimeout);
  EXPECT_EQ(member.state(), StoreState::kHeld);
  EXPECT_EQ(member.loop.Accept(shown).code(), ErrorCode::kConflict) << "its mark has moved";
  Run(1s);
  EXPECT_TRUE(member.loop.Accept(*member.guard.standing().seen).ok());
}

// A member that was stopped during the whole hold never held the store itself, but must still
// forget what it has in memory.
TEST_F(GuardLoopTest, MemberThatMissedTheHoldForgetsWhenItReadsTheRecord) {
  Joined("a");
  Guarded& stopped = Joined("b");
  Run(20s);
  std::unique_ptr<Guarded> aside = std::move(members_.back());
  members_.pop_back();
  GoBack(3);
  Run(1s);
  ASSERT_TRUE(members_[0]->loop.Accept(Seen()).ok());
  const uint64_t stamp = stopped.guard.Stamp();
  members_.push_back(std::move(aside));
  Run(1s);
  EXPECT_EQ(stopped.held, 0);
  EXPECT_EQ(stopped.forgotten, 1);
  EXPECT_NE(stopped.guard.Stamp(), stamp);
  EXPECT_EQ(stopped.state(), StoreState::kTrusted);
}

TEST_F(GuardLoopTest, ConnectionToAnotherServerClosesTheGateAtOnce) {
  Guarded& member = Joined("a");
  Run(20s);
  StoreIdentity other = Seen();
  EXPECT_TRUE(member.guard.Admit(other, member.guard.Mark()).ok());
  other.server_id = "another";
  EXPECT_EQ(member.guard.Admit(other, member.guard.Mark()).code(), ErrorCode::kUnavailable);
  EXPECT_EQ(member.held, 1);
  EXPECT_EQ(member.guard.Check().code(), ErrorCode::kUnavailable);
  // A good connection does not end the hold. The loop ends it after its next check.
  EXPECT_EQ(member.guard.Admit(Seen(), member.guard.Mark()).code(), ErrorCode::kUnavailable);
  EXPECT_EQ(member.guard.Admit(Error{ErrorCode::kUnavailable, "gone"}, 0).code(),
            ErrorCode::kUnavailable);
  Run(1s);
  EXPECT_TRUE(member.guard.Check().ok());
}

// A busy machine may delay the answer while the mark advances.
TEST_F(GuardLoopTest, AnAnswerFromBeforeANewMarkIsNoLoss) {
  Guarded& member = Joined("a");
  Run(20s);
  const uint64_t mark = member.guard.Mark();
  const StoreIdentity answer = Seen();
  Run(20s);
  ASSERT_GT(member.guard.Mark(), answer.mark);
  EXPECT_TRUE(member.guard.Admit(answer, mark).ok());
  EXPECT_TRUE(member.guard.Look(answer, mark));
  EXPECT_EQ(member.held, 0);
  EXPECT_EQ(member.guard.Admit(answer, member.guard.Mark()).code(), ErrorCode::kUnavailable)
      << "asked for later, it would be a loss";
  EXPECT_EQ(member.held, 1);
}

TEST_F(GuardLoopTest, ErrorsOfTheQuestionComeBackAsTheyAre) {
  Guarded& member = Joined("a");
  Run(1s);
  EXPECT_EQ(member.guard.Admit(Error{ErrorCode::kTimeout, "late"}, 0).code(), ErrorCode::kTimeout);
  EXPECT_EQ(member.state(), StoreState::kTrusted);
}

}  // namespace
}  // namespace carillon::scheduler
