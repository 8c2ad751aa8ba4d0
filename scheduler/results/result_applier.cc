#include "scheduler/results/result_applier.h"

#include <algorithm>
#include <utility>

#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "common/domain/parts/run_part.h"
#include "common/domain/workflow/node_key.h"
#include "common/wire/messages/record_sender.h"
#include "scheduler/assign/bisect.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kRecordsPerPoll = 1000;
constexpr Duration kOwnershipRetry = 50ms;
constexpr Duration kIdle = 1s;
// If this many results were refused in batches of one and none was accepted, the fault is in the
// store and not in the results.
constexpr size_t kRefusedAloneMax = 3;

HeldAttempt HeldOf(const ResultReport& report) {
  return {.key = report.key,
          .segment = report.segment,
          .job_no = report.job_no,
          .attempt = report.attempt,
          .token = report.token};
}

// Approximate size in memory, in bytes.
size_t BytesOf(const ResultMessage& message) {
  const ResultReport& report = message.report;
  return sizeof(ResultMessage) + message.job_id.value().size() + report.executor.value().size() +
         report.result.output.size() + report.result.error.size() + report.result.reason.size() +
         carillon::BytesOf(report.result.outputs);
}

std::optional<Duration> RanFor(const AttemptResult& result) {
  if (result.started == WallTime{}) return std::nullopt;
  return std::max(Duration{}, result.ended - result.started);
}

bool IsBare(const AttemptResult& result) {
  return result.output.empty() && result.error.empty() && result.reason.empty() &&
         result.outputs.empty();
}

std::string_view Name(ResultVerdict verdict) {
  switch (verdict) {
    case ResultVerdict::kApplied: return "applied";
    case ResultVerdict::kRecordedOnly: return "recorded_only";
    case ResultVerdict::kUnknownRun: return "unknown_run";
  }
  return "unknown";
}

// No process could be started for a reason of the host, or the warden died with it: its fault. An
// attempt that could not be started because of its job, or that the end of its lease killed, says
// nothing about the host.
HostWord WordOnHost(const AttemptResult& result) {
  if (result.reason == reason::kHost || result.reason == reason::kWardenDied)
    return HostWord::kFault;
  const bool says_nothing = result.state == RunState::kLost || result.reason == reason::kSpawn ||
                            result.reason == reason::kBadDefinition;
  return says_nothing ? HostWord::kNothing : HostWord::kWorks;
}

// Parts and nodes have the fire of the run that they belong to, and are due when the work before
// them has been done.
bool IsDueAtItsFire(const RunKey& key) { return !IsPart(key) && !NodePlaceOf(key); }

std::string_view CauseOf(const AttemptResult& result, const RunEffect& effect) {
  if (effect.given_back) return "not_started";
  return result.state == RunState::kLost ? "lost" : "failed";
}

}  // namespace

ResultApplier::Observed::Observed(Metrics& metrics)
    : lateness(metrics.histogram("carillon_fire_lateness_seconds")),
      duration(metrics.histogram("carillon_run_duration_seconds")) {
  for (size_t i = 0; i < verdicts.size(); ++i) {
    verdicts[i] = &metrics.counter("carillon_results_total", Name(static_cast<ResultVerdict>(i)));
  }
  for (size_t i = 0; i < ends.size(); ++i) {
    const auto state = static_cast<RunState>(i);
    if (IsFinal(state)) ends[i] = &metrics.counter("carillon_runs_total", carillon::Name(state));
  }
}

ResultApplier::ResultApplier(const Ports& ports, Options options)
    : ports_(ports),
      options_(std::move(options)),
      observed_(ports_.metrics),
      rng_(options_.seed),
      backoff_({.first = 20ms, .longest = 1s}),
      pace_(options_.interval) {}

SteadyTime ResultApplier::Step(SteadyTime now) {
  const bool more = Receive();
  if (open_.empty()) {
    CommitDone();
    return more ? now : now + kIdle;
  }
  if (now < retry_at_) return retry_at_;
  if (open_.size() < kBatchRowsMax && now < pace_.next()) return pace_.next();
  pace_.Began(now, open_.size(), ports_.assigned.Members());
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

size_t ResultApplier::Room() const {
  const size_t records =
      options_.records_held_max - std::min(options_.records_held_max, held_.size());
  const size_t bytes = options_.bytes_held_max - std::min(options_.bytes_held_max, bytes_held_);
  return std::min(records, bytes / kRecordRoom);
}

// Returns true if the bus may have more records now.
bool ResultApplier::Receive() {
  for (size_t taken = 0; taken < kRecordsPerPoll;) {
    const size_t room = Room();
    if (std::exchange(left_on_bus_, room == 0) != left_on_bus_) {
      log::Warn("results", "{}; {} bytes in {} records wait for the database",
                left_on_bus_ ? "the limit of held results is reached, further ones stay on the bus"
                             : "results are read from the bus again",
                bytes_held_, held_.size());
    }
    if (room == 0) return true;
    const size_t wanted = std::min(room, kRecordsPerPoll - taken);
    auto records = ports_.results.Poll(wanted);
    if (!records.ok()) {
      ports_.metrics.counter("carillon_rejected_messages_total", "bus_unavailable").Add();
      return false;
    }
    for (ReceivedRecord& record : *records) Decode(std::move(record));
    if (records->size() < wanted) return false;
    taken += wanted;
  }
  return true;
}

void ResultApplier::Decode(ReceivedRecord record) {
  const uint64_t sequence = next_sequence_++;
  const auto view = ports_.segments.View();
  size_t others = 0;
  const auto ours = [&](SegmentId segment) {
    const bool wanted = Wants(*view, segment);
    if (!wanted) ++others;
    return wanted;
  };
  std::vector<Error> unreadable;
  auto messages = DecodeResults(record.record.payload, &unreadable, ours);
  if (!messages.ok()) {
    unreadable = {messages.error()};
    messages = std::vector<ResultMessage>{};
  }
  if (others > 0 && failpoint::Broken("results.shared_record")) messages->clear();
  if (!unreadable.empty()) {
    ports_.metrics.counter("carillon_rejected_messages_total", "corrupt").Add(unreadable.size());
    const Status kept = DeadLetter(record.record.payload, unreadable[0].message);
    if (!kept.ok()) log::Error("results", "dead letter not sent: {}", kept.error().message);
  }
  if (const auto sender = SenderOf(record.record)) {
    for (ResultMessage& message : *messages) message.report.executor = *sender;
  }
  // Frees the payload. From here on only the record's position is needed.
  record.record = {};
  const size_t open = Admit(sequence, std::move(messages).value());
  held_[sequence] = {.record = std::move(record), .open = open};
}

// Returns how many of `messages` have to be applied. The other messages are repetitions: executors
// send a result until it is acknowledged. Such a result is already open here, or in the database.
size_t ResultApplier::Admit(uint64_t sequence, std::vector<ResultMessage> messages) {
  std::vector<HeldAttempt> reported;
  reported.reserve(messages.size());
  for (const ResultMessage& message : messages) reported.push_back(HeldOf(message.report));
  const std::vector<HeldAttempt> applied = ports_.applied.Among(reported);
  auto next_applied = applied.begin();
  std::vector<Item> known;
  size_t admitted = 0;
  for (ResultMessage& message : messages) {
    const ClaimToken token = message.report.token;
    const size_t bytes = BytesOf(message);
    Item item{.held = sequence, .message = std::move(message), .bytes = bytes};
    if (next_applied != applied.end() && next_applied->token == token) {
      ++next_applied;
      known.push_back(std::move(item));
      continue;
    }
    if (!open_tokens_.insert(token).second) continue;
    bytes_held_ += bytes;
    ++admitted;
    open_.push_back(std::move(item));
  }
  Acknowledge(known);
  return admitted;
}

bool ResultApplier::Wants(const OwnedView& view, SegmentId segment) const {
  return view.Find(segment) != nullptr || ports_.assigned.Wants(segment);
}

bool ResultApplier::ApplyOpen() {
  const auto view = ports_.segments.View();
  std::vector<Item> ready;
  std::deque<Item> waiting;
  for (Item& item : open_) {
    const SegmentId segment = item.message.report.segment;
    if (view->Find(segment) != nullptr) {
      ready.push_back(std::move(item));
    } else if (ports_.assigned.Wants(segment)) {
      waiting.push_back(std::move(item));
    } else {
      Finish(item);  // another member owns the segment now and applies the result
    }
  }
  open_ = std::move(waiting);
  Round round;
  for (size_t from = 0; from < ready.size(); from += kBatchRowsMax) {
    const size_t count = std::min(ready.size() - from, kBatchRowsMax);
    Write(*view, std::span(ready).subspan(from, count), &round);
  }
  return Settle(&round);
}

Result<std::vector<RunEffect>> ResultApplier::Apply(const OwnedView& view,
                                                    std::span<const Item> items) {
  const auto cluster_now = ports_.cluster.Now();
  if (!cluster_now) return {ErrorCode::kUnavailable, "no cluster time"};
  std::vector<ResultReport> reports;
  std::vector<SegmentId> segments;
  for (const Item& item : items) {
    reports.push_back(item.message.report);
    segments.push_back(item.message.report.segment);
  }
  const Fence fence = view.FenceFor(std::move(segments));
  return ports_.fences.Run("result", fence,
                           [&] { return ports_.store.ApplyResults(reports, fence, *cluster_now); });
}

void ResultApplier::Write(const OwnedView& view, std::span<Item> items, Round* round) {
  const Status handled = Bisect(
      items,
      [&](std::span<Item> some) -> Status {
        if (round->stopped) {
          Reopen(some);
          return {};
        }
        const auto effects = Apply(view, some);
        if (effects.ok()) {
          Applied(view, some, *effects, round);
          return {};
        }
        if (failpoint::Broken("results.poison_unrecorded") &&
            effects.code() == ErrorCode::kBrokenStore) {
          Acknowledge(some);
          for (const Item& item : some) Finish(item);
          return {};
        }
        if (AboutOneItem(effects.code())) return effects.error();
        round->stopped = true;
        Reopen(some);
        return {};
      },
      [&](Item& item, const Error& error) { Refuse(view, std::move(item), error, round); });
  CARILLON_CHECK(handled.ok(), "an error of the store was not handled");
}

void ResultApplier::Refuse(const OwnedView& view, Item item, const Error& error, Round* round) {
  const ResultReport& report = item.message.report;
  if (!std::exchange(item.refused, true)) {
    log::Error("results", "run {} attempt {}: the store rejects the result: {}",
               EncodeRunId(report.key), report.attempt, error.message);
  }
  if (ItemIsBad(error.code) && !IsBare(report.result)) {
    if (!item.in_topic && !DeadLetterTexts(item, error)) {
      // The executor keeps this result and sends it again. The other results do not wait for it.
      round->refused.push_back(std::move(item));
      return;
    }
    const Status stored = WriteWithoutTexts(view, item, round);
    if (stored.ok()) return;
    if (!AboutOneItem(stored.code())) {
      round->stopped = true;
      return Reopen(std::span(&item, 1));
    }
  }
  round->refused.push_back(std::move(item));
  if (!round->took_some && round->refused.size() >= kRefusedAloneMax) round->stopped = true;
}

bool ResultApplier::DeadLetterTexts(Item& item, const Error& error) {
  const Status kept = DeadLetter(EncodeResults({item.message}), error.message);
  if (!kept.ok()) log::Error("results", "dead letter not sent: {}", kept.error().message);
  item.in_topic = kept.ok();
  return kept.ok();
}

// A result that the store does not accept must not leave its run RUNNING. Without output, outputs
// and texts the result consists of a few numbers, so the store has hardly any reason to refuse it.
Status ResultApplier::WriteWithoutTexts(const OwnedView& view, const Item& item, Round* round) {
  std::vector<Item> bare{item};
  AttemptResult& result = bare[0].message.report.result;
  result.output_truncated = result.output_truncated || !result.output.empty();
  result.output.clear();
  result.error.clear();
  result.reason.clear();
  result.outputs.clear();
  const auto effects = Apply(view, bare);
  if (!effects.ok()) return effects.error();
  Applied(view, bare, *effects, round);
  return {};
}

void ResultApplier::Applied(const OwnedView& view, std::span<const Item> items,
                            const std::vector<RunEffect>& effects, Round* round) {
  round->took_some = true;
  Effects(view, items, effects);
  Acknowledge(items);
  for (const Item& item : items) Finish(item);
}

// Handles the refused results. If the store accepted no result in this round, the fault may be in
// the store. The refused results are then retried after the other results. Otherwise they are
// dropped without an acknowledgement. Returns false if some results must wait for the store.
bool ResultApplier::Settle(Round* round) {
  if (!round->took_some) {
    const bool answered = !round->stopped && round->refused.empty();
    Reopen(round->refused);
    round->refused.clear();
    return answered;
  }
  for (const Item& item : round->refused) {
    ports_.metrics.counter("carillon_results_total", "poison").Add();
    log::Error("results",
               "run {} attempt {}: the store rejects this result but accepts others; executor {} "
               "keeps it and resends it",
               EncodeRunId(item.message.report.key), item.message.report.attempt,
               item.message.report.executor.value());
    Finish(item);
  }
  return !round->stopped;
}

void ResultApplier::Reopen(std::span<Item> items) {
  open_.insert(open_.end(), std::make_move_iterator(items.begin()),
               std::make_move_iterator(items.end()));
}

void ResultApplier::Effects(const OwnedView& view, std::span<const Item> items,
                            const std::vector<RunEffect>& effects) {
  std::vector<HeldAttempt> ended;
  std::vector<PendingRun> again;
  RunEvents events;
  std::vector<JobNo> jobs;
  std::map<std::string_view, uint64_t> causes;
  bool freed = false;
  bool completed = false;
  for (size_t i = 0; i < items.size(); ++i) {
    const ResultReport& report = items[i].message.report;
    Observe(report, effects[i]);
    if (effects[i].verdict != ResultVerdict::kUnknownRun) ended.push_back(HeldOf(report));
    // A result that changed nothing may be old, or carry another claim token. It says nothing about
    // the attempt that is in memory under this key.
    if (effects[i].verdict != ResultVerdict::kApplied) continue;
    // The executor that the claim was given to, which need not be the one that the result names.
    if (const auto holder = ports_.leases.HolderOf(report.key, report.token)) {
      ports_.executors.AttemptEnded(holder->executor, report.job_no, WordOnHost(report.result),
                                    ports_.clock.Steady());
    }
    freed = freed || effects[i].freed_slot;
    completed = completed || effects[i].completed;
    if (IsFinal(effects[i].state)) jobs.push_back(report.job_no);
    events.events.push_back(
        {RunEvent::What::kEnded, report.key, report.attempt, RanFor(report.result)});
    if (!effects[i].again) continue;
    ++causes[CauseOf(report.result, effects[i])];
    const RunRow& after = *effects[i].again;
    const OwnedSegment* owned = view.Find(after.segment);
    if (owned != nullptr && IsTime(after.due)) again.push_back(ToPendingRun(after, owned->epoch));
  }
  // `applied` is updated before the leases are erased. A room that files a lease for one of these
  // attempts checks `applied` afterwards and erases the lease again.
  ports_.applied.Add(ended);
  ports_.leases.Erase(ended);
  if (!events.events.empty()) ports_.events.Push(std::move(events));
  if (freed) ports_.signals.slot_freed.Raise();
  if (completed) ports_.signals.completed.Raise();
  if (!jobs.empty()) ports_.signals.ended.Raise(jobs);
  for (const auto& [cause, count] : causes)
    ports_.metrics.counter("carillon_retries_total", cause).Add(count);
  if (again.empty()) return;
  if (!ports_.feed.Push(std::move(again)).ok()) {
    // The sweep finds these runs when they are due.
    ports_.metrics.counter("carillon_queue_rejections_total", ports_.feed.name()).Add();
  }
}

void ResultApplier::Observe(const ResultReport& report, const RunEffect& effect) {
  observed_.verdicts[static_cast<size_t>(effect.verdict)]->Add();
  if (effect.verdict != ResultVerdict::kApplied) return;
  const AttemptResult& result = report.result;
  if (result.started != WallTime{}) {
    const bool shows_lateness = report.attempt == 1 && IsDueAtItsFire(report.key);
    if (shows_lateness && !ports_.backfilled(report.key)) {
      observed_.lateness.Observe(
          std::chrono::duration<double>(result.started - report.key.fire).count());
    }
    observed_.duration.Observe(
        std::chrono::duration<double>(result.ended - result.started).count());
  }
  Counter* const ended = observed_.ends[static_cast<size_t>(effect.state)];
  if (ended != nullptr) ended->Add();
}

void ResultApplier::Acknowledge(std::span<const Item> items) {
  std::map<ExecutorId, std::vector<HeldAttempt>> by_executor;
  for (const Item& item : items) {
    by_executor[item.message.report.executor].push_back(HeldOf(item.message.report));
  }
  for (auto& [executor, applied] : by_executor) {
    const auto incarnation = ports_.executors.IncarnationOf(executor);
    if (!incarnation) continue;  // the executor reports them again once it has registered here
    const Status sent = ports_.hub.Send(executor, *incarnation, ResultsApplied{std::move(applied)});
    if (!sent.ok()) log::Debug("results", "applied: {}", sent.error().message);
  }
}

Status ResultApplier::DeadLetter(std::string payload, std::string_view why) {
  BusRecord record{.payload = std::move(payload)};
  record.headers["reason"] = std::string(why);
  return ports_.producer.Send(kDeadLettersTopic, 0, std::move(record));
}

void ResultApplier::Finish(const Item& item) {
  bytes_held_ -= item.bytes;
  open_tokens_.erase(item.message.report.token);
  const auto found = held_.find(item.held);
  if (found != held_.end() && found->second.open > 0) --found->second.open;
}

// Positions are committed in order within each partition. So the position of a record is committed
// only after all earlier records are done.
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
  // If the commit failed, these records are delivered again. Their results are then
  // recognised as applied.
  if (!committed.ok()) log::Warn("results", "commit: {}", committed.error().message);
}

}  // namespace carillon::scheduler
