#include "common/domain/run/plain.h"

#include "common/base/failpoint.h"
#include "common/domain/run/completion.h"

namespace carillon {

static_assert(kClaimFacts.size() == static_cast<size_t>(ClaimFact::kOnBehalf) + 1);
static_assert(kResultFacts.size() == static_cast<size_t>(ResultFact::kAwaited) + 1);

std::string_view RuleOf(ClaimFact fact) {
  switch (fact) {
    case ClaimFact::kReadable: return "fast.claim.readable";
    case ClaimFact::kState: return "fast.claim.state";
    case ClaimFact::kAttempt: return "fast.claim.attempt";
    case ClaimFact::kCancel: return "fast.claim.cancel";
    case ClaimFact::kJob: return "fast.claim.job";
    case ClaimFact::kVersion: return "fast.claim.version";
    case ClaimFact::kSegment: return "fast.claim.segment";
    case ClaimFact::kDue: return "fast.claim.due";
    case ClaimFact::kPin: return "fast.claim.pin";
    case ClaimFact::kGroup: return "fast.claim.group";
    case ClaimFact::kOnBehalf: return "fast.claim.on_behalf";
  }
  return "";
}

bool Holds(ClaimFact fact, const PlainRow& run, const ClaimRequest& request, WallTime now) {
  const RunRow& row = run.row;
  switch (fact) {
    case ClaimFact::kReadable: return run.readable;
    case ClaimFact::kState: return row.state == RunState::kPending;
    case ClaimFact::kAttempt: return row.attempt == request.attempt;
    case ClaimFact::kCancel: return !row.cancel_requested;
    case ClaimFact::kJob: return row.job_no == request.job_no;
    case ClaimFact::kVersion: return row.def_version == request.def_version;
    case ClaimFact::kSegment: return row.segment == request.segment;
    case ClaimFact::kDue: return row.due <= now;
    case ClaimFact::kPin: return row.pinned_executor.empty();
    case ClaimFact::kGroup: return row.group == GroupNo{};
    case ClaimFact::kOnBehalf: return (row.flags & run_flag::kOnBehalf) == 0;
  }
  return false;
}

bool IsPlain(const PlainRow& run, const ClaimRequest& request, WallTime now) {
  return std::all_of(kClaimFacts.begin(), kClaimFacts.end(), [&](ClaimFact fact) {
    return Holds(fact, run, request, now) || failpoint::Broken(RuleOf(fact));
  });
}

bool MayBePlain(const ClaimRequest& request) {
  return !TakesSlots(request.overlap.policy) && request.group.empty() &&
         request.hold_back == ClaimReason::kNone && !request.elsewhere && !request.repeated &&
         !request.pinned && !request.rules && request.late_after == Duration::zero();
}

std::string_view RuleOf(ResultFact fact) {
  switch (fact) {
    case ResultFact::kReadable: return "fast.result.readable";
    case ResultFact::kState: return "fast.result.state";
    case ResultFact::kAttempt: return "fast.result.attempt";
    case ResultFact::kToken: return "fast.result.token";
    case ResultFact::kCancel: return "fast.result.cancel";
    case ResultFact::kJob: return "fast.result.job";
    case ResultFact::kSegment: return "fast.result.segment";
    case ResultFact::kSlot: return "fast.result.slot";
    case ResultFact::kGroup: return "fast.result.group";
    case ResultFact::kAwaited: return "fast.result.awaited";
  }
  return "";
}

bool Holds(ResultFact fact, const PlainRow& run, const ResultReport& report) {
  const RunRow& row = run.row;
  switch (fact) {
    case ResultFact::kReadable: return run.readable;
    case ResultFact::kState: return row.state == RunState::kRunning;
    case ResultFact::kAttempt: return row.attempt == report.attempt;
    case ResultFact::kToken: return row.claim_token == report.token;
    case ResultFact::kCancel: return !row.cancel_requested;
    case ResultFact::kJob: return row.job_no == report.job_no;
    case ResultFact::kSegment: return row.segment == report.segment;
    case ResultFact::kSlot: return !run.slot_taken;
    case ResultFact::kGroup: return row.group == GroupNo{};
    case ResultFact::kAwaited: return !IsAwaited(row);
  }
  return false;
}

bool IsPlain(const PlainRow& run, const ResultReport& report) {
  return std::all_of(kResultFacts.begin(), kResultFacts.end(), [&](ResultFact fact) {
    return Holds(fact, run, report) || failpoint::Broken(RuleOf(fact));
  });
}

bool MayBePlain(const ResultReport& report) {
  const AttemptResult& result = report.result;
  return report.token != ClaimToken{} && result.state == RunState::kCompleted &&
         result.reason.empty() && result.error.empty() && result.output.empty() &&
         result.outputs.empty();
}

}  // namespace carillon
