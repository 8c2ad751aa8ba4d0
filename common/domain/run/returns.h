// Attempts that provably never began (LOST, kNotStarted, and FAILED, kHost): nobody was called, so
// the run is given back. Whatever on_lost and retry_on say, it waits for its next attempt as if it
// had not been claimed, and the attempt does not count as a try (retry_count).
//
// Always   A run is given back at most kReturnsMax times. After that such an attempt is lost, or
//          failed, like any other.
#pragma once

#include <algorithm>

#include "common/domain/run/run.h"

namespace carillon {

// The waits before the attempts are 0, 1, 2, 4, 8 and 8 s.
inline constexpr int kReturnsMax = 6;
inline constexpr uint32_t kOneReturn = run_flag::kReturns & ~(run_flag::kReturns << 1);
static_assert(kReturnsMax * kOneReturn <= run_flag::kReturns);

// `Run` is a row, or what its owner remembers of it.
template <typename Run>
constexpr int ReturnsOf(const Run& run) {
  return static_cast<int>((run.flags & run_flag::kReturns) / kOneReturn);
}
// The row is given back once more, which ReturnsOf counts as far as the row has room for it.
constexpr void CountReturn(RunRow& row) {
  if ((row.flags & run_flag::kReturns) != run_flag::kReturns) row.flags += kOneReturn;
}
// Attempts that count, the current one included.
template <typename Run>
constexpr int TriesOf(const Run& run) {
  return run.attempt - ReturnsOf(run);
}

// Nobody was called for the run yet: it is as if it had never been claimed.
template <typename Run>
constexpr bool IsFirstTry(const Run& run) {
  return TriesOf(run) == 1;
}

constexpr Duration ReturnWait(const RunRow& row) {
  const int returns = ReturnsOf(row);
  return returns == 0 ? Duration{} : Duration(1s) * (1 << std::min(returns - 1, 3));
}

inline bool NeverBegan(const AttemptResult& result) {
  return (result.state == RunState::kLost && result.reason == reason::kNotStarted) ||
         (result.state == RunState::kFailed && result.reason == reason::kHost);
}

}  // namespace carillon
