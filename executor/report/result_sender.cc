#include "executor/report/result_sender.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"

namespace carillon::executor {
namespace {

// The job id in the result of an attempt whose start record was lost. The owner finds the run by
// its key; only other readers of the topic use the job id.
constexpr char kUnknownJob[] = "unknown";

}  // namespace

SteadyTime ResultSender::Step(SteadyTime now) {
  const size_t arrived = reported_.size() + applied_.size();
  if (now < next_ && arrived < kResultsPerStep) return next_;
  if (arrived > 0) next_ = now + kGap;
  TakeReported();
  const bool saved = Save();
  DropApplied();
  TakeUnanswered(now);
  const bool published = Publish(now);
  blocked_.store(!saved, std::memory_order_relaxed);
  spool_entries_.Set(static_cast<double>(unapplied_.size()));
  if (!saved || !published) return now + kRetryAfter;
  const size_t left = reported_.size() + applied_.size();
  if (left > 0) return left < kResultsPerStep ? next_ : now;
  return NextResend(now);
}

void ResultSender::TakeUnanswered(SteadyTime now) {
  for (size_t i = 0; i < kResendAfter.size(); ++i) {
    auto& waiting = resend_[i];
    while (!waiting.empty() && waiting.front().first + kResendAfter[i] <= now) {
      const auto [sent, key] = waiting.front();
      waiting.pop_front();
      const auto found = unapplied_.find(key);
      if (found != unapplied_.end() && found->second.sent == sent) to_send_.push_back(key);
    }
  }
}

SteadyTime ResultSender::NextResend(SteadyTime now) const {
  SteadyTime next = now + kResendAfter.back();
  for (size_t i = 0; i < kResendAfter.size(); ++i) {
    if (!resend_[i].empty()) next = std::min(next, resend_[i].front().first + kResendAfter[i]);
  }
  return next;
}

void ResultSender::TakeReported() {
  for (ReportedResult& result : reported_.PopUpTo(kResultsPerStep)) {
    const AttemptId key = IdOf(result.ended.attempt);
    if (unapplied_.contains(key)) continue;
    if (result.home == ResultHome::kMemory) {
      unsaved_.push_back(result.ended);
    } else {
      to_send_.push_back(key);
    }
    unapplied_[key] = Unapplied{std::move(result)};
  }
}

bool ResultSender::Save() {
  if (unsaved_.empty()) return true;
  const Status saved = ports_.spool.Append({unsaved_.begin(), unsaved_.end()});
  if (!saved.ok()) {
    if (!blocked()) log::Error("report", "results are kept in memory: {}", saved.error().message);
    return false;
  }
  for (const AttemptEnded& ended : unsaved_) {
    const AttemptId key = IdOf(ended.attempt);
    unapplied_[key].result.home = ResultHome::kSpool;
    to_send_.push_back(key);
  }
  unsaved_.clear();
  return true;
}

void ResultSender::DropApplied() {
  for (const HeldAttempt& attempt : applied_.PopUpTo(kResultsPerStep)) {
    const auto found = unapplied_.find(IdOf(attempt));
    if (found == unapplied_.end()) continue;
    auto& forget =
        found->second.result.home == ResultHome::kWarden ? forget_warden_ : forget_spool_;
    forget.push_back(attempt);
    unapplied_.erase(found);
  }
  // Results that could not be deleted are deleted in a later step. If the daemon restarts before
  // that, they are only reported again.
  if (!forget_spool_.empty() && ports_.spool.Remove(forget_spool_).ok()) forget_spool_.clear();
  if (!forget_warden_.empty() && ports_.warden.Forget(forget_warden_).ok()) forget_warden_.clear();
}

bool ResultSender::Publish(SteadyTime now) {
  const BusFormat format = format_.load();
  std::vector<AttemptId> bundle;
  size_t bytes = 0;
  bool all = true;
  for (const AttemptId& key : std::exchange(to_send_, {})) {
    const auto found = unapplied_.find(key);
    if (found == unapplied_.end()) continue;
    const AttemptResult& result = found->second.result.ended.result;
    const size_t size = result.output.size() + 2 * BytesOf(result.outputs) + 512;
    const bool full = bundle.size() == TasksPerRecord(format) || bytes + size > kBundleBytesMax;
    if (!bundle.empty() && full) {
      all = SendBundle(bundle, format, now) && all;
      bundle.clear();
      bytes = 0;
    }
    bundle.push_back(key);
    bytes += size;
  }
  if (!bundle.empty()) all = SendBundle(bundle, format, now) && all;
  return all;
}

// Bundles results of any segments, because every member reads all partitions and takes the results
// of its own segments. Bundles save the broker's time: a record costs the broker more
// than a result.
bool ResultSender::SendBundle(const std::vector<AttemptId>& keys, BusFormat format,
                              SteadyTime now) {
  std::vector<ResultMessage> messages;
  messages.reserve(keys.size());
  for (const AttemptId& key : keys) messages.push_back(MessageOf(unapplied_[key].result.ended));
  BusRecord record{.payload = EncodeResults(messages, format), .headers = {}};
  const Status sent = ports_.producer.Send(kResultsTopic, partition_key_, std::move(record));
  if (!sent.ok()) {
    to_send_.insert(to_send_.end(), keys.begin(), keys.end());
    return false;
  }
  for (const AttemptId& key : keys) {
    Unapplied& unapplied = unapplied_[key];
    unapplied.sent = now;
    resend_[unapplied.patience].emplace_back(now, key);
    unapplied.patience = std::min(unapplied.patience + 1, kResendAfter.size() - 1);
  }
  return true;
}

ResultMessage ResultSender::MessageOf(const AttemptEnded& ended) const {
  const HeldAttempt& held = ended.attempt;
  return {.report = {.key = held.key,
                     .segment = held.segment,
                     .job_no = held.job_no,
                     .attempt = held.attempt,
                     .token = held.token,
                     .executor = executor_,
                     .result = ended.result},
          .job_id = ended.job_id.empty() ? JobId(kUnknownJob) : ended.job_id};
}

}  // namespace carillon::executor
