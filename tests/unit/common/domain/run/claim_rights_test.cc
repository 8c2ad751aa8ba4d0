// Claims of runs that act for somebody who may not run the job any more.
#include <gtest/gtest.h>

#include "common/domain/run/run_state.h"

namespace carillon {
namespace {

const WallTime kAskedAt = FromUnixMicros(1'772'323'200'000'000);

RunRow OnBehalf() {
  return {.key = {kAskedAt - 1s, ScheduleId(7), 0},
          .due = kAskedAt - 1s,
          .def_version = 3,
          .flags = run_flag::kOnBehalf};
}

ClaimRequest ClaimOnBehalf() {
  return {.key = OnBehalf().key, .def_version = 3, .token = {1, 2}, .executor = ExecutorId("e1")};
}

const ClaimFacts kNoRight{.now = kAskedAt, .refusal = "bert may not"};

TEST(ClaimRightsTest, TheRunIsSkipped) {
  const RunRow row = OnBehalf();
  const ClaimDecision decision = DecideClaim(&row, ClaimOnBehalf(), kNoRight);
  EXPECT_EQ(decision.verdict, ClaimVerdict::kSkipped);
  EXPECT_EQ(decision.reason, ClaimReason::kForbidden);
  EXPECT_EQ(SkipReasonOf(decision), "forbidden");
  EXPECT_EQ(DecideClaim(&row, ClaimOnBehalf(), {.now = kAskedAt}).verdict, ClaimVerdict::kAccepted);
}

TEST(ClaimRightsTest, ItDoesNotWaitForASlotFirst) {
  const RunRow row = OnBehalf();
  ClaimRequest request = ClaimOnBehalf();
  request.overlap = {.policy = OverlapPolicy::kQueueAll};
  ClaimFacts facts = kNoRight;
  facts.slots.taken = 1;
  EXPECT_EQ(DecideClaim(&row, request, facts).reason, ClaimReason::kForbidden);
}

TEST(ClaimRightsTest, WhatWouldNotStartNowAnywayIsNotEnded) {
  RunRow row = OnBehalf();
  ClaimRequest request = ClaimOnBehalf();
  request.hold_back = ClaimReason::kClusterPaused;
  EXPECT_EQ(DecideClaim(&row, request, kNoRight).reason, ClaimReason::kClusterPaused);
  request = ClaimOnBehalf();
  request.elsewhere = true;
  EXPECT_EQ(DecideClaim(&row, request, kNoRight).reason, ClaimReason::kWrongExecutor);
  row.due = kNever;
  EXPECT_EQ(DecideClaim(&row, ClaimOnBehalf(), kNoRight).reason, ClaimReason::kPaused);
}

TEST(ClaimRightsTest, AnAttemptThatRunsGoesOn) {
  RunRow row = OnBehalf();
  row.state = RunState::kRunning;
  row.claim_token = ClaimOnBehalf().token;
  EXPECT_EQ(DecideClaim(&row, ClaimOnBehalf(), kNoRight).verdict, ClaimVerdict::kAcceptedAgain);
}

}  // namespace
}  // namespace carillon
