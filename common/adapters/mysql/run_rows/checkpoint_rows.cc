#include "common/adapters/mysql/run_rows/checkpoint_rows.h"

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/run_rows/run_details.h"

namespace carillon::mysql {

Result<SavedState> ReadSaved(Session& session, const RunKey& key) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT r.percent, r.progress_text, r.progress_at_us, LENGTH(r.checkpoint), "
                    "r.checkpoint_attempt, r.saved_at_us FROM run_checkpoints r WHERE " +
                        std::string(kIsRun),
                    ParamsOf(key)));
  SavedState saved;
  if (!rows.Next()) return saved;
  if (!rows.IsNull(3)) {
    saved.progress.emplace().text = rows.Text(2);
    if (!rows.IsNull(1)) saved.progress->percent = static_cast<int>(rows.Int(1));
    saved.progress_at = rows.Time(3);
  }
  if (!rows.IsNull(6)) {
    saved.checkpoint = {
        .size = rows.Int(4), .attempt = static_cast<int>(rows.Int(5)), .at = rows.Time(6)};
  }
  return saved;
}

Status DeleteSavedOfCompleted(Session& session, const std::vector<ResultReport>& reports,
                              const std::vector<RunEffect>& effects) {
  JsonRows rows;
  for (size_t i = 0; i < reports.size(); ++i) {
    const bool completed =
        effects[i].verdict == ResultVerdict::kApplied && effects[i].state == RunState::kCompleted;
    if (reports[i].result.saved && completed) rows.Begin().Add(reports[i].key);
  }
  if (rows.empty()) return {};
  CARILLON_TRY(session.Execute("DELETE t FROM JSON_TABLE(" CARILLON_JSON
                               ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH "
                               "'$[1]', h INT UNSIGNED PATH '$[2]')) k STRAIGHT_JOIN "
                               "run_checkpoints t FORCE INDEX (PRIMARY) "
                               "ON t.fire_us = k.f AND t.schedule_id = k.s AND t.shard = k.h",
                               {rows.Take()}));
  return {};
}

}  // namespace carillon::mysql
