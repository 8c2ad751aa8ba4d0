#include "common/adapters/mysql/database/mysql_database.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/adapters/mysql/client/identity.h"
#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/server_checks.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/schema/migrations.h"
#include "common/adapters/mysql/schema/partitions.h"

namespace carillon::mysql {
namespace {

constexpr uint32_t kSegmentsMax = 4'096;

// Inserts the rows that every store has. If several members start on a new store, only one of them
// can insert the identity, because of its primary key.
Status FillNewStore(Session& session, uint32_t segment_count) {
  CARILLON_TRY(session.Execute(
      "INSERT INTO store_identity (id, store_id, segment_count, created_us) "
      "SELECT 1, UUID(), ?, TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) "
      "FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM store_identity)",
      {uint64_t{segment_count}}));
  JsonRows segments;
  for (uint32_t i = 0; i < segment_count; ++i) segments.Begin().Add(i);
  CARILLON_TRY(session.Execute(
      "INSERT INTO segments (segment) SELECT k.n FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS ("
      "n INT UNSIGNED PATH '$[0]')) k CROSS JOIN store_identity i WHERE k.n < i.segment_count AND "
      "NOT EXISTS (SELECT 1 FROM segments)",
      {segments.Take()}));
  for (const char* sequence : {"job", "schedule"}) {
    CARILLON_TRY(session.Execute(
        "INSERT INTO id_blocks (name, next_id) SELECT ?, 1 FROM DUAL WHERE NOT EXISTS "
        "(SELECT 1 FROM id_blocks b WHERE b.name = ?)",
        {std::string_view(sequence), std::string_view(sequence)}));
  }
  return {};
}

// Long enough to build an index over the whole history. Only the migration uses this connection.
constexpr int kMigrationStatementMaxSeconds = 4 * 3600;

// The pool for reads that a member makes once a second. Its timeouts are short, so that a member
// soon notices a server that hangs.
constexpr size_t kQuickConnections = 2;
constexpr int kQuickTimeoutSeconds = 2;  // limit to connect, and of one statement

std::unique_ptr<Pool> QuickPool(SessionOptions session) {
  session.connect_timeout_s = std::min(session.connect_timeout_s, kQuickTimeoutSeconds);
  session.read_timeout_s = std::min(session.read_timeout_s, kQuickTimeoutSeconds);
  return std::make_unique<Pool>(PoolOptions{
      .session = std::move(session), .size = kQuickConnections, .wait = 1s * kQuickTimeoutSeconds});
}

}  // namespace

MysqlDatabase::MysqlDatabase(std::shared_ptr<StoreCaches> caches, Pools pools,
                             uint32_t segment_count)
    : caches_(std::move(caches)), pools_(std::move(pools)), segment_count_(segment_count) {}

MysqlDatabase MysqlDatabase::Behind(StoreGate& gate, Gated gated) const {
  return MysqlDatabase(caches_,
                       {.all = std::make_unique<Pool>(*pools_.all, gate, gated),
                        .quick = std::make_unique<Pool>(*pools_.quick, gate, gated)},
                       segment_count_);
}

Result<MysqlDatabase> MysqlDatabase::Open(const MysqlOptions& options,
                                          const std::function<bool()>& interrupted) {
  if (options.segment_count == 0 || options.segment_count > kSegmentsMax) {
    return {ErrorCode::kInvalid, fmt::format("store: segments: 1 to {}", kSegmentsMax)};
  }
  if (options.create_database) CARILLON_TRY(CreateDatabase(options.session));
  auto caches = std::make_shared<StoreCaches>(options.metrics);
  SessionOptions telling = options.session;
  telling.unreadable = &caches->unreadable;
  auto pool = std::make_unique<Pool>(
      PoolOptions{.session = telling, .size = options.pool_size, .wait = options.pool_wait});
  {
    CARILLON_ASSIGN_OR_RETURN(const Pool::Lease lease, pool->Acquire("schema"));
    if (options.check_server) CARILLON_TRY(CheckServer(*lease));
  }
  {
    SessionOptions migrating = telling;
    migrating.read_timeout_s = kMigrationStatementMaxSeconds;
    CARILLON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Connect(migrating));
    MigrationWaits waits;
    if (interrupted) waits.interrupted = interrupted;
    CARILLON_TRY(Migrate(*session, EmbeddedMigrations(), waits));
  }
  CARILLON_TRY(InTransaction(
      *pool, {.operation = "new store", .retry_duplicates = true},
      [&](Session& session) { return FillNewStore(session, options.segment_count); }));
  CARILLON_ASSIGN_OR_RETURN(
      const StoreIdentity identity,
      InRead(*pool, "identify", [](Session& session) { return ReadIdentity(session); }));
  MysqlDatabase database(std::move(caches), {.all = std::move(pool), .quick = QuickPool(telling)},
                         identity.segment_count);
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, database.Now());
  const Status partitions = AddPartitions(database.pool(), now);
  // kUnavailable: the tables are in use. The daily maintenance will add the partitions; until then
  // new runs are stored in p_future.
  if (!partitions.ok() && partitions.code() != ErrorCode::kUnavailable) return partitions.error();
  return database;
}

Result<WallTime> MysqlDatabase::Now() {
  return InRead(quick(), "now", [](Session& session) -> Result<WallTime> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query("SELECT " + std::string(kDatabaseNow)));
    rows.Next();
    return rows.Time(1);
  });
}

}  // namespace carillon::mysql
