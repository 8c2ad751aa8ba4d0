#include "scheduler/recover/cancel_pusher.h"

#include <map>
#include <utility>

#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kCancelsLookEvery = 500ms;
constexpr Duration kRepeatAfter = 2s;  // repeated in case the message was lost

}  // namespace

SteadyTime CancelPusher::Step(SteadyTime now) {
  if (!nudged_.exchange(false) && now < next_) return next_;
  next_ = now + kCancelsLookEvery;
  const auto view = ports_.segments.View();
  const std::vector<SegmentId> segments = view->ActiveSegments();
  if (segments.empty()) return next_;
  SentCancels sent;
  std::optional<RunCursor> after;
  do {
    auto asked = ports_.store.ScanCancelRequests(segments, after, kBatchRowsMax);
    if (!asked.ok()) {
      ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(asked.code())).Add();
      return next_;
    }
    EndGivenUp(*view, &*asked);
    SendPage(asked->runs, now, &sent);
    after = asked->next;
    // There is more than one page of requests. Reading them is expensive, so they are
    // read less often.
    if (after) next_ = now + kRepeatAfter;
  } while (after);
  sent_ = std::move(sent);
  return next_;
}

void CancelPusher::EndGivenUp(const OwnedView& view, RunningPage* page) {
  if (page->given_up.empty() || ports_.given_up == nullptr) return;
  std::vector<RunRow> given_up;
  for (const RunRow& row : page->runs) {
    if (page->given_up.contains(row.key)) given_up.push_back(row);
  }
  std::erase_if(page->runs, [&](const RunRow& row) { return page->given_up.contains(row.key); });
  ports_.given_up->End(view, given_up);
}

void CancelPusher::SendPage(const std::vector<RunRow>& asked, SteadyTime now, SentCancels* sent) {
  std::map<std::pair<ExecutorId, CancelMode>, CancelAttempts> messages;
  for (const RunRow& row : asked) {
    const CancelMode mode = row.cancel_requested.value_or(CancelMode::kGraceful);
    const auto before = sent_.find(row.key);
    // A request that was escalated to a harder mode is sent at once, without waiting
    // for kRepeatAfter.
    if (before != sent_.end() && before->second.mode >= mode &&
        now - before->second.at < kRepeatAfter) {
      sent->insert(*before);
      continue;
    }
    (*sent)[row.key] = {now, mode};
    CancelAttempts& message = messages[{row.executor, mode}];
    message.mode = mode;
    message.attempts.push_back({row.key, row.segment, row.job_no, row.attempt, row.claim_token});
  }
  for (auto& [to, message] : messages) {
    const ExecutorId& executor = to.first;
    // Sent to the executor's current process. It may have adopted the attempt from an earlier
    // process of the executor.
    const auto incarnation = ports_.executors.IncarnationOf(executor);
    if (!incarnation) continue;
    const Status result = ports_.hub.Send(executor, *incarnation, std::move(message));
    if (!result.ok()) log::Debug("recover", "cancel: {}", result.error().message);
  }
}

}  // namespace carillon::scheduler
