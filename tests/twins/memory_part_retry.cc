#include "tests/twins/memory_part_retry.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/domain/parts/fire_end.h"
#include "common/domain/parts/lost_facts.h"
#include "common/domain/run/dependents.h"
#include "common/wire/json/job/given_parameters.h"
#include "tests/twins/memory_backers.h"
#include "tests/twins/memory_claims.h"
#include "tests/twins/memory_node_jobs.h"
#include "tests/twins/memory_parts.h"
#include "tests/twins/memory_run_writes.h"

namespace carillon::memory {
namespace {

PartOfFire PartOf(const RunEntry& entry) {
  PartOfFire part{.row = entry.row, .reason = entry.result.reason};
  // A report that came after the attempt was given up is among the earlier attempts.
  for (const RunAttempt& known : entry.attempts) {
    if (known.attempt == entry.row.attempt) part.row.may_still_run = false;
  }
  return part;
}

// The run in whose way the fire would be; nullopt = none.
std::optional<RunKey> InTheWay(const JobEntry& job, const RunKey& own) {
  const OverlapRules rules = OverlapRulesOf(job.definition);
  const SlotFacts facts{.taken = static_cast<int64_t>(job.active.size()),
                        .queued = static_cast<int64_t>(job.queue.size()),
                        .queued_before = !job.queue.empty() && job.queue.begin()->first < own};
  if (DecideSlot(rules, facts) == SlotVerdict::kStart) return std::nullopt;
  const bool held = facts.taken >= rules.max_running;
  return held ? *job.active.begin() : job.queue.begin()->first;
}

}  // namespace

RunPart ToPart(const RunEntry& entry) {
  const RunRow& row = entry.row;
  return {.key = row.key,
          .state = row.state,
          .attempt = row.attempt,
          .reason = entry.result.reason,
          .executor = row.executor,
          .pinned_executor = row.pinned_executor,
          .due = row.due,
          .claimed = row.claimed,
          .started = entry.result.started,
          .ended = entry.result.ended};
}

Status AskLostFacts(const MemoryTables& tables, const RunEntry& run, const JobEntry& job) {
  const RunRow& row = run.row;
  if (!IsFinal(row.state) || row.def_version == job.version) return {};
  for (const auto& [number, letter] : tables.dead_letters) {
    if (letter.key == row.key) return {};
  }
  RunOfVersion lost{.now = &job.definition, .of_schedule = row.key.schedule_id != job.manual};
  if (auto given = GivenFromText(run.parameters_json); given.ok()) lost.given = std::move(*given);
  const auto then = job.versions.find(row.def_version);
  if (then != job.versions.end() && !job.unreadable.contains(row.def_version)) {
    lost.then = &then->second;
  }
  for (size_t i = 0; i < std::min(job.schedules.size(), job.definition.schedules.size()); ++i) {
    if (job.schedules[i] == row.key.schedule_id) lost.schedule = &job.definition.schedules[i];
  }
  return CheckLostFacts(row, lost);
}

Status RetryParts(MemoryTables& tables, const RunKey& own, const PartChoice& choice,
                  const WriteContext& context) {
  RunEntry fire = *tables.FindRun(own);
  JobEntry& job = *tables.FindJob(fire.row.job_no);
  if (job.definition.workflow) return IsWorkflowNow(fire.row);
  const JobRow rules = JobOf(tables, fire.row);
  const std::vector<RunKey> keys = PartsOf(tables, own);
  std::vector<PartOfFire> parts;
  for (const RunKey& key : keys) parts.push_back(PartOf(*tables.FindRun(key)));
  CARILLON_ASSIGN_OR_RETURN(
      const std::vector<PartRetry> plan,
      PlanPartRetry(fire.row, parts, choice, rules, context.overlap(), context.now));
  CARILLON_TRY(AskLostFacts(tables, fire, job));
  if ((fire.row.flags & run_flag::kOnBehalf) != 0) {
    const JobDefinition& asked = tables.OwnerOf(fire.row.job_no).definition;
    const std::string refusal = RefusalOf(BackersOfRun(tables, fire), asked);
    if (!refusal.empty()) return ForbiddenForFire(fire.row, refusal);
  }
  if (IsFinal(fire.row.state)) {
    if (const auto holder = InTheWay(job, own)) return NoSlotForFire(fire.row, *holder);
    fire.row.flags |= EndFlags(fire.row.kind, fire.row.flags, job.has_dependents);
    const AttemptResult ended = LastAttempt(fire).result;
    CARILLON_TRY(WriteChange(tables, std::move(fire),
                             NextAttemptOfFire(tables.FindRun(own)->row, rules, context.now), ended,
                             context.now));
    WriteClaim(tables, *tables.FindRun(own), {.overlap = rules.overlap}, context.now);
  }
  for (const PartRetry& again : plan) {
    RunEntry part = *tables.FindRun(keys[again.position]);
    // An edit may have kept parameters with the own run since.
    const RunRow& now_own = tables.FindRun(own)->row;
    part.row.flags |= FlagsOfPart(now_own);
    CopyRules(now_own, &part.row);
    const AttemptResult ended = LastAttempt(part).result;
    CARILLON_TRY(WriteChange(tables, std::move(part), again.change, ended, context.now));
  }
  return {};
}

}  // namespace carillon::memory
