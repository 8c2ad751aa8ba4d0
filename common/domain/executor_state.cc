#include "common/domain/executor_state.h"

#include <algorithm>
#include <array>

namespace carillon {
namespace {

constexpr std::array kExecutorStates = {ExecutorState::kOnline, ExecutorState::kUnhealthy,
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
  for (const ExecutorState state : kExecutorStates) {
    if (Name(state) == text) return state;
  }
  return {ErrorCode::kInvalid, "not an executor state: '" + std::string(text) + "'"};
}

bool IsExecutorId(std::string_view text) {
  constexpr size_t kBytesMax = 63;
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kBytesMax && plain(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return plain(c) || c == '-'; });
}

}  // namespace carillon
