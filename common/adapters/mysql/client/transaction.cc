#include "common/adapters/mysql/client/transaction.h"

#include <fmt/core.h>

#include "common/base/failpoint.h"
#include "common/base/log.h"

namespace carillon::mysql {
namespace {

Status Contained(std::string_view operation, Session& session,
                 const std::function<Status(Session&)>& body) {
  try {
    return body(session);
  } catch (const std::exception& e) {
    // The connector throws if the type of a column differs from the schema.
    return {ErrorCode::kCorrupt, fmt::format("{}: {}", operation, e.what())};
  }
}

// Returns a connection on which a transaction has begun.
Result<Pool::Lease> BeginOn(Pool& pool, std::string_view operation, Use use) {
  for (size_t stale = 0;; ++stale) {
    CARILLON_ASSIGN_OR_RETURN(Pool::Lease lease, pool.Acquire(operation, use));
    const Status begun = lease->Begin();
    if (begun.ok()) return lease;
    if (!lease.reused() || stale > pool.size()) return begun.error();
  }
}

// True if a reused connection was closed before the transaction's first answer. A restart of the
// server closes all connections of the pool. The transaction then runs again on a new connection.
bool WasClosed(const Pool::Lease& lease) {
  return lease.reused() && !lease->answered() && IsConnectionLost(lease->last_error());
}

// Rolls back. If that is impossible, drops the connection; the server then rolls back.
void Undo(Pool::Lease& lease) {
  if (!lease->healthy() || !lease->Rollback().ok()) lease.Drop();
}

Status CommitOn(Pool::Lease& lease, std::string_view operation) {
  if (failpoint::Hit("mysql.before_commit")) {
    lease.Drop();
    return {ErrorCode::kUnavailable, fmt::format("{}: stopped before commit", operation)};
  }
  if (failpoint::Hit("mysql.fail_commit")) {
    lease.Drop();
    return {ErrorCode::kTimeout, fmt::format("{}: commit not sent", operation)};
  }
  Status committed = lease->Commit();
  if (!committed.ok()) {
    lease.Drop();
    return committed;
  }
  if (failpoint::Hit("mysql.lose_commit_reply")) {
    lease.Drop();
    return {ErrorCode::kTimeout, fmt::format("{}: reply to commit lost", operation)};
  }
  return {};
}

struct Retries {
  int deadlocks = 0;
  int lock_waits = 0;

  bool Allow(int error, const TransactionOptions& options) {
    if (error == kLockWaitTimeout) {
      return options.retry_lock_waits && ++lock_waits <= kLockWaitRetriesMax;
    }
    if (IsRetryable(error) || (error == kDuplicateKey && options.retry_duplicates)) {
      return ++deadlocks <= kDeadlockRetriesMax;
    }
    return false;
  }
};

}  // namespace

Status RunTransaction(Pool& pool, const TransactionOptions& options,
                      const std::function<Status(Session&)>& body) {
  Retries retries;
  Use use = Use::kWrite;
  while (true) {
    CARILLON_ASSIGN_OR_RETURN(Pool::Lease lease, BeginOn(pool, options.operation, use));
    Status outcome = Contained(options.operation, *lease, body);
    if (outcome.ok()) {
      outcome = CommitOn(lease, options.operation);
      if (outcome.ok()) return {};
      if (outcome.code() == ErrorCode::kTimeout) return outcome;
    } else if (WasClosed(lease)) {
      use = Use::kWriteOnNewConnection;
      continue;
    } else {
      Undo(lease);
    }
    if (!retries.Allow(lease->last_error(), options)) {
      // Repeated collisions are a matter of load, like repeated deadlocks: the caller may try
      // again.
      const bool collided = lease->last_error() == kDuplicateKey && options.retry_duplicates;
      if (collided && outcome.code() == ErrorCode::kExists) {
        return {ErrorCode::kUnavailable, outcome.error().message};
      }
      return outcome;
    }
    log::Debug("mysql", "{}: again after mysql {}", options.operation, lease->last_error());
  }
}

Status RunRead(Pool& pool, std::string_view operation,
               const std::function<Status(Session&)>& body) {
  for (size_t stale = 0;; ++stale) {
    CARILLON_ASSIGN_OR_RETURN(Pool::Lease lease, pool.Acquire(operation));
    Status outcome = Contained(operation, *lease, body);
    if (outcome.ok() || lease->healthy()) return outcome;
    if (!lease.reused() || !IsConnectionLost(lease->last_error()) || stale > pool.size()) {
      return outcome;
    }
  }
}

}  // namespace carillon::mysql
