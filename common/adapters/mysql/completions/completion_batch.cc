#include "common/adapters/mysql/completions/completion_batch.h"

#include <algorithm>
#include <array>
#include <map>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/row_locks.h"
#include "common/adapters/mysql/client/segment_merge.h"
#include "common/adapters/mysql/dependencies/dependent_runs.h"
#include "common/adapters/mysql/job_rows/job_of.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/run_rows/completion_rows.h"
#include "common/adapters/mysql/run_rows/run_rows.h"

namespace carillon::mysql {
namespace {

// The delay schedules of a batch, locked. Those that exist no more are absent.
using LockedWaits = std::map<ScheduleId, DelayWait>;

Result<LockedWaits> LockWaits(Session& session, std::vector<ScheduleId> ids) {
  if (ids.empty()) return LockedWaits();
  static const std::string statement =
      "SELECT s.schedule_id, s.every_us, s.awaited_us FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN job_schedules s FORCE "
      "INDEX (PRIMARY) "
      "ON s.schedule_id = k.n WHERE s.kind = 'delay'" +
      ForUpdateOf("s");
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  JsonRows wanted;
  for (const ScheduleId id : ids) wanted.Begin().Add(id.value());
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  LockedWaits waits;
  while (rows.Next()) {
    waits[ScheduleId(rows.Unsigned(1))] = {.every = Duration(rows.Int(2)), .awaited = rows.Time(3)};
  }
  return waits;
}

// Gives schedules that await nothing any more their next fire. While its job is paused, a schedule
// keeps the fire in resume_from_us (StoredScheduleRow).
class Moves {
 public:
  void Add(ScheduleId id, WallTime fire, bool paused) {
    rows_.Begin().Add(id.value()).Add(paused ? kNever : fire).Add(paused ? fire : WallTime{});
  }
  Status Write(Session& session) {
    static const std::string statement =
        "UPDATE JSON_TABLE(" CARILLON_JSON
        ", '$[*]' COLUMNS (s BIGINT UNSIGNED PATH '$[0]', n BIGINT PATH '$[1]', "
        "m BIGINT PATH '$[2]')) k STRAIGHT_JOIN job_schedules j FORCE INDEX (PRIMARY) "
        "ON j.schedule_id = k.s SET j.next_fire_us = k.n, j.resume_from_us = k.m, j.awaited_us = 0";
    if (rows_.empty()) return {};
    CARILLON_TRY(session.Execute(statement, {rows_.Take()}));
    return {};
  }

 private:
  JsonRows rows_;
};

Params ParamsOf(const std::vector<SegmentId>& segments, size_t limit) {
  Params params;
  for (const SegmentId segment : segments) {
    params.emplace_back(static_cast<uint64_t>(segment.value()));
    params.emplace_back(static_cast<uint64_t>(limit));
  }
  return params;
}

}  // namespace

Result<std::vector<RunCompletion>> ReadCompletions(Session& session,
                                                   const std::vector<SegmentId>& segments,
                                                   size_t limit) {
  static const std::string branch =
      "SELECT c.id, c.segment, c.fire_us, c.schedule_id, c.shard, c.job_no, c.state, c.ended_us, "
      "FIELD(c.target, 'dependents', 'parts'), c.by_hand FROM run_completions c FORCE INDEX "
      "(by_segment) WHERE c.segment = ? AND c.target IN ('schedule', 'dependents', 'parts') "
      "ORDER BY c.id LIMIT ?";
  static constexpr std::array kTargets = {CompletionTarget::kSchedule,
                                          CompletionTarget::kDependents, CompletionTarget::kParts};
  const auto fetch = [&](size_t share) -> Result<std::vector<RunCompletion>> {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query(UnionOf(branch, segments.size()), ParamsOf(segments, share)));
    std::vector<RunCompletion> ends;
    while (rows.Next()) {
      // An end in a state of a later version starts nothing here, as one that was cancelled.
      const Result<RunState> state = ParseRunState(rows.Text(7));
      ends.push_back({.id = rows.Unsigned(1),
                      .segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(2))),
                      .key = {rows.Time(3), ScheduleId(rows.Unsigned(4)),
                              static_cast<uint32_t>(rows.Unsigned(5))},
                      .job_no = JobNo(rows.Unsigned(6)),
                      .state = state.value_or(RunState::kCancelled),
                      .ended = rows.Time(8),
                      .target = kTargets.at(static_cast<size_t>(rows.Int(9))),
                      .by_hand = rows.Int(10) != 0});
    }
    return ends;
  };
  return MergeSegments<RunCompletion>(
      segments.size(), limit, fetch, [](const RunCompletion& end) { return end.segment; },
      [](const RunCompletion& end) { return end.id; });
}

Result<std::vector<StuckSchedule>> ReadStuck(Session& session,
                                             const std::vector<SegmentId>& segments, size_t limit) {
  static const std::string branch =
      "SELECT s.schedule_id, s.job_no, s.segment, s.awaited_us FROM job_schedules s "
      "FORCE INDEX (by_awaited) WHERE s.segment = ? AND s.awaited_us > 0 AND NOT EXISTS "
      "(SELECT 1 FROM job_runs r WHERE r.fire_us = s.awaited_us AND r.schedule_id = s.schedule_id "
      "AND r.open_segment IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM run_completions c WHERE "
      "c.segment = s.segment AND c.target = 'schedule' AND c.schedule_id = s.schedule_id AND "
      "c.fire_us = s.awaited_us) "
      "LIMIT ?";
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query(UnionOf(branch, segments.size()), ParamsOf(segments, limit)));
  std::vector<StuckSchedule> stuck;
  while (stuck.size() < limit && rows.Next()) {
    stuck.push_back({.schedule_id = ScheduleId(rows.Unsigned(1)),
                     .job_no = JobNo(rows.Unsigned(2)),
                     .segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(3))),
                     .awaited = rows.Time(4)});
  }
  return stuck;
}

Result<std::vector<CompletionEffect>> ApplyCompletions(Session& session,
                                                       const std::vector<RunCompletion>& ends,
                                                       const Fence& fence, WallTime now) {
  CARILLON_TRY(LockFence(session, fence));
  std::vector<JobNo> job_nos;
  std::vector<ScheduleId> ids;
  for (const RunCompletion& end : ends) {
    if (end.target != CompletionTarget::kSchedule) continue;
    job_nos.push_back(end.job_no);
    ids.push_back(end.key.schedule_id);
  }
  CARILLON_ASSIGN_OR_RETURN(DependentsByJob dependents, DependentsOf(session, ends));
  for (const auto& [upstream, of_job] : dependents) {
    for (const Dependent& dependent : of_job.dependents) job_nos.push_back(dependent.job_no);
  }
  LockedJobs jobs;
  CARILLON_TRY(LockJobs(session, std::move(job_nos), &jobs));
  if (!dependents.empty()) {
    CARILLON_ASSIGN_OR_RETURN(dependents, DependentsOf(session, ends));
  }
  CARILLON_ASSIGN_OR_RETURN(LockedWaits waits, LockWaits(session, std::move(ids)));
  std::vector<CompletionEffect> effects(ends.size());
  Moves moves;
  for (size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].target != CompletionTarget::kSchedule) continue;
    const auto wait = waits.find(ends[i].key.schedule_id);
    const JobRow* const job = RowOf(jobs, ends[i].job_no);
    if (wait == waits.end() || job == nullptr) continue;
    const std::optional<WallTime> fire = DecideNextFire(wait->second, ends[i], now);
    if (!fire) continue;
    moves.Add(wait->first, *fire, job->paused);
    effects[i] = {.awaited = true, .next_fire = job->paused ? kNever : *fire};
    waits.erase(wait);  // so that a second end of the same run changes nothing
  }
  CARILLON_TRY(moves.Write(session));
  CARILLON_TRY(StartDependents(session, ends, dependents, jobs, now, &effects));
  std::vector<uint64_t> done;
  for (const RunCompletion& end : ends) done.push_back(end.id);
  CARILLON_TRY(DeleteCompletions(session, done));
  return effects;
}

Result<bool> ReviveSchedule(Session& session, const StuckSchedule& stuck, const Fence& fence,
                            WallTime now) {
  CARILLON_TRY(LockFence(session, fence));
  LockedJobs jobs;
  CARILLON_TRY(LockJobs(session, {stuck.job_no}, &jobs));
  CARILLON_ASSIGN_OR_RETURN(const LockedWaits waits, LockWaits(session, {stuck.schedule_id}));
  const auto wait = waits.find(stuck.schedule_id);
  const JobRow* const job = RowOf(jobs, stuck.job_no);
  if (wait == waits.end() || job == nullptr || wait->second.awaited != stuck.awaited) {
    return false;
  }
  Moves moves;
  moves.Add(wait->first, FireAfterLoss(wait->second, now), job->paused);
  CARILLON_TRY(moves.Write(session));
  return true;
}

}  // namespace carillon::mysql
