// One connection to the database: prepared statements, typed rows, transactions.
//
// Place    Leased from the Pool for the length of one transaction or read.
// Threads  Not thread-safe; one lease at a time.
// Errors   Every method maps errors by mysql_error.h. After any error the connection must not be
//          used again (healthy() is false): the error may have undone half a transaction.
// Always   READ COMMITTED, UTC, strict mode, no reconnect; statements are prepared once. Between
//          leases no transaction is open.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/adapters/mysql/client/mysql_error.h"
#include "common/adapters/mysql/client/unreadable.h"
#include "common/base/result.h"
#include "common/base/time.h"

namespace sql {
class Connection;
class PreparedStatement;
class ResultSet;
}  // namespace sql

namespace carillon::mysql {

enum class TlsMode {
  kOff,
  kRequired,  // encrypted; the server's certificate is not verified
  kVerify,    // encrypted; the server's certificate must be trusted and name the host
};
// `text` is "off", "required" or "verify": the values of the setting store.tls.
TlsMode TlsModeOf(std::string_view text);

struct SessionOptions {
  std::string socket_path = {};  // a unix socket; if empty, `host` and `port` are used
  std::string host = {};
  int port = 3306;
  std::string user = {};
  std::string password = {};
  std::string database = {};  // empty: none selected
  TlsMode tls = TlsMode::kOff;
  std::string tls_ca_file = {};  // PEM, the CA of the servers' certificates; for kVerify
  int connect_timeout_s = 5;
  int read_timeout_s = 15;               // limit of one statement; exceeded: outcome unknown
  int lock_wait_timeout_s = 5;           // limit of the wait for one row lock
  bool may_idle = true;                  // false: see kIdleSessionTimeoutSeconds
  UnreadableRows* unreadable = nullptr;  // notified of rows left out; outlives the session
};

inline constexpr int kIdleTransactionTimeoutSeconds = 2;
// MySQL has no limit for idle transactions. It ends each session of a pool that has been idle for
// so long, in a transaction or not, so that a process that is stopped does not keep its row locks.
inline constexpr int kIdleSessionTimeoutSeconds = 10;
inline constexpr size_t kPreparedStatementsMax = 200;

// A statement's parameter; text is not copied and must live until the call returns.
using Param = std::variant<std::nullptr_t, int64_t, uint64_t, double, std::string_view>;
using Params = std::vector<Param>;

// A buffered result. Columns count from 1, as in SQL.
class Rows {
 public:
  explicit Rows(std::unique_ptr<sql::ResultSet> result);
  Rows(Rows&&) noexcept;
  Rows& operator=(Rows&&) noexcept;
  ~Rows();

  bool Next();
  int64_t Int(uint32_t column) const;
  uint64_t Unsigned(uint32_t column) const;
  double Double(uint32_t column) const;
  std::string Text(uint32_t column) const;  // any bytes; NULL is ""
  bool IsNull(uint32_t column) const;
  WallTime Time(uint32_t column) const { return FromUnixMicros(Int(column)); }

 private:
  std::unique_ptr<sql::ResultSet> result_;
};

class Session {
 public:
  // Connects and sets up the session. Blocks for the connect timeout at most.
  static Result<std::unique_ptr<Session>> Connect(const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // `statement` is prepared at first use; it must come from a bounded set of texts.
  Result<Rows> Query(const std::string& statement, const Params& params = {});
  // Returns the number of rows that matched, including rows that already had the new values.
  Result<int64_t> Execute(const std::string& statement, const Params& params = {});
  // Run a statement without preparing it: Run for DDL, SET and KILL, Ask for queries.
  Status Run(const std::string& statement);
  Result<Rows> Ask(const std::string& statement);

  // As Run, for a statement that needs exclusive use of a table. Returns false, and changes
  // nothing, if the table is in use. An ALTER that adds a column or key that exists counts as done:
  // MySQL has no IF NOT EXISTS for it, and each ALTER is done as a whole.
  Result<bool> TryRun(const std::string& statement);

  // MariaDB only: from now on the server ends each statement that takes longer than `longest`
  // (zero = no limit).
  Status LimitStatements(Duration longest);
  // From now on the server ends each SELECT that takes longer than `longest` (zero = no limit). The
  // SELECT returns kExhausted.
  Status LimitReads(Duration longest);

  // From now on a statement waits at most `longest` for a row lock, in whole seconds (nullopt = as
  // the options say). A statement that waits longer returns kUnavailable.
  Status LimitLockWaits(std::optional<std::chrono::seconds> longest);

  // Ends another connection of the same user. Succeeds if that connection has already ended.
  Status Kill(uint64_t connection_id);

  // Makes the next statement start a transaction. Costs a round trip only if `autocommit` is still
  // on. `autocommit` then stays off until Autocommit().
  Status Begin();
  // From now on each statement is a transaction of its own,
  // so that no read keeps a transaction open.
  Status Autocommit();
  Status Commit();
  Status Rollback();

  // Reports a row that this version cannot read and that the caller leaves out.
  void NoteUnreadable(std::string_view table, const std::string& row, std::string_view why) const {
    if (unreadable_ != nullptr) unreadable_->Note(table, row, why);
  }

  bool healthy() const { return last_error_ == 0; }
  // True if `autocommit` is off. Then the next transaction needs no extra round trip, but the next
  // read outside a transaction does.
  bool transactional() const { return transactional_; }
  // True if a statement has been answered since the last Begin.
  bool answered() const { return answered_; }
  int last_error() const { return last_error_; }
  uint64_t connection_id() const { return connection_id_; }
  bool is_mariadb() const { return is_mariadb_; }
  size_t packet_bytes_max() const { return packet_bytes_max_; }
  void set_operation(std::string_view operation) { operation_ = operation; }
  // The stamp of the gate that admitted this connection; 0 = no gate has admitted it.
  uint64_t admitted_under() const { return admitted_under_; }
  void set_admitted_under(uint64_t stamp) { admitted_under_ = stamp; }

 private:
  Session() = default;
  Status SetUp(const SessionOptions& options);
  Status CheckSetUp();
  Status CheckTls();
  sql::PreparedStatement* Prepare(const std::string& statement);
  template <typename Function>
  auto Guarded(Phase phase, Function function) -> decltype(function());

  struct Prepared;
  std::unique_ptr<sql::Connection> connection_;
  std::unique_ptr<Prepared> prepared_;
  std::string operation_ = "connect";
  UnreadableRows* unreadable_ = nullptr;
  int lock_wait_timeout_s_ = 0;
  int last_error_ = 0;
  bool transactional_ = false;
  bool answered_ = false;
  uint64_t connection_id_ = 0;
  bool is_mariadb_ = false;
  size_t packet_bytes_max_ = 0;
  uint64_t admitted_under_ = 0;
};

}  // namespace carillon::mysql
