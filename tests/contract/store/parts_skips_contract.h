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

}  // namespace carillon::test
