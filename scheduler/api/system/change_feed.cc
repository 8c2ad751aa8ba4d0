#include "scheduler/api/system/change_feed.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include <fmt/core.h>

#include "common/wire/json/json_text.h"

namespace carillon::scheduler {

std::string ChangeFeed::Event(std::string_view name, const std::string& data) const {
  return fmt::format("id: {}-{}\nevent: {}\ndata: {}\n\n", watch_.epoch(), *next_, name, data);
}

std::optional<uint64_t> ChangeFeed::Wanted() const {
  const std::string prefix = watch_.epoch() + "-";
  if (!last_event_id_.starts_with(prefix)) return std::nullopt;
  uint64_t number = 0;
  const char* end = last_event_id_.data() + last_event_id_.size();
  const auto [stop, error] = std::from_chars(last_event_id_.data() + prefix.size(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::string ChangeFeed::Begin() {
  const auto wanted = Wanted();
  if (wanted && watch_.From(*wanted)) {
    next_ = *wanted;
    return {};
  }
  next_ = watch_.end();
  return Event(last_event_id_.empty() ? "ready" : "resync", "{}");
}

StreamSource::Piece ChangeFeed::Poll(SteadyTime now) {
  watch_.Look(now);
  std::string text;
  if (!next_) text = Begin();
  const auto changes = watch_.From(*next_);
  next_ = watch_.end();
  if (!changes) return {.text = text + Event("resync", "{}")};
  if (changes->empty()) return {.text = text};
  auto list = nlohmann::json::array();
  for (const Change& change : std::set<Change>(changes->begin(), changes->end())) {
    nlohmann::json entry = {{"topic", change.topic}};
    if (!change.id.empty()) entry["id"] = change.id;
    list.push_back(std::move(entry));
  }
  return {.text = text + Event("change", JsonToText({{"changes", std::move(list)}}))};
}

}  // namespace carillon::scheduler
