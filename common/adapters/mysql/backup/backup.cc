#include "common/adapters/mysql/backup/backup.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <fmt/core.h>

#include "common/adapters/mysql/backup/client_tool.h"
#include "common/adapters/mysql/backup/dump_scan.h"
#include "common/adapters/mysql/client/named_lock.h"
#include "common/adapters/mysql/schema/migrations.h"

namespace carillon::mysql {
namespace {

constexpr size_t kReadBytes = 1 << 20;
constexpr int kCountMaxSeconds = 4 * 3600;  // limit for counting the rows of a table
// This table is loaded last, so that a store restored only in part stays marked as incomplete.
constexpr std::string_view kLastTable = "schema_migrations";

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

struct StoreTables {
  std::vector<std::string> tables;
  std::vector<std::string> views;
};

Result<StoreTables> ReadTables(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Ask("SELECT TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES WHERE "
                             "TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME = 'schema_migrations', "
                             "TABLE_NAME"));
  StoreTables found;
  while (rows.Next()) {
    (rows.Text(2) == "VIEW" ? found.views : found.tables).push_back(rows.Text(1));
  }
  return found;
}

Status TakeForBackup(Session& session, StoreLock lock, std::string_view who) {
  for (int tries = 0; tries < kBackupLockTriesMax; ++tries) {
    CARILLON_ASSIGN_OR_RETURN(const bool ours, TakeLock(session, lock, kBackupLockWait));
    if (ours) return {};
  }
  return {ErrorCode::kConflict, fmt::format("backup: {} has had the store's lock for {} s", who,
                                            std::chrono::duration_cast<std::chrono::seconds>(
                                                kBackupLockWait * kBackupLockTriesMax)
                                                .count())};
}

// Fails if the lock was lost. The dump may then lack rows, and nothing in the dump would show this.
Status StillLocked(Session& session) {
  const auto holds = HoldsLock(session, StoreLock::kMaintain);
  if (holds.ok() && *holds) return {};
  return {ErrorCode::kUnavailable,
          "backup: the lock that keeps maintenance away was lost, and with it the backup: " +
              (holds.ok() ? "another connection has it" : holds.error().message)};
}

Result<BackupHead> ReadFacts(Session& session) {
  BackupHead head;
  CARILLON_ASSIGN_OR_RETURN(head.schema, ReadSchemaVersion(session));
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Ask("SELECT store_id, TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', "
                             "UTC_TIMESTAMP(6)) FROM store_identity"));
  if (!rows.Next()) return {ErrorCode::kNotFound, "the database is not a store of Carillon"};
  head.store_id = rows.Text(1);
  head.taken = rows.Time(2);
  return head;
}

// Copies the dump into the file until the tool closes its end of the pipe. Checks regularly that
// the lock is still held.
Status CopyDump(int from, Session& lock, const Clock& clock, DumpScan& scan, NewFile& file) {
  std::string bytes(kReadBytes, '\0');
  std::string out;
  SteadyTime next_look = clock.Steady();
  for (;;) {
    if (const SteadyTime now = clock.Steady(); now >= next_look) {
      CARILLON_TRY(StillLocked(lock));
      next_look = now + kBackupLockLookEvery;
    }
    pollfd watched{.fd = from, .events = POLLIN, .revents = 0};
    constexpr auto wait =
        std::chrono::duration_cast<std::chrono::milliseconds>(kBackupLockLookEvery);
    if (poll(&watched, 1, static_cast<int>(wait.count())) <= 0) continue;
    const ssize_t n = read(from, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return {ErrorCode::kUnavailable, "backup: what the dump tool wrote cannot be read"};
    if (n == 0) return {};
    out.clear();
    scan.Feed(std::string_view(bytes).substr(0, static_cast<size_t>(n)), &out);
    CARILLON_TRY(file.Write(out));
  }
}

Status Dump(const BackupOptions& options, const std::vector<std::string>& command, Session& lock,
            const Clock& clock, DumpScan& scan, NewFile& file) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {ErrorCode::kUnavailable, "backup: no pipe"};
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  CARILLON_ASSIGN_OR_RETURN(
      const std::unique_ptr<ToolRun> run,
      ToolRun::Start(command, options.session.password, {.out = writing.get()}));
  writing.Close();
  CARILLON_TRY(CopyDump(reading.get(), lock, clock, scan, file));
  CARILLON_TRY(run->Finish());
  if (scan.complete()) return {};
  return {ErrorCode::kCorrupt, "backup: the dump tool did not say that the dump is complete"};
}

Status Drop(Session& session, const StoreTables& found) {
  for (const std::string& view : found.views) {
    CARILLON_TRY(session.Run("DROP VIEW `" + view + "`"));
  }
  CARILLON_TRY(session.Run("SET SESSION foreign_key_checks = 0"));
  for (const std::string& table : found.tables) {
    if (table != kLastTable) CARILLON_TRY(session.Run("DROP TABLE `" + table + "`"));
  }
  return {};
}

// kConflict if other connections use the database: members would act on a half-restored store.
Status RefuseUsers(Session& session, const std::string& database) {
  // The columns are Id, User, Host, db. MySQL deprecates information_schema.PROCESSLIST, and
  // MariaDB does not have performance_schema.processlist.
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Ask("SHOW PROCESSLIST"));
  int users = 0;
  while (rows.Next()) {
    users += rows.Text(4) == database && rows.Unsigned(1) != session.connection_id() ? 1 : 0;
  }
  if (users == 0) return {};
  return {ErrorCode::kConflict,
          fmt::format("restore: {} connections use the database {}: stop every member first", users,
                      database)};
}

Status MakeRoom(Session& session, const RestoreOptions& options) {
  CARILLON_TRY(RefuseUsers(session, options.session.database));
  CARILLON_ASSIGN_OR_RETURN(const StoreTables found, ReadTables(session));
  if (!options.replace && !(found.tables.empty() && found.views.empty())) {
    return {
        ErrorCode::kConflict,
        fmt::format("restore: the database {} is not empty; with --replace all that is in it is "
                    "dropped",
                    options.session.database)};
  }
  // Marks the store before anything is dropped, so that no program starts on it if the
  // restore fails.
  CARILLON_TRY(MarkIncomplete(session));
  return Drop(session, found);
}

Status Load(const RestoreOptions& options, const ClientTool& tool) {
  const Descriptor file(open(options.file.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return {ErrorCode::kUnavailable, "restore: cannot open " + options.file};
  CARILLON_ASSIGN_OR_RETURN(const std::unique_ptr<ToolRun> run,
                            ToolRun::Start(LoadCommand(tool, options.session),
                                           options.session.password, {.in = file.get()}));
  return run->Finish();
}

Status CompareRows(const RestoreOptions& options, const BackupFile& file) {
  SessionOptions counting = options.session;
  counting.read_timeout_s = kCountMaxSeconds;
  CARILLON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Connect(counting));
  for (const auto& [table, wanted] : file.rows) {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session->Ask("SELECT COUNT(*) FROM `" + table + "`"));
    rows.Next();
    if (rows.Int(1) == wanted) continue;
    CARILLON_TRY(MarkIncomplete(*session));
    return {ErrorCode::kCorrupt,
            fmt::format("restore: {} has {} rows, and the backup {}", table, rows.Int(1), wanted)};
  }
  return {};
}

}  // namespace

Result<BackupFile> CreateBackup(const BackupOptions& options, const Clock& clock) {
  CARILLON_ASSIGN_OR_RETURN(const ClientTool tool, FindDumpTool(options.search));
  CARILLON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> lock, Session::Connect(options.session));
  CARILLON_TRY(
      TakeForBackup(*lock, StoreLock::kMaintain, "a member's maintenance or another backup"));
  CARILLON_ASSIGN_OR_RETURN(const BackupHead head, ReadFacts(*lock));
  CARILLON_ASSIGN_OR_RETURN(const StoreTables found, ReadTables(*lock));
  std::vector<std::string> tables = found.tables;
  tables.insert(tables.end(), found.views.begin(), found.views.end());
  CARILLON_ASSIGN_OR_RETURN(const std::unique_ptr<NewFile> file, NewFile::Begin(options.file));
  CARILLON_TRY(file->Write(HeadLine(head)));
  DumpScan scan;
  CARILLON_TRY(
      Dump(options, DumpCommand(tool, options.session, tables), *lock, clock, scan, *file));
  BackupFile made{.head = head, .rows = scan.rows()};
  for (const std::string& table : found.tables) made.rows.try_emplace(table, 0);
  CARILLON_TRY(file->Write(TailLine(made.rows)));
  made.bytes = file->bytes();
  CARILLON_ASSIGN_OR_RETURN(const int schema, ReadSchemaVersion(*lock));
  if (schema != head.schema) {
    return {ErrorCode::kConflict, "backup: a member changed the schema meanwhile: take it again"};
  }
  CARILLON_TRY(StillLocked(*lock));
  CARILLON_TRY(file->Commit());
  // Otherwise the next maintenance is perhaps left out: the server may notice the end of the
  // session later than the caller.
  static_cast<void>(ReleaseLock(*lock, StoreLock::kMaintain));
  return made;
}

Result<BackupFile> RestoreBackup(const RestoreOptions& options) {
  CARILLON_ASSIGN_OR_RETURN(const ClientTool tool, FindLoadTool(options.search));
  CARILLON_ASSIGN_OR_RETURN(BackupFile file, ReadBackupFile(options.file));
  const int known = EmbeddedMigrations().back().version;
  if (file.head.schema > known) {
    return {ErrorCode::kConflict,
            fmt::format("restore: {} is of schema {}, this program knows {}: use the program that "
                        "wrote it, or a newer one",
                        options.file, file.head.schema, known)};
  }
  CARILLON_TRY(CreateDatabase(options.session));
  CARILLON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> lock, Session::Connect(options.session));
  CARILLON_TRY(TakeForBackup(*lock, StoreLock::kMigrate, "a member that starts"));
  CARILLON_TRY(TakeForBackup(*lock, StoreLock::kMaintain, "maintenance or a backup"));
  CARILLON_TRY(MakeRoom(*lock, options));
  Status loaded = Load(options, tool);
  if (loaded.ok()) loaded = CompareRows(options, file);
  if (loaded.ok()) return file;
  return Error{loaded.code(), loaded.error().message +
                                  "; the database is incomplete, and no program starts on it: "
                                  "restore again with --replace"};
}

}  // namespace carillon::mysql
