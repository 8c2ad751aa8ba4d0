#include "common/adapters/mysql/schema/migrations.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/core.h>

#include "common/adapters/mysql/client/named_lock.h"
#include "common/base/log.h"

namespace carillon::mysql {
namespace {

constexpr int kIncomplete = std::numeric_limits<int>::max();  // version of the mark "incomplete"
constexpr std::string_view kNow =
    "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))";
constexpr std::string_view kCompatibleFrom = "-- compatible_from: ";

struct Applied {
  int version = 0;
  std::string checksum;
  int compatible_from = 0;  // a program must know at least this version
};

// Skips the comment lines at the beginning of a statement.
std::string_view SkipComments(std::string_view text) {
  while (!text.empty()) {
    if (text.front() == '\n' || text.front() == ' ') {
      text.remove_prefix(1);
    } else if (text.substr(0, 2) == "--") {
      const size_t end = text.find('\n');
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    } else {
      break;
    }
  }
  return text;
}

Result<std::string> ChecksumOf(Session& session, std::string_view text) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query("SELECT SHA2(?, 256)", {text}));
  rows.Next();
  return rows.Text(1);
}

Status EnsureTable(Session& session) {
  return session.Run(
      "CREATE TABLE IF NOT EXISTS schema_migrations (version INT NOT NULL PRIMARY KEY, "
      "name VARCHAR(128) NOT NULL, checksum CHAR(64) NOT NULL, applied_us BIGINT NOT NULL, "
      "compatible_from INT NOT NULL) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin");
}

Result<std::vector<Applied>> ReadApplied(Session& session) {
  CARILLON_TRY(EnsureTable(session));
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Ask("SELECT version, checksum, compatible_from FROM schema_migrations "
                             "ORDER BY version"));
  std::vector<Applied> applied;
  while (rows.Next()) {
    applied.push_back({static_cast<int>(rows.Int(1)), rows.Text(2), static_cast<int>(rows.Int(3))});
  }
  return applied;
}

Status RefuseIncomplete(const std::vector<Applied>& applied) {
  if (applied.empty() || applied.back().version != kIncomplete) return {};
  return {ErrorCode::kConflict,
          "schema: the store was restored in part only: restore it again, with --replace"};
}

// kConflict if a program that knows the schema up to `newest` cannot use the applied migrations.
Status JudgeNewer(const std::vector<Applied>& applied, int newest) {
  for (const Applied& one : applied) {
    if (one.version <= newest || one.compatible_from <= newest) continue;
    return {ErrorCode::kConflict,
            fmt::format("schema: the store is at version {}, this program knows {}, and migration "
                        "{:04} needs a program that knows {}: use the program that wrote it, or a "
                        "newer one",
                        applied.back().version, newest, one.version, one.compatible_from)};
  }
  return {};
}

struct Missing {
  const Migration* migration;
  std::string checksum;
};

Status RefuseInterrupted(const MigrationWaits& waits) {
  if (!waits.interrupted()) return {};
  return {ErrorCode::kUnavailable, "schema: interrupted while it waited"};
}

Status Pause(Session& session, Duration time, const MigrationWaits& waits) {
  CARILLON_TRY(RefuseInterrupted(waits));
  return session.Run(fmt::format("DO SLEEP({:.1f})", std::chrono::duration<double>(time).count()));
}

Status TakeMigrateLock(Session& session, const MigrationWaits& waits) {
  for (int tries = 0; tries < kMigrateLockTriesMax; ++tries) {
    CARILLON_ASSIGN_OR_RETURN(const bool ours, TakeLock(session, StoreLock::kMigrate, 1s));
    if (ours) return {};
    CARILLON_TRY(RefuseInterrupted(waits));
  }
  return {ErrorCode::kUnavailable, "schema: another member is migrating the store"};
}

Status WaitForTables(Session& session, Duration longest) {
  return session.Run(fmt::format("SET SESSION lock_wait_timeout = {}", longest / 1s));
}

Result<WallTime> Now(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Ask(fmt::format("SELECT {}", kNow)));
  rows.Next();
  return rows.Time(1);
}

Status RunBetweenOthers(Session& session, const std::string& statement,
                        const MigrationWaits& waits) {
  CARILLON_ASSIGN_OR_RETURN(const WallTime first, Now(session));
  CARILLON_TRY(WaitForTables(session, kTableWait));
  for (int tries = 1;; ++tries) {
    CARILLON_ASSIGN_OR_RETURN(const WallTime begun, Now(session));
    CARILLON_ASSIGN_OR_RETURN(const bool done, session.TryRun(statement));
    if (done) return {};
    CARILLON_ASSIGN_OR_RETURN(const WallTime now, Now(session));
    log::Warn("mysql", "try {} ended after {} s, because its table is in use: {}", tries,
              (now - begun) / 1s, statement);
    if (tries == kStatementTriesMax || now - first >= waits.statement_tries_for) {
      return {ErrorCode::kUnavailable, "schema: a table has been in use for too long"};
    }
    if (now - begun > waits.long_try) CARILLON_TRY(WaitForTables(session, kTableWaitAfterLongTry));
    CARILLON_TRY(Pause(session, 500ms, waits));
  }
}

Status Apply(Session& session, const Missing& missing, const MigrationWaits& waits) {
  const Migration& migration = *missing.migration;
  log::Info("mysql", "applying migration {:04} {}", migration.version, migration.name);
  for (const std::string& statement : SplitStatements(migration.text)) {
    CARILLON_TRY(RunBetweenOthers(session, statement, waits));
  }
  CARILLON_TRY(session.Execute(
      fmt::format("INSERT INTO schema_migrations (version, name, checksum, applied_us, "
                  "compatible_from) VALUES (?, ?, ?, {}, ?)",
                  kNow),
      {int64_t{migration.version}, migration.name, missing.checksum,
       int64_t{CompatibleFrom(migration)}}));
  return {};
}

Result<std::vector<Missing>> FindMissing(Session& session, const std::vector<Applied>& applied,
                                         const std::vector<Migration>& migrations) {
  const int newest = migrations.empty() ? 0 : migrations.back().version;
  CARILLON_TRY(RefuseIncomplete(applied));
  CARILLON_TRY(JudgeNewer(applied, newest));
  std::vector<Missing> missing;
  for (const Migration& migration : migrations) {
    CARILLON_ASSIGN_OR_RETURN(std::string checksum, ChecksumOf(session, migration.text));
    const auto found = std::find_if(applied.begin(), applied.end(), [&](const Applied& one) {
      return one.version == migration.version;
    });
    if (found == applied.end()) {
      missing.push_back({&migration, std::move(checksum)});
    } else if (found->checksum != checksum) {
      return {ErrorCode::kConflict,
              fmt::format("schema: migration {:04} was applied with another text than this "
                          "program's (checksum {}, ours {})",
                          migration.version, found->checksum, checksum)};
    }
  }
  if (!missing.empty() && !applied.empty() && applied.back().version > newest) {
    return {ErrorCode::kConflict,
            fmt::format("schema: the store is at version {} but lacks migration {:04} of this "
                        "program, which knows {}",
                        applied.back().version, missing.front().migration->version, newest)};
  }
  return missing;
}

Status ApplyAll(Session& session, const std::vector<Missing>& missing, bool new_store,
                const MigrationWaits& waits) {
  for (const Missing& one : missing) CARILLON_TRY(Apply(session, one, waits));
  // No older program has ever used a new store.
  return new_store ? FinishSchema(session) : Status();
}

// Returns false if a backup or maintenance uses the tables. If a statement fails, the locks end
// with the connection.
Result<bool> MigrateLocked(Session& session, const std::vector<Migration>& migrations,
                           const MigrationWaits& waits) {
  CARILLON_ASSIGN_OR_RETURN(const std::vector<Applied> applied, ReadApplied(session));
  CARILLON_ASSIGN_OR_RETURN(const std::vector<Missing> missing,
                            FindMissing(session, applied, migrations));
  if (missing.empty()) return true;
  CARILLON_ASSIGN_OR_RETURN(const bool alone, TakeLock(session, StoreLock::kMaintain, 0s));
  if (!alone) return false;
  const Status done = ApplyAll(session, missing, applied.empty(), waits);
  if (session.healthy()) CARILLON_TRY(ReleaseLock(session, StoreLock::kMaintain));
  return done.ok() ? Result<bool>(true) : Result<bool>(done.error());
}

// True if the name can be put into a statement as an identifier without escaping.
bool IsPlainName(const std::string& name) {
  return !name.empty() && name.size() <= 64 &&
         name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
             std::string::npos;
}

}  // namespace

int CompatibleFrom(const Migration& migration) {
  std::string_view text = migration.text;
  while (text.substr(0, 2) == "--") {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.substr(0, kCompatibleFrom.size()) == kCompatibleFrom) {
      const std::string_view number = line.substr(kCompatibleFrom.size());
      int from = 0;
      const auto [end, error] = std::from_chars(number.begin(), number.end(), from);
      const bool whole = error == std::errc() && end == number.end();
      return whole && from > 0 ? std::min(from, migration.version) : migration.version;
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return migration.version;
}

std::vector<std::string> SplitStatements(std::string_view text) {
  std::vector<std::string> statements;
  while (true) {
    text = SkipComments(text);
    const size_t end = text.find(";\n");
    if (end == std::string_view::npos) return statements;
    statements.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 2);
  }
}

Status Migrate(Session& session, const std::vector<Migration>& migrations,
               const MigrationWaits& waits) {
  for (int tries = 1;; ++tries) {
    CARILLON_TRY(TakeMigrateLock(session, waits));
    const Result<bool> done = MigrateLocked(session, migrations, waits);
    if (session.healthy()) CARILLON_TRY(ReleaseLock(session, StoreLock::kMigrate));
    if (!done.ok()) return done.error();
    if (*done) return {};
    if (tries == kMaintainLockTriesMax) {
      return {ErrorCode::kUnavailable,
              "schema: a backup or maintenance has been running for too long"};
    }
    // Without the lock, so that a member that has nothing to migrate can start meanwhile.
    if (tries == 1) log::Info("mysql", "the migration waits for a backup or for maintenance");
    CARILLON_TRY(Pause(session, 1s, waits));
  }
}

Result<SchemaLevels> ReadLevels(Session& session, int known) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Ask("SELECT COALESCE(MAX(version), 0), COALESCE(MAX(compatible_from), 0) "
                             "FROM schema_migrations"));
  rows.Next();
  const int applied = static_cast<int>(rows.Int(1));
  CARILLON_TRY(RefuseIncomplete({{.version = applied, .checksum = {}}}));
  return SchemaLevels{
      .known = known, .applied = applied, .finished = static_cast<int>(rows.Int(2))};
}

Status FinishSchema(Session& session) {
  return session.Run(
      "UPDATE schema_migrations SET compatible_from = version ORDER BY version DESC LIMIT 1");
}

Status CreateDatabase(const SessionOptions& session) {
  if (!IsPlainName(session.database)) {
    return {ErrorCode::kInvalid, "store: the database's name is not made of letters, digits and _"};
  }
  SessionOptions without = session;
  without.database.clear();
  CARILLON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> connected, Session::Connect(without));
  return connected->Run(
      fmt::format("CREATE DATABASE IF NOT EXISTS {} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
                  session.database));
}

Result<int> ReadSchemaVersion(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows tables, session.Ask("SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = "
                               "DATABASE() AND TABLE_NAME = 'schema_migrations'"));
  if (!tables.Next()) return {ErrorCode::kNotFound, "the database is not a store of Carillon"};
  CARILLON_ASSIGN_OR_RETURN(Rows rows,
                            session.Ask("SELECT COALESCE(MAX(version), 0) FROM schema_migrations"));
  rows.Next();
  const int version = static_cast<int>(rows.Int(1));
  CARILLON_TRY(RefuseIncomplete({{.version = version, .checksum = {}}}));
  return version;
}

Status MarkIncomplete(Session& session) {
  CARILLON_TRY(EnsureTable(session));
  return session.Run(
      fmt::format("REPLACE INTO schema_migrations (version, name, checksum, applied_us, "
                  "compatible_from) VALUES "
                  "({0}, 'incomplete', '', 0, {0})",
                  kIncomplete));
}

}  // namespace carillon::mysql
