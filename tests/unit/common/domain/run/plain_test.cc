#include "common/domain/run/plain.h"

#include <gtest/gtest.h>

#include <set>

#include "common/base/rng.h"
#include "tests/support/failpoint_on.h"

namespace carillon {
namespace {

const WallTime kClaimedAt = FromUnixMicros(1'772'323'200'000'000);

// A row and a request. Each condition of a plain claim holds or not, at random.
struct ClaimCase {
  RunRow row;
  bool readable = true;
  ClaimRequest request;

  PlainRow stored() const { return {.row = row, .readable = readable}; }
  // Decides as a store does: an unreadable row counts as final, and a row of another
  // segment as missing.
  ClaimDecision Decide() const {
    RunRow seen = row;
    if (!readable) seen.state = RunState::kCompleted;
    const bool present = row.segment == request.segment;
    return DecideClaim(present ? &seen : nullptr, request, {.now = kClaimedAt});
  }
};

ClaimCase PlainClaim() {
  ClaimCase plain;
  plain.row = {.key = {kClaimedAt - 1s, ScheduleId(7), 0},
               .job_no = JobNo(5),
               .segment = SegmentId(2),
               .attempt = 2,
               .due = kClaimedAt,
               .def_version = 3};
  plain.request = {.key = plain.row.key,
                   .segment = SegmentId(2),
                   .job_no = JobNo(5),
                   .attempt = 2,
                   .def_version = 3,
                   .token = {1, 2},
                   .executor = ExecutorId("e1")};
  return plain;
}

void Spoil(ClaimFact fact, ClaimCase& one) {
  switch (fact) {
    case ClaimFact::kReadable: one.readable = false; break;
    case ClaimFact::kState: one.row.state = RunState::kRunning; break;
    case ClaimFact::kAttempt: one.row.attempt = 1; break;
    case ClaimFact::kCancel: one.row.cancel_requested = CancelMode::kGraceful; break;
    case ClaimFact::kJob: one.row.job_no = JobNo(6); break;
    case ClaimFact::kVersion: one.row.def_version = 4; break;
    case ClaimFact::kSegment: one.row.segment = SegmentId(3); break;
    case ClaimFact::kDue: one.row.due = kClaimedAt + Duration(1); break;
    case ClaimFact::kPin: one.row.pinned_executor = ExecutorId("e2"); break;
    case ClaimFact::kGroup: one.row.group = GroupNo(7); break;
    case ClaimFact::kOnBehalf: one.row.flags = run_flag::kOnBehalf; break;
  }
}

struct ResultCase {
  RunRow row;
  bool readable = true;
  bool slot_taken = false;
  ResultReport report;

  PlainRow stored() const { return {row, readable, slot_taken}; }
  ResultDecision Decide() const {
    const bool present = row.segment == report.segment && row.job_no == report.job_no && readable;
    return DecideResult(present ? &row : nullptr, nullptr, report, kClaimedAt);
  }
};

ResultCase PlainResult() {
  ResultCase plain;
  plain.row = PlainClaim().row;
  plain.row.state = RunState::kRunning;
  plain.row.claim_token = {1, 2};
  plain.report = {.key = plain.row.key,
                  .segment = SegmentId(2),
                  .job_no = JobNo(5),
                  .attempt = 2,
                  .token = {1, 2},
                  .executor = ExecutorId("e1"),
                  .result = {}};
  return plain;
}

void Spoil(ResultFact fact, ResultCase& one) {
  switch (fact) {
    case ResultFact::kReadable: one.readable = false; break;
    case ResultFact::kState: one.row.state = RunState::kCompleted; break;
    case ResultFact::kAttempt: one.row.attempt = 1; break;
    case ResultFact::kToken: one.row.claim_token.low = 9; break;
    case ResultFact::kCancel: one.row.cancel_requested = CancelMode::kKill; break;
    case ResultFact::kJob: one.row.job_no = JobNo(6); break;
    case ResultFact::kSegment: one.row.segment = SegmentId(3); break;
    case ResultFact::kSlot: one.slot_taken = true; break;
    case ResultFact::kGroup: one.row.group = GroupNo(7); break;
    case ResultFact::kAwaited: one.row.flags = run_flag::kDelay; break;
  }
}

class PlainTest : public ::testing::Test {
 protected:
  ~PlainTest() override { failpoint::Reset(); }
};

TEST_F(PlainTest, EachFactOfAClaimIsAskedFor) {
  std::set<std::string_view> rules;
  for (const ClaimFact fact : kClaimFacts) {
    ClaimCase one = PlainClaim();
    ASSERT_TRUE(IsPlain(one.stored(), one.request, kClaimedAt));
    Spoil(fact, one);
    for (const ClaimFact other : kClaimFacts) {
      EXPECT_EQ(Holds(other, one.stored(), one.request, kClaimedAt), other != fact)
          << RuleOf(other);
    }
    EXPECT_FALSE(IsPlain(one.stored(), one.request, kClaimedAt)) << RuleOf(fact);
    // A claim that violates only kGroup is accepted too, but may write more than one row; one that
    // violates kOnBehalf if the people behind the run may run the job.
    const bool accepted = one.Decide().verdict == ClaimVerdict::kAccepted;
    EXPECT_EQ(accepted, fact == ClaimFact::kGroup || fact == ClaimFact::kOnBehalf) << RuleOf(fact);
    failpoint::Break(std::string(RuleOf(fact)));
    EXPECT_TRUE(IsPlain(one.stored(), one.request, kClaimedAt)) << RuleOf(fact);
    failpoint::Reset();
    EXPECT_TRUE(rules.insert(RuleOf(fact)).second);
  }
}

TEST_F(PlainTest, EachFactOfAResultIsAskedFor) {
  std::set<std::string_view> rules;
  for (const ResultFact fact : kResultFacts) {
    ResultCase one = PlainResult();
    ASSERT_TRUE(IsPlain(one.stored(), one.report));
    Spoil(fact, one);
    for (const ResultFact other : kResultFacts) {
      EXPECT_EQ(Holds(other, one.stored(), one.report), other != fact) << RuleOf(other);
    }
    EXPECT_FALSE(IsPlain(one.stored(), one.report)) << RuleOf(fact);
    // Results that violate only one of these are applied too, but write more than one row.
    const bool applied = one.Decide().verdict == ResultVerdict::kApplied;
    const bool more_rows = fact == ResultFact::kCancel || fact == ResultFact::kSlot ||
                           fact == ResultFact::kGroup || fact == ResultFact::kAwaited;
    EXPECT_EQ(applied, more_rows) << RuleOf(fact);
    failpoint::Break(std::string(RuleOf(fact)));
    EXPECT_TRUE(IsPlain(one.stored(), one.report)) << RuleOf(fact);
    failpoint::Reset();
    EXPECT_TRUE(rules.insert(RuleOf(fact)).second);
  }
}

TEST_F(PlainTest, PlainClaimsAreThoseThatAreAccepted) {
  Rng rng(1);
  int plain = 0;
  for (int i = 0; i < 20'000; ++i) {
    ClaimCase one = PlainClaim();
    for (const ClaimFact fact : kClaimFacts) {
      if (rng.Below(8) == 0) Spoil(fact, one);
    }
    one.row.state = rng.Below(3) == 0 ? static_cast<RunState>(rng.Below(9)) : one.row.state;
    one.row.claim_token = {1, rng.Below(2) + 1};
    one.row.kind = static_cast<RunKind>(rng.Below(4));
    if (rng.Below(8) == 0) one.row.due = kNever;
    if (rng.Below(8) == 0) one.request.elsewhere = true;
    if (rng.Below(8) == 0) one.request.hold_back = ClaimReason::kNoLease;
    if (!MayBePlain(one.request)) continue;
    const bool accepted = one.Decide().verdict == ClaimVerdict::kAccepted;
    const bool is_plain = IsPlain(one.stored(), one.request, kClaimedAt);
    const bool simple =
        one.row.pinned_executor.empty() && one.row.group == GroupNo{} && one.row.flags == 0;
    EXPECT_EQ(is_plain, accepted && simple);
    plain += is_plain ? 1 : 0;
  }
  EXPECT_GT(plain, 500);
}

TEST_F(PlainTest, PlainResultsAreThoseThatCompleteTheRun) {
  Rng rng(2);
  int plain = 0;
  for (int i = 0; i < 20'000; ++i) {
    ResultCase one = PlainResult();
    for (const ResultFact fact : kResultFacts) {
      if (rng.Below(8) == 0) Spoil(fact, one);
    }
    one.row.state = rng.Below(3) == 0 ? static_cast<RunState>(rng.Below(9)) : one.row.state;
    one.row.may_still_run = rng.Below(2) == 0;
    if (!IsPlain(one.stored(), one.report)) continue;
    ++plain;
    const ResultDecision decision = one.Decide();
    ASSERT_EQ(decision.verdict, ResultVerdict::kApplied);
    EXPECT_EQ(decision.change.state, RunState::kCompleted);
    EXPECT_EQ(decision.change.attempt, one.row.attempt);
    EXPECT_EQ(decision.change.reason, "");
    EXPECT_TRUE(decision.change.store_result);
    EXPECT_FALSE(decision.change.record_attempt);
    EXPECT_FALSE(decision.change.dead_letter);
  }
  EXPECT_GT(plain, 500);
}

TEST_F(PlainTest, RequestsThatSayMoreAreNotPlain) {
  EXPECT_TRUE(MayBePlain(PlainClaim().request));
  const auto with = [](auto change) {
    ClaimRequest request = PlainClaim().request;
    change(request);
    return MayBePlain(request);
  };
  EXPECT_FALSE(with([](ClaimRequest& r) { r.overlap.policy = OverlapPolicy::kSkip; }));
  EXPECT_FALSE(with([](ClaimRequest& r) { r.group = "db"; }));
  EXPECT_FALSE(with([](ClaimRequest& r) { r.hold_back = ClaimReason::kClusterPaused; }));
  EXPECT_FALSE(with([](ClaimRequest& r) { r.elsewhere = true; }));
  EXPECT_FALSE(with([](ClaimRequest& r) { r.repeated = true; }));
  EXPECT_FALSE(with([](ClaimRequest& r) { r.pinned = true; }));
  EXPECT_FALSE(with([](ClaimRequest& r) { r.rules = ""; }));
  EXPECT_FALSE(with([](ClaimRequest& r) { r.late_after = 1s; }));
  EXPECT_TRUE(MayBePlain(PlainResult().report));
  const auto ending = [](auto change) {
    ResultReport report = PlainResult().report;
    change(report.result);
    return MayBePlain(report);
  };
  EXPECT_FALSE(ending([](AttemptResult& r) { r.state = RunState::kFailed; }));
  EXPECT_FALSE(ending([](AttemptResult& r) { r.state = RunState::kCancelled; }));
  EXPECT_FALSE(ending([](AttemptResult& r) { r.reason = "x"; }));
  EXPECT_FALSE(ending([](AttemptResult& r) { r.error = "x"; }));
  EXPECT_FALSE(ending([](AttemptResult& r) { r.output = "x"; }));
  EXPECT_FALSE(ending([](AttemptResult& r) { r.outputs = {{"x", ""}}; }));
}

TEST_F(PlainTest, SplitKeepsTheOrderAmongItemsAboutOneRun) {
  const auto item = [](uint64_t schedule, OverlapPolicy overlap) {
    ClaimRequest request = PlainClaim().request;
    request.key.schedule_id = ScheduleId(schedule);
    request.overlap.policy = overlap;
    return request;
  };
  const std::vector<ClaimRequest> batch = {
      item(9, OverlapPolicy::kAllow), item(4, OverlapPolicy::kSkip), item(9, OverlapPolicy::kAllow),
      item(4, OverlapPolicy::kAllow), item(2, OverlapPolicy::kAllow)};
  const PlainSplit split = SplitPlain(batch, [](const ClaimRequest& r) { return MayBePlain(r); });
  EXPECT_EQ(split.plain, (std::vector<size_t>{4, 0}));
  EXPECT_EQ(split.others, (std::vector<size_t>{1, 2, 3}));
}

}  // namespace
}  // namespace carillon
