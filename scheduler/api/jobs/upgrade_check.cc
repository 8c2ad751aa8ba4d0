#include "scheduler/api/jobs/upgrade_check.h"

#include <array>
#include <charconv>

#include <fmt/core.h>

namespace carillon::scheduler {
namespace {

using Version = std::array<int, 3>;
constexpr Version kFirstWithQueues = {0, 1, 0};

// The field that older members do not know; empty: they follow the definition.
std::string_view UnknownToOlder(const JobDefinition& job) {
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
  const std::string_view field = UnknownToOlder(definition);
  if (field.empty() || (before != nullptr && !UnknownToOlder(*before).empty())) return true;
  const ClusterView cluster = call.api.status.Read();
  for (const ClusterMember& member : cluster.members) {
    if (member.id == cluster.self || KnowsQueues(member.version)) continue;
    const std::string detail = fmt::format(
        "Member {} runs a version that does not know this {}. Finish the upgrade first.",
        member.id.value(), field);
    return Problem{.status = 409,
                   .code = "upgrade_unfinished",
                   .detail = detail,
                   .errors = {{fmt::format("/{}", field), "upgrade_unfinished", detail}}};
  }
  return true;
}

}  // namespace carillon::scheduler
