// Runs of other jobs for which the runs of a job wait before they start: its `waits_for`. Pure.
//
// Place    A run that a schedule, another job or a workflow makes is written as kAwaiting (run.h).
//          Its owner asks upstream_wait.h until all entries are met. docs/schedules.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/domain/schedule/schedule_spec.h"

namespace carillon {

struct JobDefinition;  // job.h

inline constexpr size_t kWaitsMax = 10;
inline constexpr int kWaitDaysBackMax = 31;
inline constexpr int64_t kWaitBackMaxS = 31 * int64_t{86'400};
inline constexpr int64_t kWaitAheadMaxS = 7 * int64_t{86'400};
inline constexpr int64_t kWaitLimitMinS = 60;
inline constexpr int64_t kWaitLimitMaxS = 7 * int64_t{86'400};

// The fires of the other job that may count, as seen from the fire of the run that waits: a local
// day, or a span of time.
struct WaitWindow {
  std::optional<int> day = {};  // 0 = the day of the fire, up to it; -1 = the day before; to -31
  int64_t back_s = 0;           // without a day: 0-2,678,400
  int64_t ahead_s = 0;          // 0-604,800; not both 0

  bool operator==(const WaitWindow&) const = default;
};

enum class WaitWhich {
  kLast,  // the newest fire of the window
  kAll,   // each of them
};

// One entry.
struct UpstreamWait {
  JobId job = {};
  JobId in = {};                             // a workflow: only as its node; empty = anywhere
  AfterOutcome on = AfterOutcome::kSuccess;  // kSuccess or kDone
  WaitWindow window = {};
  WaitWhich which = WaitWhich::kLast;

  bool operator==(const UpstreamWait&) const = default;
};

bool WaitsForOthers(const JobDefinition& job);

// run_flag of the schedules of a job.
uint32_t FlagsOfSchedule(const JobDefinition& job, bool has_dependents);

// Checks `waits_for` and `wait_limit_s`.
Status ValidateWaits(const JobDefinition& job);

// The jobs and workflows that the definition names there, each once.
std::vector<JobId> WaitedJobsOf(const JobDefinition& job);

std::string_view Name(WaitWhich value);
template <>
Result<WaitWhich> ParseName(std::string_view text);

}  // namespace carillon
