// Claims of the executor daemon: from a task to its start, with the answers and the slots.
#include "common/wire/random_tokens.h"
#include "executor/agent/task_admission.h"
#include "executor/agent/warden_watch.h"
#include "executor/link/member_sessions.h"
#include "tests/unit/executor/agent/daemon_fixture.h"

namespace carillon::executor {
namespace {

class DaemonClaimTest : public DaemonFixture {
 protected:
  // True if `next` can be computed from one half of `seen` by inverting and repeating SplitMix64.
  static bool Follows(const ClaimToken& seen, const ClaimToken& next) {
    for (const uint64_t half : {seen.high, seen.low}) {
      uint64_t state = UnshiftRight(half, 31) * 0x319642b2d24d8ec3ull;
      state = UnshiftRight(state, 27) * 0x96de1b173f119089ull;
      Rng rng(UnshiftRight(state, 30));
      for (int i = 0; i < 4; ++i) {
        const uint64_t output = rng.Next();
        if (output == next.high || output == next.low) return true;
      }
    }
    return false;
  }
  // Returns the x for which x ^ (x >> shift) is `value`.
  static uint64_t UnshiftRight(uint64_t value, int shift) {
    uint64_t x = value;
    for (int known = shift; known < 64; known += shift) x = value ^ (x >> shift);
    return x;
  }
};

TEST_F(DaemonClaimTest, StartsOnlyWhatItsOwnerAccepted) {
  Join();
  Publish({Task(1), Task(2)});
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), 2u);
  EXPECT_TRUE(warden_.starts.empty());
  EXPECT_FALSE(claims[0].token.empty());
  EXPECT_NE(claims[0].token, claims[1].token);
  const SteadyTime answered = clock_.Steady();
  Answer(claims[0], ClaimVerdict::kAccepted);
  Answer(claims[1], ClaimVerdict::kRefused);
  ASSERT_EQ(warden_.starts.size(), 1u);
  EXPECT_EQ(warden_.starts[0].attempt.token, claims[0].token);
  EXPECT_EQ(warden_.starts[0].lease_end, answered + 20s);
  EXPECT_EQ(daemon_->status().running, 1);
}

TEST_F(DaemonClaimTest, AllThatATaskHoldsCountsInTheBytesOfItsQueue) {
  const std::string part(10'000, 'x');
  const auto grown = [&](const std::function<void(TaskMessage&)>& fill) {
    TaskMessage task = Task(1);
    const size_t before = TaskAdmission::BytesOf(task);
    fill(task);
    return TaskAdmission::BytesOf(task) - before;
  };
  EXPECT_GE(grown([&](TaskMessage& task) { task.command = part; }), 9'000u);
  EXPECT_GE(grown([&](TaskMessage& task) { task.args = {part, part}; }), 20'000u);
  EXPECT_GE(grown([&](TaskMessage& task) { task.env = {{"A", part}}; }), 10'000u);
  EXPECT_GE(grown([&](TaskMessage& task) {
              task.secret_env = {{"A", {{.text = part}, {.secret = part}}}};
            }),
            20'000u);
  EXPECT_GE(grown([&](TaskMessage& task) { task.handler = HandlerCall{.parameters_json = part}; }),
            10'000u);
  EXPECT_GE(grown([&](TaskMessage& task) {
              task.http = HttpCall{.url = part, .body = {{.text = part}}};
            }),
            20'000u);
  EXPECT_GE(grown([&](TaskMessage& task) {
              task.container =
                  ContainerDefinition{.image = part, .command = {part}, .args = {part, part}};
            }),
            40'000u);
}

TEST_F(DaemonClaimTest, TokenTellsNothingOfTheNextOne) {
  const auto two_claims = [this] {
    link_.sent.clear();
    Boot();
    Join();
    Publish({Task(1), Task(2)});
    return Claims();
  };
  const auto seeded = two_claims();
  ASSERT_EQ(seeded.size(), 2u);
  EXPECT_TRUE(Follows(seeded[0].token, seeded[1].token)) << "a seed shows that this test can tell";
  seed_.reset();
  tokens_ = std::make_unique<RandomTokens>();
  const auto random = two_claims();
  ASSERT_EQ(random.size(), 2u);
  EXPECT_FALSE(Follows(random[0].token, random[1].token));
  EXPECT_NE(random[0].token.high, random[1].token.high);
  EXPECT_NE(random[0].token.low, random[1].token.low);
}

TEST_F(DaemonClaimTest, LeaseAgesFromTheRequest) {
  Join();
  Publish({Task(1)});
  const auto claims = Claims();
  clock_.Advance(5s);
  const SteadyTime answered = clock_.Steady();
  Answer(claims.at(0), ClaimVerdict::kAccepted, 5s);
  ASSERT_EQ(warden_.starts.size(), 1u);
  EXPECT_EQ(warden_.starts[0].lease_end, answered + 15s);
}

TEST_F(DaemonClaimTest, TaskOrAnswerThatComesAgainStartsNothing) {
  Join();
  const TaskMessage task = Task(1);
  Publish({task, task});
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), 1u);
  Answer(claims[0], ClaimVerdict::kAccepted);
  Answer(claims[0], ClaimVerdict::kAcceptedAgain);
  Publish({task});
  EndInWarden(claims[0]);
  Publish({task});
  EXPECT_EQ(Claims().size(), 0u);
  EXPECT_EQ(warden_.starts.size(), 1u);
}

// The warden's marker of the start was not synced, so this host has no trace of the start. The
// database has the claim, with a token that was only in the memory of this host.
TEST_F(DaemonClaimTest, AfterAPowerCutTheSameAttemptIsNotAcceptedAgain) {
  Join();
  const TaskMessage task = Task(1);
  const ClaimRequest before = RunToAccepted(task);
  ASSERT_EQ(warden_.starts.size(), 1u);
  const RunRow row{.key = before.key,
                   .state = RunState::kRunning,
                   .attempt = before.attempt,
                   .def_version = before.def_version,
                   .claim_token = before.token,
                   .executor = before.executor,
                   .incarnation = before.incarnation};
  seed_ = 8;  // new tokens differ from the old ones
  link_.sent.clear();
  Boot();
  Join();
  Publish({task});
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), 1u);
  const ClaimDecision decided = DecideClaim(&row, claims[0], {.now = clock_.Wall()});
  EXPECT_EQ(decided.verdict, ClaimVerdict::kRefused);
  Answer(claims[0], decided.verdict);
  StepFor(1s);
  EXPECT_TRUE(Claims().empty());
  EXPECT_EQ(warden_.starts.size(), 1u);
}

TEST_F(DaemonClaimTest, UnansweredClaimIsAskedAgainWithItsToken) {
  Join();
  Publish({Task(1)});
  const auto first = Claims();
  ASSERT_EQ(first.size(), 1u);
  StepFor(2s);
  const auto again = Claims();
  ASSERT_GE(again.size(), 2u);
  for (const ClaimRequest& claim : again) EXPECT_EQ(claim.token, first[0].token);
  Answer(first[0], ClaimVerdict::kAcceptedAgain);
  EXPECT_EQ(warden_.starts.size(), 1u);
}

// A slow member still has the claim and will answer it later.
TEST_F(DaemonClaimTest, MemberThatDoesNotAnswerIsAskedLessAndLessOften) {
  Join();
  Publish({Task(1)});
  ASSERT_EQ(Claims().size(), 1u);
  size_t asked = 0;
  Duration silent{};
  for (Duration passed{}; passed < 16s; passed += 100ms) {
    StepFor(100ms);
    silent += 100ms;
    const size_t now = Claims().size();
    asked += now;
    if (now > 0) silent = {};
    EXPECT_LE(silent, kAskAgainMax + kAskAgain) << "a lost answer is asked for in bounded time";
  }
  EXPECT_GE(asked, 4u);
  EXPECT_LE(asked, 6u) << "31 times when asked every half second";
}

TEST_F(DaemonClaimTest, AnswerToAnyClaimMakesItAskSoonerAgain) {
  Join();
  Publish({Task(1), Task(2)});
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), 2u);
  StepFor(10s);
  Claims();
  Answer(claims[0], ClaimVerdict::kAccepted);
  StepFor(kAskAgain + 300ms);
  const auto again = Claims();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].token, claims[1].token);
}

TEST_F(DaemonClaimTest, SlowMemberGetsTwiceTheTimeOfItsLastAnswer) {
  Join();
  Publish({Task(1)});
  Answer(Claims().at(0), ClaimVerdict::kAccepted, 1s);
  Publish({Task(2)});
  ASSERT_EQ(Claims().size(), 1u);
  StepFor(1900ms);
  EXPECT_TRUE(Claims().empty());
  StepFor(500ms);
  EXPECT_EQ(Claims().size(), 1u);
}

TEST_F(DaemonClaimTest, ClaimNeverAnsweredIsDroppedWithItsLease) {
  Join();
  Publish({Task(1)});
  const auto claims = Claims();
  StepFor(18s);
  Claims();
  Answer(claims.at(0), ClaimVerdict::kAccepted);
  EXPECT_TRUE(warden_.starts.empty());
  StepFor(2s);
  EXPECT_TRUE(Claims().empty());
}

TEST_F(DaemonClaimTest, AcceptanceTooLateToStartIsAskedAgain) {
  Join();
  Publish({Task(1)});
  const auto claims = Claims();
  Answer(claims.at(0), ClaimVerdict::kAccepted, 18s);
  EXPECT_TRUE(warden_.starts.empty());
  StepFor(100ms);
  const auto again = Claims();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].token, claims[0].token);
  Answer(again[0], ClaimVerdict::kAcceptedAgain);
  EXPECT_EQ(warden_.starts.size(), 1u);
}

TEST_F(DaemonClaimTest, OpenClaimFollowsItsSegmentToTheNewOwner) {
  Join();
  TaskMessage task = Task(1);
  Publish({task});
  const auto first = Claims();
  link_.members = {MemberId("m2")};
  StepFor(200ms);
  Deliver(Registered{}, "m2");
  link_.sent.clear();
  task.member = MemberId("m2");
  Publish({task});
  StepFor(300ms);
  std::vector<MemberId> asked;
  for (const auto& [member, message] : link_.sent) {
    if (std::holds_alternative<ClaimBatch>(message)) asked.push_back(member);
  }
  ASSERT_FALSE(asked.empty());
  EXPECT_EQ(asked[0], MemberId("m2"));
  EXPECT_EQ(Claims().at(0).token, first.at(0).token);
  Answer(first[0], ClaimVerdict::kRefused, {}, "m1");  // no longer the owner's answer
  Answer(first[0], ClaimVerdict::kAccepted, {}, "m2");
  EXPECT_EQ(warden_.starts.size(), 1u);
}

// The previous owner may have accepted the claim. Only the current owner can find out.
TEST_F(DaemonClaimTest, ClaimThatItsMemberDoesNotOwnIsAskedOfTheNext) {
  link_.members = {MemberId("m1"), MemberId("m2")};
  Join();
  Deliver(Registered{}, "m2");
  Publish({Task(1)});
  const auto first = Claims();
  ASSERT_EQ(first.size(), 1u);
  Answer(first[0], ClaimVerdict::kRefused, {}, "m1", ClaimReason::kNotOwner);
  StepFor(100ms);
  const auto second = link_.sent;
  ASSERT_EQ(Claims().at(0).token, first[0].token);
  EXPECT_EQ(second.back().first, MemberId("m2"));
  Answer(first[0], ClaimVerdict::kRefused, {}, "m2", ClaimReason::kNotOwner);
  StepFor(100ms);
  EXPECT_EQ(link_.sent.back().first, MemberId("m1"));
  ASSERT_EQ(Claims().at(0).token, first[0].token);
  Answer(first[0], ClaimVerdict::kAcceptedAgain, {}, "m2");
  EXPECT_EQ(warden_.starts.size(), 1u);
}

TEST_F(DaemonClaimTest, ClaimThatNobodyOwnsIsGivenUpWithItsLease) {
  Join();
  Publish({Task(1)});
  const auto first = Claims();
  for (int i = 0; i < 200; ++i) {
    Answer(first.at(0), ClaimVerdict::kRefused, {}, "m1", ClaimReason::kNotOwner);
    StepFor(100ms);
  }
  Claims();
  StepFor(1s);
  EXPECT_TRUE(Claims().empty());
  EXPECT_TRUE(warden_.starts.empty());
}

TEST_F(DaemonClaimTest, ClaimsNoMoreThanItsSlots) {
  Join();
  Publish({Task(1), Task(2), Task(3)});
  auto claims = Claims();
  ASSERT_EQ(claims.size(), 2u);
  EXPECT_EQ(daemon_->status().queued, 1);
  Answer(claims[0], ClaimVerdict::kAccepted);
  EndInWarden(claims[0]);
  EXPECT_EQ(Claims().size(), 1u);
}

TEST_F(DaemonClaimTest, HighPriorityIsClaimedFirst) {
  Boot(1);
  Join();
  TaskMessage low = Task(1);
  TaskMessage high = Task(2);
  high.priority = 50;
  Publish({low, high});
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), 1u);
  EXPECT_EQ(claims[0].key, high.key);
}

TEST_F(DaemonClaimTest, ClaimsNothingThatCouldNotBeRecorded) {
  Join();
  warden_.can_start = {ErrorCode::kExhausted, "disk full"};
  Publish({Task(1), Task(2, JobType::kNoop)});
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), 1u);  // only the task that needs no warden
  EXPECT_EQ(claims[0].key, Task(2).key);
  warden_.can_start = {};
  StepFor(100ms);
  EXPECT_EQ(Claims().size(), 1u);
}

TEST_F(DaemonClaimTest, ClaimsNothingBeforeItKnowsWhatRuns) {
  warden_.reachable = false;
  Join();
  Publish({Task(1)});
  EXPECT_TRUE(Claims().empty());
  EXPECT_FALSE(daemon_->status().warden_ready);
  warden_.reachable = true;
  StepFor(200ms);
  EXPECT_EQ(Claims().size(), 1u);
}

TEST_F(DaemonClaimTest, BesideAWardenThatRefusesItOnlyProcessesWait) {
  warden_.reachable = false;
  warden_.can_start = {ErrorCode::kUnavailable, "warden 7 refused"};
  Join();
  Publish({Task(1), Task(2, JobType::kNoop)});
  EXPECT_TRUE(Claims().empty()) << "the warden may only be starting";
  EXPECT_TRUE(link_.Take<Heartbeat>().empty());
  StepFor(WardenWatch::kWardenPatience);
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), 1u);
  EXPECT_EQ(claims[0].key, Task(2).key);
  const auto heartbeats = link_.Take<Heartbeat>();
  ASSERT_FALSE(heartbeats.empty());
  EXPECT_EQ(heartbeats.back().trouble, "warden 7 refused");
  EXPECT_EQ(heartbeats.back().free_slots, 0);
  warden_.can_start = {};
  StepFor(200ms);
  EXPECT_TRUE(Claims().empty()) << "it has not said yet what runs";
  warden_.reachable = true;
  StepFor(200ms);
  EXPECT_EQ(Claims().size(), 1u);
}

TEST_F(DaemonClaimTest, TaskThatWaitsTooLongIsHandedBack) {
  Boot(0);
  Join();
  Publish({Task(1)});
  EXPECT_EQ(daemon_->status().queued, 1);
  StepFor(11s);
  EXPECT_EQ(daemon_->status().queued, 0);
  EXPECT_EQ(metrics_.counter("carillon_queue_rejections_total", "executor").value(), 1u);
}

TEST_F(DaemonClaimTest, StartThatTheWardenCannotTakeIsTriedUntilItsLeaseEnds) {
  Join();
  Publish({Task(1)});
  const auto claims = Claims();
  warden_.can_start = {ErrorCode::kUnavailable, "gone"};
  Answer(claims.at(0), ClaimVerdict::kAccepted);
  EXPECT_TRUE(warden_.starts.empty());
  StepFor(18s);
  ASSERT_EQ(spool_.held.size(), 1u);
  EXPECT_EQ(spool_.held[0].result.state, RunState::kLost);
  EXPECT_EQ(spool_.held[0].result.reason, reason::kNotStarted);
  warden_.can_start = {};
  StepFor(2s);
  EXPECT_TRUE(warden_.starts.empty());
}

TEST_F(DaemonClaimTest, CancelReachesTheWardenWithTheRightTokenOnly) {
  Join();
  const ClaimRequest claim = RunToAccepted(Task(1));
  HeldAttempt other = HeldOf(claim);
  other.token.low += 1;
  Deliver(CancelAttempts{{other}});
  EXPECT_TRUE(warden_.cancelled.empty());
  Deliver(CancelAttempts{{HeldOf(claim)}});
  EXPECT_EQ(warden_.cancelled, std::vector<ClaimToken>{claim.token});
  EXPECT_TRUE(warden_.killed.empty());
  Deliver(CancelAttempts{{other}, CancelMode::kKill});
  EXPECT_TRUE(warden_.killed.empty());
  Deliver(CancelAttempts{{HeldOf(claim)}, CancelMode::kKill});
  EXPECT_EQ(warden_.killed, std::vector<ClaimToken>{claim.token});
  EXPECT_EQ(warden_.cancelled.size(), 1u);
}

// The time in members' messages decides whether a task has expired, not the executor's own clock.
TEST_F(DaemonClaimTest, ExpiryIsJudgedByTheTimeThatMembersTell) {
  Step();
  const WallTime cluster = clock_.Wall();
  Deliver(Registered{.cluster_time = cluster});
  clock_.StepWall(61s);
  const auto publish = [&](uint64_t number) {
    bus_.tasks.push_back(
        SealTasks({Task(number)}, {ExecutorId("e1"), Incarnation("i1"), cluster + 60s}, signer_));
    Step();
    return Claims().size();
  };
  EXPECT_EQ(publish(1), 1u);
  clock_.StepWall(-122s);
  clock_.Advance(60s);
  EXPECT_EQ(publish(2), 0u);
  EXPECT_EQ(Rejected(Name(Rejection::kExpired)), 1u);
  Deliver(HeartbeatReply{.renewed = {}, .cluster_time = cluster + 59s});
  EXPECT_EQ(publish(3), 1u);
}

TEST_F(DaemonClaimTest, RejectedBundlesAreCountedAndNeverRun) {
  Join();
  const SealTarget target{ExecutorId("e1"), Incarnation("i1"), clock_.Wall() + 10s};
  SealTarget earlier = target;
  earlier.incarnation = Incarnation("i0");
  SealTarget expired = target;
  expired.expires = clock_.Wall() - 1s;
  SealTarget elsewhere = target;
  elsewhere.executor = ExecutorId("e2");
  BusRecord tampered = SealTasks({Task(1)}, target, signer_);
  tampered.payload.back() = static_cast<char>(tampered.payload.back() ^ 1);
  bus_.tasks = {SealTasks({Task(1)}, target, Signer::Generate()),
                SealTasks({Task(1)}, earlier, signer_),
                SealTasks({Task(1)}, expired, signer_),
                SealTasks({Task(1)}, elsewhere, signer_),
                tampered,
                BusRecord{}};
  Step();
  EXPECT_TRUE(Claims().empty());
  EXPECT_EQ(Rejected(Name(Rejection::kBadSignature)), 2u);
  EXPECT_EQ(Rejected(Name(Rejection::kOtherIncarnation)), 1u);
  EXPECT_EQ(Rejected(Name(Rejection::kExpired)), 1u);
  EXPECT_EQ(Rejected(Name(Rejection::kBadHeaders)), 1u);
  EXPECT_EQ(Rejected(Name(Rejection::kOtherExecutor)), 0u);
}

}  // namespace
}  // namespace carillon::executor
