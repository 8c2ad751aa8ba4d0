#include "common/adapters/mysql/operations/mysql_settings_store.h"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "common/adapters/mysql/client/transaction.h"
#include "common/base/cluster_settings.h"
#include "common/domain/run/run.h"

namespace carillon::mysql {

namespace {

// The begin of the present pause; 0: it is not known.
Result<int64_t> PausedSinceUs(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT value FROM system_config WHERE name = ?", {std::string(kPauseSince)}));
  if (!rows.Next()) return 0;
  const auto since = ParseRfc3339(rows.Text(1));
  return since.ok() ? ToUnixMicros(*since) : 0;
}

// An open approval does not expire in a pause, so it has its whole time. One that opened in the
// pause gets what was left of the pause.
Status MoveApprovals(Session& session, uint32_t segment_count, int64_t paused_us,
                     int64_t resumed_us) {
  std::vector<uint32_t> segments(segment_count);
  std::iota(segments.begin(), segments.end(), 0u);
  CARILLON_TRY(session.Execute(
      fmt::format("UPDATE job_runs r FORCE INDEX (open_runs) SET r.until_us = r.until_us + "
                  "GREATEST(0, LEAST(?, ? - r.started_us)) WHERE "
                  "r.open_segment IN ({}) AND r.due_us = {} AND r.state = 'PENDING' AND "
                  "r.until_us > 0",
                  fmt::join(segments, ", "), ToUnixMicros(kUndecided)),
      {paused_us, resumed_us}));
  return {};
}

// Nothing of a workflow run ends for its time in a pause.
Status MoveTimes(Session& session, uint32_t segment_count, Duration paused, int64_t since_us) {
  const int64_t paused_us = paused / 1us;
  const int64_t resumed_us = since_us == 0 ? INT64_MAX : since_us + paused_us;
  CARILLON_TRY(session.Execute(
      "UPDATE workflow_runs SET deadline_us = deadline_us + ?, finally_us = IF(finally_us > 0, "
      "finally_us + GREATEST(0, LEAST(?, ? - finally_us)), 0) WHERE open_segment IS NOT NULL",
      {paused_us, paused_us, resumed_us}));
  return MoveApprovals(session, segment_count, paused_us, resumed_us);
}

}  // namespace

Result<ClusterSettings> MysqlSettingsStore::ReadSettings() {
  return InRead(db_.pool(), "settings", [](Session& session) -> Result<ClusterSettings> {
    // Uses one statement, so that the version and the values belong together.
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query("SELECT i.settings_version, c.name, c.value FROM store_identity i "
                                 "LEFT JOIN system_config c ON TRUE WHERE i.id = 1"));
    ClusterSettings settings;
    while (rows.Next()) {
      settings.version = rows.Int(1);
      if (!rows.IsNull(2)) settings.values[rows.Text(2)] = rows.Text(3);
    }
    return settings;
  });
}

Result<ClusterSettings> MysqlSettingsStore::WriteSettings(int64_t expected,
                                                          const ClusterSettings& next,
                                                          Duration paused) {
  return InTransaction(
      db_.pool(), {.operation = "settings"}, [&](Session& session) -> Result<ClusterSettings> {
        CARILLON_ASSIGN_OR_RETURN(const int64_t matched,
                                  session.Execute("UPDATE store_identity SET settings_version = ? "
                                                  "WHERE id = 1 AND settings_version = ?",
                                                  {next.version, expected}));
        if (matched == 0) return Error{ErrorCode::kConflict, "the settings were changed meanwhile"};
        CARILLON_ASSIGN_OR_RETURN(const int64_t since_us, PausedSinceUs(session));
        CARILLON_TRY(session.Execute("DELETE FROM system_config"));
        for (const auto& [name, value] : next.values) {
          CARILLON_TRY(session.Execute("INSERT INTO system_config (name, value) VALUES (?, ?)",
                                       {name, value}));
        }
        if (paused > Duration::zero()) {
          CARILLON_TRY(MoveTimes(session, db_.segment_count(), paused, since_us));
        }
        return next;
      });
}

}  // namespace carillon::mysql
