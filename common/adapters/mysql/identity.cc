#include "common/adapters/mysql/identity.h"

#include "common/adapters/mysql/mysql_store.h"
#include "common/adapters/mysql/transaction.h"

namespace carillon::mysql {
namespace {

// MySQL keeps an id with its data. MariaDB has none: a server is where it runs and what it serves.
constexpr std::string_view kServerOfMariadb =
    "SHA2(CONCAT_WS('|', @@hostname, @@port, @@server_id, @@datadir), 256)";
constexpr std::string_view kServerOfMysql = "@@server_uuid";

// Moves the mark of the store that is exactly `seen`, with its row locked until the commit.
Result<uint64_t> MoveMarkOf(Session& session, const StoreIdentity& seen) {
  CARILLON_ASSIGN_OR_RETURN(const StoreIdentity stored,
                            ReadIdentity(session, IdentityLock::kForUpdate));
  if (stored != seen) return {ErrorCode::kConflict, "mark: the store is not the one seen"};
  CARILLON_TRY(session.Execute("UPDATE store_identity SET mark = mark + 1 WHERE id = 1"));
  return seen.mark + 1;
}

}  // namespace

Result<StoreIdentity> ReadIdentity(Session& session, IdentityLock lock) {
  std::string statement = "SELECT store_id, segment_count, mark, ";
  statement += session.is_mariadb() ? kServerOfMariadb : kServerOfMysql;
  statement += " FROM store_identity WHERE id = 1";
  if (lock == IdentityLock::kForUpdate) statement += " FOR UPDATE";
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Ask(statement));
  if (!rows.Next()) return {ErrorCode::kCorrupt, "identify: the store has no identity"};
  return StoreIdentity{.store_id = rows.Text(1),
                       .server_id = rows.Text(4),
                       .segment_count = static_cast<uint32_t>(rows.Unsigned(2)),
                       .mark = rows.Unsigned(3)};
}

Result<StoreIdentity> MysqlStore::Identify() {
  return InRead(*pool_, "identify", [](Session& session) { return ReadIdentity(session); });
}

Result<uint64_t> MysqlStore::AdvanceMark(const StoreIdentity& seen) {
  return InTransaction(*pool_, {.operation = "mark"},
                       [&](Session& session) { return MoveMarkOf(session, seen); });
}

Result<uint64_t> MysqlStore::Accept(const StoreIdentity& seen, Epoch above) {
  return InTransaction(*pool_, {.operation = "accept"}, [&](Session& session) -> Result<uint64_t> {
    CARILLON_ASSIGN_OR_RETURN(const uint64_t mark, MoveMarkOf(session, seen));
    CARILLON_TRY(
        session.Execute("UPDATE segments SET epoch = GREATEST(epoch + 1, ?)", {above.value()}));
    return mark;
  });
}

void MysqlStore::Forget() {
  kept_->ids.Forget();
  kept_->incarnations.Forget();
  kept_->versions_from = 0;
}

}  // namespace carillon::mysql
