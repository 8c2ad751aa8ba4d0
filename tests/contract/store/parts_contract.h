// The contract of fires that are done in parts: how they begin, by a WorkflowStore, and how they
// end, by a CompletionStore.
#pragma once

#include <map>

#include "common/domain/run/returns.h"
#include "tests/contract/store/workflow_driver.h"

namespace carillon::test {

class PartsDriver : public WorkflowDriver {
 public:
  using WorkflowDriver::WorkflowDriver;

  static JobDefinition InParts(int64_t total) {
    JobDefinition job = Manual();
    job.shards = Shards{.total = total};
    return job;
  }
  static JobDefinition AlivePartsJob(int64_t max) {
    JobDefinition job = Manual();
    job.shards = Shards{.alive = true, .max = max};
    return job;
  }
  static JobDefinition OnAllHosts() {
    JobDefinition job = Manual();
    job.broadcast = Broadcast{};
    return job;
  }
  void AddHost(const std::string& id, WallTime heard, Features features = {Feature::kShards}) {
    ExecutorRecord record{.id = ExecutorId(id),
                          .incarnation = Incarnation("i-" + id),
                          .last_heartbeat = heard,
                          .registered = heard};
    record.abilities.features = features;
    EXPECT_OK(executors.RegisterExecutor(record));
    EXPECT_OK(executors.UpdateAbilities({record}));
  }

  PartsReply BeginFire(const RunKey& own, WallTime now) {
    return v(workflows.BeginParts({RequestFor(own)}, fence, now));
  }
  // The own run of a fire by hand that has begun.
  RunKey BegunFire(const StoredJob& job, WallTime now) {
    const RunKey own = Execute(job, now).key;
    const PartsReply reply = BeginFire(own, now);
    EXPECT_EQ(reply.verdict, ClaimVerdict::kAccepted) << Name(reply.reason);
    return own;
  }
  static RunKey PartKey(const RunKey& own, uint32_t shard) {
    return {own.fire, own.schedule_id, shard};
  }
  RunRow PartOf(const RunKey& own, uint32_t shard) { return Get(PartKey(own, shard)).row; }
  RunRow StartPart(const RunKey& own, uint32_t shard, WallTime now) {
    return Start(PartOf(own, shard), ++claims_, fence, now);
  }
  void EndPart(const RunKey& own, uint32_t shard, WallTime now,
               RunState state = RunState::kCompleted) {
    EndRun(StartPart(own, shard, now), state, now);
  }
  void SkipPart(const RunKey& own, uint32_t shard, std::string_view why, WallTime now) {
    const RunRow row = PartOf(own, shard);
    const SkipItem item{.key = row.key,
                        .segment = row.segment,
                        .job_no = row.job_no,
                        .attempt = row.attempt,
                        .def_version = row.def_version,
                        .reason = why};
    EXPECT_EQ(v(firing.Skip({item}, fence, now)).size(), 1u);
  }

  std::vector<RunCompletion> Told(CompletionTarget target = CompletionTarget::kParts) {
    std::vector<RunCompletion> told = v(completions.ScanCompletions(All(), 1'000));
    std::erase_if(told, [&](const RunCompletion& end) { return end.target != target; });
    return told;
  }
  FireEffect Look(const FireLook& fire, WallTime now) {
    const std::vector<FireEffect> effects = v(completions.EndFires({fire}, fence, now));
    EXPECT_EQ(effects.size(), 1u);
    return effects.empty() ? FireEffect{} : effects.front();
  }
  // Looks at the fire with all completions of its parts, as its owner does.
  FireEffect LookAt(const RunKey& own, WallTime now) {
    FireLook fire = LookOf(own);
    for (const RunCompletion& end : Told()) {
      const bool mine = end.key.fire == own.fire && end.key.schedule_id == own.schedule_id;
      if (mine) fire.told.push_back(end.id);
    }
    return Look(fire, now);
  }
  FireLook LookOf(const RunKey& own) {
    const RunRow row = Get(own).row;
    return {.own = own, .segment = row.segment, .job_no = row.job_no};
  }

 private:
  uint64_t claims_ = 900;
};

template <typename Factory>
class PartsContract : public StoreContract<Factory> {
 protected:
  PartsDriver parts_driver() { return PartsDriver(this->handle()); }
};
TYPED_TEST_SUITE(PartsContract, StoreFactories);

// ---- begin -------------------------------------------------------------------------------------

TYPED_TEST(PartsContract, BeginWritesThePartsAndRunsTheOwnRun) {
  PartsDriver s = this->parts_driver();
  JobDefinition job = s.InParts(3);
  job.priority = 7;
  const StoredJob stored = s.Create("a", job);
  const RunKey key = s.Execute(stored, kT0).key;
  const PartsReply reply = s.BeginFire(key, kT0 + 1s);
  EXPECT_EQ(reply.verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(reply.due, s.PartKey(key, 1));
  EXPECT_FALSE(reply.ended);

  const RunRow own = s.Get(key).row;
  EXPECT_EQ(own.state, RunState::kRunning);
  EXPECT_TRUE(own.executor.empty());
  EXPECT_EQ(own.claimed, kT0 + 1s);
  EXPECT_EQ(own.shard_total, 3u);
  EXPECT_EQ(own.flags, run_flag::kParts);
  // It has no lease, and cannot be lost.
  EXPECT_TRUE(s.v(s.firing.ScanRunning(s.All(), std::nullopt, 10)).runs.empty());

  const std::vector<RunRow> parts = s.Pending(kT0 + 1s);
  ASSERT_EQ(parts.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(parts[i].key, s.PartKey(key, i + 1));
    EXPECT_EQ(parts[i].kind, RunKind::kShard);
    EXPECT_EQ(parts[i].job_no, stored.job_no);
    EXPECT_EQ(parts[i].segment, stored.segment);
    EXPECT_EQ(parts[i].def_version, stored.version);
    EXPECT_EQ(parts[i].priority, 7);
    EXPECT_EQ(parts[i].due, kT0 + 1s);
    EXPECT_EQ(parts[i].attempt, 1);
    EXPECT_EQ(parts[i].shard_total, 3u);
    // It reads the request of its own run.
    EXPECT_EQ(parts[i].flags, run_flag::kPart | run_flag::kHasRequest);
    EXPECT_TRUE(parts[i].pinned_executor.empty());
  }
  EXPECT_TRUE(s.Told().empty());
}

TYPED_TEST(PartsContract, BeginOfPartsIsRepeatedAfterAnUnknownOutcome) {
  PartsDriver s = this->parts_driver();
  const RunKey key = s.Execute(s.Create("a", s.InParts(2)), kT0).key;
  const ClaimRequest request = s.RequestFor(key);
  EXPECT_EQ(s.v(s.workflows.BeginParts({request}, s.fence, kT0)).verdict, ClaimVerdict::kAccepted);
  s.StartPart(key, 1, kT0);
  const std::vector<RunRow> before = s.Pending(kT0 + 9s);
  const PartsReply again = s.v(s.workflows.BeginParts({request}, s.fence, kT0 + 1s));
  EXPECT_EQ(again.verdict, ClaimVerdict::kAcceptedAgain);
  EXPECT_EQ(s.Pending(kT0 + 9s), before);
  EXPECT_EQ(s.PartOf(key, 1).state, RunState::kRunning);
}

TYPED_TEST(PartsContract, BeginOfPartsRefusesAsAClaimDoes) {
  PartsDriver s = this->parts_driver();
  const StoredJob job = s.Create("a", s.InParts(2));
  const RunKey key = s.Execute(job, kT0 + 10s).key;
  EXPECT_EQ(s.BeginFire(key, kT0).reason, ClaimReason::kNotDue);
  ClaimRequest request = s.RequestFor(key);
  request.hold_back = ClaimReason::kClusterPaused;
  EXPECT_EQ(s.v(s.workflows.BeginParts({request}, s.fence, kT0 + 11s)).reason,
            ClaimReason::kClusterPaused);
  request = s.RequestFor(key);
  Fence others = s.fence;
  std::erase_if(others, [&](const FencedSegment& held) { return held.segment == request.segment; });
  EXPECT_CODE(s.workflows.BeginParts({request}, others, kT0 + 11s), ErrorCode::kInvalid);
  s.Replace(job, job.definition, kT0 + 11s);
  EXPECT_EQ(s.v(s.workflows.BeginParts({request}, s.fence, kT0 + 11s)).reason,
            ClaimReason::kVersionMoved);
  const Fence old = s.fence;
  s.fence = s.Take(2);
  EXPECT_CODE(s.workflows.BeginParts({s.RequestFor(key)}, old, kT0 + 11s), ErrorCode::kFenced);
  EXPECT_EQ(s.StateOf(key), RunState::kPending);
  EXPECT_EQ(s.Pending(kT0 + 1h).size(), 1u);
}

TYPED_TEST(PartsContract, BeginOfPartsNeedsAReadableDefinitionWithThem) {
  PartsDriver s = this->parts_driver();
  const StoredJob job = s.Create("a", s.InParts(2));
  const RunKey key = s.Execute(job, kT0).key;
  const ClaimRequest request = s.RequestFor(key);
  this->handle().DamageDefinition(job, true);
  EXPECT_CODE(s.workflows.BeginParts({request}, s.fence, kT0), ErrorCode::kCorrupt);
  EXPECT_EQ(s.StateOf(key), RunState::kPending);
  this->handle().DamageDefinition(job, false);
  const RunKey plain = s.Execute(s.Create("b", s.Manual()), kT0).key;
  EXPECT_CODE(s.workflows.BeginParts({s.RequestFor(plain)}, s.fence, kT0), ErrorCode::kConflict);
  EXPECT_EQ(s.StateOf(plain), RunState::kPending);
}

TYPED_TEST(PartsContract, AFireHasOneSlotAndItsPartsNone) {
  PartsDriver s = this->parts_driver();
  JobDefinition definition = s.InParts(3);
  definition.overlap_policy = OverlapPolicy::kSkip;
  const StoredJob job = s.Create("a", definition);
  const RunKey first = s.BegunFire(job, kT0);
  for (const uint32_t shard : {1u, 2u, 3u}) s.StartPart(first, shard, kT0);
  const RunKey second = s.Execute(job, kT0).key;
  const PartsReply refused = s.BeginFire(second, kT0 + 1s);
  EXPECT_EQ(refused.verdict, ClaimVerdict::kSkipped);
  s.ExpectEnd(second, RunState::kSkipped, reason::kOverlap);

  for (const uint32_t shard : {1u, 2u, 3u}) {
    s.EndRun(s.PartOf(first, shard), RunState::kCompleted, kT0 + 2s);
  }
  EXPECT_TRUE(s.LookAt(first, kT0 + 2s).freed_slot);
  s.BegunFire(job, kT0 + 3s);
}

TYPED_TEST(PartsContract, AFireIsQueuedAsOneRun) {
  PartsDriver s = this->parts_driver();
  JobDefinition definition = s.InParts(2);
  definition.overlap_policy = OverlapPolicy::kQueueAll;
  const StoredJob job = s.Create("a", definition);
  s.BegunFire(job, kT0);
  const RunKey second = s.Execute(job, kT0).key;
  EXPECT_EQ(s.BeginFire(second, kT0 + 1s).verdict, ClaimVerdict::kEnqueued);
  EXPECT_EQ(s.Get(second).row.due, kQueued);
  EXPECT_TRUE(s.v(s.queues.PlaceOf(second)));
}

TYPED_TEST(PartsContract, AsManyPartsAsHostsAreAlive) {
  PartsDriver s = this->parts_driver();
  for (const char* id : {"a", "b", "c"}) s.AddHost(id, kT0);
  s.AddHost("old", kT0, {});
  s.AddHost("silent", kT0 - 2min);
  s.AddHost("off", kT0);
  s.v(s.executors.SetExecutorEnabled(ExecutorId("off"), false));
  const RunKey all = s.BegunFire(s.Create("all", s.AlivePartsJob(100)), kT0);
  EXPECT_EQ(s.Get(all).row.shard_total, 3u);
  EXPECT_TRUE(s.PartOf(all, 1).pinned_executor.empty());
  const RunKey two = s.BegunFire(s.Create("two", s.AlivePartsJob(2)), kT0);
  EXPECT_EQ(s.Get(two).row.shard_total, 2u);
  JobDefinition nowhere = s.AlivePartsJob(100);
  nowhere.executor_selector = "zone = x";
  EXPECT_EQ(s.Get(s.BegunFire(s.Create("none", nowhere), kT0)).row.shard_total, 1u);
}

TYPED_TEST(PartsContract, ABroadcastHasOnePartForEachHost) {
  PartsDriver s = this->parts_driver();
  s.AddHost("b", kT0 - 30min);
  s.AddHost("a", kT0);
  s.AddHost("gone", kT0 - 2h);
  const RunKey own = s.BegunFire(s.Create("all", s.OnAllHosts()), kT0);
  ASSERT_EQ(s.Pending(kT0).size(), 2u);
  EXPECT_EQ(s.PartOf(own, 1).pinned_executor, ExecutorId("a"));
  EXPECT_EQ(s.PartOf(own, 2).pinned_executor, ExecutorId("b"));
  const RunRow part = s.PartOf(own, 2);
  ClaimRequest claim = s.ClaimOf(part, 1);
  claim.pinned = true;
  EXPECT_EQ(s.Claim(claim, s.fence, kT0).reason, ClaimReason::kWrongExecutor);
  claim.executor = ExecutorId("b");
  EXPECT_EQ(s.Claim(claim, s.fence, kT0).verdict, ClaimVerdict::kAccepted);
}

TYPED_TEST(PartsContract, ABroadcastToNoHostEndsAtOnce) {
  PartsDriver s = this->parts_driver();
  JobDefinition definition = s.OnAllHosts();
  definition.overlap_policy = OverlapPolicy::kSkip;
  const StoredJob job = s.Create("all", definition);
  const RunKey own = s.Execute(job, kT0).key;
  const PartsReply reply = s.BeginFire(own, kT0);
  EXPECT_EQ(reply.verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(reply.ended, RunState::kSkipped);
  EXPECT_FALSE(reply.due);
  s.ExpectEnd(own, RunState::kSkipped, reason::kNoExecutor);
  EXPECT_TRUE(s.Pending(kT0 + 1h).empty());
  s.AddHost("a", kT0);
  s.BegunFire(job, kT0 + 1s);  // the slot is free
}

TYPED_TEST(PartsContract, ANodeThatRunsAgainBeginsAllItsPartsAgain) {
  PartsDriver s = this->parts_driver();
  s.Create("a", s.InParts(3));
  const RunKey flow = s.Begun(s.CreateFlow(s.Flow({s.Node("a")})), kT0);
  const RunKey own = s.RowOf(flow, "a").key;
  EXPECT_EQ(s.BeginFire(own, kT0).verdict, ClaimVerdict::kAccepted);
  s.EndPart(own, 1, kT0 + 1s);
  s.EndPart(own, 2, kT0 + 1s, RunState::kFailed);
  s.SkipPart(own, 3, reason::kQueueTimeout, kT0 + 1s);
  const ClaimToken old = s.PartOf(own, 1).claim_token;
  const FireEffect effect = s.LookAt(own, kT0 + 2s);
  EXPECT_EQ(effect.ended, RunState::kFailed);
  EXPECT_TRUE(effect.completed);
  s.Steps(kT0 + 2s);
  s.ExpectEnd(flow, RunState::kFailed, reason::kNodeFailed);

  s.v(s.runs.RetryRun({.key = flow}, {.now = kT0 + 3s}));
  s.ExpectBegin(flow, kT0 + 3s);
  s.Steps(kT0 + 3s);
  EXPECT_EQ(s.StateOf(own), RunState::kPending);
  EXPECT_EQ(s.BeginFire(own, kT0 + 4s).verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(s.Get(own).row.shard_total, 3u);
  for (const uint32_t shard : {1u, 2u, 3u}) {
    const RunRow part = s.PartOf(own, shard);
    EXPECT_EQ(part.state, RunState::kPending);
    EXPECT_EQ(part.attempt, 2);
    EXPECT_EQ(IsFirstTry(part), shard == 3);
    EXPECT_EQ(part.due, kT0 + 4s);
    EXPECT_TRUE(part.claim_token.empty());
    EXPECT_EQ(s.Get(part.key).attempts.size(), shard == 3 ? 0u : 1u);
  }
  EXPECT_FALSE(old.empty());
  s.EndPart(own, 1, kT0 + 5s);
  s.EndPart(own, 2, kT0 + 5s);
  s.EndPart(own, 3, kT0 + 5s);
  EXPECT_EQ(s.LookAt(own, kT0 + 5s).ended, RunState::kCompleted);
  s.Steps(kT0 + 5s);
  s.ExpectEnd(flow, RunState::kCompleted);
}

// ---- end ---------------------------------------------------------------------------------------

TYPED_TEST(PartsContract, TheLastPartEndsTheFire) {
  PartsDriver s = this->parts_driver();
  const RunKey own = s.BegunFire(s.Create("a", s.InParts(2)), kT0);
  s.EndPart(own, 2, kT0 + 1s);
  ASSERT_EQ(s.Told().size(), 1u);
  EXPECT_EQ(s.Told()[0].key, s.PartKey(own, 2));
  EXPECT_EQ(s.Told()[0].segment, s.Get(own).row.segment);
  EXPECT_FALSE(s.LookAt(own, kT0 + 2s).ended);
  EXPECT_TRUE(s.Told().empty());
  EXPECT_EQ(s.StateOf(own), RunState::kRunning);
  s.EndPart(own, 1, kT0 + 3s);
  EXPECT_EQ(s.LookAt(own, kT0 + 9s).ended, RunState::kCompleted);
  const RunDetail run = s.Get(own);
  s.ExpectEnd(own, RunState::kCompleted);
  EXPECT_EQ(run.result.started, kT0 + 1s);
  EXPECT_EQ(run.result.ended, kT0 + 3s);
  EXPECT_TRUE(s.Told().empty());
}

TYPED_TEST(PartsContract, TwoLastPartsEndInTwoCommits) {
  PartsDriver s = this->parts_driver();
  const RunKey own = s.BegunFire(s.Create("a", s.InParts(2)), kT0);
  s.EndPart(own, 1, kT0 + 1s);
  const std::vector<RunCompletion> first = s.Told();
  s.EndPart(own, 2, kT0 + 1s);
  // Reads the parts later than the completions, so it sees both.
  FireLook fire = s.LookOf(own);
  fire.told = {first.front().id};
  EXPECT_EQ(s.Look(fire, kT0 + 2s).ended, RunState::kCompleted);
  ASSERT_EQ(s.Told().size(), 1u);
  // The second says nothing new.
  EXPECT_FALSE(s.LookAt(own, kT0 + 3s).ended);
  EXPECT_TRUE(s.Told().empty());
  EXPECT_EQ(s.Get(own).result.ended, kT0 + 1s);
}

TYPED_TEST(PartsContract, APartThatWaitsForItsNextAttemptIsOpen) {
  PartsDriver s = this->parts_driver();
  JobDefinition definition = s.InParts(2);
  definition.retry_count = 1;
  const RunKey own = s.BegunFire(s.Create("a", definition), kT0);
  s.EndRun(s.StartPart(own, 1, kT0), RunState::kFailed, kT0 + 1s);
  EXPECT_TRUE(s.Told().empty());
  s.EndPart(own, 2, kT0 + 1s);
  EXPECT_FALSE(s.LookAt(own, kT0 + 1s).ended);
  EXPECT_EQ(s.PartOf(own, 1).attempt, 2);
  s.EndPart(own, 1, kT0 + 1h);
  EXPECT_EQ(s.LookAt(own, kT0 + 1h).ended, RunState::kCompleted);
}

TYPED_TEST(PartsContract, AFailureIsToldOnceForTheWholeFire) {
  PartsDriver s = this->parts_driver();
  const RunKey own = s.BegunFire(s.Create("a", s.InParts(3)), kT0);
  s.EndPart(own, 1, kT0 + 1s);
  s.EndPart(own, 2, kT0 + 1s, RunState::kFailed);
  s.EndPart(own, 3, kT0 + 1s, RunState::kTimedOut);
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({})).empty());
  EXPECT_EQ(s.LookAt(own, kT0 + 2s).ended, RunState::kFailed);
  s.ExpectEnd(own, RunState::kFailed, reason::kShardFailed);
  EXPECT_EQ(s.Get(own).result.error,
            "2 of 3 shards have failed: 1 (FAILED exit_code), 2 (TIMED_OUT timeout)");
  const auto letters = s.v(s.runs.ListDeadLetters({}));
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].key, own);
  EXPECT_EQ(letters[0].reason, reason::kShardFailed);
}

TYPED_TEST(PartsContract, ALateSuccessOfALostPartCompletesTheFire) {
  PartsDriver s = this->parts_driver();
  JobDefinition definition = s.InParts(2);
  definition.on_lost = OnLost::kRetry;
  const StoredJob job = s.Create("a", definition);
  JobDefinition after = s.Manual();
  after.schedules = {{.kind = ScheduleKind::kAfter, .upstream = "a", .on = AfterOutcome::kSuccess}};
  s.Create("b", after);
  const RunKey own = s.BegunFire(job, kT0);
  s.EndPart(own, 1, kT0 + 1s);
  const RunRow lost = s.StartPart(own, 2, kT0);
  s.Lose(lost, s.fence, kT0 + 30s);
  EXPECT_EQ(s.LookAt(own, kT0 + 31s).ended, RunState::kLost);
  s.ExpectEnd(own, RunState::kLost, reason::kShardFailed);
  EXPECT_EQ(s.v(s.runs.ListDeadLetters({})).size(), 1u);

  EXPECT_EQ(s.Apply(s.ReportOf(lost, RunState::kCompleted), s.fence, kT0 + 40s).verdict,
            ResultVerdict::kApplied);
  const FireEffect effect = s.LookAt(own, kT0 + 41s);
  EXPECT_EQ(effect.ended, RunState::kCompleted);
  EXPECT_TRUE(effect.completed);
  s.ExpectEnd(own, RunState::kCompleted);
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({})).empty());
  size_t started = 0;
  const auto ends = s.Told(CompletionTarget::kDependents);
  for (const auto& one : s.v(s.completions.Apply(ends, s.fence, kT0 + 42s))) {
    started += one.started.size();
  }
  EXPECT_EQ(started, 1u);
}

TYPED_TEST(PartsContract, HostsThatWereDownCountAsNothing) {
  PartsDriver s = this->parts_driver();
  for (const char* id : {"a", "b"}) s.AddHost(id, kT0);
  const StoredJob job = s.Create("all", s.OnAllHosts());
  const RunKey one = s.BegunFire(job, kT0);
  s.SkipPart(one, 1, reason::kHostDown, kT0 + 61s);
  ClaimRequest claim = s.ClaimOf(s.PartOf(one, 2), 5);
  claim.pinned = true;
  claim.executor = ExecutorId("b");
  EXPECT_EQ(s.Claim(claim, s.fence, kT0).verdict, ClaimVerdict::kAccepted);
  s.EndRun(s.PartOf(one, 2), RunState::kCompleted, kT0 + 2s);
  EXPECT_EQ(s.LookAt(one, kT0 + 62s).ended, RunState::kCompleted);

  const RunKey none = s.BegunFire(job, kT0 + 100s);
  for (const uint32_t shard : {1u, 2u}) s.SkipPart(none, shard, reason::kHostDown, kT0 + 200s);
  EXPECT_EQ(s.LookAt(none, kT0 + 200s).ended, RunState::kSkipped);
  s.ExpectEnd(none, RunState::kSkipped, reason::kHostDown);
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({})).empty());
}

TYPED_TEST(PartsContract, AfterAPartThatWasGivenUpAProcessMayStillRun) {
  PartsDriver s = this->parts_driver();
  JobDefinition definition = s.InParts(2);
  definition.on_lost = OnLost::kFail;
  const RunKey own = s.BegunFire(s.Create("a", definition), kT0);
  s.EndPart(own, 1, kT0 + 1s);
  s.Lose(s.StartPart(own, 2, kT0), s.fence, kT0 + 30s);
  EXPECT_EQ(s.LookAt(own, kT0 + 31s).ended, RunState::kFailed);
  s.ExpectEnd(own, RunState::kFailed, reason::kExecutorLost);
  EXPECT_TRUE(s.Get(own).row.may_still_run);
}

TYPED_TEST(PartsContract, TheLookRepeatsACancel) {
  PartsDriver s = this->parts_driver();
  const RunKey own = s.BegunFire(s.Create("a", s.InParts(2)), kT0);
  const RunRow running = s.StartPart(own, 1, kT0);
  EXPECT_TRUE(s.v(s.runs.CancelRun(own, {.now = kT0 + 1s})));
  EXPECT_FALSE(s.LookAt(own, kT0 + 2s).ended);
  EXPECT_EQ(s.StateOf(s.PartKey(own, 2)), RunState::kCancelled);
  EXPECT_TRUE(s.PartOf(own, 1).cancel_requested);
  s.EndRun(running, RunState::kCancelled, kT0 + 3s);
  EXPECT_EQ(s.LookAt(own, kT0 + 3s).ended, RunState::kCancelled);
  s.ExpectEnd(own, RunState::kCancelled, reason::kCancelRequested);
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({})).empty());
}

TYPED_TEST(PartsContract, ALookNeedsTheFenceOfItsSegment) {
  PartsDriver s = this->parts_driver();
  const RunKey own = s.BegunFire(s.Create("a", s.InParts(1)), kT0);
  s.EndPart(own, 1, kT0 + 1s);
  const FireLook fire = s.LookOf(own);
  Fence others = s.fence;
  std::erase_if(others, [&](const FencedSegment& held) { return held.segment == fire.segment; });
  EXPECT_CODE(s.completions.EndFires({fire}, others, kT0 + 2s), ErrorCode::kInvalid);
  const Fence old = s.fence;
  s.fence = s.Take(2);
  EXPECT_CODE(s.completions.EndFires({fire}, old, kT0 + 2s), ErrorCode::kFenced);
  EXPECT_EQ(s.StateOf(own), RunState::kRunning);
  EXPECT_EQ(s.Told().size(), 1u);
}

TYPED_TEST(PartsContract, AFireOfWhichNothingTellsIsFound) {
  PartsDriver s = this->parts_driver();
  const StoredJob job = s.Create("a", s.InParts(1));
  const RunKey own = s.BegunFire(job, kT0);
  const auto unended = [&](WallTime due) {
    return s.v(s.completions.ScanUnended(s.All(), due, 9));
  };
  EXPECT_TRUE(unended(kT0 + 1h).empty());  // its part is open
  s.EndPart(own, 1, kT0 + 1s);
  EXPECT_TRUE(unended(kT0 + 1h).empty());  // its completion tells
  FireLook other = s.LookOf(s.BegunFire(job, kT0 + 2s));
  other.told = {s.Told().front().id};  // as if it had been deleted by hand
  EXPECT_FALSE(s.Look(other, kT0 + 3s).ended);
  EXPECT_TRUE(unended(kT0 - 1s).empty());
  EXPECT_EQ(unended(kT0 + 1h), std::vector<FireLook>{s.LookOf(own)});
  EXPECT_EQ(s.Look(s.LookOf(own), kT0 + 1h).ended, RunState::kCompleted);
  EXPECT_TRUE(unended(kT0 + 1h).empty());
}

}  // namespace carillon::test
