// The health of an executor, as the members see it.
#pragma once

#include <string_view>

#include "common/base/result.h"

namespace carillon {

enum class ExecutorState {
  kOnline,
  kUnhealthy,  // 3 heartbeats missed
  kLost,       // silent for 10 s
  kOffline,    // ended on purpose: its last heartbeat said so
};
std::string_view Name(ExecutorState state);  // "ONLINE", …
Result<ExecutorState> ParseExecutorState(std::string_view text);

// True for [a-z0-9][a-z0-9-]{0,62}.
bool IsExecutorId(std::string_view text);

}  // namespace carillon
