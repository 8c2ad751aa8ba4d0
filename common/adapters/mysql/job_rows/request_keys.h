// Writes the answer of a request with an Idempotency-Key in the caller's transaction.
#pragma once

#include <string>
#include <string_view>

#include "common/adapters/mysql/client/session.h"
#include "common/ports/store/idempotency_store.h"

namespace carillon::mysql {

inline constexpr Duration kRequestKeyKept = 24h;
// After this time, the member that handles a request counts as dead.
inline constexpr Duration kRequestInFlight = 1min;

// `condition` (" AND …") is added to the condition on the key. Returns the number of keys
// that matched.
Result<int64_t> WriteAnswer(Session& session, std::string_view condition, const std::string& scope,
                            const std::string& key, const StoredAnswer& answer);

// Returns kConflict if another member took the request over and has finished it.
Status SettleRequest(Session& session, const std::string& scope, const std::string& key,
                     const StoredAnswer& answer);

}  // namespace carillon::mysql
