#include "common/adapters/mysql/migrations.h"

#include <fmt/core.h>

#include "common/base/log.h"

namespace carillon::mysql {
namespace {

struct Applied {
  int version = 0;
  std::string checksum;
};

// Drops the comment lines at the head of a statement.
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

Result<std::vector<Applied>> ReadApplied(Session& session) {
  CARILLON_TRY(session.Run(
      "CREATE TABLE IF NOT EXISTS schema_migrations (version INT NOT NULL PRIMARY KEY, "
      "name VARCHAR(128) NOT NULL, checksum CHAR(64) NOT NULL, applied_us BIGINT NOT NULL) "
      "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"));
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Ask("SELECT version, checksum FROM schema_migrations ORDER BY version"));
  std::vector<Applied> applied;
  while (rows.Next()) applied.push_back({static_cast<int>(rows.Int(1)), rows.Text(2)});
  return applied;
}

Status Apply(Session& session, const Migration& migration, const std::string& checksum) {
  log::Info("mysql", "applying migration {:04} {}", migration.version, migration.name);
  for (const std::string& statement : SplitStatements(migration.text)) {
    CARILLON_TRY(session.Run(statement));
  }
  CARILLON_TRY(session.Execute(
      "INSERT INTO schema_migrations (version, name, checksum, applied_us) VALUES (?, ?, ?, "
      "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)))",
      {static_cast<int64_t>(migration.version), migration.name, checksum}));
  return {};
}

Status MigrateLocked(Session& session, const std::vector<Migration>& migrations) {
  CARILLON_ASSIGN_OR_RETURN(const std::vector<Applied> applied, ReadApplied(session));
  const int newest = migrations.empty() ? 0 : migrations.back().version;
  if (!applied.empty() && applied.back().version > newest) {
    return {ErrorCode::kConflict,
            fmt::format("schema: the store is at version {}, this program knows {}: use the "
                        "program that wrote it, or a newer one",
                        applied.back().version, newest)};
  }
  for (const Migration& migration : migrations) {
    CARILLON_ASSIGN_OR_RETURN(const std::string checksum, ChecksumOf(session, migration.text));
    const Applied* found = nullptr;
    for (const Applied& one : applied) {
      if (one.version == migration.version) found = &one;
    }
    if (found == nullptr) {
      CARILLON_TRY(Apply(session, migration, checksum));
    } else if (found->checksum != checksum) {
      return {ErrorCode::kConflict,
              fmt::format("schema: migration {:04} was applied with another text than this "
                          "program's (checksum {}, ours {})",
                          migration.version, found->checksum, checksum)};
    }
  }
  return {};
}

}  // namespace

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

Status Migrate(Session& session, const std::vector<Migration>& migrations) {
  // Named locks are the server's, not the database's: the name carries a hash of the database.
  const std::string name = "CONCAT('carillon.migrate.', LEFT(SHA2(DATABASE(), 256), 32))";
  for (int tries = 1;; ++tries) {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Ask(fmt::format("SELECT GET_LOCK({}, {})", name,
                                                                 kMigrationLockWaitSeconds)));
    if (rows.Next() && rows.Int(1) == 1) break;
    if (tries == kMigrationLockTriesMax) {
      return {ErrorCode::kUnavailable, "schema: another member is migrating the store"};
    }
  }
  Status migrated = MigrateLocked(session, migrations);
  if (!session.healthy()) return migrated;  // the lock goes with the connection
  CARILLON_TRY(session.Ask(fmt::format("SELECT RELEASE_LOCK({})", name)));
  return migrated;
}

}  // namespace carillon::mysql
