#include "common/adapters/zookeeper/zookeeper_error.h"

#include <fmt/core.h>

#include "common/adapters/zookeeper/zookeeper_include.h"

namespace carillon::zookeeper {

ErrorCode CodeOf(int rc, Effect effect) {
  switch (rc) {
    case ZNONODE: return ErrorCode::kNotFound;
    case ZNODEEXISTS: return ErrorCode::kExists;
    case ZBADVERSION: return ErrorCode::kConflict;
    case ZNOAUTH:
    case ZAUTHFAILED: return ErrorCode::kDenied;
    case ZBADARGUMENTS:
    case ZNOCHILDRENFOREPHEMERALS:
    case ZINVALIDACL:
    case ZNOTEMPTY: return ErrorCode::kInvalid;
    // The request may have been executed, so the outcome of a write is unknown. A read is harmless.
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZCLOSING: return effect == Effect::kRead ? ErrorCode::kUnavailable : ErrorCode::kTimeout;
    default: return ErrorCode::kUnavailable;
  }
}

Error MakeError(std::string_view operation, std::string_view path, int rc, Effect effect) {
  return {CodeOf(rc, effect), fmt::format("zookeeper: {} {}: {}", operation, path, zerror(rc))};
}

}  // namespace carillon::zookeeper
