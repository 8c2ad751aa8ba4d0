// Reports of the executor daemon, from the end of an attempt to the acknowledgement: spool,
// results, leases, restarts, drain.
#include <cmath>

#include "tests/unit/executor/agent/daemon_fixture.h"

namespace carillon::executor {
namespace {

class DaemonReportTest : public DaemonFixture {
 protected:
  ClaimRequest RunNoop(uint64_t number) { return RunToAccepted(Task(number, JobType::kNoop)); }
  Heartbeat LastHeartbeat() {
    auto beats = link_.Take<Heartbeat>();
    EXPECT_FALSE(beats.empty());
    return beats.empty() ? Heartbeat{} : beats.back();
  }

  bool answers_ = true;  // m1 renews the leases in heartbeats
};

TEST_F(DaemonReportTest, OneOfALargeFleetIsQuietWhileItHoldsNothing) {
  Join();
  EXPECT_EQ(link_.may_wait, 0s);
  Deliver(Registered{.heartbeat = 2s, .quiet_heartbeat = 15s});
  StepFor(5s);
  EXPECT_EQ(LastHeartbeat().next_in, 15s);
  EXPECT_EQ(link_.may_wait, 15s);
  const ClaimRequest claim = RunNoop(1);
  StepFor(200ms);
  EXPECT_EQ(LastHeartbeat().next_in, 2s);
  EXPECT_EQ(link_.may_wait, 0s) << "its result is not applied";
  Deliver(ResultsApplied{{HeldOf(claim)}});
  StepFor(5s);
  EXPECT_EQ(LastHeartbeat().next_in, 15s);
  EXPECT_EQ(link_.may_wait, 15s);
}

TEST_F(DaemonReportTest, NoopIsOnDiskBeforeItIsPublished) {
  Join();
  spool_.full = true;
  RunNoop(1);
  EXPECT_TRUE(bus_.results.empty());
  spool_.full = false;
  StepFor(200ms);
  ASSERT_EQ(bus_.results.size(), 1u);
  EXPECT_EQ(spool_.held.size(), 1u);
  EXPECT_EQ(bus_.results[0].report.result.state, RunState::kCompleted);
  EXPECT_EQ(bus_.results[0].report.result.exit_code, 0);
  EXPECT_EQ(bus_.results[0].report.executor, ExecutorId("e1"));
  EXPECT_EQ(bus_.results[0].job_id, JobId("job"));
  EXPECT_TRUE(warden_.starts.empty());
}

TEST_F(DaemonReportTest, FullSpoolStopsClaimsOfInProcessTypes) {
  Join();
  spool_.full = true;
  RunNoop(1);
  Publish({Task(2, JobType::kNoop)});
  EXPECT_TRUE(Claims().empty());
  spool_.full = false;
  StepFor(300ms);
  EXPECT_EQ(Claims().size(), 1u);
}

// Results of different segments also share a record, because a record costs the broker more
// than a result.
TEST_F(DaemonReportTest, WhatEndsTogetherIsOneRecord) {
  Join();
  bus_.refuse = true;
  TaskMessage other = Task(2, JobType::kNoop);
  other.segment = SegmentId(4);
  RunNoop(1);
  RunToAccepted(other);
  bus_.refuse = false;
  StepFor(200ms);
  EXPECT_EQ(bus_.results.size(), 2u);
  EXPECT_EQ(bus_.result_records, 1);
}

TEST_F(DaemonReportTest, ResultIsSentAgainUntilItIsApplied) {
  Join();
  const ClaimRequest claim = RunNoop(1);
  EXPECT_EQ(bus_.results.size(), 1u);
  StepFor(16s);
  EXPECT_EQ(bus_.results.size(), 3u);
  Deliver(ResultsApplied{{HeldOf(claim)}});
  EXPECT_TRUE(spool_.held.empty());
  StepFor(60s);
  EXPECT_EQ(bus_.results.size(), 3u);
  EXPECT_EQ(daemon_->status().reporting, 0);
}

TEST_F(DaemonReportTest, ResultThatNobodySpeaksForIsSentMoreAndMoreRarely) {
  Join();
  RunNoop(1);
  StepFor(5500ms);
  EXPECT_EQ(bus_.results.size(), 2u);  // after 5 s
  StepFor(30s);
  EXPECT_EQ(bus_.results.size(), 4u);  // after 10 and 20 s more
  StepFor(120s);
  EXPECT_EQ(bus_.results.size(), 10u) << "every 20 s";
}

TEST_F(DaemonReportTest, ResultOfAProcessIsForgottenByTheWardenOnceApplied) {
  Join();
  const ClaimRequest claim = RunToAccepted(Task(1));
  EndInWarden(claim);
  EndInWarden(claim);  // reported again after a reconnect
  EXPECT_EQ(bus_.results.size(), 1u);
  EXPECT_TRUE(spool_.held.empty());
  EXPECT_TRUE(warden_.forgotten.empty());
  HeldAttempt other = HeldOf(claim);
  other.token.high += 1;
  Deliver(ResultsApplied{{other}});
  EXPECT_TRUE(warden_.forgotten.empty());
  Deliver(ResultsApplied{{HeldOf(claim)}});
  EXPECT_EQ(warden_.forgotten, std::vector<ClaimToken>{claim.token});
}

TEST_F(DaemonReportTest, BusThatRefusesGetsItLater) {
  Join();
  bus_.refuse = true;
  RunNoop(1);
  EXPECT_TRUE(bus_.results.empty());
  bus_.refuse = false;
  StepFor(300ms);
  EXPECT_EQ(bus_.results.size(), 1u);
}

TEST_F(DaemonReportTest, LightSlotsBoundWhatWaitsToBeApplied) {
  Join();
  std::vector<TaskMessage> tasks;
  for (uint64_t i = 1; i <= 6; ++i) tasks.push_back(Task(i, JobType::kNoop));
  Publish(tasks);
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), 4u);
  for (const ClaimRequest& claim : claims) Answer(claim, ClaimVerdict::kAccepted);
  EXPECT_EQ(bus_.results.size(), 4u);
  EXPECT_TRUE(Claims().empty());
  Deliver(ResultsApplied{{HeldOf(claims[0])}});
  EXPECT_EQ(Claims().size(), 1u);
}

TEST_F(DaemonReportTest, HeartbeatsListWhatRunsAndWhatWaits) {
  Join();
  const ClaimRequest process = RunToAccepted(Task(1));
  const ClaimRequest noop = RunNoop(2);
  StepFor(2s);
  const Heartbeat beat = LastHeartbeat();
  ASSERT_EQ(beat.running.size(), 1u);
  EXPECT_EQ(beat.running[0].token, process.token);
  ASSERT_EQ(beat.reporting.size(), 1u);
  EXPECT_EQ(beat.reporting[0].token, noop.token);
  EXPECT_EQ(beat.free_slots, 1);
  EXPECT_EQ(beat.free_light_slots, 3);
  EXPECT_EQ(beat.running_count, 2) << "until its end is applied";
  EXPECT_EQ(beat.load.cpu, 0.5);
  StepFor(10s);
  EXPECT_EQ(link_.Take<Heartbeat>().size(), 5u);
}

TEST_F(DaemonReportTest, ClaimUnderWayTakesNoRoomFromItsOwnMemberOnly) {
  link_.members = {MemberId("m1"), MemberId("m2")};
  Join();
  Deliver(Registered{}, "m2");
  StepFor(1s);
  Publish({Task(1)});
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), 1u);
  link_.sent.clear();
  StepFor(1200ms);
  std::map<std::string, Heartbeat> beats;
  for (const auto& [member, message] : link_.sent) {
    if (const auto* beat = std::get_if<Heartbeat>(&message)) beats[member.value()] = *beat;
  }
  EXPECT_EQ(beats["m1"].free_slots, 2);
  ASSERT_EQ(beats["m1"].claiming.size(), 1u);
  EXPECT_EQ(beats["m1"].claiming[0].token, claims[0].token);
  EXPECT_EQ(beats["m2"].free_slots, 1);
  EXPECT_TRUE(beats["m2"].claiming.empty());
}

TEST_F(DaemonReportTest, OwnerThatIsHeardEveryTenSecondsIsNotSilentBetweenTwoHeartbeats) {
  link_.members = {MemberId("m1"), MemberId("m2")};
  Join();
  // The heartbeat to m2 is sent before the heartbeat to m1, the member that renews the leases.
  for (const char* member : {"m2", "m1"}) Deliver(Registered{.heartbeat = 10s}, member);
  const ClaimRequest claim = RunToAccepted(Task(1));
  const auto told = [this] {  // attempts reported to m2, which does not own their segments
    size_t beats = 0;
    for (const auto& [member, message] : std::exchange(link_.sent, {})) {
      const auto* beat = std::get_if<Heartbeat>(&message);
      if (beat == nullptr) continue;
      if (member == MemberId("m2")) beats += beat->running.size();
      if (member != MemberId("m1") || !answers_) continue;
      link_.incoming.push_back(
          {member,
           HeartbeatReply{.sent_us = beat->sent_us, .lease = 33s, .renewed = beat->running}});
    }
    return beats;
  };
  for (int i = 0; i < 300; ++i) {
    StepFor(100ms);
    EXPECT_EQ(told(), 0u) << "after " << i << " tenths of a second";
  }
  answers_ = false;
  StepFor(26s);  // the lease of 33 s, less the margin and the time since the last renewal
  EXPECT_GE(told(), 1u) << "in time for another owner to renew it";
}

TEST_F(DaemonReportTest, SlotThatAnotherMembersRunFreesIsToldAtOnce) {
  link_.members = {MemberId("m1"), MemberId("m2")};
  Join();
  Deliver(Registered{}, "m2");
  const ClaimRequest first = RunToAccepted(Task(1));
  RunToAccepted(Task(2));
  StepFor(2s);
  link_.sent.clear();
  EndInWarden(first);
  StepFor(200ms);
  const auto beats = link_.Take<Heartbeat>();
  ASSERT_EQ(beats.size(), 2u) << "one for each member";
  EXPECT_EQ(beats[0].free_slots, 1);
  EXPECT_EQ(beats[1].free_slots, 1);
}

TEST_F(DaemonReportTest, HeartbeatsTellHowFarTasksAreBehind) {
  Join();
  StepFor(3s);
  EXPECT_EQ(LastHeartbeat().tasks_behind, std::nullopt) << "not known";
  const Gauge& gauge = metrics_.gauge("carillon_consumer_lag", "carillon.tasks");
  EXPECT_TRUE(std::isnan(gauge.value()));
  bus_.behind = 7;
  StepFor(3s);
  EXPECT_EQ(LastHeartbeat().tasks_behind, 7);
  EXPECT_EQ(gauge.value(), 7);
}

TEST_F(DaemonReportTest, RenewalReachesTheWardenWithTheTimeOfTheRequest) {
  Join();
  const ClaimRequest claim = RunToAccepted(Task(1));
  StepFor(2s);
  const Heartbeat beat = LastHeartbeat();
  clock_.Advance(1s);
  HeldAttempt stranger = HeldOf(claim);
  stranger.token.low += 1;
  Deliver(HeartbeatReply{.sent_us = beat.sent_us, .renewed = {HeldOf(claim), stranger}});
  ASSERT_EQ(warden_.renewed.size(), 1u);
  EXPECT_EQ(warden_.renewed[0].first, claim.token);
  EXPECT_EQ(warden_.renewed[0].second, SteadyTime(Duration(beat.sent_us)) + 20s);
}

TEST_F(DaemonReportTest, WardenThatDoesNotAnswerIsToldAndGetsNothing) {
  Join();
  const ClaimRequest process = RunToAccepted(Task(1));
  EndInWarden(process);
  StepFor(2s);
  warden_.can_start = {ErrorCode::kUnavailable, "the warden does not respond"};
  link_.sent.clear();
  Publish({Task(2)});
  EXPECT_TRUE(Claims().empty());
  StepFor(1800ms);
  EXPECT_EQ(LastHeartbeat().trouble, "") << "one that died comes back";
  StepFor(400ms);
  Heartbeat beat = LastHeartbeat();
  EXPECT_EQ(beat.trouble, "the warden does not respond");
  EXPECT_EQ(beat.free_slots, 0);
  EXPECT_GT(beat.free_light_slots, 0);
  StepFor(3s);
  EXPECT_TRUE(Claims().empty());
  warden_.can_start = {};
  StepFor(200ms);
  beat = LastHeartbeat();
  EXPECT_EQ(beat.trouble, "");
  EXPECT_EQ(Claims().size(), 1u) << "what waited goes on";
}

TEST_F(DaemonReportTest, FullDiskIsNoTroubleOfTheWarden) {
  Join();
  StepFor(2s);
  warden_.can_start = {ErrorCode::kExhausted, "the disk is full"};
  StepFor(5s);
  const Heartbeat beat = LastHeartbeat();
  EXPECT_EQ(beat.trouble, "");
  EXPECT_EQ(beat.free_slots, 0);
}

// The outcome of the process is unknown, so its lease must be allowed to end.
TEST_F(DaemonReportTest, ProcessOfAWardenThatIsAwayForALeaseIsNotRenewedAnyMore) {
  Join();
  const ClaimRequest process = RunToAccepted(Task(1));
  const ClaimRequest noop = RunNoop(2);
  warden_.events.push_back(AttemptStarted{HeldOf(process), clock_.Wall()});
  StepFor(2s);
  warden_.can_start = {ErrorCode::kUnavailable, "no warden is attached"};
  StepFor(16s);
  EXPECT_EQ(LastHeartbeat().running.size(), 1u);
  StepFor(2s);
  Heartbeat beat = LastHeartbeat();
  EXPECT_TRUE(beat.running.empty());
  EXPECT_EQ(beat.reporting.size(), 1u) << "its result is at hand";
  warden_.can_start = {};
  StepFor(2s);
  EXPECT_EQ(LastHeartbeat().running.size(), 1u) << "the warden has it";
}

TEST_F(DaemonReportTest, RegistersAgainWhenAMemberForgot) {
  Join();
  EXPECT_EQ(link_.Take<Register>().size(), 1u);
  StepFor(3s);
  EXPECT_TRUE(link_.Take<Register>().empty());
  Deliver(HeartbeatReply{.registered = false});
  StepFor(500ms);
  EXPECT_EQ(link_.Take<Register>().size(), 1u);
}

TEST_F(DaemonReportTest, RefusalIsSaidAloud) {
  Step();
  Deliver(Registered{.accepted = false, .refusal = "another one is alive"});
  EXPECT_EQ(daemon_->refusal(), "another one is alive");
  Deliver(Registered{});
  EXPECT_EQ(daemon_->refusal(), "");
}

TEST_F(DaemonReportTest, AnotherDaemonFindsWhatTheFirstLeft) {
  Join();
  const ClaimRequest noop = RunNoop(1);
  HeldAttempt running{.key = Task(2).key, .segment = SegmentId(3), .token = {5, 5}};
  HeldAttempt ended{.key = Task(3).key, .segment = SegmentId(3), .token = {6, 6}};
  warden_.inventory.running.push_back({running, clock_.Wall()});
  warden_.inventory.ended.push_back({ended, {.state = RunState::kFailed}, JobId("job")});
  bus_.results.clear();
  link_.sent.clear();
  Boot();
  Join();
  StepFor(100ms);
  EXPECT_EQ(bus_.results.size(), 2u);
  EXPECT_EQ(daemon_->status().running, 1);
  const Heartbeat beat = LastHeartbeat();
  ASSERT_EQ(beat.running.size(), 1u);
  EXPECT_EQ(beat.running[0].token, running.token);
  EXPECT_EQ(beat.reporting.size(), 2u);
  EXPECT_EQ(beat.free_slots, 1);
  // Ended attempts do not run again, even if another member publishes them.
  Publish({Task(1, JobType::kNoop), Task(2), Task(3)});
  EXPECT_TRUE(Claims().empty());
  Deliver(ResultsApplied{{HeldOf(noop), ended}});
  EXPECT_TRUE(spool_.held.empty());
  EXPECT_EQ(warden_.forgotten, std::vector<ClaimToken>{ended.token});
}

TEST_F(DaemonReportTest, GoodbyeNamesWhatTheWardenGoesOnWith) {
  Join();
  const ClaimRequest claim = RunToAccepted(Task(1));
  StepFor(2s);
  EXPECT_FALSE(LastHeartbeat().leaving);
  daemon_->Leave(clock_.Steady());
  const Heartbeat goodbye = LastHeartbeat();
  EXPECT_TRUE(goodbye.leaving);
  EXPECT_EQ(goodbye.free_slots, 0);
  EXPECT_EQ(goodbye.free_light_slots, 0);
  ASSERT_EQ(goodbye.running.size(), 1u);
  EXPECT_EQ(goodbye.running[0].token, claim.token);
}

TEST_F(DaemonReportTest, DrainLetsFinishAndReport) {
  Join();
  const ClaimRequest claim = RunToAccepted(Task(1));
  daemon_->Drain();
  Publish({Task(2)});
  EXPECT_TRUE(Claims().empty());
  StepFor(2s);
  EXPECT_EQ(LastHeartbeat().free_slots, 0);
  EXPECT_FALSE(daemon_->drained());
  EndInWarden(claim);
  EXPECT_FALSE(daemon_->drained());
  Deliver(ResultsApplied{{HeldOf(claim)}});
  EXPECT_TRUE(daemon_->drained());
}

}  // namespace
}  // namespace carillon::executor
