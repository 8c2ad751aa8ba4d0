#include "common/domain/job/retry.h"

#include <algorithm>

#include "common/base/rng.h"

namespace carillon {
namespace {

constexpr Duration kLongestDelay = 24h;
// 2^20 intervals of one second exceed kLongestDelay; more shifts could overflow.
constexpr int kDoublingsMax = 20;

}  // namespace

RetryRules RetryRulesOf(const JobDefinition& job) {
  RetryRules rules{.retry_count = job.retry_count,
                   .interval = std::chrono::seconds(job.retry_interval_s),
                   .backoff = job.retry_backoff,
                   .on_lost = job.on_lost,
                   .conditions = {.retry_on = ReadRetryConditions(job.retry_on),
                                  .no_retry_on = ReadRetryConditions(job.no_retry_on)},
                   .presume_dead = std::chrono::seconds(job.presume_dead_s)};
  for (const int64_t seconds : job.retry_intervals_s) {
    rules.intervals.push_back(std::chrono::seconds(seconds));
  }
  return rules;
}

bool HasRetryLeft(const RetryRules& rules, int attempt) { return attempt <= rules.retry_count; }

Duration RetryDelay(const RetryRules& rules, int attempt, uint64_t seed) {
  if (!rules.intervals.empty()) {
    const size_t index =
        std::min<size_t>(static_cast<size_t>(std::max(attempt, 1)) - 1, rules.intervals.size() - 1);
    return rules.intervals[index];
  }
  if (rules.backoff == RetryBackoff::kFixed) return rules.interval;
  const int doublings = std::clamp(attempt - 1, 0, kDoublingsMax);
  const Duration full = std::min(rules.interval * (int64_t{1} << doublings), kLongestDelay);
  Rng rng(seed + static_cast<uint64_t>(attempt));
  return full - Duration(rng.Below(static_cast<uint64_t>(full.count() / 4) + 1));
}

}  // namespace carillon
