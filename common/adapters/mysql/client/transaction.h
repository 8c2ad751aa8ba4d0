// Runs one transaction, or one read, on a connection of the pool; retries it where that is safe.
//
// Errors   InTransaction: the body's own error, after a rollback; kUnavailable: nothing was
//          written; kTimeout: COMMIT was sent and its outcome is unknown.
// Always   The body may run several times, each time at the start of a new transaction. If it
//          changes variables outside itself, each run must assign them again. No exception leaves
//          these functions.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>

#include "common/adapters/mysql/client/pool.h"

namespace carillon::mysql {

// Turns kTimeout (outcome unknown) into kUnavailable (nothing written). Only for transactions that
// can be repeated without harm, because nothing uses their effect before a later transaction. An
// example is the reservation of a block of numbers.
template <typename T>
Result<T> ForgetTimeout(Result<T> result) {
  if (result.ok() || result.code() != ErrorCode::kTimeout) return result;
  return {ErrorCode::kUnavailable, result.error().message};
}

struct TransactionOptions {
  std::string_view operation;  // its name in messages
  // Runs the body again after a duplicate key: another connection inserted the row first, and the
  // next run sees it.
  bool retry_duplicates = false;
  // Runs the body again, kLockWaitRetriesMax times, after it waited too long for a row lock.
  bool retry_lock_waits = true;
};

inline constexpr int kDeadlockRetriesMax = 8;
inline constexpr int kLockWaitRetriesMax = 1;

Status RunTransaction(Pool& pool, const TransactionOptions& options,
                      const std::function<Status(Session&)>& body);
// Runs in autocommit mode; for statements that write nothing.
Status RunRead(Pool& pool, std::string_view operation, const std::function<Status(Session&)>& body);

// Time limit of a list that a person requests. Some filters are served by no index, so such a list
// may have to read very many rows.
inline constexpr Duration kListTimeMax = 5s;

template <typename Body>
auto InTransaction(Pool& pool, const TransactionOptions& options, Body body)
    -> std::invoke_result_t<Body, Session&> {
  using Outcome = std::invoke_result_t<Body, Session&>;
  if constexpr (std::is_same_v<Outcome, Status>) {
    return RunTransaction(pool, options, body);
  } else {
    std::optional<typename Outcome::value_type> value;
    CARILLON_TRY(RunTransaction(pool, options, [&](Session& session) -> Status {
      value.reset();
      Outcome outcome = body(session);
      if (!outcome.ok()) return outcome.error();
      value = std::move(outcome).value();
      return {};
    }));
    return std::move(*value);
  }
}

template <typename Body>
auto InRead(Pool& pool, std::string_view operation, Body body)
    -> std::invoke_result_t<Body, Session&> {
  using Outcome = std::invoke_result_t<Body, Session&>;
  std::optional<typename Outcome::value_type> value;
  CARILLON_TRY(RunRead(pool, operation, [&](Session& session) -> Status {
    value.reset();
    Outcome outcome = body(session);
    if (!outcome.ok()) return outcome.error();
    value = std::move(outcome).value();
    return {};
  }));
  return std::move(*value);
}

// As InRead, with a time limit for each statement. kExhausted: a statement takes longer.
template <typename Body>
auto InLimitedRead(Pool& pool, std::string_view operation, Duration longest, Body body)
    -> std::invoke_result_t<Body, Session&> {
  using Outcome = std::invoke_result_t<Body, Session&>;
  return InRead(pool, operation, [&](Session& session) -> Outcome {
    CARILLON_TRY(session.LimitReads(longest));
    Outcome outcome = body(session);
    // After an error the connection is closed, which also ends its limit.
    if (session.healthy()) CARILLON_TRY(session.LimitReads({}));
    return outcome;
  });
}

template <typename Body>
auto InList(Pool& pool, std::string_view operation, Body body)
    -> std::invoke_result_t<Body, Session&> {
  return InLimitedRead(pool, operation, kListTimeMax, std::move(body));
}

}  // namespace carillon::mysql
