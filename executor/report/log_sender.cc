#include "executor/report/log_sender.h"

#include <algorithm>

namespace carillon::executor {
namespace {

// The job id in log messages of an attempt whose start record was lost. Readers find a log by its
// run, so they do not need the job id.
constexpr char kUnknownLogJob[] = "unknown";

}  // namespace

void LogSender::Add(AttemptOutput output) {
  std::function<void()> wake;
  waiting_bytes_ += output.chunk.entries.size();
  {
    MutexLock lock(mu_);
    added_.push_back(std::move(output));
    wake = wake_;
  }
  if (wake) wake();
}

void LogSender::AddIfRoom(AttemptOutput output) {
  if (waiting_bytes_.load() + output.chunk.entries.size() > kUnboundBytesMax) {
    ports_.metrics.counter("carillon_logs_dropped_total").Add();
    return;
  }
  Add(std::move(output));
}

void LogSender::Stored(const std::vector<StoredOutput>& stored) {
  std::function<void()> wake;
  {
    MutexLock lock(mu_);
    stored_.insert(stored_.end(), stored.begin(), stored.end());
    wake = wake_;
  }
  if (wake) wake();
}

void LogSender::OnWork(std::function<void()> wake) {
  MutexLock lock(mu_);
  wake_ = std::move(wake);
}

SteadyTime LogSender::Step(SteadyTime now) {
  TakeAdded();
  DropStored();
  const bool sent = SendDue(now);
  ports_.metrics.gauge("carillon_log_pieces_waiting").Set(static_cast<double>(unstored_.size()));
  if (!sent || !to_confirm_.empty()) return now + kRetryAfter;
  SteadyTime next = now + kResendLongest;
  for (const auto& [name, unstored] : unstored_) next = std::min(next, unstored.again);
  return next;
}

void LogSender::TakeAdded() {
  std::vector<AttemptOutput> added;
  {
    MutexLock lock(mu_);
    added.swap(added_);
  }
  for (AttemptOutput& output : added) {
    const Name name{output.attempt.key, output.attempt.attempt, output.chunk.first_seq};
    if (unstored_.contains(name)) {  // sent again by the warden after a reconnect
      waiting_bytes_ -= output.chunk.entries.size();
      continue;
    }
    ports_.metrics.counter("carillon_log_bytes_total").Add(output.chunk.entries.size());
    unstored_[name].message = {
        .attempt = output.attempt,
        .job_id = output.job_id.empty() ? JobId(kUnknownLogJob) : std::move(output.job_id),
        .executor = executor_,
        .chunk = std::move(output.chunk)};
  }
}

void LogSender::DropStored() {
  std::vector<StoredOutput> stored;
  {
    MutexLock lock(mu_);
    stored.swap(stored_);
  }
  for (const StoredOutput& one : stored) {
    const auto known = unstored_.find({one.attempt.key, one.attempt.attempt, one.first_seq});
    if (known != unstored_.end()) {
      waiting_bytes_ -= known->second.message.chunk.entries.size();
      unstored_.erase(known);
    }
    to_confirm_.push_back(one);
  }
  // If no warden is attached, the chunks are confirmed later; a restarted warden ignores them.
  if (!to_confirm_.empty() && ports_.warden.ConfirmOutput(to_confirm_).ok()) to_confirm_.clear();
}

bool LogSender::SendDue(SteadyTime now) {
  std::vector<Name> record;
  size_t bytes = 0;
  for (const auto& [name, unstored] : unstored_) {
    if (now < unstored.again) continue;
    const size_t size = unstored.message.chunk.entries.size() + 256;
    const bool full = record.size() == kBundleChunksMax || bytes + size > kRecordBytesMax;
    if (!record.empty() && full) {
      if (!SendRecord(record, now)) return false;
      record.clear();
      bytes = 0;
    }
    record.push_back(name);
    bytes += size;
  }
  return record.empty() || SendRecord(record, now);
}

bool LogSender::SendRecord(const std::vector<Name>& names, SteadyTime now) {
  std::vector<LogMessage> messages;
  messages.reserve(names.size());
  for (const Name& name : names) messages.push_back(unstored_.at(name).message);
  if (!ports_.producer.Send(kLogsTopic, partition_key_, {.payload = EncodeLogs(messages)}).ok()) {
    return false;
  }
  for (const Name& name : names) {
    Unstored& unstored = unstored_.at(name);
    unstored.again = now + unstored.patience;
    unstored.patience = std::min(unstored.patience * 2, kResendLongest);
  }
  return true;
}

}  // namespace carillon::executor
