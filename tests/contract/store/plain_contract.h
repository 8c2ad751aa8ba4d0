// The contract of claims and results that are written without reading their rows first. In each
// case one item of a batch violates a single condition, and the others are plain. The item must be
// decided as if it were alone in its batch, so that a store without the check of
// the condition fails.
#pragma once

#include <fmt/format.h>

#include "common/domain/run/plain.h"
#include "tests/contract/store/store_driver.h"
#include "tests/support/failpoint_on.h"

namespace carillon::test {

template <typename Factory>
class PlainContract : public StoreContract<Factory> {
 protected:
  PlainContract() { Mend(); }
  ~PlainContract() override { failpoint::Reset(); }

  // Clears earlier misses, so that the next batch tries the write without a read.
  static void Mend(std::string_view broken = "") {
    failpoint::Reset();
    failpoint::Break("fast.memory");
    if (!broken.empty()) failpoint::Break(std::string(broken));
  }
  StoredJob NewJob(StoreDriver& s, const JobDefinition& definition) {
    return s.Create(fmt::format("job-{}", ++jobs_), definition);
  }
  RunRow Waiting(StoreDriver& s) { return s.Execute(NewJob(s, s.Manual()), kT0); }
  RunRow Started(StoreDriver& s, const Fence& fence) {
    return s.Start(Waiting(s), ++tokens_, fence, kT0 + 1s);
  }
  static SegmentId Other(SegmentId segment) { return SegmentId((segment.value() + 1) % kSegments); }

  // Returns a claim at kT0 + 5s of a run for which only `fact` does not hold; nullopt if the ports
  // cannot bring a store into that state.
  std::optional<ClaimRequest> OddClaim(StoreDriver& s, const Fence& fence, ClaimFact fact) {
    ClaimRequest request = s.ClaimOf(Waiting(s), ++tokens_);
    switch (fact) {
      case ClaimFact::kReadable:
      case ClaimFact::kGroup:
      case ClaimFact::kOnBehalf:  // run_rights_contract.h
      case ClaimFact::kCancel: return std::nullopt;
      case ClaimFact::kState: s.Start(s.Get(request.key).row, ++tokens_, fence, kT0 + 1s); break;
      case ClaimFact::kAttempt: request.attempt = 2; break;
      case ClaimFact::kJob: request.job_no = JobNo(request.job_no.value() + 1000); break;
      case ClaimFact::kVersion: ++request.def_version; break;
      case ClaimFact::kSegment: request.segment = Other(request.segment); break;
      case ClaimFact::kDue: {
        const StoredJob job = NewJob(s, s.Every(10s));
        s.Plan(kT0 + 10s, fence);
        for (const RunRow& row : s.Pending(kT0 + 10s)) {
          if (row.job_no == job.job_no) request = s.ClaimOf(row, ++tokens_);
        }
        break;
      }
      case ClaimFact::kPin: {
        const StoredJob job = NewJob(s, s.Manual());
        const auto run = s.v(
            s.runs.ExecuteJob({.job_id = job.job_id, .executor = ExecutorId("e2")}, {.now = kT0}));
        request = s.ClaimOf(s.Get(run.key).row, ++tokens_);
        break;
      }
    }
    return request;
  }
  std::optional<ResultReport> OddResult(StoreDriver& s, const Fence& fence, ResultFact fact) {
    ResultReport report = s.ReportOf(Started(s, fence), RunState::kCompleted);
    switch (fact) {
      case ResultFact::kReadable:
      case ResultFact::kGroup:
      case ResultFact::kSlot:
      case ResultFact::kAwaited: return std::nullopt;  // delay_contract.h
      case ResultFact::kState: s.Apply(report, fence, kT0 + 2s); break;
      case ResultFact::kAttempt: report.attempt = 2; break;
      case ResultFact::kToken: report.token = s.Token(++tokens_); break;
      case ResultFact::kCancel: s.v(s.runs.CancelRun(report.key, {.now = kT0 + 2s})); break;
      case ResultFact::kJob: report.job_no = JobNo(report.job_no.value() + 1000); break;
      case ResultFact::kSegment: report.segment = Other(report.segment); break;
    }
    return report;
  }

  // The verdict on the second item of the batch, and the state of its run afterwards.
  static std::string Seen(StoreDriver& s, int verdict, const RunKey& key, ClaimToken token) {
    const RunRow row = s.Get(key).row;
    return fmt::format("{} {} {} {}", verdict, Name(row.state), row.cancel_requested.has_value(),
                       row.claim_token == token);
  }
  std::string Claimed(StoreDriver& s, const Fence& fence, const ClaimRequest& odd) {
    const auto replies =
        s.v(s.firing.Claim({s.ClaimOf(Waiting(s), ++tokens_), odd}, fence, kT0 + 5s));
    EXPECT_EQ(replies.at(0).verdict, ClaimVerdict::kAccepted);
    return Seen(s, static_cast<int>(replies.at(1).verdict), odd.key, odd.token);
  }
  std::string Ended(StoreDriver& s, const Fence& fence, const ResultReport& odd) {
    const auto effects = s.v(s.firing.ApplyResults(
        {s.ReportOf(Started(s, fence), RunState::kCompleted), odd}, fence, kT0 + 5s));
    EXPECT_EQ(effects.at(0).state, RunState::kCompleted);
    return Seen(s, static_cast<int>(effects.at(1).verdict), odd.key, odd.token);
  }

 private:
  int jobs_ = 0;
  uint64_t tokens_ = 100;
};
TYPED_TEST_SUITE(PlainContract, StoreFactories);

TYPED_TEST(PlainContract, ClaimOfWhichOneFactDoesNotHoldIsRefused) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  for (const ClaimFact fact : kClaimFacts) {
    SCOPED_TRACE(RuleOf(fact));
    this->Mend();
    const auto odd = this->OddClaim(s, fence, fact);
    if (!odd) continue;
    const RunRow before = s.Get(odd->key).row;
    const std::string seen = this->Claimed(s, fence, *odd);
    EXPECT_TRUE(seen.starts_with(std::to_string(static_cast<int>(ClaimVerdict::kRefused)))) << seen;
    EXPECT_EQ(s.Get(odd->key).row, before);
    const auto again = this->OddClaim(s, fence, fact);
    this->Mend(RuleOf(fact));
    EXPECT_NE(this->Claimed(s, fence, *again), seen);
  }
}

TYPED_TEST(PlainContract, ResultOfWhichOneFactDoesNotHoldIsDecidedByItsRow) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  for (const ResultFact fact : kResultFacts) {
    SCOPED_TRACE(RuleOf(fact));
    this->Mend();
    const auto odd = this->OddResult(s, fence, fact);
    if (!odd) continue;
    const RunRow before = s.Get(odd->key).row;
    const std::string seen = this->Ended(s, fence, *odd);
    const RunRow after = s.Get(odd->key).row;
    if (fact == ResultFact::kCancel) {
      EXPECT_EQ(after.state, RunState::kCompleted);
      EXPECT_FALSE(after.cancel_requested.has_value());
    } else {
      EXPECT_EQ(after, before);
    }
    const auto again = this->OddResult(s, fence, fact);
    this->Mend(RuleOf(fact));
    EXPECT_NE(this->Ended(s, fence, *again), seen);
  }
}

TYPED_TEST(PlainContract, DisabledExecutorIsRefusedBesideOneThatIsNot) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  ExecutorRecord record{.id = ExecutorId("e1"), .incarnation = Incarnation("x1")};
  s.v(s.executors.RegisterExecutor(record));
  s.v(s.executors.SetExecutorEnabled(record.id, false));
  const ClaimRequest refused = s.ClaimOf(this->Waiting(s), 1);
  ClaimRequest accepted = s.ClaimOf(this->Waiting(s), 2);
  accepted.executor = ExecutorId("e2");
  const auto replies = s.v(s.firing.Claim({refused, accepted}, fence, kT0 + 5s));
  EXPECT_EQ(replies.at(0).reason, ClaimReason::kExecutorDisabled);
  EXPECT_EQ(replies.at(1).verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(s.Get(refused.key).row.state, RunState::kPending);
}

}  // namespace carillon::test
