#include "tests/sim/dependents_check.h"

#include <fmt/format.h>

#include "common/domain/parts/run_part.h"

namespace carillon::sim {
namespace {

// Written out here, so that a mistake in the rule itself is noticed.
bool Counts(AfterOutcome on, RunState state) {
  const bool success = state == RunState::kCompleted;
  const bool failure =
      state == RunState::kFailed || state == RunState::kTimedOut || state == RunState::kLost;
  if (on == AfterOutcome::kSuccess) return success;
  if (on == AfterOutcome::kFailure) return failure;
  return success || failure;
}

std::string Describe(const RunKey& key) {
  return fmt::format("run {} (schedule {}, fire {})", EncodeRunId(key), key.schedule_id.value(),
                     FormatRfc3339(key.fire));
}

}  // namespace

void DependentsCheck::Acknowledged(const StoredJob& job) {
  ids_.insert_or_assign(job.job_no, job.job_id);
  for (const StoredSchedule& schedule : job.schedules) {
    if (schedule.spec.kind != ScheduleKind::kAfter) continue;
    waiting_.insert_or_assign(
        schedule.schedule_id,
        Waiting{.upstream = JobId(schedule.spec.upstream), .on = schedule.spec.on});
  }
}

std::optional<std::string> DependentsCheck::RunWritten(const RunRow* before, const RunRow* after) {
  // The end of a part is none of its job's.
  if (after == nullptr || IsPart(after->key)) return std::nullopt;
  if (before == nullptr && after->kind == RunKind::kAfter) {
    ++started_;
    if (!Meet(after->key)) return "no end has started it: " + Describe(after->key);
  }
  const bool ends = IsFinal(after->state) && (before == nullptr || before->state != after->state);
  const auto id = ids_.find(after->job_no);
  if (!ends || after->kind == RunKind::kBackfill || id == ids_.end()) return std::nullopt;
  for (const auto& [schedule, waiting] : waiting_) {
    if (waiting.upstream != id->second || !Counts(waiting.on, after->state)) continue;
    if (ended_[schedule].insert(after->key).second) ++unmet_[schedule][after->key.fire];
  }
  return std::nullopt;
}

// Takes the latest end that could have started the run.
bool DependentsCheck::Meet(const RunKey& run) {
  constexpr Duration kTieBreak = 10ms;
  auto& unmet = unmet_[run.schedule_id];
  auto at = unmet.upper_bound(run.fire);
  if (at == unmet.begin()) return false;
  --at;
  if (run.fire - at->first >= kTieBreak) return false;
  if (--at->second == 0) unmet.erase(at);
  return true;
}

std::optional<std::string> DependentsCheck::AtRest() const {
  for (const auto& [schedule, fires] : unmet_) {
    if (fires.empty()) continue;
    return fmt::format("{} runs with the fire {} have ended and schedule {} was not started",
                       fires.begin()->second, FormatRfc3339(fires.begin()->first),
                       schedule.value());
  }
  return std::nullopt;
}

}  // namespace carillon::sim
