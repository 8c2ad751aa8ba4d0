// Reports to the daemon: events as they happen, and the complete state on request.
#include <algorithm>
#include <functional>
#include <utility>

#include "executor/warden/attempt_table.h"

namespace carillon::executor {

std::optional<WardenMessage> AttemptTable::TakeEvent() {
  while (!events_.empty()) {
    const Event event = events_.front();
    Entry* entry = Find(event.name);
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

void AttemptTable::Follow(size_t log_bytes_max) {
  logs_.SetLimit(log_bytes_max);
  followed_ = true;
}

std::optional<WardenMessage> AttemptTable::TakeOutput(SteadyTime now) {
  std::optional<AttemptOutput> output = followed_ ? logs_.Take(now) : std::nullopt;
  if (!output) return std::nullopt;
  return warden_message::Output{std::move(*output)};
}

void AttemptTable::DropEvents() {
  followed_ = false;
  logs_.TellAgain();
  for (const Event& event : std::exchange(events_, {})) {
    Entry* entry = Find(event.name);
    if (entry != nullptr && entry->stage == Stage::kEnded) DropMemory(*entry);
  }
}

// Neighbours on disk are neighbours in this list, which the caller reads from the back.
std::vector<AttemptName> AttemptTable::Names() const {
  std::vector<std::pair<SegmentLog::RecordId, AttemptName>> by_record;
  by_record.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) by_record.emplace_back(entry.end_record, name);
  std::sort(by_record.begin(), by_record.end(), std::greater<>());
  std::vector<AttemptName> names;
  names.reserve(by_record.size());
  for (const auto& [record, name] : by_record) names.push_back(name);
  return names;
}

bool AttemptTable::Fetch(const AttemptName& name) {
  Entry* entry = Find(name);
  if (entry == nullptr || entry->stage != Stage::kEnded || entry->memory) return true;
  std::optional<Result<AttemptEnded>> ended = journal_->ReadEnd(entry->end_record);
  if (!ended) return false;
  if (!ended->ok()) {
    Complain(ended->error().message);
    *ended = AttemptEnded{entry->held,
                          {.state = RunState::kLost,
                           .reason = std::string(reason::kWardenDied),
                           .error = "the record of its result cannot be read",
                           .ended = clock_.Wall()}};
  }
  entry->memory = **std::move(ended);
  return true;
}

std::optional<WardenMessage> AttemptTable::Describe(const AttemptName& name, uint64_t request) {
  Entry* entry = Find(name);
  if (entry == nullptr) return std::nullopt;
  if (entry->stage != Stage::kEnded) {
    return warden_message::ListRunning{request, {entry->held, entry->started}};
  }
  warden_message::ListEnded told{request, *entry->memory};
  DropMemory(*entry);
  return told;
}

}  // namespace carillon::executor
