#include "common/adapters/mysql/dependencies/dependent_runs.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/rows/run_rows.h"
#include "common/adapters/mysql/rows/schedule_rows.h"

namespace carillon::mysql {
namespace {

// A run that an end asks for, and the place of that end in its batch.
struct Wanted {
  size_t end;
  DependentRun run;
};

Result<std::set<RunKey>> ExistingOf(Session& session, const std::vector<Wanted>& wanted) {
  static const std::string statement =
      "SELECT r.fire_us, r.schedule_id, r.shard FROM " + kKeysJoinRuns;
  JsonRows keys;
  for (const Wanted& one : wanted) keys.Begin().Add(one.run.row.key);
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {keys.Take()}));
  std::set<RunKey> existing;
  while (rows.Next()) {
    existing.insert(
        {rows.Time(1), ScheduleId(rows.Unsigned(2)), static_cast<uint32_t>(rows.Unsigned(3))});
  }
  return existing;
}

Status InsertDependents(Session& session, std::vector<const DependentRun*> runs, WallTime now) {
  static const std::string statement =
      "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, open_segment, kind, "
      "state, priority, due_us, def_version, flags, started_by, planned_us) "
      "SELECT k.f, k.s, k.h, k.j, k.g, k.g, k.d, 1, k.p, k.u, k.v, k.l, k.t, ? FROM JSON_TABLE(?, "
      "'$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', h INT UNSIGNED PATH "
      "'$[2]', j BIGINT UNSIGNED PATH '$[3]', g INT UNSIGNED PATH '$[4]', d INT PATH '$[5]', "
      "p INT PATH '$[6]', u BIGINT PATH '$[7]', v BIGINT PATH '$[8]', l INT UNSIGNED PATH '$[9]', "
      "t VARCHAR(400) PATH '$[10]')) k";
  if (runs.empty()) return {};
  std::sort(runs.begin(), runs.end(),
            [](const DependentRun* a, const DependentRun* b) { return a->row.key < b->row.key; });
  JsonRows rows;
  for (const DependentRun* run : runs) {
    const RunRow& row = run->row;
    rows.Begin()
        .Add(row.key)
        .Add(row.job_no.value())
        .Add(row.segment.value())
        .Add(NumberOf(row.kind))
        .Add(row.priority)
        .Add(row.due)
        .Add(row.def_version)
        .Add(row.flags)
        .Add(ToText(run->trigger));
  }
  CARILLON_TRY(session.Execute(statement, {ToUnixMicros(now), rows.Take()}));
  return {};
}

}  // namespace

Result<DependentsByJob> DependentsOf(Session& session, const std::vector<RunCompletion>& ends) {
  std::vector<JobNo> upstream;
  for (const RunCompletion& end : ends) {
    if (end.target == CompletionTarget::kDependents) upstream.push_back(end.job_no);
  }
  return ReadDependents(session, upstream);
}

Status StartDependents(Session& session, const std::vector<RunCompletion>& ends,
                       const DependentsByJob& dependents, const LockedJobs& jobs, WallTime now,
                       std::vector<CompletionEffect>* effects) {
  std::vector<Wanted> wanted;
  for (size_t i = 0; i < ends.size(); ++i) {
    const auto of_job = dependents.find(ends[i].job_no);
    if (ends[i].target != CompletionTarget::kDependents || of_job == dependents.end()) continue;
    for (const Dependent& dependent : of_job->second.dependents) {
      const auto job = jobs.find(dependent.job_no);
      if (job == jobs.end() || job->second.deleted || !IsStartedBy(dependent, ends[i])) continue;
      wanted.push_back(
          {i, RunAfter(ends[i], dependent, job->second, of_job->second.upstream, now)});
    }
  }
  if (wanted.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(std::set<RunKey> existing, ExistingOf(session, wanted));
  std::vector<const DependentRun*> fresh;
  std::vector<PlannedGap> gaps;
  for (const Wanted& one : wanted) {
    CompletionEffect& effect = effects->at(one.end);
    const RunRow& row = one.run.row;
    if (!existing.insert(row.key).second) {
      ++effect.existing;
    } else if (jobs.at(row.job_no).paused) {
      ++effect.paused;
      gaps.push_back({.schedule_id = row.key.schedule_id,
                      .job_no = row.job_no,
                      .range = {.from = row.key.fire,
                                .to = row.key.fire,
                                .count = 1,
                                .reason = GapReason::kPaused}});
    } else {
      fresh.push_back(&one.run);
      effect.started.push_back(row);
    }
  }
  CARILLON_TRY(InsertDependents(session, std::move(fresh), now));
  return InsertGaps(session, gaps);
}

}  // namespace carillon::mysql
