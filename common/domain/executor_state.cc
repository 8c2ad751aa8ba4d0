#include "common/domain/executor_state.h"

#include <array>

namespace carillon {
namespace {

constexpr std::array kStates = {ExecutorState::kOnline, ExecutorState::kUnhealthy,
                                ExecutorState::kLost, ExecutorState::kOffline};

}  // namespace

std::string_view Name(ExecutorState state) {
  switch (state) {
    case ExecutorState::kOnline: return "ONLINE";
    case ExecutorState::kUnhealthy: return "UNHEALTHY";
    case ExecutorState::kLost: return "LOST";
    case ExecutorState::kOffline: return "OFFLINE";
  }
  return "";
}

Result<ExecutorState> ParseExecutorState(std::string_view text) {
  for (const ExecutorState state : kStates) {
    if (Name(state) == text) return state;
  }
  return {ErrorCode::kInvalid, "not an executor state: '" + std::string(text) + "'"};
}

}  // namespace carillon
