// One transaction, or one read, on a connection of the pool: retried where that is safe.
//
// Errors   InTransaction: what the body returns (rolled back); kUnavailable: nothing was written;
//          kTimeout: COMMIT was sent and its outcome is unknown.
// Always   The body may run several times, each time from the start of a fresh transaction; it must
//          not change anything outside that it does not set anew. Exceptions end here.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>

#include "common/adapters/mysql/client/pool.h"

namespace carillon::mysql {

// For a transaction whose effect nobody sees before another one builds on it (a number is taken
// from a block): an unknown outcome is as good as none.
template <typename T>
Result<T> ForgetTimeout(Result<T> result) {
  if (result.ok() || result.code() != ErrorCode::kTimeout) return result;
  return {ErrorCode::kUnavailable, result.error().message};
}

struct TransactionOptions {
  std::string_view operation;  // for messages
  // A duplicate key means that somebody else was quicker: run the body again, which then sees it.
  bool retry_duplicates = false;
};

inline constexpr int kDeadlockRetriesMax = 8;
inline constexpr int kLockWaitRetriesMax = 1;

Status RunTransaction(Pool& pool, const TransactionOptions& options,
                      const std::function<Status(Session&)>& body);
// In autocommit; for statements that write nothing.
Status RunRead(Pool& pool, std::string_view operation, const std::function<Status(Session&)>& body);

// What a list may take that a person asks for: no index serves each of its filters.
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

// InRead with a limit to each of its statements: kExhausted after it.
template <typename Body>
auto InLimitedRead(Pool& pool, std::string_view operation, Duration longest, Body body)
    -> std::invoke_result_t<Body, Session&> {
  using Outcome = std::invoke_result_t<Body, Session&>;
  return InRead(pool, operation, [&](Session& session) -> Outcome {
    CARILLON_TRY(session.LimitReads(longest));
    Outcome outcome = body(session);
    // After an error the connection is closed, and its limit with it.
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
