#include "common/adapters/mysql/client/session.h"

#include <mutex>
#include <unordered_map>

#include <fmt/core.h>

#include "common/adapters/mysql/client/mysql_include.h"
#include "common/adapters/mysql/client/sign_in.h"
#include "common/base/check.h"

namespace carillon::mysql {
namespace {

sql::Driver* TheDriver() {
  static std::once_flag once;
  static sql::Driver* driver = nullptr;
  std::call_once(once, [] {
    driver = get_driver_instance();
    const Status added = AddWaysToSignIn();
    CARILLON_CHECK(added.ok(), added.error().message);
  });
  return driver;
}

sql::ConnectOptionsMap ConnectOptions(const SessionOptions& options) {
  sql::ConnectOptionsMap map;
  if (options.socket_path.empty()) {
    map["hostName"] = sql::SQLString("tcp://" + options.host + ":" + std::to_string(options.port));
  } else {
    map["hostName"] = sql::SQLString("unix://" + options.socket_path);
  }
  map["userName"] = sql::SQLString(options.user);
  map["password"] = sql::SQLString(options.password);
  map["schema"] = sql::SQLString(options.database);
  // An UPDATE returns the number of rows that matched. So a compare-and-set that writes an equal
  // value still counts as a success.
  map["CLIENT_FOUND_ROWS"] = true;
  map["OPT_CONNECT_TIMEOUT"] = options.connect_timeout_s;
  map["OPT_READ_TIMEOUT"] = options.read_timeout_s;
  map["OPT_WRITE_TIMEOUT"] = options.read_timeout_s;
  map["OPT_CHARSET_NAME"] = sql::SQLString("utf8mb4");
  // This library silently ignores OPT_SSL_MODE; it honours the three options below.
  if (options.tls != TlsMode::kOff) {
    map["sslEnforce"] = true;
    map["defaultAuth"] = sql::SQLString(kTlsFirst);
  }
  if (options.tls == TlsMode::kVerify) {
    map["sslCA"] = sql::SQLString(options.tls_ca_file);
    map["sslVerify"] = true;
  }
  return map;
}

struct Binder {
  sql::PreparedStatement* statement;
  uint32_t index;

  void operator()(std::nullptr_t) const { statement->setNull(index, 0); }
  void operator()(int64_t value) const { statement->setInt64(index, value); }
  void operator()(uint64_t value) const { statement->setUInt64(index, value); }
  void operator()(double value) const { statement->setDouble(index, value); }
  void operator()(std::string_view value) const {
    statement->setString(index, sql::SQLString(value.data(), value.size()));
  }
};

void Bind(sql::PreparedStatement* statement, const Params& params) {
  for (size_t i = 0; i < params.size(); ++i) {
    std::visit(Binder{statement, static_cast<uint32_t>(i + 1)}, params[i]);
  }
}

}  // namespace

TlsMode TlsModeOf(std::string_view text) {
  if (text == "verify") return TlsMode::kVerify;
  return text == "required" ? TlsMode::kRequired : TlsMode::kOff;
}

Rows::Rows(std::unique_ptr<sql::ResultSet> result) : result_(std::move(result)) {}
Rows::Rows(Rows&&) noexcept = default;
Rows& Rows::operator=(Rows&&) noexcept = default;
Rows::~Rows() = default;

bool Rows::Next() { return result_->next(); }
int64_t Rows::Int(uint32_t column) const { return result_->getInt64(column); }
uint64_t Rows::Unsigned(uint32_t column) const { return result_->getUInt64(column); }
double Rows::Double(uint32_t column) const {
  return static_cast<double>(result_->getDouble(column));
}
bool Rows::IsNull(uint32_t column) const { return result_->isNull(column); }
std::string Rows::Text(uint32_t column) const {
  const sql::SQLString text = result_->getString(column);
  return std::string(text.c_str(), text.length());
}

struct Session::Prepared {
  std::unordered_map<std::string, std::unique_ptr<sql::PreparedStatement>> by_text;
};

Session::~Session() {
  // Closing the statements of a lost connection throws; there is nothing left to report.
  try {
    prepared_.reset();
    connection_.reset();
  } catch (...) {
    last_error_ = -1;
  }
}

// Runs `function`, which calls the connector, and turns its exceptions into our errors.
template <typename Function>
auto Session::Guarded(Phase phase, Function function) -> decltype(function()) {
  try {
    auto outcome = function();
    answered_ = true;
    return outcome;
  } catch (const sql::SQLException& e) {
    // The connector's own errors (closed connection, no such column) carry no number.
    last_error_ = e.getErrorCode() == 0 ? 2000 : e.getErrorCode();
    return MakeError(operation_, last_error_, e.what(), phase);
  } catch (const std::exception& e) {
    last_error_ = 2000;
    return MakeError(operation_, last_error_, e.what(), phase);
  }
}

Result<std::unique_ptr<Session>> Session::Connect(const SessionOptions& options) {
  std::unique_ptr<Session> session(new Session);
  session->unreadable_ = options.unreadable;
  const Status connected = session->Guarded(Phase::kConnect, [&]() -> Status {
    sql::ConnectOptionsMap map = ConnectOptions(options);
    session->connection_.reset(TheDriver()->connect(map));
    session->prepared_ = std::make_unique<Prepared>();
    return {};
  });
  const std::string refused = TakeRefusedSignIn();
  if (!refused.empty()) return {ErrorCode::kUnavailable, "connect: " + refused};
  if (!connected.ok()) return connected.error();
  if (options.tls != TlsMode::kOff) CARILLON_TRY(session->CheckTls());
  CARILLON_TRY(session->SetUp(options));
  CARILLON_TRY(session->CheckSetUp());
  return session;
}

Status Session::SetUp(const SessionOptions& options) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows,
                            Ask("SELECT CONNECTION_ID(), VERSION(), @@max_allowed_packet"));
  rows.Next();
  connection_id_ = rows.Unsigned(1);
  is_mariadb_ = rows.Text(2).find("MariaDB") != std::string::npos;
  packet_bytes_max_ = rows.Unsigned(3);
  lock_wait_timeout_s_ = options.lock_wait_timeout_s;
  CARILLON_TRY(Run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"));
  CARILLON_TRY(Run(fmt::format(
      "SET SESSION time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,"
      "NO_ENGINE_SUBSTITUTION', autocommit = 1, innodb_lock_wait_timeout = {}",
      options.lock_wait_timeout_s)));
  if (is_mariadb_) {
    // If this process is stopped in the middle of a transaction, the server ends the transaction
    // and releases its row locks.
    CARILLON_TRY(Run(
        fmt::format("SET SESSION idle_transaction_timeout = {}", kIdleTransactionTimeoutSeconds)));
  } else if (!options.may_idle) {
    CARILLON_TRY(Run(fmt::format("SET SESSION wait_timeout = {}", kIdleSessionTimeoutSeconds)));
  }
  return {};
}

// TLS was requested from the library. Refuses the connection if it is not encrypted anyway.
Status Session::CheckTls() {
  CARILLON_ASSIGN_OR_RETURN(Rows rows, Ask("SHOW SESSION STATUS LIKE 'Ssl_cipher'"));
  if (rows.Next() && !rows.Text(2).empty()) return {};
  return {ErrorCode::kUnavailable, "connect: store.tls asks for TLS and there is none"};
}

Status Session::CheckSetUp() {
  CARILLON_ASSIGN_OR_RETURN(Rows rows,
                            Ask(is_mariadb_ ? "SELECT @@tx_isolation, @@time_zone"
                                            : "SELECT @@transaction_isolation, @@time_zone"));
  rows.Next();
  if (rows.Text(1) != "READ-COMMITTED" || rows.Text(2) != "+00:00") {
    return {ErrorCode::kUnavailable,
            "connect: the server did not accept READ COMMITTED and UTC for the session"};
  }
  return {};
}

sql::PreparedStatement* Session::Prepare(const std::string& statement) {
  auto found = prepared_->by_text.find(statement);
  if (found == prepared_->by_text.end()) {
    if (prepared_->by_text.size() >= kPreparedStatementsMax) prepared_->by_text.clear();
    std::unique_ptr<sql::PreparedStatement> fresh(
        connection_->prepareStatement(sql::SQLString(statement)));
    found = prepared_->by_text.emplace(statement, std::move(fresh)).first;
  }
  return found->second.get();
}

Result<Rows> Session::Query(const std::string& statement, const Params& params) {
  return Guarded(Phase::kStatement, [&]() -> Result<Rows> {
    sql::PreparedStatement* prepared = Prepare(statement);
    Bind(prepared, params);
    return Rows(std::unique_ptr<sql::ResultSet>(prepared->executeQuery()));
  });
}

Result<int64_t> Session::Execute(const std::string& statement, const Params& params) {
  return Guarded(Phase::kStatement, [&]() -> Result<int64_t> {
    sql::PreparedStatement* prepared = Prepare(statement);
    Bind(prepared, params);
    return static_cast<int64_t>(prepared->executeUpdate());
  });
}

Status Session::Run(const std::string& statement) {
  return Guarded(Phase::kStatement, [&]() -> Status {
    std::unique_ptr<sql::Statement> plain(connection_->createStatement());
    plain->execute(sql::SQLString(statement));
    return {};
  });
}

Result<bool> Session::TryRun(const std::string& statement) {
  const Status ran = Run(statement);
  if (ran.ok()) return true;
  const bool in_use = last_error_ == kLockWaitTimeout || last_error_ == kStatementTimeout;
  const bool done_before = last_error_ == kDuplicateColumn || last_error_ == kDuplicateKeyName;
  if (!in_use && !done_before) return ran.error();
  last_error_ = 0;  // not in a transaction: the connection stays usable
  return done_before;
}

Result<Rows> Session::Ask(const std::string& statement) {
  return Guarded(Phase::kStatement, [&]() -> Result<Rows> {
    std::unique_ptr<sql::Statement> plain(connection_->createStatement());
    return Rows(std::unique_ptr<sql::ResultSet>(plain->executeQuery(sql::SQLString(statement))));
  });
}

Status Session::LimitStatements(Duration longest) {
  return Run(fmt::format("SET SESSION max_statement_time = {:.3f}",
                         std::chrono::duration<double>(longest).count()));
}

Status Session::LimitReads(Duration longest) {
  if (is_mariadb_) return LimitStatements(longest);
  return Run(fmt::format("SET SESSION max_execution_time = {}", longest / 1ms));
}

Status Session::LimitLockWaits(std::optional<std::chrono::seconds> longest) {
  const int64_t seconds = longest ? longest->count() : lock_wait_timeout_s_;
  return Run(fmt::format("SET SESSION innodb_lock_wait_timeout = {}", seconds));
}

Status Session::Kill(uint64_t connection_id) {
  constexpr int kNoSuchThread = 1094;
  Status killed = Run(fmt::format("KILL {}", connection_id));
  if (killed.ok() || last_error_ != kNoSuchThread) return killed;
  last_error_ = 0;  // not in a transaction: the connection stays usable
  return {};
}

Status Session::Begin() {
  if (!transactional_) CARILLON_TRY(Run("SET SESSION autocommit = 0"));
  transactional_ = true;
  answered_ = false;
  return {};
}

Status Session::Autocommit() {
  if (transactional_) CARILLON_TRY(Run("SET SESSION autocommit = 1"));
  transactional_ = false;
  return {};
}

Status Session::Commit() {
  return Guarded(Phase::kCommit, [&]() -> Status {
    std::unique_ptr<sql::Statement> plain(connection_->createStatement());
    plain->execute("COMMIT");
    return {};
  });
}

Status Session::Rollback() { return Run("ROLLBACK"); }

}  // namespace carillon::mysql
