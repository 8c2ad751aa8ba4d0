#include "common/adapters/mysql/operations/mysql_settings_store.h"

#include <numeric>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "common/adapters/mysql/client/transaction.h"
#include "common/domain/run/run.h"

namespace carillon::mysql {

namespace {

// An open approval does not expire in a pause, so it has its whole time.
Status MoveApprovals(Session& session, uint32_t segment_count, Duration paused) {
  std::vector<uint32_t> segments(segment_count);
  std::iota(segments.begin(), segments.end(), 0u);
  CARILLON_TRY(session.Execute(
      fmt::format("UPDATE job_runs r FORCE INDEX (open_runs) SET r.until_us = r.until_us + ? WHERE "
                  "r.open_segment IN ({}) AND r.due_us = {} AND r.state = 'PENDING' AND "
                  "r.until_us > 0",
                  fmt::join(segments, ", "), ToUnixMicros(kUndecided)),
      {int64_t{paused / 1us}}));
  return {};
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
        CARILLON_TRY(session.Execute("DELETE FROM system_config"));
        for (const auto& [name, value] : next.values) {
          CARILLON_TRY(session.Execute("INSERT INTO system_config (name, value) VALUES (?, ?)",
                                       {name, value}));
        }
        if (paused > Duration::zero()) {
          CARILLON_TRY(
              session.Execute("UPDATE workflow_runs SET deadline_us = deadline_us + ?, finally_us "
                              "= IF(finally_us > 0, finally_us + ?, 0) WHERE open_segment IS NOT "
                              "NULL",
                              {int64_t{paused / 1us}, int64_t{paused / 1us}}));
          CARILLON_TRY(MoveApprovals(session, db_.segment_count(), paused));
        }
        return next;
      });
}

}  // namespace carillon::mysql
