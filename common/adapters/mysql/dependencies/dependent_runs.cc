#include "common/adapters/mysql/dependencies/dependent_runs.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/union_all.h"
#include "common/adapters/mysql/dependencies/given_outputs.h"
#include "common/adapters/mysql/job_rows/schedule_rows.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/domain/workflow/node_rules.h"

namespace carillon::mysql {
namespace {

// A run that an end asks for, and the place of that end in its batch.
struct Wanted {
  size_t end;
  const Dependent* dependent;
};

// Fires of a waiting schedule: those of [fire, fire + kSameFireMax).
struct FiresNear {
  JobNo job_no;
  ScheduleId schedule_id;
  WallTime fire;

  auto operator<=>(const FiresNear&) const = default;
};

// Each is a range of an index. The numbers are constants: with those of a joined table, the server
// would read all runs of the jobs.
Status ReadFiresNear(Session& session, std::span<const FiresNear> wanted,
                     std::map<ScheduleId, StartedRuns>* started) {
  constexpr std::string_view kBranch =
      "(SELECT r.schedule_id, r.fire_us, r.started_by FROM job_runs r FORCE INDEX (by_job) WHERE "
      "r.job_no = ? AND r.fire_us >= ? AND r.fire_us < ? AND r.schedule_id = ? AND r.shard = 0)";
  const size_t branches = RoundUpUnion(wanted.size());
  Params params;
  for (size_t i = 0; i < branches; ++i) {
    const FiresNear near = i < wanted.size() ? wanted[i] : FiresNear{};  // of no job
    params.emplace_back(near.job_no.value());
    params.emplace_back(ToUnixMicros(near.fire));
    params.emplace_back(ToUnixMicros(near.fire) + kSameFireMax);
    params.emplace_back(near.schedule_id.value());
  }
  CARILLON_ASSIGN_OR_RETURN(Rows found, session.Query(UnionAll(kBranch, branches), params));
  while (found.Next()) {
    const auto trigger = TriggerFromText(found.Text(3));
    (*started)[ScheduleId(found.Unsigned(1))][found.Time(2)] =
        trigger ? std::optional(trigger->run) : std::nullopt;
  }
  return {};
}

// Reads, for each waiting schedule, the runs with fires near those of the ends. The locks of their
// jobs and of the segment of the ends keep others from adding some.
Result<std::map<ScheduleId, StartedRuns>> StartedBefore(Session& session,
                                                        const std::vector<RunCompletion>& ends,
                                                        const std::vector<Wanted>& wanted) {
  std::set<FiresNear> distinct;
  for (const Wanted& one : wanted) {
    distinct.insert({one.dependent->job_no, one.dependent->schedule_id, ends[one.end].key.fire});
  }
  const std::vector<FiresNear> all(distinct.begin(), distinct.end());
  std::map<ScheduleId, StartedRuns> started;
  for (size_t first = 0; first < all.size(); first += kUnionMax) {
    const size_t count = std::min(kUnionMax, all.size() - first);
    CARILLON_TRY(ReadFiresNear(session, std::span(all).subspan(first, count), &started));
  }
  return started;
}

using GivenByRun = std::map<RunKey, GivenOutputs>;

Status InsertDependents(Session& session, const std::vector<DependentRun>& runs,
                        const GivenByRun& given, WallTime now) {
  static const std::string statement =
      "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, open_segment, kind, "
      "state, priority, due_us, def_version, flags, started_by, parameters, planned_us) "
      "SELECT k.f, k.s, k.h, k.j, k.g, k.g, k.d, 1, k.p, k.u, k.v, k.l, k.t, "
      "NULLIF(CONVERT(FROM_BASE64(k.m) USING utf8mb4), ''), ? FROM "
      "JSON_TABLE(" CARILLON_JSON
      ", "
      "'$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', h INT UNSIGNED PATH "
      "'$[2]', j BIGINT UNSIGNED PATH '$[3]', g INT UNSIGNED PATH '$[4]', d INT PATH '$[5]', "
      "p INT PATH '$[6]', u BIGINT PATH '$[7]', v BIGINT PATH '$[8]', l INT UNSIGNED PATH '$[9]', "
      "t VARCHAR(400) PATH '$[10]', m LONGTEXT PATH '$[11]')) k";
  const size_t bytes_max = session.packet_bytes_max() / 4;
  JsonRows rows;
  const auto write = [&]() -> Status {
    if (rows.empty()) return {};
    CARILLON_TRY(session.Execute(statement, {ToUnixMicros(now), rows.Take()}));
    return {};
  };
  for (const DependentRun& run : runs) {
    const RunRow& row = run.row;
    const auto own = given.find(row.key);
    rows.Begin()
        .Add(row.key)
        .Add(row.job_no.value())
        .Add(row.segment.value())
        .Add(NumberOf(row.kind))
        .Add(row.priority)
        .Add(row.due)
        .Add(row.def_version)
        .Add(row.flags)
        .Add(ToText(run.trigger))
        .AddBytes(own == given.end() ? std::string() : own->second.parameters);
    if (rows.bytes() > bytes_max) CARILLON_TRY(write());
  }
  return write();
}

// Ends the runs that lack an output that they ask for: people see them, and why.
Status SkipRefused(Session& session, const std::vector<DependentRun>& runs, const GivenByRun& given,
                   WallTime now) {
  RunWriter writer(session);
  for (const DependentRun& run : runs) {
    const auto own = given.find(run.row.key);
    if (own == given.end() || own->second.refusal.empty()) continue;
    StoredRun stored{.row = run.row};
    CARILLON_TRY(
        writer.End(stored, RunState::kSkipped, reason::kBadParameters, now, own->second.refusal));
  }
  return writer.Flush();
}

using EffectsByRun = std::map<RunKey, CompletionEffect*>;

Status WriteDependents(Session& session, std::vector<DependentRun> runs,
                       const EffectsByRun& effects, WallTime now) {
  if (runs.empty()) return {};
  std::sort(runs.begin(), runs.end(),
            [](const DependentRun& a, const DependentRun& b) { return a.row.key < b.row.key; });
  CARILLON_ASSIGN_OR_RETURN(const GivenByRun given, OutputsFor(session, runs));
  CARILLON_TRY(InsertDependents(session, runs, given, now));
  for (const DependentRun& run : runs) {
    const auto own = given.find(run.row.key);
    if (own != given.end() && !own->second.refusal.empty()) continue;
    effects.at(run.row.key)->started.push_back(run.row);
  }
  return SkipRefused(session, runs, given, now);
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
      wanted.push_back({i, &dependent});
    }
  }
  if (wanted.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(auto started, StartedBefore(session, ends, wanted));
  std::vector<DependentRun> fresh;
  EffectsByRun effects_of;
  std::vector<PlannedGap> gaps;
  for (const Wanted& one : wanted) {
    const RunCompletion& end = ends[one.end];
    const JobRow& job = jobs.at(one.dependent->job_no);
    CompletionEffect& effect = effects->at(one.end);
    StartedRuns& of_schedule = started[one.dependent->schedule_id];
    const DependentPlace place = PlaceAfter(end.key, of_schedule);
    if (place.exists) {
      ++effect.existing;
      continue;
    }
    if (place.fire) of_schedule[*place.fire] = end.key;
    if (!place.fire || job.paused) {
      ++effect.paused;
      const WallTime fire = place.fire.value_or(end.key.fire);
      gaps.push_back(
          {.schedule_id = one.dependent->schedule_id,
           .job_no = job.job_no,
           .range = {.from = fire,
                     .to = fire,
                     .count = 1,
                     .reason = job.paused ? GapReason::kPaused : GapReason::kCatchUpLimit}});
      continue;
    }
    fresh.push_back(
        RunAfter(end, *place.fire, *one.dependent, job, dependents.at(end.job_no).upstream, now));
    effects_of[fresh.back().row.key] = &effect;
  }
  CARILLON_TRY(WriteDependents(session, std::move(fresh), effects_of, now));
  return InsertGaps(session, gaps);
}

}  // namespace carillon::mysql
