#include "tests/sim/streaks_check.h"

#include <ranges>
#include <set>

#include <fmt/format.h>

#include "common/domain/run/returns.h"

namespace carillon::sim {
namespace {

// The rules are written out here, so that a mistake in them is noticed.
bool IsScheduled(const RunRow& row) {
  switch (row.kind) {
    case RunKind::kManual:
    case RunKind::kBackfill:
    case RunKind::kWorkflow:
    case RunKind::kShard: return false;
    default: return row.key.shard == 0 && (row.flags & run_flag::kBackground) == 0;
  }
}

bool Counts(const memory::RunEntry& run) {
  static const std::set<std::string_view> kOfHosts = {
      "spawn",       "host",           "executor_lost", "warden_died",     "lease_ended",
      "worker_died", "worker_stopped", "not_started",   "upstream_timeout"};
  if (!IsScheduled(run.row)) return false;
  switch (run.row.state) {
    case RunState::kCompleted: return true;
    case RunState::kFailed:
    case RunState::kTimedOut: return !kOfHosts.contains(run.result.reason);
    default: return false;
  }
}

// Only a person gives a fire in parts another attempt that counts.
bool IsRetriedByHand(const RunRow& row) {
  return (row.flags & run_flag::kParts) != 0 && TriesOf(row) > 1;
}

}  // namespace

bool StreaksCheck::IsFull(const memory::JobEntry& job) const {
  int64_t left = job.definition.pause_after_failures;
  if (left == 0) return false;
  for (const auto& [key, run] : tables_.runs() | std::views::reverse) {
    const bool of_version = run.row.job_no == job.job_no && run.row.def_version == job.version &&
                            key.fire >= job.updated && key.fire <= clock_.Wall();
    if (!of_version) continue;
    if (IsScheduled(run.row) && IsRetriedByHand(run.row)) return false;
    if (!Counts(run)) continue;
    if (run.row.state == RunState::kCompleted) return false;
    if (--left == 0) return true;
  }
  return false;
}

Result<bool> StreaksCheck::PauseFailing(const FailingJob& job, const Fence& fence,
                                        const WriteContext& context) {
  bool full = false;
  {
    MutexLock lock(tables_.mu);
    const memory::JobEntry* entry = tables_.FindJob(job.job_no);
    full = entry != nullptr && IsFull(*entry);
  }
  Result<bool> paused = store_.PauseFailing(job, fence, context);
  if (!paused.ok() || !*paused) return paused;
  ++pauses_;
  if (!full) {
    checker_.Fail("streaks", fmt::format("{} is paused although not all of its newest runs failed",
                                         job.job_id.value()));
  }
  const auto read = jobs_.GetJob(job.job_id);
  if (read.ok()) checker_.JobAcknowledged(*read);
  return paused;
}

void StreaksCheck::Look() {
  const WallTime now = clock_.Wall();
  MutexLock lock(tables_.mu);
  std::map<JobNo, WallTime> full;
  for (const auto& [job_no, job] : tables_.jobs()) {
    if (job.deleted || !job.definition.enabled || !IsFull(job)) continue;
    const auto before = full_since_.find(job_no);
    full[job_no] = before == full_since_.end() ? now : before->second;
    if (now - full[job_no] <= kPausedWithin) continue;
    checker_.Fail("streaks", fmt::format("{} is not paused: {} runs in a row have failed",
                                         job.id.value(), job.definition.pause_after_failures));
  }
  full_since_ = std::move(full);
}

}  // namespace carillon::sim
