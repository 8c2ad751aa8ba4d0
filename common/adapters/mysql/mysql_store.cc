#include "common/adapters/mysql/mysql_store.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/adapters/mysql/json_rows.h"
#include "common/adapters/mysql/migrations.h"
#include "common/adapters/mysql/partitions.h"
#include "common/adapters/mysql/server_checks.h"
#include "common/adapters/mysql/transaction.h"

namespace carillon::mysql {
namespace {

constexpr uint32_t kSegmentsMax = 4'096;

// Rows that every store has. The identity's primary key lets one of several first members win.
Status FillNewStore(Session& session, uint32_t segment_count) {
  CARILLON_TRY(session.Execute(
      "INSERT INTO store_identity (id, store_id, segment_count, created_us) "
      "SELECT 1, UUID(), ?, TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) "
      "FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM store_identity)",
      {uint64_t{segment_count}}));
  JsonRows segments;
  for (uint32_t i = 0; i < segment_count; ++i) segments.Begin().Add(i);
  CARILLON_TRY(session.Execute(
      "INSERT INTO segments (segment) SELECT k.n FROM JSON_TABLE(?, '$[*]' COLUMNS ("
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

// An index over all of history takes its time; nobody else waits for this connection.
constexpr int kMigrationStatementMaxSeconds = 4 * 3600;

// The time limit of questions that a member asks once
// a second: it gives a server that hangs up soon.
constexpr size_t kQuickConnections = 2;
constexpr int kQuickTimeoutSeconds = 2;  // to connect, and of one statement

std::unique_ptr<Pool> QuickPool(SessionOptions session) {
  session.connect_timeout_s = std::min(session.connect_timeout_s, kQuickTimeoutSeconds);
  session.read_timeout_s = std::min(session.read_timeout_s, kQuickTimeoutSeconds);
  return std::make_unique<Pool>(PoolOptions{
      .session = std::move(session), .size = kQuickConnections, .wait = 1s * kQuickTimeoutSeconds});
}

}  // namespace

MysqlStore::MysqlStore(std::shared_ptr<Kept> kept, Pools pools, uint32_t segment_count)
    : MysqlBulk(*pools.all),
      MysqlCounts(*pools.all),
      kept_(std::move(kept)),
      pool_(std::move(pools.all)),
      quick_(std::move(pools.quick)),
      segment_count_(segment_count) {}

std::unique_ptr<MysqlStore> MysqlStore::Behind(StoreGate& gate, Gated gated) const {
  return std::unique_ptr<MysqlStore>(
      new MysqlStore(kept_,
                     {.all = std::make_unique<Pool>(*pool_, gate, gated),
                      .quick = std::make_unique<Pool>(*quick_, gate, gated)},
                     segment_count_));
}

Result<std::unique_ptr<MysqlStore>> MysqlStore::Open(const MysqlOptions& options) {
  if (options.segment_count == 0 || options.segment_count > kSegmentsMax) {
    return {ErrorCode::kInvalid, fmt::format("store: segments: 1 to {}", kSegmentsMax)};
  }
  if (options.create_database) CARILLON_TRY(CreateDatabase(options.session));
  auto kept = std::make_shared<Kept>(options.metrics);
  SessionOptions telling = options.session;
  telling.unreadable = &kept->unreadable;
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
    // An index that is made while others write waits for them at its end: not for long, or all who
    // come after it wait as well.
    CARILLON_TRY(session->Run("SET SESSION lock_wait_timeout = 10"));
    CARILLON_TRY(Migrate(*session, EmbeddedMigrations()));
  }
  std::unique_ptr<MysqlStore> store(
      new MysqlStore(std::move(kept), {.all = std::move(pool), .quick = QuickPool(telling)},
                     options.segment_count));
  CARILLON_TRY(InTransaction(
      *store->pool_, {.operation = "new store", .retry_duplicates = true},
      [&](Session& session) { return FillNewStore(session, options.segment_count); }));
  CARILLON_ASSIGN_OR_RETURN(const StoreIdentity identity, store->Identify());
  store->segment_count_ = identity.segment_count;
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, store->Now());
  const Status partitions = AddPartitions(*store->pool_, now);
  // Tables in use: the daily maintenance adds them; until then p_future takes the runs.
  if (!partitions.ok() && partitions.code() != ErrorCode::kUnavailable) return partitions.error();
  return store;
}

}  // namespace carillon::mysql
