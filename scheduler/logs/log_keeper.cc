#include "scheduler/logs/log_keeper.h"

#include <iterator>
#include <map>
#include <utility>

#include "common/base/log.h"
#include "common/wire/messages/record_sender.h"
#include "scheduler/assign/bisect.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kIdle = 1s;
// If this many pieces were refused in batches of one and none was accepted, the fault is in the
// store and not in the pieces.
constexpr size_t kRefusedAloneMax = 3;

}  // namespace

LogKeeper::LogKeeper(const Ports& ports, Options options)
    : ports_(ports),
      options_(std::move(options)),
      rng_(options_.seed),
      backoff_({.first = 20ms, .longest = 1s}) {}

SteadyTime LogKeeper::Step(SteadyTime now) {
  if (now < retry_at_) return retry_at_;
  const bool more = received_.empty() && Receive();
  if (!open_.empty() && !WriteOpen()) {
    retry_at_ = ports_.clock.Steady() + backoff_.Next(rng_);
    return retry_at_;
  }
  backoff_.Reset();
  if (!received_.empty()) {
    const Status committed = ports_.logs.Commit(received_);
    // If the commit failed, these records are delivered again, although their pieces
    // are already stored.
    if (!committed.ok()) log::Warn("logs", "commit: {}", committed.error().message);
    received_.clear();
  }
  return more ? now : now + kIdle;
}

bool LogKeeper::Receive() {
  auto records = ports_.logs.Poll(kRecordsPerStep);
  if (!records.ok()) {
    ports_.metrics.counter("carillon_rejected_messages_total", "bus_unavailable").Add();
    return false;
  }
  for (ReceivedRecord& record : *records) {
    auto messages = DecodeLogs(record.record.payload, [this](SegmentId segment) {
      return ports_.assigned.Wants(segment);
    });
    if (const auto sender = SenderOf(record.record); sender && messages.ok()) {
      for (LogMessage& message : *messages) message.executor = *sender;
    }
    // Frees the payload. From here on only the record's position is needed.
    record.record = {};
    if (!messages.ok()) {
      ports_.metrics.counter("carillon_rejected_messages_total", "corrupt").Add();
      log::Warn("logs", "{}", messages.error().message);
    } else {
      Reopen(*messages);
    }
    received_.push_back(std::move(record));
  }
  return received_.size() == kRecordsPerStep;
}

Status LogKeeper::Append(std::span<const LogMessage> messages) {
  std::vector<LogRecord> records;
  records.reserve(messages.size());
  for (const LogMessage& message : messages) {
    records.push_back(
        {.key = message.attempt.key, .attempt = message.attempt.attempt, .chunk = message.chunk});
  }
  return ports_.store.AppendLogs(records);
}

// Pieces of attempts that their senders were not given are answered, so that they are not sent
// again, and not stored.
Status LogKeeper::DropForeign() {
  std::vector<LogOrigin> origins;
  origins.reserve(open_.size());
  for (const LogMessage& message : open_) {
    origins.push_back(
        {message.attempt.key, message.attempt.attempt, message.attempt.token, message.executor});
  }
  CARILLON_ASSIGN_OR_RETURN(const std::vector<size_t> foreign, ports_.store.FindForeign(origins));
  if (foreign.empty()) return {};
  std::vector<LogMessage> dropped;
  std::vector<LogMessage> kept;
  auto next = foreign.begin();
  for (size_t i = 0; i < open_.size(); ++i) {
    const bool drop = next != foreign.end() && *next == i;
    if (drop) ++next;
    (drop ? dropped : kept).push_back(std::move(open_[i]));
  }
  open_ = std::move(kept);
  ports_.metrics.counter("carillon_rejected_messages_total", "foreign").Add(dropped.size());
  log::Warn("logs", "{} pieces are dropped: executor {} was not given attempt {} of run {}",
            dropped.size(), dropped[0].executor.value(), dropped[0].attempt.attempt,
            EncodeRunId(dropped[0].attempt.key));
  Acknowledge(dropped);
  return {};
}

bool LogKeeper::WriteOpen() {
  if (const Status looked = DropForeign(); !looked.ok()) {
    log::Debug("logs", "{}", looked.error().message);
    return false;
  }
  Round round;
  std::vector<LogMessage> open = std::exchange(open_, {});
  Write(open, &round);
  if (!round.took_some) {
    Reopen(round.refused);
    round.refused.clear();
  }
  for (const LogMessage& message : round.refused) {
    ports_.metrics.counter("carillon_rejected_messages_total", "unwritable").Add();
    log::Error(
        "logs",
        "the store rejects this log piece of run {} but accepts others; executor {} keeps it",
        EncodeRunId(message.attempt.key), message.executor.value());
  }
  return open_.empty();
}

void LogKeeper::Write(std::span<LogMessage> messages, Round* round) {
  const Status handled = Bisect(
      messages,
      [&](std::span<LogMessage> some) -> Status {
        if (round->stopped) {
          Reopen(some);
          return {};
        }
        const Status stored = Append(some);
        if (stored.ok()) {
          round->took_some = true;
          Acknowledge(some);
          return {};
        }
        if (ItemIsBad(stored.code())) return stored;  // no row of a piece ever changes
        round->stopped = true;
        Reopen(some);
        return {};
      },
      [&](LogMessage& message, const Error& error) {
        WriteNotice(std::move(message), error, round);
      });
  CARILLON_CHECK(handled.ok(), "an error of the store was not handled");
}

// Stores a notice in place of a refused piece. So readers of the log see that something is missing.
// If the store accepts the notice, the fault is in this piece and not in the store.
void LogKeeper::WriteNotice(LogMessage message, const Error& error, Round* round) {
  LogMessage notice = message;
  notice.chunk.count = 1;
  notice.chunk.entries.clear();
  AppendEntry(notice.chunk.entries, {.time = ports_.clock.Wall(),
                                     .stream = LogStream::kCarillon,
                                     .text = "a piece of the log cannot be stored\n"});
  const Status stored = Append(std::span(&notice, 1));
  if (!stored.ok()) {
    round->refused.push_back(std::move(message));
    const bool all = !round->took_some && round->refused.size() >= kRefusedAloneMax;
    round->stopped = round->stopped || all || !ItemIsBad(stored.code());
    return;
  }
  round->took_some = true;
  ports_.metrics.counter("carillon_rejected_messages_total", "unwritable").Add();
  log::Error("logs", "a log piece of run {} is dropped: {}", EncodeRunId(message.attempt.key),
             error.message);
  // It would be refused again if the executor sent it again.
  Acknowledge(std::span(&message, 1));
}

void LogKeeper::Reopen(std::span<LogMessage> messages) {
  open_.insert(open_.end(), std::make_move_iterator(messages.begin()),
               std::make_move_iterator(messages.end()));
}

void LogKeeper::Acknowledge(std::span<const LogMessage> messages) {
  std::map<ExecutorId, std::vector<StoredOutput>> by_executor;
  for (const LogMessage& message : messages) {
    by_executor[message.executor].push_back({message.attempt, message.chunk.first_seq});
  }
  for (auto& [executor, stored] : by_executor) {
    const auto incarnation = ports_.executors.IncarnationOf(executor);
    if (!incarnation) continue;  // the executor sends the pieces again
    const Status sent = ports_.hub.Send(executor, *incarnation, LogsStored{std::move(stored)});
    if (!sent.ok()) log::Debug("logs", "stored: {}", sent.error().message);
  }
}

}  // namespace carillon::scheduler
