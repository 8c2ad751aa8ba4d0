#include "tests/sim/streaks_check.h"

#include <ranges>
#include <set>

#include <fmt/format.h>

namespace carillon::sim {
namespace {

// Written out here, so that a mistake in the rule itself is noticed.
bool Counts(const memory::RunEntry& run) {
  static const std::set<std::string_view> kOfHosts = {
      "spawn",       "host",        "executor_lost",  "warden_died",
      "lease_ended", "worker_died", "worker_stopped", "not_started"};
  switch (run.row.kind) {
    case RunKind::kManual:
    case RunKind::kBackfill:
    case RunKind::kWorkflow:
    case RunKind::kShard: return false;
    default: break;
  }
  if (run.row.key.shard > 0 || (run.row.flags & run_flag::kBackground) != 0) return false;
  switch (run.row.state) {
    case RunState::kCompleted: return true;
    case RunState::kFailed:
    case RunState::kTimedOut: return !kOfHosts.contains(run.result.reason);
    default: return false;
  }
}

}  // namespace

bool StreaksCheck::IsFull(const memory::JobEntry& job) const {
  int64_t left = job.definition.pause_after_failures;
  if (left == 0) return false;
  for (const auto& [key, run] : tables_.runs() | std::views::reverse) {
    const bool of_version = run.row.job_no == job.job_no && run.row.def_version == job.version &&
                            key.fire >= job.updated;
    if (!of_version || !Counts(run)) continue;
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

void StreaksCheck::Look(WallTime now) {
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
