#include "common/adapters/mysql/jobs/kept_parameters.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/domain/run/dependents.h"
#include "common/wire/json/job/given_parameters.h"

namespace carillon::mysql {
namespace {

constexpr size_t kRunsPerStatement = 500;

Status KeepSome(Session& session, JsonRows wanted, const RemovedParameters& removed) {
  static const std::string read =
      "SELECT r.fire_us, r.schedule_id, r.shard, r.parameters, r.started_by FROM " + kKeysJoinRuns;
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
      const auto trigger = TriggerFromText(rows.Text(5));
      const Parameters& own = removed.at(key.schedule_id);
      const auto merged =
          WithScheduleParameters(rows.Text(4), trigger ? FillTrigger(own, *trigger) : own);
      // A run whose parameters cannot be read does not start, and says so.
      if (merged.ok()) kept.Begin().Add(key).AddBytes(*merged);
    }
  }
  if (kept.empty()) return {};
  CARILLON_TRY(session.Execute(write, {kept.Take()}));
  return {};
}

}  // namespace

Status KeepParameters(Session& session, const std::vector<RunKey>& runs,
                      const RemovedParameters& removed) {
  JsonRows wanted;
  for (const RunKey& key : runs) {
    if (!removed.contains(key.schedule_id)) continue;
    wanted.Begin().Add(key);
    if (wanted.size() == kRunsPerStatement) {
      CARILLON_TRY(KeepSome(session, std::move(wanted), removed));
      wanted = {};
    }
  }
  return wanted.empty() ? Status() : KeepSome(session, std::move(wanted), removed);
}

Result<std::vector<RunKey>> ReadFailedRuns(Session& session, JobNo job_no,
                                           const RemovedParameters& removed) {
  std::vector<RunKey> keys;
  if (removed.empty()) return keys;
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT d.fire_us, d.schedule_id, d.shard FROM dead_letters d FORCE INDEX "
                    "(by_job) WHERE d.job_no = ? ORDER BY d.id DESC LIMIT ?",
                    {job_no.value(), kFailedRunsKeptMax}));
  while (rows.Next()) {
    const RunKey key{rows.Time(1), ScheduleId(rows.Unsigned(2)),
                     static_cast<uint32_t>(rows.Unsigned(3))};
    if (removed.contains(key.schedule_id)) keys.push_back(key);
  }
  return keys;
}

}  // namespace carillon::mysql
