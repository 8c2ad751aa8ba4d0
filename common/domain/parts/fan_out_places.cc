#include "common/domain/parts/fan_out_places.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "common/domain/job/job.h"
#include "common/domain/job/job_types.h"
#include "common/domain/job_text.h"
#include "common/domain/run/run.h"

namespace carillon {
namespace {

bool IsSelected(const FanOutHost& host, const FanOutNeeds& needs) {
  if (!needs.only.empty() && host.id != needs.only) return false;
  return needs.selector == nullptr || needs.selector->Matches(host.labels);
}

bool IsAlive(const FanOutHost& host, const FanOutNeeds& needs, WallTime now) {
  const bool can = host.features.HasAll(needs.features) &&
                   (needs.handler.empty() || host.handlers.contains(std::string(needs.handler)));
  return can && host.enabled && !host.draining && now - host.heard <= kAliveHeard;
}

constexpr std::string_view kTotalBlanks = " \t\r\n";
constexpr size_t kTotalShownMax = 80;  // bytes

// The text may be from outside, so what cannot be shown as it is, is not.
std::string ShownTotal(std::string_view text) {
  const bool plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  if (plain && text.size() <= kTotalShownMax) return fmt::format("\"{}\"", text);
  return fmt::format("a text of {} bytes", text.size());
}

}  // namespace

bool AsksHosts(const JobDefinition& job) {
  return job.broadcast.has_value() || (job.shards && job.shards->alive);
}

Places NoTotal(std::string_view why) {
  return {.refusal = reason::kBadShardTotal,
          .error = fmt::format("the number of its shards cannot be used: {}", why)};
}

Places PlacesOf(const JobDefinition& job, const std::vector<FanOutHost>& hosts, WallTime now) {
  // A selector that cannot be parsed matches no executor, as in routing.
  const Selector selector = Selector::Parse(job.executor_selector).value_or(Selector::Nothing());
  const FanOutNeeds needs{.only = ExecutorId(job.executor_id),
                          .selector = &selector,
                          .features = NeedsOf(job),
                          .handler = job.handler};
  if (job.broadcast) return BroadcastPlaces(hosts, needs, now);
  if (!job.shards) return FixedPlaces(1);
  if (!job.shards->total_from.empty()) return NoTotal("it was not rendered");
  if (!job.shards->alive) {
    // Of a mapped node whose list is empty; no job has this number.
    if (job.shards->total == 0) return {.refusal = reason::kZeroShards};
    return FixedPlaces(static_cast<size_t>(job.shards->total));
  }
  return AlivePlaces(hosts, needs, static_cast<size_t>(job.shards->max), now);
}

Places FixedPlaces(size_t total) { return {.total = std::clamp(total, size_t{1}, kPartsMax)}; }

Places RenderedPlaces(std::string_view text, int64_t max) {
  const size_t first = text.find_first_not_of(kTotalBlanks);
  if (first == std::string_view::npos) return NoTotal("it is empty");
  text = text.substr(first, text.find_last_not_of(kTotalBlanks) - first + 1);
  int64_t total = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, total);
  if (read != end || error == std::errc::invalid_argument) {
    return NoTotal(ShownTotal(text) + " is not a whole number");
  }
  if (error == std::errc::result_out_of_range || total > max) {
    return NoTotal(fmt::format("{} is not within 0 and {}", ShownTotal(text), max));
  }
  if (total < 0) return NoTotal(ShownTotal(text) + " is negative");
  if (total == 0) return {.refusal = reason::kZeroShards};
  return FixedPlaces(static_cast<size_t>(total));
}

Places AlivePlaces(const std::vector<FanOutHost>& hosts, const FanOutNeeds& needs, size_t max,
                   WallTime now) {
  const auto alive = std::ranges::count_if(hosts, [&](const FanOutHost& host) {
    return IsSelected(host, needs) && IsAlive(host, needs, now);
  });
  const size_t most = std::clamp(max, size_t{1}, kPartsMax);
  return {.total = std::clamp(static_cast<size_t>(alive), size_t{1}, most)};
}

Places BroadcastPlaces(const std::vector<FanOutHost>& hosts, const FanOutNeeds& needs,
                       WallTime now) {
  Places places;
  for (const FanOutHost& host : hosts) {
    const bool counts = host.enabled && now - host.heard <= kBroadcastHeard;
    if (counts && IsSelected(host, needs)) places.hosts.push_back(host.id);
  }
  if (places.hosts.empty()) return {.refusal = reason::kNoExecutor};
  if (places.hosts.size() > kPartsMax) return {.refusal = reason::kTooManyHosts};
  std::sort(places.hosts.begin(), places.hosts.end());
  places.total = places.hosts.size();
  return places;
}

}  // namespace carillon
