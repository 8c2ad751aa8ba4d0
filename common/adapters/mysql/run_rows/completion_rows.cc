#include "common/adapters/mysql/run_rows/completion_rows.h"

#include "common/adapters/mysql/client/json_rows.h"
#include "common/domain/run/run_kind.h"

namespace carillon::mysql {

// The end of a node's run is told to the owner of its workflow run. 2251799813685248 is
// kFirstNodeSchedule, 1024 is kNodePositionsMax.
const std::string kInsertCompletions =
    "INSERT INTO run_completions (segment, target, fire_us, schedule_id, shard, job_no, state, "
    "ended_us, by_hand) SELECT COALESCE(w.segment, k.g), k.w, k.f, k.s, k.h, k.j, k.t, k.e, k.b "
    "FROM "
    "JSON_TABLE(" CARILLON_JSON
    ", '$[*]' "
    "COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', h INT UNSIGNED PATH '$[2]', "
    "g INT UNSIGNED PATH '$[3]', j BIGINT UNSIGNED PATH '$[4]', t VARCHAR(16) PATH '$[5]', "
    "e BIGINT PATH '$[6]', w VARCHAR(32) PATH '$[7]', b INT PATH '$[8]')) k LEFT JOIN "
    "workflow_runs w "
    "FORCE INDEX (PRIMARY) ON w.no = IF(k.w = 'workflow', (k.s - 2251799813685248) DIV 1024, 0)";

void AddCompletion(const RunRow& row, WallTime ended, JsonRows& rows) {
  for (const CompletionTarget target : TargetsOf(row)) {
    rows.Begin()
        .Add(row.key)
        .Add(row.segment.value())
        .Add(row.job_no.value())
        .Add(Name(row.state))
        .Add(EndOf(row, ended))
        .Add(Name(target))
        .Add(ByHandFlag(row.kind, row.flags) != 0);
  }
}

void AddWakeUp(const RunRow& node, WallTime now, JsonRows& rows) {
  rows.Begin()
      .Add(node.key)
      .Add(node.segment.value())
      .Add(node.job_no.value())
      .Add(Name(RunState::kRunning))
      .Add(now)
      .Add(Name(CompletionTarget::kWorkflow))
      .Add(false);
}

Status DeleteCompletions(Session& session, const std::vector<uint64_t>& ids) {
  if (ids.empty()) return {};
  JsonRows rows;
  for (const uint64_t id : ids) rows.Begin().Add(id);
  CARILLON_TRY(
      session.Execute("DELETE c FROM JSON_TABLE(" CARILLON_JSON
                      ", '$[*]' COLUMNS (i BIGINT UNSIGNED PATH '$[0]')) k "
                      "STRAIGHT_JOIN run_completions c FORCE INDEX (PRIMARY) ON c.id = k.i",
                      {rows.Take()}));
  return {};
}

}  // namespace carillon::mysql
