// Computes when the next attempt of a run is due. Pure.
#pragma once

#include "common/domain/job/job.h"
#include "common/domain/run/retry_conditions.h"

namespace carillon {

// The longest wait that a response to a request, or a function, can ask for.
inline constexpr Duration kRetryAfterMax = 1h;

// A job's rules for further attempts, as in JobDefinition.
struct RetryRules {
  int64_t retry_count = 0;  // tries after the first
  Duration interval = 60s;
  RetryBackoff backoff = RetryBackoff::kFixed;
  std::vector<Duration> intervals = {};  // explicit list; overrides interval and backoff
  OnLost on_lost = OnLost::kRetry;
  RetryConditions conditions = {};
  Duration presume_dead{};  // JobDefinition::presume_dead_s

  bool operator==(const RetryRules&) const = default;
};
RetryRules RetryRulesOf(const JobDefinition& job);

// The rules for an attempt whose executor was lost.
struct LossRules {
  OnLost on_lost = OnLost::kHold;
  bool cooperative = false;  // job_types.h
};

// True if an attempt after `attempt` (from 1) is allowed.
bool HasRetryLeft(const RetryRules& rules, int attempt);

// Returns the wait after `attempt` failed, by the kind of the rules:
// - fixed: the interval;
// - exponential: interval * 2^(attempt-1), at most 24 h, minus a jitter of up to a quarter. The
//   jitter is derived from `seed` (the run's hash), so that every member computes the same value;
// - list: entry attempt-1; the last entry repeats.
Duration RetryDelay(const RetryRules& rules, int attempt, uint64_t seed);

}  // namespace carillon
