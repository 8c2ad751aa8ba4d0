#include "common/adapters/mysql/completions/fire_end_batch.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/segment_merge.h"
#include "common/adapters/mysql/job_rows/job_of.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/run_rows/cancel_rows.h"
#include "common/adapters/mysql/run_rows/completion_rows.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/adapters/mysql/workflow/collected_outputs.h"
#include "common/domain/parts/fire_end.h"
#include "common/domain/run/dependents.h"
#include "common/domain/run/returns.h"

namespace carillon::mysql {
namespace {

RunKey OwnKeyAt(const Rows& rows, uint32_t column) {
  return {.fire = rows.Time(column), .schedule_id = ScheduleId(rows.Unsigned(column + 1))};
}

// The own runs of which no part is open. Reads on from there only for these: most ends of parts are
// not the last ones.
Result<std::set<RunKey>> WithoutOpenParts(Session& session, const std::set<RunKey>& owns) {
  static const std::string statement =
      "SELECT k.f, k.s FROM " + KeyedRuns("") +
      " LEFT JOIN job_runs r FORCE INDEX (PRIMARY) ON r.fire_us = k.f AND r.schedule_id = k.s AND "
      "r.shard > 0 AND r.open_segment IS NOT NULL WHERE r.shard IS NULL";
  if (owns.empty()) return std::set<RunKey>();
  JsonRows wanted;
  for (const RunKey& own : owns) wanted.Begin().Add(own);
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  std::set<RunKey> closed;
  while (rows.Next()) closed.insert(OwnKeyAt(rows, 1));
  return closed;
}

using PartsByOwn = std::map<RunKey, std::vector<PartEnd>>;

// Without locks: whoever opens a part again locks the own run first.
Result<PartsByOwn> ReadParts(Session& session, const std::set<RunKey>& owns) {
  static const std::string statement =
      "SELECT r.fire_us, r.schedule_id, r.shard, r.state + 0, r.attempt, r.flags, r.reason, "
      "r.claimed_us, r.started_us, r.ended_us FROM " +
      KeyedRuns("") +
      " STRAIGHT_JOIN job_runs r FORCE INDEX (PRIMARY) ON r.fire_us = k.f AND "
      "r.schedule_id = k.s AND r.shard > 0 ORDER BY r.fire_us, r.schedule_id, r.shard";
  PartsByOwn parts;
  if (owns.empty()) return parts;
  JsonRows wanted;
  for (const RunKey& own : owns) wanted.Begin().Add(own);
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  while (rows.Next()) {
    // A state of a later version is final, and says nothing here.
    const RunState state = StateOf(rows.Int(4)).value_or(RunState::kCancelled);
    const RunRow row{.attempt = static_cast<int>(rows.Int(5)),
                     .flags = static_cast<uint32_t>(rows.Unsigned(6))};
    const std::string reason(rows.Text(7));
    parts[OwnKeyAt(rows, 1)].push_back({.shard = static_cast<uint32_t>(rows.Unsigned(3)),
                                        .state = state,
                                        .first_try = IsFirstTry(row),
                                        .may_still_run = MayStillRun(state, reason),
                                        .reason = reason,
                                        .claimed = rows.Time(8),
                                        .started = rows.Time(9),
                                        .ended = rows.Time(10)});
  }
  return parts;
}

struct FireEndFacts {
  LockedJobs jobs;
  LockedRuns owns;
  std::set<RunKey> closed;
  PartsByOwn parts;
};

// True if the end of the parts may change the own run.
bool MayEndFire(const RunRow& own) {
  return HasBegunParts(own) || (own.state == RunState::kLost && own.executor.empty());
}

Result<FireEndFacts> ReadFires(Session& session, const std::vector<FireLook>& fires,
                               const FireEndRules& rules) {
  CARILLON_TRY(LockFence(session, rules.fence));
  std::vector<JobNo> job_nos;
  std::vector<RunKey> keys;
  for (const FireLook& fire : fires) {
    job_nos.push_back(fire.job_no);
    keys.push_back(fire.own);
  }
  FireEndFacts facts;
  CARILLON_TRY(LockJobs(session, std::move(job_nos), &facts.jobs));
  CARILLON_ASSIGN_OR_RETURN(facts.owns, LockRuns(session, std::move(keys), rules.incarnations));
  std::set<RunKey> asked;
  for (const auto& [key, own] : facts.owns) {
    if (own.readable && MayEndFire(own.row)) asked.insert(key);
  }
  // Only now, so that of two ends of parts the second look sees both.
  CARILLON_ASSIGN_OR_RETURN(facts.closed, WithoutOpenParts(session, asked));
  CARILLON_ASSIGN_OR_RETURN(facts.parts, ReadParts(session, facts.closed));
  return facts;
}

Result<FireEffect> EndFire(Session& session, StoredRun& own, const JobRow* job,
                           const std::vector<PartEnd>& parts, RunWriter& writer, WallTime now) {
  FireEffect effect;
  const auto end = EndOf(parts, own.row);
  if (!end) return effect;
  const bool deleted = job == nullptr || job->deleted;
  auto change = DecideFireEnd(own.row, deleted, *end);
  if (!change) return effect;
  AttemptResult result = ResultOf(*end, now);
  CARILLON_TRY(CollectOutputs(session, own.row, *change, result));
  const bool had_slot = own.slot_taken;
  if (job != nullptr) {
    own.row.flags |= EndFlags(own.row.kind, own.row.flags, job->has_dependents);
  }
  CARILLON_TRY(writer.Change(own, *change, result, now));
  effect.ended = own.row.state;
  effect.freed_slot = had_slot && !own.slot_taken;
  effect.completed = IsAwaited(own.row);
  return effect;
}

// The cancel of a fire has reached all of its parts. It is repeated for one that came back since.
Status CancelAgain(Session& session, const RunRow& own, const FireEndRules& rules,
                   RunWriter& writer) {
  if (!HasBegunParts(own) || !own.cancel_requested) return {};
  return CancelParts(own, {session, rules.incarnations, writer},
                     {.now = rules.now, .mode = *own.cancel_requested});
}

Status DeleteTold(Session& session, const std::vector<FireLook>& fires) {
  std::vector<uint64_t> ids;
  for (const FireLook& fire : fires) ids.insert(ids.end(), fire.told.begin(), fire.told.end());
  return DeleteCompletions(session, ids);
}

}  // namespace

Result<std::vector<FireEffect>> EndFiresOf(Session& session, const std::vector<FireLook>& fires,
                                           const FireEndRules& rules) {
  CARILLON_ASSIGN_OR_RETURN(FireEndFacts facts, ReadFires(session, fires, rules));
  RunWriter writer(session);
  std::vector<FireEffect> effects(fires.size());
  for (size_t i = 0; i < fires.size(); ++i) {
    const auto own = facts.owns.find(fires[i].own);
    const bool asked = own != facts.owns.end() && own->second.readable &&
                       own->second.row.segment == fires[i].segment;
    if (!asked) continue;
    if (!facts.closed.contains(fires[i].own)) {
      CARILLON_TRY(CancelAgain(session, own->second.row, rules, writer));
      continue;
    }
    const std::optional<JobRow> job = JobOf(facts.jobs, own->second.row);
    CARILLON_ASSIGN_OR_RETURN(effects[i], EndFire(session, own->second, job ? &*job : nullptr,
                                                  facts.parts[fires[i].own], writer, rules.now));
  }
  CARILLON_TRY(writer.Flush());
  CARILLON_TRY(DeleteTold(session, fires));
  return effects;
}

Result<std::vector<FireLook>> ReadUnended(Session& session, const std::vector<SegmentId>& segments,
                                          WallTime due, size_t limit) {
  // Runs that were due some time ago and are still open are few.
  static const std::string branch = fmt::format(
      "SELECT r.fire_us, r.schedule_id, r.segment, r.job_no FROM job_runs r FORCE INDEX "
      "(open_runs) LEFT JOIN job_runs p FORCE INDEX (PRIMARY) ON p.fire_us = r.fire_us AND "
      "p.schedule_id = r.schedule_id AND p.shard > 0 AND p.open_segment IS NOT NULL LEFT JOIN "
      "run_completions c ON c.segment = r.segment AND c.target = 'parts' AND c.schedule_id = "
      "r.schedule_id AND c.fire_us = r.fire_us WHERE r.open_segment = ? AND r.due_us <= ? AND "
      "r.shard = 0 AND r.state = 'RUNNING' AND r.incarnation_no = 0 AND (r.flags & {}) <> 0 AND "
      "p.shard IS NULL AND c.segment IS NULL LIMIT ?",
      run_flag::kParts);
  Params params;
  for (const SegmentId segment : segments) {
    params.emplace_back(static_cast<uint64_t>(segment.value()));
    params.emplace_back(ToUnixMicros(due));
    params.emplace_back(static_cast<uint64_t>(limit));
  }
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(UnionOf(branch, segments.size()), params));
  std::vector<FireLook> unended;
  while (unended.size() < limit && rows.Next()) {
    unended.push_back({.own = OwnKeyAt(rows, 1),
                       .segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(3))),
                       .job_no = JobNo(rows.Unsigned(4))});
  }
  return unended;
}

}  // namespace carillon::mysql
