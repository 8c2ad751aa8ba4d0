#include "common/domain/queue/overlap.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/failpoint.h"
#include "common/domain/run/returns.h"

namespace carillon {

OverlapRules OverlapRulesOf(const JobDefinition& job) {
  return {.policy = job.overlap_policy,
          .max_running = job.max_running,
          .queue_max = job.queue_max,
          .queue_timeout = std::chrono::seconds(job.queue_timeout_s)};
}

SlotVerdict DecideSlot(const OverlapRules& rules, const SlotFacts& facts) {
  if (!TakesSlots(rules.policy)) return SlotVerdict::kStart;
  const bool behind =
      !facts.has_slot && facts.queued_before && !failpoint::Broken("claim.queued_before");
  const int64_t before = facts.has_slot ? facts.ahead : facts.taken;
  const bool free = before < rules.max_running || failpoint::Broken("claim.limit");
  if (free && !behind) return SlotVerdict::kStart;
  if (facts.has_slot) return SlotVerdict::kQueue;
  switch (rules.policy) {
    case OverlapPolicy::kAllow:
    case OverlapPolicy::kSkip: return SlotVerdict::kSkip;
    case OverlapPolicy::kQueueOne:
      return facts.queued == 0 ? SlotVerdict::kQueue : SlotVerdict::kSkip;
    case OverlapPolicy::kQueueAll:
      return facts.queued < rules.queue_max ? SlotVerdict::kQueue : SlotVerdict::kSkipFull;
    case OverlapPolicy::kCancelPrevious:
    case OverlapPolicy::kTerminatePrevious: return SlotVerdict::kQueue;
  }
  return SlotVerdict::kSkip;
}

Admission DecideAdmission(const OverlapRules& rules, const std::vector<RunKey>& queue,
                          int64_t taken) {
  Admission admission;
  if (queue.empty()) return admission;
  if (!TakesSlots(rules.policy)) {
    admission.admitted = queue;
    return admission;
  }
  if (!EndsPrevious(rules.policy)) {
    const int64_t free = std::max<int64_t>(0, rules.max_running - taken);
    const auto count = std::min<size_t>(queue.size(), static_cast<size_t>(free));
    admission.admitted.assign(queue.begin(), queue.begin() + static_cast<long>(count));
    return admission;
  }
  admission.replaced.assign(queue.begin(), queue.end() - 1);
  if (taken == 0) {
    admission.admitted.push_back(queue.back());
  } else {
    admission.holders =
        rules.policy == OverlapPolicy::kCancelPrevious ? CancelMode::kGraceful : CancelMode::kKill;
  }
  return admission;
}

MakeRoom DecideMakeRoom(const RunRow& holder, const RunKey& newest) {
  if (newest < holder.key) return MakeRoom::kKeep;
  return holder.state == RunState::kPending && IsFirstTry(holder) ? MakeRoom::kSkip
                                                                  : MakeRoom::kCancel;
}

std::string ReplacedSentence(const OverlapRules& rules, const RunKey& by) {
  return fmt::format("ended by overlap_policy {} for run {}", Name(rules.policy), EncodeRunId(by));
}

}  // namespace carillon
