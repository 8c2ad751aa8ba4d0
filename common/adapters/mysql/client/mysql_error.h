// Maps MySQL's error numbers to the codes of common/base/result.h.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace carillon::mysql {

// Where the error came up: the same number means "nothing was written" before COMMIT was sent and
// "outcome unknown" after.
enum class Phase { kConnect, kStatement, kCommit };

// Client-side numbers start at 2000 (CR_…), the server's at 1000 and 3000 (ER_…).
inline constexpr int kDuplicateKey = 1062;
inline constexpr int kLockWaitTimeout = 1205;
inline constexpr int kDeadlock = 1213;
inline constexpr int kStatementTimeout = 1969;  // LimitStatements

ErrorCode CodeOf(int number, Phase phase);

// "plan: lock wait timeout (mysql 1205)"
Error MakeError(std::string_view operation, int number, std::string_view text, Phase phase);

// The connection is gone, or of unknown state.
bool IsConnectionLost(int number);

// The whole transaction was, or must be, undone, and the same statements may well succeed now.
bool IsRetryable(int number);

}  // namespace carillon::mysql
