#include "scheduler/results/result_applier.h"

#include <algorithm>

#include "common/base/log.h"
#include "scheduler/assign/batch_split.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kRecordsPerPoll = 1000;
constexpr Duration kOwnershipRetry = 50ms;
constexpr Duration kIdle = 1s;

HeldAttempt HeldOf(const ResultReport& report) {
  return {.key = report.key,
          .segment = report.segment,
          .job_no = report.job_no,
          .attempt = report.attempt,
          .token = report.token};
}

std::string_view Name(ResultVerdict verdict) {
  switch (verdict) {
    case ResultVerdict::kApplied: return "applied";
    case ResultVerdict::kRecordedOnly: return "recorded_only";
    case ResultVerdict::kUnknownRun: return "unknown_run";
  }
  return "unknown";
}

}  // namespace

ResultApplier::ResultApplier(const Ports& ports, Options options)
    : ports_(ports),
      options_(std::move(options)),
      rng_(options_.seed),
      backoff_({.first = 20ms, .longest = 1s}) {}

SteadyTime ResultApplier::Step(SteadyTime now) {
  const bool more = Receive();
  if (open_.empty()) {
    CommitDone();
    return more ? now : now + kIdle;
  }
  if (now < retry_at_) return retry_at_;
  const SteadyTime next_write = last_write_ + options_.gap;
  if (open_.size() < kBatchRowsMax && now < next_write) return next_write;
  last_write_ = now;
  const bool answered = ApplyOpen();
  CommitDone();
  if (!answered) {
    retry_at_ = ports_.clock.Steady() + backoff_.Next(rng_);
    return retry_at_;
  }
  backoff_.Reset();
  if (open_.empty()) return more ? now : now + Duration(1);
  retry_at_ = ports_.clock.Steady() + kOwnershipRetry;
  return retry_at_;
}

// True when the bus may have more at once.
bool ResultApplier::Receive() {
  if (held_.size() >= options_.records_held_max) return false;
  auto records = ports_.results.Poll(kRecordsPerPoll);
  if (!records.ok()) {
    ports_.metrics.counter("carillon_rejected_messages_total", "bus_unavailable").Add();
    return false;
  }
  const bool full = records->size() == kRecordsPerPoll;
  for (ReceivedRecord& record : *records) Decode(std::move(record));
  return full;
}

void ResultApplier::Decode(ReceivedRecord record) {
  const uint64_t sequence = next_sequence_++;
  auto messages = DecodeResults(record.record.payload);
  if (!messages.ok()) {
    ports_.metrics.counter("carillon_rejected_messages_total", "corrupt").Add();
    DeadLetter(record.record.payload, messages.error().message);
    messages = std::vector<ResultMessage>{};
  }
  // The position alone is needed from here on.
  record.record = {};
  held_[sequence] = {.record = std::move(record), .open = messages->size()};
  for (ResultMessage& message : *messages) open_.push_back({sequence, std::move(message)});
}

bool ResultApplier::ApplyOpen() {
  const auto view = ports_.segments.View();
  std::vector<Item> ready;
  std::deque<Item> waiting;
  for (Item& item : open_) {
    const SegmentId segment = item.message.report.segment;
    if (view->Find(segment) != nullptr) {
      ready.push_back(std::move(item));
    } else if (options_.wants(segment)) {
      waiting.push_back(std::move(item));
    } else {
      Done(item.held);  // another member's
    }
  }
  open_ = std::move(waiting);
  bool answered = true;
  for (size_t from = 0; from < ready.size(); from += kBatchRowsMax) {
    const auto begin = ready.begin() + static_cast<long>(from);
    const auto count = static_cast<long>(std::min(ready.size() - from, kBatchRowsMax));
    std::vector<Item> batch(std::make_move_iterator(begin), std::make_move_iterator(begin + count));
    answered = Write(*view, std::move(batch)) && answered;
  }
  return answered;
}

// False: nothing is known to be written; the items are open again.
bool ResultApplier::Write(const OwnedView& view, std::vector<Item> items) {
  const auto cluster_now = ports_.cluster.Now();
  std::vector<ResultReport> reports;
  std::vector<SegmentId> segments;
  for (const Item& item : items) {
    reports.push_back(item.message.report);
    segments.push_back(item.message.report.segment);
  }
  const Fence fence = view.FenceFor(std::move(segments));
  auto effects = cluster_now
                     ? ports_.fences.Run(
                           "result", fence,
                           [&] { return ports_.store.ApplyResults(reports, fence, *cluster_now); })
                     : Result<std::vector<RunEffect>>(ErrorCode::kUnavailable, "no cluster time");
  if (effects.ok()) {
    Effects(view, items, *effects);
    Acknowledge(items);
    for (const Item& item : items) Done(item.held);
    return true;
  }
  if (SplitHelps(effects.code())) {
    if (items.size() == 1) return WritePoison(view, std::move(items[0]), effects.error());
    const auto middle = items.begin() + static_cast<long>(items.size() / 2);
    std::vector<Item> second(std::make_move_iterator(middle), std::make_move_iterator(items.end()));
    items.erase(middle, items.end());
    const bool first_answered = Write(view, std::move(items));
    return Write(view, std::move(second)) && first_answered;
  }
  for (Item& item : items) open_.push_back(std::move(item));
  return false;
}

// A result the store cannot take as it is must not leave its run RUNNING: without output and texts
// it is a handful of numbers.
bool ResultApplier::WritePoison(const OwnedView& view, Item item, const Error& error) {
  AttemptResult& result = item.message.report.result;
  const bool bare = result.output.empty() && result.error.empty() && result.reason.empty();
  log::Error("results", "run {} attempt {}: the store refuses the result{}: {}",
             EncodeRunId(item.message.report.key), item.message.report.attempt,
             bare ? "" : ", trying without its texts", error.message);
  if (!bare) {
    DeadLetter(EncodeResults({item.message}), error.message);
    result.output_truncated = result.output_truncated || !result.output.empty();
    result.output.clear();
    result.error.clear();
    result.reason.clear();
    return Write(view, {std::move(item)});
  }
  ports_.metrics.counter("carillon_results_total", "poison").Add();
  const std::vector<HeldAttempt> ended{HeldOf(item.message.report)};
  ports_.applied.Add(ended);
  Acknowledge({item});
  Done(item.held);
  return true;
}

void ResultApplier::Effects(const OwnedView& view, const std::vector<Item>& items,
                            const std::vector<RunEffect>& effects) {
  std::vector<HeldAttempt> ended;
  std::vector<PendingRun> again;
  RunEvents events;
  for (size_t i = 0; i < items.size(); ++i) {
    const ResultReport& report = items[i].message.report;
    ended.push_back(HeldOf(report));
    events.events.push_back({RunEvent::What::kEnded, report.key, report.attempt});
    Observe(report, effects[i]);
    const RunRow& after = effects[i].after;
    if (effects[i].verdict != ResultVerdict::kApplied || after.state != RunState::kPending) {
      continue;
    }
    const OwnedSegment* owned = view.Find(after.segment);
    if (owned != nullptr && after.due != kNever) again.push_back(ToPendingRun(after, owned->epoch));
  }
  // First remembered, then erased: whoever files a lease for one of them afterwards checks.
  ports_.applied.Add(ended);
  ports_.leases.Erase(ended);
  ports_.events.Push(std::move(events));
  if (again.empty()) return;
  ports_.metrics.counter("carillon_retries_total", "failed").Add(again.size());
  if (!ports_.feed.Push(std::move(again)).ok()) {
    // The sweep finds them when they are due.
    ports_.metrics.counter("carillon_queue_rejections_total", ports_.feed.name()).Add();
  }
}

void ResultApplier::Observe(const ResultReport& report, const RunEffect& effect) {
  ports_.metrics.counter("carillon_results_total", Name(effect.verdict)).Add();
  if (effect.verdict != ResultVerdict::kApplied) return;
  const AttemptResult& result = report.result;
  if (result.started != WallTime{}) {
    if (report.attempt == 1) {
      ports_.metrics.histogram("carillon_fire_lateness_seconds")
          .Observe(std::chrono::duration<double>(result.started - report.key.fire).count());
    }
    ports_.metrics.histogram("carillon_run_duration_seconds")
        .Observe(std::chrono::duration<double>(result.ended - result.started).count());
  }
  if (IsFinal(effect.after.state)) {
    ports_.metrics.counter("carillon_runs_total", carillon::Name(effect.after.state)).Add();
  }
}

void ResultApplier::Acknowledge(const std::vector<Item>& items) {
  std::map<ExecutorId, std::vector<HeldAttempt>> by_executor;
  for (const Item& item : items) {
    by_executor[item.message.report.executor].push_back(HeldOf(item.message.report));
  }
  for (auto& [executor, applied] : by_executor) {
    const auto incarnation = ports_.executors.IncarnationOf(executor);
    if (!incarnation) continue;  // it reports them to us once it registers
    const Status sent = ports_.hub.Send(executor, *incarnation, ResultsApplied{std::move(applied)});
    if (!sent.ok()) log::Debug("results", "applied: {}", sent.error().message);
  }
}

void ResultApplier::DeadLetter(std::string payload, std::string_view why) {
  BusRecord record{.payload = std::move(payload)};
  record.headers["reason"] = std::string(why);
  const Status sent = ports_.producer.Send(kDeadLettersTopic, 0, std::move(record));
  if (!sent.ok()) log::Error("results", "dead letter not sent: {}", sent.error().message);
}

void ResultApplier::Done(uint64_t held) {
  const auto found = held_.find(held);
  if (found != held_.end() && found->second.open > 0) --found->second.open;
}

// Positions are committed in order: a record behind one that is still open waits for it.
void ResultApplier::CommitDone() {
  std::vector<ReceivedRecord> done;
  std::map<int, bool> blocked;
  for (auto at = held_.begin(); at != held_.end();) {
    bool& stuck = blocked[at->second.record.partition];
    stuck = stuck || at->second.open > 0;
    if (stuck) {
      ++at;
      continue;
    }
    done.push_back(std::move(at->second.record));
    at = held_.erase(at);
  }
  if (done.empty()) return;
  const Status committed = ports_.results.Commit(done);
  // They come again and are recorded already.
  if (!committed.ok()) log::Warn("results", "commit: {}", committed.error().message);
}

}  // namespace carillon::scheduler
