// Idempotency keys, settings, retention.
#include "common/adapters/mysql/ascii.h"
#include "common/adapters/mysql/mysql_store.h"
#include "common/adapters/mysql/partitions.h"
#include "common/adapters/mysql/request_keys.h"
#include "common/adapters/mysql/transaction.h"

namespace carillon::mysql {
namespace {

constexpr Duration kAuditKept = 24h * 365;

struct FirstRequest {
  std::string fingerprint;
  WallTime begun = WallTime{};
  bool finished = false;
  StoredAnswer answer = {};
};

Result<std::optional<FirstRequest>> LockRequest(Session& session, const std::string& scope,
                                                const std::string& key) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT fingerprint, begun_us, finished, status, body, location, "
                               "etag FROM request_keys WHERE scope = ? AND request_key = ? "
                               "FOR UPDATE",
                               {scope, key}));
  if (!rows.Next()) return std::optional<FirstRequest>{};
  return std::optional<FirstRequest>{FirstRequest{
      .fingerprint = rows.Text(1),
      .begun = rows.Time(2),
      .finished = rows.Int(3) != 0,
      .answer = {static_cast<int>(rows.Int(4)), rows.Text(5), rows.Text(6), rows.Text(7)}}};
}

// Returns the number of keys that matched.
Result<int64_t> WriteAnswer(Session& session, std::string_view condition, const std::string& scope,
                            const std::string& key, const StoredAnswer& answer) {
  return session.Execute(
      "UPDATE request_keys SET finished = 1, status = ?, body = ?, location = ?, etag = ? "
      "WHERE scope = ? AND request_key = ?" +
          std::string(condition),
      {int64_t{answer.status}, answer.body, answer.location, answer.etag, scope, key});
}

}  // namespace

Status SettleRequest(Session& session, const std::string& scope, const std::string& key,
                     const StoredAnswer& answer) {
  CARILLON_ASSIGN_OR_RETURN(const int64_t matched,
                            WriteAnswer(session, " AND finished = 0", scope, key, answer));
  if (matched > 0) return {};
  return {ErrorCode::kConflict, "the request with the key " + key + " was finished meanwhile"};
}

Result<RequestLookup> MysqlStore::BeginRequest(const std::string& scope, const std::string& key,
                                               const std::string& fingerprint, WallTime now) {
  // Two first requests at once: the second insert is a duplicate, and finds the first one then.
  return InTransaction(
      *pool_, {.operation = "request key", .retry_duplicates = true},
      [&](Session& session) -> Result<RequestLookup> {
        CARILLON_ASSIGN_OR_RETURN(const std::optional<FirstRequest> first,
                                  LockRequest(session, scope, key));
        if (first && now - first->begun < kRequestKeyKept) {
          if (first->fingerprint != fingerprint) return RequestLookup{RequestState::kMismatch};
          if (first->finished) return RequestLookup{RequestState::kReplay, first->answer};
          if (now - first->begun < kRequestInFlight) return RequestLookup{RequestState::kInFlight};
        }
        const std::string statement =
            first ? "UPDATE request_keys SET fingerprint = ?, begun_us = ?, finished = 0, "
                    "body = NULL WHERE scope = ? AND request_key = ?"
                  : "INSERT INTO request_keys (fingerprint, begun_us, scope, request_key) "
                    "VALUES (?, ?, ?, ?)";
        CARILLON_TRY(session.Execute(statement, {fingerprint, ToUnixMicros(now), scope, key}));
        return RequestLookup{RequestState::kNew};
      });
}

Status MysqlStore::FinishRequest(const std::string& scope, const std::string& key,
                                 const StoredAnswer& answer) {
  return InTransaction(*pool_, {.operation = "request key"}, [&](Session& session) -> Status {
    CARILLON_ASSIGN_OR_RETURN(const int64_t matched, WriteAnswer(session, "", scope, key, answer));
    if (matched == 0) return {ErrorCode::kNotFound, "no request key " + key};
    return {};
  });
}

Status MysqlStore::AbandonRequest(const std::string& scope, const std::string& key) {
  return InTransaction(*pool_, {.operation = "request key"}, [&](Session& session) -> Status {
    CARILLON_TRY(session.Execute(
        "DELETE FROM request_keys WHERE scope = ? AND request_key = ? AND finished = 0",
        {scope, key}));
    return {};
  });
}

Result<ClusterSettings> MysqlStore::ReadSettings() {
  return InRead(*pool_, "settings", [](Session& session) -> Result<ClusterSettings> {
    // One statement: the version and the values belong together.
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

Result<ClusterSettings> MysqlStore::WriteSettings(int64_t expected, const ClusterSettings& next) {
  return InTransaction(
      *pool_, {.operation = "settings"}, [&](Session& session) -> Result<ClusterSettings> {
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
        return next;
      });
}

Result<Upkeep> MysqlStore::Maintain(WallTime now, Duration retention) {
  const Duration queue = QueueFor(kept_->tables_refused.load());
  Status partitions = AddPartitions(*pool_, now, queue);
  if (partitions.ok()) partitions = DropPartitions(*pool_, now - retention, queue);
  kept_->tables_refused = partitions.ok() ? 0 : kept_->tables_refused + 1;
  CARILLON_TRY(partitions);
  const OldRows old{.runs_before = now - retention,
                    .request_keys_before = now - kRequestKeyKept,
                    .audit_before = now - kAuditKept,
                    .sessions_before = now};
  CARILLON_ASSIGN_OR_RETURN(const Upkeep rows, DeleteOldRows(*pool_, old));
  CARILLON_ASSIGN_OR_RETURN(
      const int64_t next, DeleteOldVersions(*pool_, kept_->versions_from.load(), now - retention));
  kept_->versions_from = next;
  // A day more than runs: days are dropped whole.
  CARILLON_TRY(DeleteOldIncarnations(*pool_, now, now - retention - 24h));
  CARILLON_ASSIGN_OR_RETURN(const Upkeep bulk,
                            DeleteOldBulk(*pool_, now - kBulkKept, kDeletedRowsPerCall));
  return bulk == Upkeep::kBehind ? bulk : rows;
}

}  // namespace carillon::mysql
