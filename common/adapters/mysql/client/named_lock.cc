#include "common/adapters/mysql/client/named_lock.h"

#include <fmt/core.h>

namespace carillon::mysql {
namespace {

std::string LockName(StoreLock lock) {
  const std::string_view purpose = lock == StoreLock::kMigrate ? "migrate" : "maintain";
  return fmt::format("CONCAT('carillon.{}.', LEFT(SHA2(DATABASE(), 256), 32))", purpose);
}

Result<bool> IsOne(Session& session, const std::string& question) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Ask(question));
  return rows.Next() && rows.Int(1) == 1;
}

}  // namespace

Result<bool> TakeLock(Session& session, StoreLock lock, Duration wait) {
  const int64_t seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
  return IsOne(session, fmt::format("SELECT GET_LOCK({}, {})", LockName(lock), seconds));
}

Result<bool> HoldsLock(Session& session, StoreLock lock) {
  return IsOne(session, fmt::format("SELECT IS_USED_LOCK({}) = CONNECTION_ID()", LockName(lock)));
}

Status ReleaseLock(Session& session, StoreLock lock) {
  const auto released = session.Ask(fmt::format("SELECT RELEASE_LOCK({})", LockName(lock)));
  return released.ok() ? Status() : Status(released.error());
}

}  // namespace carillon::mysql
