// Decides which starts the warden refuses, and how a refused attempt ends. Pure.
//
// Place    Step 8 of docs/life-of-a-run.md; the attempt launcher acts on it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "common/domain/run/run.h"

namespace carillon::executor {

// Processes that run or are about to be started.
inline constexpr size_t kRunningMax = 4096;

// The end of an attempt that is never started.
struct StartRefusal {
  RunState state = RunState::kLost;
  std::string_view reason;
  std::string error;
};

// A start order that just arrived, for an attempt that the warden does not hold.
struct ArrivedStart {
  // The attempt already ran under another claim token, and its end is forgotten. This happens after
  // the database was restored to an earlier state.
  bool ran_before = false;
  size_t running = 0;  // processes that run or are about to be started
};
std::optional<StartRefusal> RefusalAtArrival(const ArrivedStart& start);

// A start that is checked before its record is written, and again afterwards, because the disk may
// take long.
struct DueStart {
  bool warden_stops = false;
  bool cancelled = false;
  SteadyTime lease_end;
};
std::optional<StartRefusal> RefusalWhenDue(const DueStart& start, SteadyTime now);

}  // namespace carillon::executor
