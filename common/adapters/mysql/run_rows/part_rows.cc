#include "common/adapters/mysql/run_rows/part_rows.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/reported_ends.h"

namespace carillon::mysql {
namespace {

constexpr std::string_view kPartsOfFire =
    " FROM job_runs r FORCE INDEX (PRIMARY) WHERE r.fire_us = ? AND r.schedule_id = ? AND "
    "r.shard > 0";
constexpr std::string_view kByShard = " ORDER BY r.shard";

Params FireOf(const RunKey& own) { return {ToUnixMicros(own.fire), own.schedule_id.value()}; }

}  // namespace

Result<std::vector<StoredRun>> LockOpenParts(Session& session, const RunKey& own,
                                             Incarnations& incarnations) {
  static const std::string locking =
      fmt::format("SELECT {}{} AND r.open_segment IS NOT NULL{} FOR UPDATE", kRunColumns,
                  kPartsOfFire, kByShard);
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(locking, FireOf(own)));
  return ReadRuns(session, std::move(rows), incarnations);
}

Result<std::vector<LockedPart>> LockParts(Session& session, const RunKey& own,
                                          Incarnations& incarnations) {
  static const std::string locking =
      fmt::format("SELECT {}, r.reason{}{} FOR UPDATE", kRunColumns, kPartsOfFire, kByShard);
  std::vector<LockedPart> parts;
  std::vector<StoredRun> given_up;
  std::vector<uint32_t> numbers;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(locking, FireOf(own)));
    while (rows.Next()) {
      LockedPart part{.run = ReadRun(rows), .reason = rows.Text(kRunColumnCount + 1)};
      NoteIfUnreadable(session, part.run);
      numbers.push_back(part.run.incarnation_no);
      if (part.run.row.may_still_run) given_up.push_back(part.run);
      parts.push_back(std::move(part));
    }
  }
  CARILLON_ASSIGN_OR_RETURN(const std::set<RunKey> reported, ReportedOf(session, given_up));
  CARILLON_ASSIGN_OR_RETURN(const Incarnations::Keys keys, incarnations.Load(session, numbers));
  for (LockedPart& part : parts) {
    RunRow& row = part.run.row;
    if (reported.contains(row.key)) row.may_still_run = false;
    const auto key = keys.find(part.run.incarnation_no);
    if (key == keys.end()) continue;
    row.executor = key->second.first;
    row.incarnation = key->second.second;
  }
  return parts;
}

Result<std::vector<RunPart>> ReadParts(Session& session, const RunKey& own,
                                       Incarnations& incarnations) {
  static const std::string statement =
      fmt::format("SELECT {}, r.reason, r.ended_us{}{}", kRunColumns, kPartsOfFire, kByShard);
  std::vector<RunPart> parts;
  std::vector<uint32_t> numbers;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, FireOf(own)));
    while (rows.Next()) {
      StoredRun run = ReadRun(rows);
      if (!NoteIfUnreadable(session, run)) continue;
      RunRow& row = run.row;
      numbers.push_back(run.incarnation_no);
      parts.push_back({.key = row.key,
                       .state = row.state,
                       .attempt = row.attempt,
                       .reason = rows.Text(kRunColumnCount + 1),
                       .pinned_executor = std::move(row.pinned_executor),
                       .due = row.due,
                       .claimed = row.claimed,
                       .started = run.started,
                       .ended = rows.Time(kRunColumnCount + 2)});
    }
  }
  CARILLON_ASSIGN_OR_RETURN(const Incarnations::Keys keys, incarnations.Load(session, numbers));
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto key = keys.find(numbers[i]);
    if (key != keys.end()) parts[i].executor = key->second.first;
  }
  return parts;
}

Result<std::map<RunKey, PartCounts>> ReadPartCounts(Session& session,
                                                    const std::vector<RunKey>& owns) {
  static const std::string statement =
      "SELECT r.fire_us, r.schedule_id, r.state + 0, COUNT(*) FROM " + KeyedRuns("") +
      " STRAIGHT_JOIN job_runs r FORCE INDEX (PRIMARY) ON r.fire_us = k.f AND r.schedule_id = k.s "
      "AND r.shard > 0 GROUP BY r.fire_us, r.schedule_id, r.state + 0";
  std::map<RunKey, PartCounts> counts;
  if (owns.empty()) return counts;
  JsonRows keys;
  for (const RunKey& own : owns) keys.Begin().Add(own);
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {keys.Take()}));
  while (rows.Next()) {
    const std::optional<RunState> state = StateOf(rows.Int(3));
    if (!state) continue;
    const RunKey own{.fire = rows.Time(1), .schedule_id = ScheduleId(rows.Unsigned(2))};
    counts[own][*state] = rows.Int(4);
  }
  return counts;
}

Status RecordEndedAttempts(Session& session, const std::vector<RunKey>& runs) {
  // An attempt that was given up as lost is recorded as LOST: its real end may still be reported.
  static const std::string statement =
      "INSERT INTO run_attempts (fire_us, schedule_id, shard, attempt, state, executor_id, "
      "claimed_us, started_us, ended_us, exit_code, reason, output_truncated, detail, error, "
      "output) SELECT r.fire_us, r.schedule_id, r.shard, r.attempt, IF(r.reason IN "
      "('executor_lost', 'warden_died', 'lease_ended', 'outcome_unknown'), 'LOST', r.state), "
      "COALESCE(i.executor_id, ''), r.claimed_us, r.started_us, r.ended_us, r.exit_code, r.reason, "
      "r.output_truncated, r.detail, r.error, r.output FROM " +
      kKeysJoinRuns +
      " LEFT JOIN executor_incarnations i FORCE INDEX (PRIMARY) ON i.incarnation_no = "
      "r.incarnation_no ON DUPLICATE KEY UPDATE run_attempts.attempt = run_attempts.attempt";
  if (runs.empty()) return {};
  JsonRows keys;
  for (const RunKey& key : runs) keys.Begin().Add(key);
  CARILLON_TRY(session.Execute(statement, {keys.Take()}));
  return {};
}

}  // namespace carillon::mysql
