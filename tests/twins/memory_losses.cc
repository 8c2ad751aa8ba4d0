#include "tests/twins/memory_losses.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/domain/job/job_types.h"
#include "common/domain/nodes/for_run.h"
#include "common/domain/run/run_kind.h"
#include "common/domain/workflow/node_key.h"
#include "tests/twins/memory_run_writes.h"

namespace carillon::memory {
namespace {

Status CheckLosses(const std::vector<LostReport>& reports, const Fence& fence) {
  if (reports.size() > kBatchRowsMax) {
    return {ErrorCode::kExhausted, "lost: more than kBatchRowsMax items"};
  }
  for (const LostReport& report : reports) {
    const bool covered = std::any_of(fence.begin(), fence.end(), [&](const FencedSegment& held) {
      return held.segment == report.segment;
    });
    if (!covered) {
      return {ErrorCode::kInvalid,
              "lost: run " + EncodeRunId(report.key) + " is outside the fence"};
    }
  }
  return {};
}

// The result of an attempt that was lost: only its start time is known.
AttemptResult LossOf(const RunEntry& entry, const LossInput& input) {
  const bool given_up = input.loss == Loss::kGivenUp;
  return {.state = RunState::kLost,
          .reason = std::string(given_up ? reason::kOutcomeUnknown : reason::kExecutorLost),
          .started = entry.result.started,
          .ended = input.now};
}

// The rules by which the attempt started, if the job was edited since.
std::optional<LossRules> RulesOfAttempt(const JobEntry& job, const RunRow& row) {
  if (row.def_version == job.version) return std::nullopt;
  // A version that cannot be read may contain the rule that the attempt must not be killed.
  const auto started_under = job.versions.find(row.def_version);
  if (started_under == job.versions.end() || job.unreadable.contains(row.def_version)) {
    return LossRules{};
  }
  return LossRules{started_under->second.on_lost, IsCooperative(started_under->second.type)};
}

std::optional<RunChange> DecideLoss(const JobEntry& entry, const RunRow& row,
                                    const LostReport& report, const LossInput& input) {
  if (input.loss == Loss::kGivenUp) return DecideGivenUp(&row, report);
  JobRow job = ToJobRow(entry);
  if (input.loss == Loss::kPresumed) {
    return DecidePresumed(&row, ForRun(std::move(job), row), report, input.now);
  }
  job.attempt_rules = RulesOfAttempt(entry, row);
  return DecideLost(&row, ForRun(std::move(job), row), report, input.now);
}

}  // namespace

Result<std::vector<RunEffect>> LoseBatch(MemoryTables& tables,
                                         const std::vector<LostReport>& reports,
                                         const LossInput& input) {
  CARILLON_TRY(CheckLosses(reports, input.fence));
  MutexLock lock(tables.mu);
  CARILLON_TRY(tables.CheckFence(input.fence));
  std::vector<RunEffect> effects;
  for (const LostReport& report : reports) {
    const RunEntry* found = tables.FindRun(report.key);
    if (found == nullptr || IsRunningWorkflow(found->row)) continue;
    const JobEntry& job = *tables.FindJob(found->row.job_no);
    const std::optional<RunChange> change = DecideLoss(job, found->row, report, input);
    if (!change) continue;
    const bool held_slot = job.slots.contains(report.key);
    const bool held_group = found->row.group != GroupNo{};
    CARILLON_CHECK(WriteChange(tables, *found, *change, LossOf(*found, input), input.now).ok(),
                   "a loss reopens no final run");
    const RunRow& written = tables.FindRun(report.key)->row;
    RunEffect& effect = effects.emplace_back();
    effect.key = report.key;
    NoteWritten(written, &effect);
    effect.dead_letter = change->dead_letter && LeavesDeadLetter(written);
    effect.freed_slot = (held_slot && !job.slots.contains(report.key)) ||
                        (held_group && written.group == GroupNo{});
  }
  return effects;
}

}  // namespace carillon::memory
