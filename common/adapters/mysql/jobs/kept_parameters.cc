#include "common/adapters/mysql/jobs/kept_parameters.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/domain/parts/run_part.h"
#include "common/domain/run/dependents.h"
#include "common/wire/json/job/given_parameters.h"

namespace carillon::mysql {
namespace {

constexpr size_t kRunsPerStatement = 500;

// The parameters of the run with the facts that it keeps.
Result<std::string> WithKept(std::string own, ScheduleId id, bool in_parts,
                             const std::optional<RunTrigger>& trigger, const KeptFacts& facts) {
  if (const auto found = facts.parameters.find(id); found != facts.parameters.end()) {
    const Parameters& fixed = found->second;
    CARILLON_ASSIGN_OR_RETURN(
        own, WithScheduleParameters(own, trigger ? FillTrigger(fixed, *trigger) : fixed));
  }
  const auto begun = in_parts ? facts.fires.ToKeep(id, trigger) : std::nullopt;
  if (begun) {
    CARILLON_ASSIGN_OR_RETURN(own, WithScheduleParameters(own, *begun));
  }
  const auto zone = facts.zones.ToKeep(id);
  return zone ? WithZone(own, *zone) : own;
}

Status KeepSome(Session& session, JsonRows wanted, const KeptFacts& facts) {
  // The last column says what IsInParts does. A fire that is PENDING will begin again.
  static const std::string read = fmt::format(
      "SELECT r.fire_us, r.schedule_id, r.shard, r.parameters, r.started_by, (r.flags & {}) <> 0 "
      "AND r.incarnation_no = 0 AND r.state <> 'PENDING' FROM {}",
      run_flag::kParts, kKeysJoinRuns);
  static const std::string write = UpdateRuns(
      "m LONGTEXT PATH '$[3]'",
      fmt::format("r.parameters = CONVERT(FROM_BASE64(k.m) USING utf8mb4), r.flags = r.flags | {}",
                  run_flag::kHasRequest),
      "TRUE");
  JsonRows kept;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(read, {wanted.Take()}));
    while (rows.Next()) {
      const RunKey key{rows.Time(1), ScheduleId(rows.Unsigned(2)),
                       static_cast<uint32_t>(rows.Unsigned(3))};
      const bool in_parts = rows.Int(6) != 0;
      if (!facts.Concern(key.schedule_id, in_parts)) continue;
      const auto merged =
          WithKept(rows.Text(4), key.schedule_id, in_parts, TriggerFromText(rows.Text(5)), facts);
      // A run whose parameters cannot be read does not start, and says so.
      if (merged.ok()) kept.Begin().Add(key).AddBytes(*merged);
    }
  }
  if (kept.empty()) return {};
  CARILLON_TRY(session.Execute(write, {kept.Take()}));
  return {};
}

// Parts read the request of their own run: they only learn that it has one now.
Status TellParts(Session& session, const std::vector<RunKey>& parts) {
  static const std::string statement =
      UpdateRuns("", fmt::format("r.flags = r.flags | {}", run_flag::kHasRequest),
                 fmt::format("(r.flags & {}) = 0", run_flag::kHasRequest));
  return ExecuteForKeys(session, statement, parts);
}

}  // namespace

Status KeepParameters(Session& session, const std::vector<RunKey>& runs, const KeptFacts& kept) {
  JsonRows wanted;
  std::vector<RunKey> parts;
  for (const RunKey& key : runs) {
    if (!kept.Concern(key.schedule_id, true)) continue;
    if (IsPart(key)) {
      parts.push_back(key);
      continue;
    }
    wanted.Begin().Add(key);
    if (wanted.size() == kRunsPerStatement) {
      CARILLON_TRY(KeepSome(session, std::move(wanted), kept));
      wanted = {};
    }
  }
  if (!wanted.empty()) CARILLON_TRY(KeepSome(session, std::move(wanted), kept));
  return TellParts(session, parts);
}

Result<std::vector<RunKey>> ReadFailedRuns(Session& session, JobNo job_no, const KeptFacts& kept) {
  std::vector<RunKey> keys;
  if (kept.empty()) return keys;
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT d.fire_us, d.schedule_id, d.shard FROM dead_letters d FORCE INDEX "
                    "(by_job) WHERE d.job_no = ? ORDER BY d.id DESC LIMIT ?",
                    {job_no.value(), kFailedRunsKeptMax}));
  while (rows.Next()) {
    const RunKey key{rows.Time(1), ScheduleId(rows.Unsigned(2)),
                     static_cast<uint32_t>(rows.Unsigned(3))};
    if (kept.Concern(key.schedule_id, true)) keys.push_back(key);
  }
  return keys;
}

}  // namespace carillon::mysql
