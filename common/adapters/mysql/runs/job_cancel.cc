#include "common/adapters/mysql/runs/job_cancel.h"

#include <set>
#include <string>

#include <fmt/core.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/run_rows/cancel_rows.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/part_rows.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/domain/parts/cancel_groups.h"
#include "common/domain/run/run_kind.h"

namespace carillon::mysql {
namespace {

struct CancelledGroup {
  int64_t count = 0;
  EndedRuns ended = {};
  std::vector<RunKey> maybe_workflows = {};
};

// True for a run that is only planned: its fire is in the future, and it has not been tried.
bool IsAhead(const RunRow& row, WallTime now) {
  return row.state == RunState::kPending && row.attempt == 1 && IsPlannedAhead(row.kind) &&
         row.key.fire > now;
}

// The own runs that wait for a slot of their job or group, or ask for one as soon as they are due.
Result<std::set<RunKey>> ReadWaiting(Session& session, const std::vector<RunKey>& open) {
  static const std::string statement = fmt::format(
      "SELECT r.fire_us, r.schedule_id FROM {} WHERE r.state = 'PENDING' AND "
      "(r.due_us = {} OR r.slot_taken = 0)",
      kKeysJoinRuns, ToUnixMicros(kQueued));
  std::set<RunKey> waiting;
  JsonRows wanted;
  const auto read = [&]() -> Status {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
    while (rows.Next()) waiting.insert({rows.Time(1), ScheduleId(rows.Unsigned(2)), 0});
    return {};
  };
  for (const RunKey& key : open) {
    if (IsPart(key)) continue;
    wanted.Begin().Add(key);
    if (wanted.size() == kKeysPerStatement) CARILLON_TRY(read());
  }
  if (!wanted.empty()) CARILLON_TRY(read());
  return waiting;
}

Result<CancelledGroup> CancelGroup(Session& session, const std::vector<RunKey>& group,
                                   const WriteContext& context, Incarnations& incarnations) {
  CancelledGroup cancelled;
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, group, incarnations));
  RunWriter writer(session);
  for (const RunKey& key : group) {
    const auto found = runs.find(key);
    if (found == runs.end() || IsAhead(found->second.row, context.now)) continue;
    StoredRun& run = found->second;
    if (MayHaveNodes(run)) cancelled.maybe_workflows.push_back(key);
    CARILLON_ASSIGN_OR_RETURN(const CancelEffect effect,
                              CancelLocked(run, {session, incarnations, writer}, TermsOf(context)));
    if (IsCancel(effect)) ++cancelled.count;
  }
  CARILLON_TRY(writer.Flush());
  cancelled.ended = writer.ended();
  return cancelled;
}

}  // namespace

bool MayHaveNodes(const StoredRun& run) {
  return run.incarnation_no == 0 && !IsPart(run.row.key) && !MayHaveParts(run.row);
}

Result<int64_t> CancelRunsOf(Pool& pool, const JobId& id, const WriteContext& context,
                             Incarnations& incarnations, std::vector<RunKey>* maybe_workflows) {
  std::vector<std::vector<RunKey>> groups;
  // While the job is locked, nobody can add a run of it, and those added before are found.
  const auto find_and_cancel = [&](Session& session) -> Result<CancelledGroup> {
    CARILLON_ASSIGN_OR_RETURN(const StoredJobRow job, LockLiveJob(session, id, JobLock::kUpdate));
    CARILLON_ASSIGN_OR_RETURN(const std::vector<RunKey> open,
                              ReadOpenKeys(session, job.job_no, job.segment));
    groups = GroupsToCancel(open, {});
    if (groups.empty()) return CancelledGroup();
    if (groups.size() > 1) {
      CARILLON_ASSIGN_OR_RETURN(const std::set<RunKey> waiting, ReadWaiting(session, open));
      groups = GroupsToCancel(open, waiting);
    }
    return CancelGroup(session, groups.front(), context, incarnations);
  };
  int64_t count = 0;
  if (context.ended != nullptr) context.ended->clear();
  for (size_t i = 0; i == 0 || i < groups.size(); ++i) {
    const auto cancel_next = [&](Session& session) -> Result<CancelledGroup> {
      if (i == 0) return find_and_cancel(session);
      return CancelGroup(session, groups[i], context, incarnations);
    };
    CARILLON_ASSIGN_OR_RETURN(const CancelledGroup cancelled,
                              InTransaction(pool, {.operation = "cancel runs"}, cancel_next));
    count += cancelled.count;
    maybe_workflows->insert(maybe_workflows->end(), cancelled.maybe_workflows.begin(),
                            cancelled.maybe_workflows.end());
    if (context.ended == nullptr) continue;
    for (const auto& [state, runs] : cancelled.ended) (*context.ended)[state] += runs;
  }
  return count;
}

}  // namespace carillon::mysql
