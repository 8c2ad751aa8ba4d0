#include "common/adapters/mysql/runs/mysql_checkpoint_store.h"

#include <map>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/run_rows/run_details.h"
#include "common/adapters/mysql/run_rows/run_rows.h"

namespace carillon::mysql {
namespace {

constexpr size_t kSaveBytesPerStatement = 4u << 20;

const std::string kSavedKeys =
    "JSON_TABLE(" CARILLON_JSON
    ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', h INT "
    "UNSIGNED PATH '$[2]')) k STRAIGHT_JOIN run_checkpoints t FORCE INDEX (PRIMARY) ON t.fire_us = "
    "k.f AND t.schedule_id = k.s AND t.shard = k.h";

// Progress and checkpoint that a save does not have are NULL, and stay as they are in a row
// that exists.
const std::string kWriteSaves =
    "INSERT INTO run_checkpoints (fire_us, schedule_id, shard, attempt, seq, percent, "
    "progress_text, progress_at_us, checkpoint, checkpoint_attempt, saved_at_us) SELECT k.f, k.s, "
    "k.h, k.a, k.q, k.p, k.t, k.x, FROM_BASE64(k.c), k.b, k.y FROM JSON_TABLE(" CARILLON_JSON
    ", '$[*]' COLUMNS "
    "(f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', h INT UNSIGNED PATH '$[2]', a INT "
    "UNSIGNED PATH '$[3]', q BIGINT UNSIGNED PATH '$[4]', p INT UNSIGNED PATH '$[5]', t LONGTEXT "
    "PATH '$[6]', x BIGINT PATH '$[7]', c LONGTEXT PATH '$[8]', b INT UNSIGNED PATH '$[9]', y "
    "BIGINT PATH '$[10]')) k ON DUPLICATE KEY UPDATE attempt = k.a, seq = k.q, percent = IF(k.x IS "
    "NULL, percent, k.p), progress_text = IF(k.x IS NULL, progress_text, k.t), progress_at_us = "
    "COALESCE(k.x, progress_at_us), checkpoint = IF(k.y IS NULL, checkpoint, FROM_BASE64(k.c)), "
    "checkpoint_attempt = COALESCE(k.b, checkpoint_attempt), saved_at_us = COALESCE(k.y, "
    "saved_at_us)";

std::string JsonOf(const std::vector<RunKey>& keys) {
  JsonRows rows;
  for (const RunKey& key : keys) rows.Begin().Add(key);
  return rows.Take();
}

void AddSave(JsonRows& rows, const RunSave& save, WallTime now) {
  rows.Begin().Add(save.key).Add(save.attempt).Add(save.seq);
  if (save.progress && save.progress->percent) {
    rows.Add(*save.progress->percent);
  } else {
    rows.AddNull();
  }
  if (save.progress) {
    rows.Add(std::string_view(save.progress->text)).Add(now);
  } else {
    rows.AddNull().AddNull();
  }
  if (save.checkpoint) {
    rows.AddBytes(*save.checkpoint).Add(save.attempt).Add(now);
  } else {
    rows.AddNull().AddNull().AddNull();
  }
}

using SavePositions = std::map<RunKey, SavePosition>;

Result<SavePositions> ReadPositions(Session& session, const std::vector<RunKey>& keys) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows,
                            session.Query("SELECT t.fire_us, t.schedule_id, t.shard, t.attempt, "
                                          "t.seq FROM " +
                                              kSavedKeys,
                                          {JsonOf(keys)}));
  SavePositions positions;
  while (rows.Next()) {
    const RunKey key{rows.Time(1), ScheduleId(rows.Unsigned(2)),
                     static_cast<uint32_t>(rows.Unsigned(3))};
    positions[key] = {static_cast<int>(rows.Int(4)), rows.Unsigned(5)};
  }
  return positions;
}

}  // namespace

Result<std::vector<SaveVerdict>> MysqlCheckpointStore::Save(const std::vector<RunSave>& saves,
                                                            const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(saves, fence, "saves"));
  if (saves.empty()) return std::vector<SaveVerdict>{};
  std::vector<RunKey> keys;
  for (const RunSave& save : saves) keys.push_back(save.key);
  using Verdicts = std::vector<SaveVerdict>;
  return InTransaction(
      db_.pool(), {.operation = "saves"}, [&](Session& session) -> Result<Verdicts> {
        CARILLON_TRY(LockFence(session, fence));
        // Locked, so that a run cannot end, and no other attempt can save, before the commit.
        CARILLON_ASSIGN_OR_RETURN(const LockedRuns runs,
                                  LockRuns(session, keys, db_.caches().incarnations));
        CARILLON_ASSIGN_OR_RETURN(SavePositions positions, ReadPositions(session, keys));
        Verdicts verdicts;
        JsonRows rows;
        const auto flush = [&]() -> Status {
          if (rows.empty()) return {};
          CARILLON_TRY(session.Execute(kWriteSaves, {rows.Take()}));
          return {};
        };
        for (const RunSave& save : saves) {
          const auto run = runs.find(save.key);
          const auto last = positions.find(save.key);
          verdicts.push_back(DecideSave(
              run == runs.end() ? nullptr : &run->second.row,
              last == positions.end() ? std::nullopt : std::optional(last->second), save));
          if (verdicts.back() != SaveVerdict::kKept) continue;
          positions[save.key] = {save.attempt, save.seq};
          if (rows.bytes() > kSaveBytesPerStatement) CARILLON_TRY(flush());
          AddSave(rows, save, now);
        }
        CARILLON_TRY(flush());
        return verdicts;
      });
}

Result<std::set<RunKey>> MysqlCheckpointStore::WithCheckpoint(const std::vector<RunKey>& keys) {
  if (keys.empty()) return std::set<RunKey>{};
  return InRead(db_.pool(), "checkpoints", [&](Session& session) -> Result<std::set<RunKey>> {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query("SELECT t.fire_us, t.schedule_id, t.shard FROM " + kSavedKeys +
                                     " WHERE t.saved_at_us IS NOT NULL",
                                 {JsonOf(keys)}));
    std::set<RunKey> found;
    while (rows.Next()) {
      found.insert(
          {rows.Time(1), ScheduleId(rows.Unsigned(2)), static_cast<uint32_t>(rows.Unsigned(3))});
    }
    return found;
  });
}

Result<std::optional<std::string>> MysqlCheckpointStore::ReadCheckpoint(const RunKey& key) {
  using Bytes = std::optional<std::string>;
  return InRead(db_.pool(), "checkpoint", [&](Session& session) -> Result<Bytes> {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query("SELECT r.checkpoint FROM run_checkpoints r WHERE " +
                                     std::string(kIsRun) + " AND r.saved_at_us IS NOT NULL",
                                 ParamsOf(key)));
    if (!rows.Next()) return Bytes{};
    return Bytes(rows.Text(1));
  });
}

}  // namespace carillon::mysql
