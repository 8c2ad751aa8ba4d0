#include "scheduler/api/jobs/upgrade_check.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/core.h>

#include "common/domain/schedule/cron.h"

namespace carillon::scheduler {
namespace {

using Version = std::array<int, 3>;
constexpr Version kFirstWithQueues = {0, 1, 0};

// The field of the overlap that older members do not know; empty: they follow it.
std::string_view UnknownOverlap(const JobDefinition& job) {
  switch (job.overlap_policy) {
    case OverlapPolicy::kAllow:
    case OverlapPolicy::kSkip: return job.max_running > 1 ? "max_running" : "";
    case OverlapPolicy::kQueueOne:
    case OverlapPolicy::kQueueAll:
    case OverlapPolicy::kCancelPrevious:
    case OverlapPolicy::kTerminatePrevious: break;
  }
  return "overlap_policy";
}

// True if older members would plan the schedule's fires wrongly, or could not read the definition.
bool IsUnknown(const ScheduleSpec& spec) {
  const bool cron = spec.kind == ScheduleKind::kCron;
  return (cron && (spec.start != WallTime{} || UsesSpread(spec.cron_expression))) ||
         spec.end != kNever || spec.jitter != Duration{} || !spec.parameters.empty();
}
bool HasUnknownSchedule(const JobDefinition& job) {
  return std::any_of(job.schedules.begin(), job.schedules.end(), IsUnknown);
}

// The field of `job` that older members do not know, and that `before` does not need them to know
// either; empty: none.
std::string_view UnknownToOlder(const JobDefinition* before, const JobDefinition& job) {
  const std::string_view overlap = UnknownOverlap(job);
  if (!overlap.empty() && (before == nullptr || UnknownOverlap(*before).empty())) return overlap;
  const bool known = before != nullptr && HasUnknownSchedule(*before);
  return HasUnknownSchedule(job) && !known ? "schedules" : "";
}

}  // namespace

bool KnowsQueues(std::string_view version) {
  Version numbers{};
  const char* at = version.data();
  const char* const end = at + version.size();
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0 && (at == end || *at++ != '.')) return false;
    const auto [next, error] = std::from_chars(at, end, numbers.at(i));
    if (error != std::errc()) return false;
    at = next;
  }
  return numbers >= kFirstWithQueues;
}

Outcome<bool> CheckMembers(const Call& call, const JobDefinition* before,
                           const JobDefinition& definition) {
  const std::string_view field = UnknownToOlder(before, definition);
  if (field.empty()) return true;
  const ClusterView cluster = call.api.status.Read();
  for (const ClusterMember& member : cluster.members) {
    if (member.id == cluster.self || KnowsQueues(member.version)) continue;
    const std::string detail = fmt::format(
        "Member {} runs a version that does not know {}. Finish the upgrade first.",
        member.id.value(),
        field == "schedules" ? "fields of these schedules" : fmt::format("this {}", field));
    return Problem{.status = 409,
                   .code = "upgrade_unfinished",
                   .detail = detail,
                   .errors = {{fmt::format("/{}", field), "upgrade_unfinished", detail}}};
  }
  return true;
}

}  // namespace carillon::scheduler
