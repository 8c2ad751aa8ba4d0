// The contract of fires that begin with as many parts as a template of their job gives.
#pragma once

#include "tests/contract/store/parts_contract.h"

namespace carillon::test {

inline JobDefinition PartsByTemplate() {
  JobDefinition job = StoreDriver::Manual();
  job.shards = Shards{.total_from = "{{params.n}}"};
  return job;
}

TYPED_TEST(PartsContract, ATotalByTemplateIsThatOfTheBegin) {
  PartsDriver s = this->parts_driver();
  const StoredJob job = s.Create("a", PartsByTemplate());
  const RunKey own = s.Execute(job, kT0).key;
  const PartsReply reply =
      s.v(s.workflows.BeginParts({s.RequestFor(own), FixedPlaces(3)}, s.fence, kT0));
  EXPECT_EQ(reply.verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(reply.due, s.PartKey(own, 1));
  EXPECT_EQ(s.Get(own).row.shard_total, 3u);
  EXPECT_EQ(s.Pending(kT0).size(), 3u);
  EXPECT_EQ(s.PartOf(own, 3).shard_total, 3u);
}

TYPED_TEST(PartsContract, ATotalOfZeroIsDoneAtOnce) {
  PartsDriver s = this->parts_driver();
  JobDefinition definition = PartsByTemplate();
  definition.overlap_policy = OverlapPolicy::kSkip;
  const StoredJob job = s.Create("a", definition);
  const RunKey own = s.Execute(job, kT0).key;
  const PartsReply reply =
      s.v(s.workflows.BeginParts({s.RequestFor(own), RenderedPlaces("0", 9)}, s.fence, kT0));
  EXPECT_EQ(reply.ended, RunState::kCompleted);
  EXPECT_FALSE(reply.due);
  s.ExpectEnd(own, RunState::kCompleted, reason::kZeroShards);
  EXPECT_TRUE(s.Pending(kT0 + 1h).empty());
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({})).empty());
  const RunKey next = s.Execute(job, kT0 + 1s).key;  // the slot is free
  EXPECT_EQ(
      s.v(s.workflows.BeginParts({s.RequestFor(next), FixedPlaces(1)}, s.fence, kT0 + 1s)).verdict,
      ClaimVerdict::kAccepted);
}

TYPED_TEST(PartsContract, ATotalThatCannotBeUsedFailsTheFireAndARetryDecidesAgain) {
  PartsDriver s = this->parts_driver();
  const RunKey own = s.Execute(s.Create("a", PartsByTemplate()), kT0).key;
  const PartsReply reply =
      s.v(s.workflows.BeginParts({s.RequestFor(own), RenderedPlaces("many", 9)}, s.fence, kT0));
  EXPECT_EQ(reply.ended, RunState::kFailed);
  s.ExpectEnd(own, RunState::kFailed, reason::kBadShardTotal);
  EXPECT_EQ(s.Get(own).result.error,
            "the number of its shards cannot be used: \"many\" is not a whole number");
  EXPECT_EQ(s.v(s.runs.ListDeadLetters({})).size(), 1u);

  s.v(s.runs.RetryRun({.key = own}, {.now = kT0 + 1s}));
  EXPECT_EQ(s.StateOf(own), RunState::kPending);
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({})).empty());
  EXPECT_EQ(
      s.v(s.workflows.BeginParts({s.RequestFor(own), FixedPlaces(2)}, s.fence, kT0 + 1s)).verdict,
      ClaimVerdict::kAccepted);
  EXPECT_EQ(s.Pending(kT0 + 1s).size(), 2u);
}

// ---- begun again -------------------------------------------------------------------------------

// The fire of the node a, which the workflow runs again and again. The node b comes after it.
class PartsAgainDriver : public PartsDriver {
 public:
  explicit PartsAgainDriver(StoreHandle& store, const JobDefinition& a = PartsByTemplate())
      : PartsDriver(store), job(Create("a", a)) {
    flow = Begun(CreateFlow(Chain()), now);
    own = RowOf(flow, "a").key;
  }

  PartsReply BeginWith(const Places& places) {
    last = {RequestFor(own), places};
    const PartsReply reply = v(workflows.BeginParts(last, fence, now));
    EXPECT_EQ(reply.verdict, ClaimVerdict::kAccepted) << Name(reply.reason);
    return reply;
  }
  // Ends the parts as `state`, the last of them as FAILED.
  void Fail(RunState state = RunState::kCompleted) {
    const uint32_t total = Get(own).row.shard_total;
    for (uint32_t shard = 1; shard < total; ++shard) EndPart(own, shard, now, state);
    EndPart(own, total, now, RunState::kFailed);
    EXPECT_EQ(LookAt(own, now).ended, RunState::kFailed);
    Steps(now);
  }
  // The fire waits for its next begin.
  void RunAgain() {
    now += 1min;
    v(runs.RetryRun({.key = flow, .workflow = {.from = RetryFrom::kStart}}, {.now = now}));
    ExpectBegin(flow, now);
    Steps(now);
    EXPECT_EQ(StateOf(own), RunState::kPending);
  }

  // Exactly these parts are due, with these attempts.
  void ExpectDue(const std::vector<int>& attempts) {
    const auto total = static_cast<uint32_t>(attempts.size());
    EXPECT_TRUE(IsInParts(Get(own).row));
    EXPECT_EQ(Get(own).row.shard_total, total);
    ASSERT_EQ(v(runs.ListParts(own)).size(), total);
    const PartCounts pending = {{RunState::kPending, total}};
    EXPECT_EQ(v(runs.CountParts({own}))[own], pending);
    EXPECT_EQ(Pending(now).size(), total);
    for (uint32_t shard = 1; shard <= total; ++shard) {
      const RunRow part = PartOf(own, shard);
      EXPECT_EQ(part.attempt, attempts[shard - 1]) << shard;
      EXPECT_EQ(part.due, now) << shard;
      EXPECT_EQ(part.shard_total, total) << shard;
      EXPECT_EQ(part.def_version, Get(own).row.def_version) << shard;
      EXPECT_TRUE(part.claim_token.empty()) << shard;
    }
  }
  void ExpectNoParts() {
    EXPECT_FALSE(IsInParts(Get(own).row));
    EXPECT_EQ(Get(own).row.shard_total, 1u);
    EXPECT_TRUE(v(runs.ListParts(own)).empty());
    EXPECT_TRUE(v(runs.CountParts({own})).empty());
    EXPECT_CODE(runs.GetRun(PartKey(own, 1)), ErrorCode::kNotFound);
  }

  WallTime now = kT0;
  StoredJob job;
  RunKey flow;
  RunKey own;
  PartsRequest last;
};

TYPED_TEST(PartsContract, AFireThatBeginsAgainGetsTheTotalOfThen) {
  PartsAgainDriver s(this->handle());
  s.BeginWith(FixedPlaces(3));
  s.Fail();
  s.RunAgain();
  EXPECT_EQ(s.BeginWith(FixedPlaces(5)).due, s.PartKey(s.own, 1));
  s.ExpectDue({2, 2, 2, 1, 1});
  for (uint32_t shard = 1; shard <= 5; ++shard) s.EndPart(s.own, shard, s.now);
  EXPECT_EQ(s.LookAt(s.own, s.now).ended, RunState::kCompleted);
  s.Steps(s.now);
  EXPECT_EQ(s.States(s.flow), "a COMPLETED, b PENDING");
}

TYPED_TEST(PartsContract, AFireThatBeginsAgainLosesPartsAndGetsThemBack) {
  PartsAgainDriver s(this->handle());
  s.BeginWith(FixedPlaces(5));
  s.Fail();
  s.RunAgain();
  s.BeginWith(FixedPlaces(3));
  s.ExpectDue({2, 2, 2});
  for (const uint32_t shard : {4u, 5u}) {
    EXPECT_CODE(s.runs.GetRun(s.PartKey(s.own, shard)), ErrorCode::kNotFound);
  }
  s.Fail();
  EXPECT_EQ(s.Get(s.own).result.error, "1 of 3 shards has failed: 2 (FAILED exit_code)");
  s.RunAgain();
  s.BeginWith(FixedPlaces(5));
  // An executor may still know the first attempts of the last two.
  s.ExpectDue({3, 3, 3, 2, 2});
  EXPECT_FALSE(IsFirstTry(s.PartOf(s.own, 3)));
  EXPECT_TRUE(IsFirstTry(s.PartOf(s.own, 4)));
  s.Fail();
}

TYPED_TEST(PartsContract, AFireThatBeginsAgainWithoutPartsIsDone) {
  PartsAgainDriver s(this->handle());
  s.BeginWith(FixedPlaces(3));
  s.Fail();
  s.RunAgain();
  const PartsReply reply = s.BeginWith(RenderedPlaces("0", 9));
  EXPECT_EQ(reply.ended, RunState::kCompleted);
  EXPECT_TRUE(reply.completed);
  EXPECT_FALSE(reply.due);
  s.ExpectEnd(s.own, RunState::kCompleted, reason::kZeroShards);
  s.ExpectNoParts();
  s.Steps(s.now);
  s.Finish(s.flow, "b", s.now, RunState::kFailed);
  s.RunAgain();
  s.BeginWith(FixedPlaces(3));
  s.ExpectDue({2, 2, 2});
  s.Fail();
}

TYPED_TEST(PartsContract, AFireThatBeginsAgainMayFindNoTotal) {
  PartsAgainDriver s(this->handle());
  s.BeginWith(FixedPlaces(3));
  s.Fail();
  s.RunAgain();
  EXPECT_EQ(s.BeginWith(RenderedPlaces("abc", 9)).ended, RunState::kFailed);
  s.ExpectEnd(s.own, RunState::kFailed, reason::kBadShardTotal);
  s.ExpectNoParts();
  s.Steps(s.now);
  EXPECT_EQ(s.States(s.flow), "a FAILED, b SKIPPED upstream_failed");
  s.RunAgain();
  s.BeginWith(FixedPlaces(3));
  s.ExpectDue({2, 2, 2});
  s.Fail();
}

TYPED_TEST(PartsContract, ABeginAgainIsRepeatedAfterAnUnknownOutcome) {
  PartsAgainDriver s(this->handle());
  s.BeginWith(FixedPlaces(3));
  for (const size_t total : {5u, 2u}) {
    s.Fail();
    s.RunAgain();
    s.BeginWith(FixedPlaces(total));
    const std::vector<RunRow> before = s.Pending(s.now);
    EXPECT_EQ(before.size(), total);
    const auto again = s.v(s.workflows.BeginParts(s.last, s.fence, s.now + 1s));
    EXPECT_EQ(again.verdict, ClaimVerdict::kAcceptedAgain);
    EXPECT_EQ(s.Pending(s.now + 9s), before);
  }
}

// A checkpoint is of the share that the part had, which another total changes.
TYPED_TEST(PartsContract, CheckpointsStayWithTheTotal) {
  PartsAgainDriver s(this->handle());
  s.BeginWith(FixedPlaces(2));
  const RunRow part = s.StartPart(s.own, 1, s.now);
  const RunSave save{.key = part.key,
                     .segment = part.segment,
                     .job_no = part.job_no,
                     .attempt = part.attempt,
                     .token = part.claim_token,
                     .seq = 1,
                     .checkpoint = "half"};
  EXPECT_EQ(s.v(s.checkpoints.Save({save}, s.fence, s.now)).at(0), SaveVerdict::kKept);
  s.EndRun(part, RunState::kFailed, s.now);
  s.EndPart(s.own, 2, s.now);
  EXPECT_EQ(s.LookAt(s.own, s.now).ended, RunState::kFailed);
  s.Steps(s.now);
  s.RunAgain();
  s.BeginWith(FixedPlaces(2));
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(part.key)), "half");
  s.Fail(RunState::kFailed);
  s.RunAgain();
  s.BeginWith(FixedPlaces(3));
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(part.key)), std::nullopt);
}

TYPED_TEST(PartsContract, PartsOfABroadcastAreFreedByATotal) {
  PartsDriver s = this->parts_driver();
  s.AddHost("h1", kT0);
  const StoredJob job = s.Create("a", s.OnAllHosts());
  const RunKey flow = s.Begun(s.CreateFlow(s.Flow({s.Node("a")})), kT0);
  const RunKey own = s.RowOf(flow, "a").key;
  EXPECT_EQ(s.BeginFire(own, kT0).verdict, ClaimVerdict::kAccepted);
  s.SkipPart(own, 1, reason::kEdited, kT0 + 1s);
  EXPECT_EQ(s.LookAt(own, kT0 + 1s).ended, RunState::kFailed);
  s.Steps(kT0 + 1s);
  s.Replace(job, PartsByTemplate(), kT0 + 2s);
  s.v(s.runs.RetryRun({.key = flow}, {.now = kT0 + 3s}));
  s.ExpectBegin(flow, kT0 + 3s);
  s.Steps(kT0 + 3s);
  s.v(s.workflows.BeginParts({s.RequestFor(own), FixedPlaces(2)}, s.fence, kT0 + 3s));
  for (const uint32_t shard : {1u, 2u}) {
    EXPECT_TRUE(s.PartOf(own, shard).pinned_executor.empty()) << shard;
    s.EndPart(own, shard, kT0 + 4s);
  }
  EXPECT_EQ(s.LookAt(own, kT0 + 4s).ended, RunState::kCompleted);
}

TYPED_TEST(PartsContract, ARetryOfPartsKeepsTheTotalOfTheirBegin) {
  PartsDriver s = this->parts_driver();
  const RunKey own = s.Execute(s.Create("a", PartsByTemplate()), kT0).key;
  s.v(s.workflows.BeginParts({s.RequestFor(own), FixedPlaces(2)}, s.fence, kT0));
  s.EndPart(own, 1, kT0 + 1s);
  s.EndPart(own, 2, kT0 + 1s, RunState::kFailed);
  EXPECT_EQ(s.LookAt(own, kT0 + 1s).ended, RunState::kFailed);
  s.v(s.runs.RetryRun({.key = own}, {.now = kT0 + 2s}));
  EXPECT_EQ(s.Get(own).row.shard_total, 2u);
  EXPECT_EQ(s.v(s.runs.ListParts(own)).size(), 2u);
  EXPECT_EQ(s.Pending(kT0 + 2s).size(), 1u);
}

}  // namespace carillon::test
