#include "common/adapters/mysql/runs/mysql_log_store.h"

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/run_details.h"
#include "common/adapters/mysql/run_rows/run_writer.h"

namespace carillon::mysql {
namespace {

constexpr size_t kBytesPerStatement = 4u << 20;
constexpr int64_t kChunksLookedAt = 1000;  // most chunks whose lengths are read

const std::string kInsert =
    "INSERT INTO run_log_chunks (fire_us, schedule_id, shard, attempt, first_seq, entry_count, "
    "is_last, entries) SELECT k.f, k.s, k.h, k.a, k.q, k.c, k.l, FROM_BASE64(k.e) FROM "
    "JSON_TABLE(" CARILLON_JSON
    ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', "
    "h INT UNSIGNED PATH '$[2]', a INT UNSIGNED PATH '$[3]', q BIGINT UNSIGNED PATH '$[4]', "
    "c INT UNSIGNED PATH '$[5]', l TINYINT PATH '$[6]', e LONGTEXT PATH '$[7]')) k "
    "ON DUPLICATE KEY UPDATE attempt = run_log_chunks.attempt";

const std::string kOwners =
    "SELECT k.i, r.attempt, r.token_high, r.token_low, a.executor_id IS NOT NULL, "
    "COALESCE(a.executor_id, '') FROM " +
    KeyedRuns("a INT PATH '$[3]', i INT PATH '$[4]'") +
    " STRAIGHT_JOIN job_runs r FORCE INDEX (PRIMARY) ON r.fire_us = k.f AND r.schedule_id = k.s "
    "AND "
    "r.shard = k.h LEFT JOIN run_attempts a FORCE INDEX (PRIMARY) ON a.fire_us = k.f AND "
    "a.schedule_id = k.s AND "
    "a.shard = k.h AND a.attempt = k.a";

const std::string kOfAttempt = "fire_us = ? AND schedule_id = ? AND shard = ? AND attempt = ?";

Params ParamsOfAttempt(const RunKey& key, int attempt) {
  Params params = ParamsOf(key);
  params.push_back(attempt);
  return params;
}

// The chunks to read: `first_seq` of the first and of the last chunk.
struct Range {
  int64_t from = 0;
  int64_t to = 0;
};
Result<std::optional<Range>> FindRange(Session& session, Params params, uint64_t from_seq,
                                       size_t bytes_max) {
  Params all = params;
  all.insert(all.end(), params.begin(), params.end());
  all.push_back(static_cast<int64_t>(from_seq));
  all.push_back(kChunksLookedAt);
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT first_seq, entry_count, is_last, LENGTH(entries) FROM run_log_chunks "
                    "WHERE " +
                        kOfAttempt +
                        " AND first_seq >= (SELECT COALESCE(MAX(first_seq), 0) FROM run_log_chunks "
                        "WHERE " +
                        kOfAttempt + " AND first_seq <= ?) ORDER BY first_seq LIMIT ?",
                    all));
  std::optional<Range> range;
  size_t bytes = 0;
  while (rows.Next()) {
    const int64_t first = rows.Int(1);
    const bool over = first + rows.Int(2) <= static_cast<int64_t>(from_seq);
    if (over && rows.Int(3) == 0) continue;
    bytes += static_cast<size_t>(rows.Int(4));
    if (range && bytes > bytes_max) break;
    if (!range) range = Range{.from = first, .to = first};
    range->to = first;
  }
  return range;
}

}  // namespace

Status MysqlLogStore::AppendLogs(const std::vector<LogRecord>& records) {
  if (records.empty()) return {};
  return InTransaction(db_.pool(), {.operation = "logs"}, [&](Session& session) -> Status {
    JsonRows rows;
    const auto flush = [&]() -> Status {
      if (rows.empty()) return {};
      CARILLON_TRY(session.Execute(kInsert, {rows.Take()}));
      return {};
    };
    for (const LogRecord& record : records) {
      if (rows.bytes() > kBytesPerStatement) CARILLON_TRY(flush());
      rows.Begin()
          .Add(record.key)
          .Add(record.attempt)
          .Add(record.chunk.first_seq)
          .Add(record.chunk.count)
          .Add(record.chunk.last)
          .AddBytes(record.chunk.entries);
    }
    return flush();
  });
}

Result<std::vector<size_t>> MysqlLogStore::FindForeign(const std::vector<LogOrigin>& origins) {
  if (origins.empty()) return std::vector<size_t>{};
  return InRead(db_.pool(), "log owners", [&](Session& session) -> Result<std::vector<size_t>> {
    JsonRows keys;
    for (size_t i = 0; i < origins.size(); ++i) {
      keys.Begin().Add(origins[i].key).Add(origins[i].attempt).Add(static_cast<uint64_t>(i));
    }
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(kOwners, {keys.Take()}));
    std::vector<bool> own(origins.size());
    while (rows.Next()) {
      const auto place = static_cast<size_t>(rows.Unsigned(1));
      LogOwner owner{.attempt = static_cast<int>(rows.Int(2)),
                     .token = {rows.Unsigned(3), rows.Unsigned(4)}};
      if (rows.Int(5) != 0) owner.executor = ExecutorId(rows.Text(6));
      own[place] = IsOf(origins[place], owner);
    }
    std::vector<size_t> foreign;
    for (size_t i = 0; i < own.size(); ++i) {
      if (!own[i]) foreign.push_back(i);
    }
    return foreign;
  });
}

Result<std::vector<LogChunk>> MysqlLogStore::ReadLog(const RunKey& key, int attempt,
                                                     uint64_t from_seq, size_t bytes_max) {
  return InRead(db_.pool(), "log", [&](Session& session) -> Result<std::vector<LogChunk>> {
    Params params = ParamsOfAttempt(key, attempt);
    CARILLON_ASSIGN_OR_RETURN(const std::optional<Range> range,
                              FindRange(session, params, from_seq, bytes_max));
    std::vector<LogChunk> chunks;
    if (!range) return chunks;
    params.push_back(range->from);
    params.push_back(range->to);
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows,
        session.Query("SELECT first_seq, entry_count, is_last, entries FROM "
                      "run_log_chunks WHERE " +
                          kOfAttempt + " AND first_seq BETWEEN ? AND ? ORDER BY first_seq",
                      params));
    while (rows.Next()) {
      chunks.push_back({.first_seq = rows.Unsigned(1),
                        .count = static_cast<uint32_t>(rows.Unsigned(2)),
                        .last = rows.Int(3) != 0,
                        .entries = rows.Text(4)});
    }
    return chunks;
  });
}

Result<LogExtent> MysqlLogStore::GetLogExtent(const RunKey& key, int attempt) {
  return InRead(db_.pool(), "log", [&](Session& session) -> Result<LogExtent> {
    const Params once = ParamsOfAttempt(key, attempt);
    Params params = once;
    params.insert(params.end(), once.begin(), once.end());
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows,
        session.Query("SELECT first_seq, entry_count, is_last, (SELECT CAST(SUM(entry_count) AS "
                      "UNSIGNED) FROM run_log_chunks WHERE " +
                          kOfAttempt + ") FROM run_log_chunks WHERE " + kOfAttempt +
                          " ORDER BY first_seq DESC LIMIT 1",
                      params));
    if (!rows.Next()) return LogExtent{};
    return LogExtent{.last_seq = rows.Unsigned(1) + rows.Unsigned(2) - 1,
                     .complete = rows.Int(3) != 0,
                     .entries = rows.Unsigned(4)};
  });
}

}  // namespace carillon::mysql
