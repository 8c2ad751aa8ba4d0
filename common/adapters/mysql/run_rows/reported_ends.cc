#include "common/adapters/mysql/run_rows/reported_ends.h"

#include <string>

#include <fmt/format.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/part_rows.h"

namespace carillon::mysql {
namespace {

Status AddReported(Session& session, JsonRows attempts, std::set<RunKey>* reported) {
  static const std::string statement =
      "SELECT a.fire_us, a.schedule_id, a.shard FROM " + KeyedRuns("n INT PATH '$[3]'") +
      " STRAIGHT_JOIN run_attempts a FORCE INDEX (PRIMARY) ON a.fire_us = k.f AND a.schedule_id = "
      "k.s AND a.shard = k.h AND a.attempt = k.n";
  if (attempts.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {attempts.Take()}));
  while (rows.Next()) {
    reported->insert(
        {rows.Time(1), ScheduleId(rows.Unsigned(2)), static_cast<uint32_t>(rows.Unsigned(3))});
  }
  return {};
}

// The executors report the parts of a fire, and never its own run.
Status RemoveUnreported(Session& session, JsonRows owns, std::set<RunKey>* reported) {
  // MayStillRun judges what has one of these reasons.
  static const std::string statement = fmt::format(
      "SELECT r.fire_us, r.schedule_id, r.state + 0, r.reason FROM {} STRAIGHT_JOIN job_runs r "
      "FORCE INDEX (PRIMARY) ON r.fire_us = k.f AND r.schedule_id = k.s AND r.shard > 0 LEFT JOIN "
      "run_attempts a FORCE INDEX (PRIMARY) ON a.fire_us = r.fire_us AND a.schedule_id = "
      "r.schedule_id AND a.shard = r.shard AND a.attempt = r.attempt WHERE r.reason IN ('{}', "
      "'{}') AND a.attempt IS NULL",
      KeyedRuns(""), reason::kExecutorLost, reason::kOutcomeUnknown);
  if (owns.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {owns.Take()}));
  while (rows.Next()) {
    // A state of a later version may be one in which a process runs.
    const RunState state = StateOf(rows.Int(3)).value_or(RunState::kHeld);
    if (!MayStillRun(state, rows.Text(4))) continue;
    reported->erase({rows.Time(1), ScheduleId(rows.Unsigned(2)), 0});
  }
  return {};
}

}  // namespace

Result<std::set<RunKey>> ReportedOf(Session& session, const std::vector<StoredRun>& runs) {
  std::set<RunKey> reported;
  JsonRows attempts;
  JsonRows owns;
  for (const StoredRun& run : runs) {
    if (run.readable && MayHaveParts(run.row) && run.incarnation_no == 0) {
      owns.Begin().Add(run.row.key);
      reported.insert(run.row.key);
    } else {
      attempts.Begin().Add(run.row.key).Add(run.row.attempt);
    }
  }
  CARILLON_TRY(RemoveUnreported(session, std::move(owns), &reported));
  CARILLON_TRY(AddReported(session, std::move(attempts), &reported));
  return reported;
}

}  // namespace carillon::mysql
