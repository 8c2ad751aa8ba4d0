// The part of the checker that follows leases, as the members send them, and what comes after
// an attempt.
#include <fmt/format.h>

#include "common/domain/run/returns.h"
#include "tests/sim/checker.h"

namespace carillon::sim {
namespace {

// An owner renews leases only with a proof younger than this, measured from the proof's request.
constexpr Duration kProofMaxAge = 4s;
constexpr Duration kProofTolerance = 100ms;
// The database's clock may be behind that of the world.
constexpr Duration kAskedTolerance = 500ms;

}  // namespace

void Checker::Taken(const std::string& process, const Fence& fence) {
  for (const FencedSegment& held : fence) taken_[held.segment] = {process, ports_.now()};
}

void Checker::LeaseRenewed(const std::string& process, SegmentId segment, const RunKey& key,
                           ClaimToken token) {
  const auto taken = taken_.find(segment);
  if (taken != taken_.end() && taken->second.process != process) {
    const Duration since = ports_.now() - taken->second.at;
    if (since > kProofMaxAge + kProofTolerance) {
      Fail("P4 leases", fmt::format("{} renewed run {} {} ms after {} took its segment", process,
                                    EncodeRunId(key), since / 1ms, taken->second.process));
    }
  }
  const auto losing = losing_.find(token);
  if (losing == losing_.end()) return;
  for (auto& [writer, renewed] : losing->second) renewed = true;
}

void Checker::LosingBegins(const std::string& process, const std::vector<LostReport>& reports) {
  for (const LostReport& report : reports) losing_[report.token][process] = false;
}

void Checker::LosingEnded(const std::string& process, const std::vector<LostReport>& reports,
                          bool answered) {
  for (const LostReport& report : reports) {
    const auto losing = losing_.find(report.token);
    if (losing == losing_.end() || !losing->second.contains(process)) continue;
    const bool renewed = losing->second.at(process);
    losing->second.erase(process);
    if (losing->second.empty()) losing_.erase(losing);
    const auto row = rows_.find(report.key);
    const bool lost = row != rows_.end() && (row->second.state != RunState::kRunning ||
                                             row->second.claim_token != report.token);
    if (answered && renewed && lost) {
      Fail("P4 leases", fmt::format("run {} attempt {} was renewed while it was declared lost",
                                    EncodeRunId(report.key), report.attempt));
    }
  }
}

// A failure that the job excludes is retried by a user only. The version that the next attempt
// executes is the one by which the retry was decided.
void Checker::CheckRetryConditions(const RunRow& before, const RunRow& after) {
  CheckGivenBack(before, after);
  const bool retried = before.state == RunState::kRunning && after.state == RunState::kPending &&
                       after.attempt == before.attempt + 1;
  // on_lost decides about an attempt whose lease ended before its result came.
  if (!retried || IsItselfByHand(after.key) || losing_.contains(before.claim_token)) return;
  const auto truth = attempts_.find({before.key, before.attempt});
  if (truth == attempts_.end() || !truth->second.end) return;
  const AttemptResult& end = *truth->second.end;
  if (end.state != RunState::kFailed && end.state != RunState::kTimedOut) return;
  const auto& definitions = jobs_[after.job_no].definitions;
  const auto definition = definitions.find(after.def_version);
  if (definition == definitions.end()) return;
  if (end.retry_after && after.due < ports_.now() + *end.retry_after - kAskedTolerance) {
    Fail("P8 retry after", fmt::format("run {} attempt {} is retried earlier than the server asked",
                                       EncodeRunId(after.key), before.attempt));
  }
  if (RetryRulesOf(definition->second).conditions.Allow(end)) return;
  Fail("P8 retry conditions", fmt::format("run {} attempt {} was retried after {}",
                                          EncodeRunId(after.key), before.attempt, end.reason));
}

// A run whose attempt never began waits for its next attempt, unless it was given back too often.
// Its end is judged only if it came before the end of its lease.
void Checker::CheckGivenBack(const RunRow& before, const RunRow& after) {
  const bool lost = after.state == RunState::kLost || after.state == RunState::kFailed ||
                    after.state == RunState::kHeld;
  if (before.state != RunState::kRunning || losing_.contains(before.claim_token)) return;
  const auto truth = attempts_.find({before.key, before.attempt});
  if (truth == attempts_.end() || !truth->second.end || !NeverBegan(*truth->second.end)) return;
  const std::string what =
      fmt::format("run {} attempt {}, which never began,", EncodeRunId(before.key), before.attempt);
  if (truth->second.starts > 0) {
    Fail("P4 no overlap between attempts", what + " was started");
  }
  if (!lost || before.cancel_requested || jobs_[before.job_no].deleted) return;
  if (ReturnsOf(before) < kReturnsMax) Fail("P1 given back", what + " is over");
}

}  // namespace carillon::sim
