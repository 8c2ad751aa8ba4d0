#include "executor/warden/attempts/end_reporter.h"

#include <utility>

#include "executor/warden/container/container_start.h"

namespace carillon::executor {
namespace {

size_t BytesOf(const AttemptEnded& ended) {
  return ended.result.output.size() + carillon::BytesOf(ended.result.outputs);
}

}  // namespace

void EndReporter::Record(const AttemptName& name, AttemptEntry& entry, AttemptEnded ended) {
  entry.start.reset();
  const Result<SegmentLog::RecordId> record = journal_.PrepareEnd(ended, entry.start_record);
  // The journal refuses only a record that is larger than its limit. Such an end is reported from
  // memory. If the warden dies before that, the record of the start is still in the journal, and
  // the next warden reports the attempt as LOST.
  entry.memory = std::move(ended);
  entry.end_record = record.ok() ? *record : 0;
  entry.stage = AttemptStage::kEnding;
  ending_.push_back({name, journal_.last()});
}

void EndReporter::RecordRefused(const AttemptName& name, AttemptEntry& entry,
                                const StartRefusal& refusal) {
  AttemptEnded ended{entry.held,
                     {.state = refusal.state,
                      .reason = std::string(refusal.reason),
                      .error = refusal.error,
                      .ended = clock_.Wall()}};
  if (entry.start) ended.job_id = entry.start->job_id;
  Record(name, entry, std::move(ended));
}

void EndReporter::RecordLeftOver(const OpenStart& start, const std::optional<ContainerEnd>& end) {
  const AttemptName name = NameOf(start.attempt);
  AttemptResult result{.state = RunState::kLost,
                       .reason = std::string(reason::kWardenDied),
                       .error = "the warden died during the run"};
  // One that the warden had stopped ended for a reason that nobody knows any more.
  if (end && !end->stopped) result = ResultOf(*end, std::nullopt);
  result.started = start.started;
  result.ended = clock_.Wall();
  Record(name, *table_.Find(name), {start.attempt, std::move(result), start.job_id});
}

void EndReporter::ReleaseSynced() {
  while (!ending_.empty() && ending_.front().position <= journal_.synced()) {
    const AttemptName name = ending_.front().name;
    ending_.pop_front();
    AttemptEntry& entry = *table_.Find(name);
    // Nothing is reserved for an attempt of an earlier warden: that warden's reservations are gone.
    if (entry.reserved) journal_.ReleaseReserve(entry.output_bytes_max);
    entry.reserved = false;
    entry.stage = AttemptStage::kEnded;
    entry.counted = entry.end_record != 0;
    // An end that is only in memory may be needed once more.
    if (entry.counted && !entry.record_file.empty()) record_files_.push_back(entry.record_file);
    if (entry.counted) unreported_bytes_ += BytesOf(*entry.memory);
    if (unreported_bytes_ > kUnreportedBytesMax) DropMemory(entry);
    events_.push_back({name, true});
  }
  if (!ending_.empty()) journal_.WantSync(ending_.front().position);
}

std::optional<WardenMessage> EndReporter::TakeEvent() {
  while (!events_.empty()) {
    const Event event = events_.front();
    AttemptEntry* entry = table_.Find(event.name);
    if (entry != nullptr && event.ended && !Fetch(event.name)) return std::nullopt;
    events_.pop_front();
    if (entry == nullptr) continue;
    if (!event.ended) {
      return warden_message::Started{{entry->held, entry->started}};
    }
    std::optional<WardenMessage> described = Describe(event.name, 0);
    auto* listed = described ? std::get_if<warden_message::ListEnded>(&*described) : nullptr;
    if (listed != nullptr) return warden_message::Ended{std::move(listed->ended)};
  }
  return std::nullopt;
}

void EndReporter::DropEvents() {
  for (const Event& event : std::exchange(events_, {})) {
    AttemptEntry* entry = table_.Find(event.name);
    if (entry != nullptr && entry->stage == AttemptStage::kEnded) DropMemory(*entry);
  }
}

bool EndReporter::Fetch(const AttemptName& name) {
  AttemptEntry* entry = table_.Find(name);
  if (entry == nullptr || entry->stage != AttemptStage::kEnded || entry->memory) return true;
  std::optional<Result<AttemptEnded>> ended = journal_.ReadEnd(entry->end_record);
  if (!ended) return false;
  if (!ended->ok()) {
    journal_.Complain(ended->error().message);
    *ended = AttemptEnded{entry->held,
                          {.state = RunState::kLost,
                           .reason = std::string(reason::kWardenDied),
                           .error = "the record of its result cannot be read",
                           .ended = clock_.Wall()}};
  }
  entry->memory = **std::move(ended);
  return true;
}

std::optional<WardenMessage> EndReporter::Describe(const AttemptName& name, uint64_t request) {
  AttemptEntry* entry = table_.Find(name);
  if (entry == nullptr) return std::nullopt;
  if (entry->stage != AttemptStage::kEnded) {
    return warden_message::ListRunning{request, {entry->held, entry->started}};
  }
  warden_message::ListEnded told{request, *entry->memory};
  DropMemory(*entry);
  return told;
}

void EndReporter::Forget(const std::vector<HeldAttempt>& attempts) {
  for (const HeldAttempt& held : attempts) {
    AttemptEntry* entry = table_.Find(NameOf(held));
    if (entry == nullptr || entry->stage != AttemptStage::kEnded) continue;
    if (entry->end_record != 0) journal_.Remove(entry->end_record);
    DropMemory(*entry);
    table_.Forget(held);
  }
}

void EndReporter::DropMemory(AttemptEntry& entry) {
  if (entry.counted) unreported_bytes_ -= BytesOf(*entry.memory);
  if (entry.end_record != 0) entry.memory.reset();
  entry.counted = false;
}

}  // namespace carillon::executor
