#include "common/adapters/mysql/workflow/retry_writer.h"

#include <fmt/core.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/job_rows/job_of.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/part_rows.h"
#include "common/adapters/mysql/run_rows/run_details.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/base/failpoint.h"
#include "common/domain/run/dependents.h"
#include "common/domain/upstream/wait_end.h"

namespace carillon::mysql {
namespace {

bool IsAsRead(const StoredRun& run, const StoredRun& before) {
  return run.row.state == before.row.state && run.row.attempt == before.row.attempt &&
         run.row.may_still_run == before.row.may_still_run;
}

// Gives nodes that wait on for runs of other jobs their whole time again (WaitLimit).
Status BeginWaitsAnew(Session& session, const std::vector<RunKey>& waiting, WallTime now) {
  static const std::string statement =
      UpdateRuns("p BIGINT PATH '$[3]'", "r.planned_us = k.p", "TRUE");
  if (waiting.empty()) return {};
  JsonRows rows;
  for (const RunKey& key : waiting) rows.Begin().Add(key).Add(now);
  CARILLON_TRY(session.Execute(statement, {rows.Take()}));
  return {};
}

}  // namespace

Result<AttemptResult> EndedAttempt(Session& session, const StoredRun& run,
                                   Incarnations& incarnations) {
  CARILLON_ASSIGN_OR_RETURN(const RunDetail detail, ReadDetail(session, run.row.key, incarnations));
  AttemptResult ended = detail.result;
  // A lost attempt is recorded as LOST, because its real end may still be reported.
  ended.state = run.ended_by_loss ? RunState::kLost : run.row.state;
  return ended;
}

Status ClearAnew(Session& session, const RunKey& own) {
  static const std::string statement = UpdateRuns(
      "", fmt::format("r.flags = r.flags & ~{}", run_flag::kAnew | run_flag::kParts), "TRUE");
  JsonRows keys;
  keys.Begin().Add(own);
  CARILLON_TRY(session.Execute(statement, {keys.Take()}));
  return {};
}

Status WriteRetryPlan(Session& session, const NodeStates& nodes, const RetryPlan& plan,
                      const NodeWriteRules& rules) {
  std::vector<JobNo> job_nos;
  std::vector<RunKey> keys;
  for (const NodeChange& change : plan.changes) {
    job_nos.push_back(nodes.runs[change.position].row.job_no);
    keys.push_back(nodes.runs[change.position].row.key);
  }
  if (keys.empty()) return {};
  LockedJobs jobs;
  CARILLON_TRY(LockJobs(session, std::move(job_nos), &jobs));
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs,
                            LockRuns(session, std::move(keys), rules.incarnations));
  std::vector<RunKey> ended;
  for (const NodeChange& change : plan.changes) {
    const StoredRun& before = nodes.runs[change.position];
    const auto found = runs.find(before.row.key);
    if (found == runs.end() || !IsAsRead(found->second, before)) {
      return {ErrorCode::kConflict, "a node has changed meanwhile; try again"};
    }
    if (change.record_attempt) ended.push_back(before.row.key);
  }
  CARILLON_TRY(RecordEndedAttempts(session, ended));
  RunWriter writer(session, Reopener::kWorkflows);
  std::vector<RunKey> waiting;
  for (const NodeChange& change : plan.changes) {
    StoredRun& run = runs.at(nodes.runs[change.position].row.key);
    const std::optional<JobRow> job = JobOf(jobs, run.row);
    if (!job) return {ErrorCode::kCorrupt, "workflow: a node without a job"};
    // The next step follows from the caller's wake-up.
    run.row.flags &= ~run_flag::kNode;
    const bool again = change.to == NodeChange::To::kAgain;
    const RunChange written{.state = again ? RunState::kPending : RunState::kSkipped,
                            .attempt = change.attempt,
                            .due = DueOfNodeAgain(run.row),
                            .def_version = job->version,
                            .priority = job->priority,
                            .reason = again ? "" : std::string(reason::kSkippedByHand),
                            .clear_token = !failpoint::Broken("retry.keep_token"),
                            .given_back = change.given_back};
    if (again && change.anew) run.row.flags |= run_flag::kAnew;
    if (again) run.row.flags |= EndFlags(run.row.kind, run.row.flags, job->has_dependents);
    if (again && written.due == kAwaiting) waiting.push_back(run.row.key);
    // The record has the result of the attempt; a run that is skipped ends without one.
    AttemptResult end;
    if (!again) end = {.state = RunState::kSkipped, .ended = rules.now};
    CARILLON_TRY(writer.Change(run, written, end, rules.now));
  }
  CARILLON_TRY(writer.Flush());
  return BeginWaitsAnew(session, waiting, rules.now);
}

}  // namespace carillon::mysql
