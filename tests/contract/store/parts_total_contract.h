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

TYPED_TEST(PartsContract, AFireThatBeginsAgainKeepsItsTotal) {
  PartsDriver s = this->parts_driver();
  s.Create("a", PartsByTemplate());
  const RunKey flow = s.Begun(s.CreateFlow(s.Flow({s.Node("a")})), kT0);
  const RunKey own = s.RowOf(flow, "a").key;
  const auto begin = [&](const Places& places, WallTime now) {
    return s.v(s.workflows.BeginParts({s.RequestFor(own), places}, s.fence, now)).verdict;
  };
  EXPECT_EQ(begin(FixedPlaces(2), kT0), ClaimVerdict::kAccepted);
  s.EndPart(own, 1, kT0 + 1s);
  s.EndPart(own, 2, kT0 + 1s, RunState::kFailed);
  EXPECT_EQ(s.LookAt(own, kT0 + 2s).ended, RunState::kFailed);
  s.Steps(kT0 + 2s);
  s.v(s.runs.RetryRun({.key = flow}, {.now = kT0 + 3s}));
  s.ExpectBegin(flow, kT0 + 3s);
  s.Steps(kT0 + 3s);
  EXPECT_EQ(begin(RenderedPlaces("many", 9), kT0 + 4s), ClaimVerdict::kAccepted);
  EXPECT_EQ(s.Get(own).row.shard_total, 2u);
  EXPECT_EQ(s.Pending(kT0 + 4s).size(), 2u);
}

}  // namespace carillon::test
