#include "common/adapters/mysql/access/mysql_idempotency_store.h"

#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/job_rows/request_keys.h"

namespace carillon::mysql {
namespace {

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

}  // namespace

Result<RequestLookup> MysqlIdempotencyStore::BeginRequest(const std::string& scope,
                                                          const std::string& key,
                                                          const std::string& fingerprint,
                                                          WallTime now) {
  // If two requests with a new key arrive at the same time, the second insert fails as a duplicate.
  // The transaction then runs again and finds the first request.
  return InTransaction(
      db_.pool(), {.operation = "request key", .retry_duplicates = true},
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

Status MysqlIdempotencyStore::FinishRequest(const std::string& scope, const std::string& key,
                                            const StoredAnswer& answer) {
  return InTransaction(db_.pool(), {.operation = "request key"}, [&](Session& session) -> Status {
    CARILLON_ASSIGN_OR_RETURN(const int64_t matched, WriteAnswer(session, "", scope, key, answer));
    if (matched == 0) return {ErrorCode::kNotFound, "no request key " + key};
    return {};
  });
}

Status MysqlIdempotencyStore::AbandonRequest(const std::string& scope, const std::string& key) {
  return InTransaction(db_.pool(), {.operation = "request key"}, [&](Session& session) -> Status {
    CARILLON_TRY(session.Execute(
        "DELETE FROM request_keys WHERE scope = ? AND request_key = ? AND finished = 0",
        {scope, key}));
    return {};
  });
}

}  // namespace carillon::mysql
