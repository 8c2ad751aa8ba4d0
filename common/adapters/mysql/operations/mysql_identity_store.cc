#include "common/adapters/mysql/operations/mysql_identity_store.h"

#include "common/adapters/mysql/client/identity.h"
#include "common/adapters/mysql/client/transaction.h"

namespace carillon::mysql {
namespace {

// If the store's identity still equals `seen`, advances the mark.
// Locks the identity until the commit.
Result<uint64_t> MoveMarkOf(Session& session, const StoreIdentity& seen) {
  CARILLON_ASSIGN_OR_RETURN(const StoreIdentity stored,
                            ReadIdentity(session, IdentityLock::kForUpdate));
  if (stored != seen) return {ErrorCode::kConflict, "mark: the store is not the one seen"};
  CARILLON_TRY(session.Execute("UPDATE store_identity SET mark = mark + 1 WHERE id = 1"));
  return seen.mark + 1;
}

}  // namespace

Result<StoreIdentity> MysqlIdentityStore::Identify() {
  return InRead(db_.pool(), "identify", [](Session& session) { return ReadIdentity(session); });
}

Result<uint64_t> MysqlIdentityStore::AdvanceMark(const StoreIdentity& seen) {
  return InTransaction(db_.pool(), {.operation = "mark"},
                       [&](Session& session) { return MoveMarkOf(session, seen); });
}

Result<uint64_t> MysqlIdentityStore::Accept(const StoreIdentity& seen, Epoch above) {
  return InTransaction(
      db_.pool(), {.operation = "accept"}, [&](Session& session) -> Result<uint64_t> {
        CARILLON_ASSIGN_OR_RETURN(const uint64_t mark, MoveMarkOf(session, seen));
        CARILLON_TRY(
            session.Execute("UPDATE segments SET epoch = GREATEST(epoch + 1, ?)", {above.value()}));
        return mark;
      });
}

void MysqlIdentityStore::Forget() {
  db_.caches().ids.Forget();
  db_.caches().incarnations.Forget();
  db_.caches().triggers.Forget();
  db_.caches().versions.Forget();
  db_.caches().versions_from = 0;
}

}  // namespace carillon::mysql
