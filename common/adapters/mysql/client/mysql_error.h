// Maps MySQL's error numbers to the codes of common/base/result.h.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace carillon::mysql {

// The phase in which an error occurred. The same error number means "nothing was written" before
// COMMIT was sent, and "outcome unknown" after COMMIT was sent.
enum class Phase { kConnect, kStatement, kCommit };

// Errors of the client library have numbers from 2000 (CR_…), those of the server from 1000 and
// from 3000 (ER_…).
inline constexpr int kDuplicateColumn = 1060;
inline constexpr int kDuplicateKeyName = 1061;
inline constexpr int kDuplicateKey = 1062;
inline constexpr int kLockWaitTimeout = 1205;
inline constexpr int kDeadlock = 1213;
inline constexpr int kTlsRequired = 3159;       // MySQL with require_secure_transport
inline constexpr int kStatementTimeout = 1969;  // MariaDB; a limit of LimitStatements or LimitReads

ErrorCode CodeOf(int number, Phase phase);

// "plan: lock wait timeout (mysql 1205)"
Error MakeError(std::string_view operation, int number, std::string_view text, Phase phase);

// True if the connection was lost or is in an unknown state.
bool IsConnectionLost(int number);

// True if the same statements may succeed when they are run again. The whole transaction was rolled
// back, or must be rolled back first.
bool IsRetryable(int number);

}  // namespace carillon::mysql
