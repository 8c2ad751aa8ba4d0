// The contract of fires of which parts were skipped.
#pragma once

#include "tests/contract/store/parts_contract.h"

namespace carillon::test {

TYPED_TEST(PartsContract, AFireOfWhichNoPartGotItsTurnIsSkippedLikeARun) {
  PartsDriver s = this->parts_driver();
  JobDefinition definition = s.InParts(2);
  definition.queue_timeout_s = 8;
  definition.overlap_policy = OverlapPolicy::kSkip;
  const StoredJob job = s.Create("a", definition);
  const RunKey none = s.BegunFire(job, kT0);
  for (const uint32_t shard : {1u, 2u}) s.SkipPart(none, shard, reason::kQueueTimeout, kT0 + 9s);
  EXPECT_EQ(s.LookAt(none, kT0 + 9s).ended, RunState::kSkipped);
  s.ExpectEnd(none, RunState::kSkipped, reason::kQueueTimeout);
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({})).empty());

  const RunKey some = s.BegunFire(job, kT0 + 10s);  // the slot is free
  s.EndPart(some, 1, kT0 + 11s);
  s.SkipPart(some, 2, reason::kQueueTimeout, kT0 + 19s);
  EXPECT_EQ(s.LookAt(some, kT0 + 19s).ended, RunState::kFailed);
  s.ExpectEnd(some, RunState::kFailed, reason::kShardFailed);
  EXPECT_EQ(s.v(s.runs.ListDeadLetters({})).size(), 1u);
}

TYPED_TEST(PartsContract, APartIsClaimedByItsHostOnlyWhileThatMatchesTheJob) {
  PartsDriver s = this->parts_driver();
  for (const char* id : {"a", "b"}) s.AddHost(id, kT0);
  const RunKey own = s.BegunFire(s.Create("all", s.OnAllHosts()), kT0);
  const auto claim = [&](uint32_t shard, const char* host, bool elsewhere) {
    ClaimRequest request = s.ClaimOf(s.PartOf(own, shard), 5 + shard);
    request.pinned = true;
    request.executor = ExecutorId(host);
    request.elsewhere = elsewhere;
    return s.Claim(request, s.fence, kT0 + 1s);
  };
  EXPECT_EQ(claim(1, "a", true).reason, ClaimReason::kWrongExecutor);
  EXPECT_EQ(s.PartOf(own, 1).state, RunState::kPending);
  s.SkipPart(own, 1, reason::kNoExecutor, kT0 + 2s);
  EXPECT_EQ(claim(2, "b", false).verdict, ClaimVerdict::kAccepted);
  s.EndRun(s.PartOf(own, 2), RunState::kCompleted, kT0 + 2s);
  EXPECT_EQ(s.LookAt(own, kT0 + 3s).ended, RunState::kCompleted);
}

TYPED_TEST(PartsContract, AFireOfWhichNoHostMatchesAnyMoreIsSkipped) {
  PartsDriver s = this->parts_driver();
  for (const char* id : {"a", "b"}) s.AddHost(id, kT0);
  const RunKey own = s.BegunFire(s.Create("all", s.OnAllHosts()), kT0);
  for (const uint32_t shard : {1u, 2u}) s.SkipPart(own, shard, reason::kNoExecutor, kT0 + 1s);
  EXPECT_EQ(s.LookAt(own, kT0 + 1s).ended, RunState::kSkipped);
  s.ExpectEnd(own, RunState::kSkipped, reason::kNoExecutor);
  EXPECT_EQ(s.Get(own).result.error, "none of the executors of its parts matches the job any more");
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({})).empty());
}

}  // namespace carillon::test
