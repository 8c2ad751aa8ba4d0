#include "scheduler/api/edits/upgrade_check.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/core.h>

#include "common/domain/schedule/cron.h"

namespace carillon::scheduler {
namespace {

using Version = std::array<int, 3>;
constexpr Version kFirstWithQueues = {0, 1, 0};

bool QueuesOrEnds(const JobDefinition& job) {
  return job.overlap_policy != OverlapPolicy::kAllow && job.overlap_policy != OverlapPolicy::kSkip;
}

// True if older members would plan the schedule's fires wrongly, or could not read the definition.
bool NeedsNewerMembers(const ScheduleSpec& spec) {
  const bool cron = spec.kind == ScheduleKind::kCron;
  return spec.kind == ScheduleKind::kDelay || spec.kind == ScheduleKind::kAfter ||
         (cron && (spec.start != WallTime{} || UsesSpread(spec.cron_expression))) ||
         spec.end != kNever || spec.jitter != Duration{} || !spec.parameters.empty() ||
         !spec.calendar.empty() || !spec.blackout.empty();
}

struct NewField {
  std::string_view name;
  bool (*is_used)(const JobDefinition&);
};
constexpr std::array kNewFields = {
    NewField{"workflow", [](const JobDefinition& job) { return job.workflow.has_value(); }},
    NewField{"script", [](const JobDefinition& job) { return job.script.has_value(); }},
    NewField{"http", [](const JobDefinition& job) { return job.http.has_value(); }},
    NewField{"container", [](const JobDefinition& job) { return job.container.has_value(); }},
    NewField{"limits", [](const JobDefinition& job) { return job.limits.has_value(); }},
    NewField{"run_as", [](const JobDefinition& job) { return !job.run_as.empty(); }},
    NewField{"routing",
             [](const JobDefinition& job) {
               return job.routing == Routing::kWeighted || job.routing == Routing::kConsistentHash;
             }},
    NewField{
        "retry_on",
        [](const JobDefinition& job) { return !job.retry_on.empty() || !job.no_retry_on.empty(); }},
    NewField{"overlap_policy", QueuesOrEnds},
    // A job that queues already has a limit that older members do not know.
    NewField{"max_running",
             [](const JobDefinition& job) { return job.max_running > 1 || QueuesOrEnds(job); }},
    NewField{"schedules",
             [](const JobDefinition& job) {
               return std::any_of(job.schedules.begin(), job.schedules.end(), NeedsNewerMembers);
             }},
    NewField{"parameter_rules",
             [](const JobDefinition& job) { return !job.parameter_rules.empty(); }},
    NewField{"concurrency_group",
             [](const JobDefinition& job) { return !job.concurrency_group.empty(); }},
    NewField{"retention_days", [](const JobDefinition& job) { return job.retention_days > 0; }},
};

// The field of `job` that older members do not know, and that `before` does not need them to know
// either; empty: none.
std::string_view UnknownToOlder(const JobDefinition* before, const JobDefinition& job) {
  for (const NewField& field : kNewFields) {
    const bool known = before != nullptr && field.is_used(*before);
    if (field.is_used(job) && !known) return field.name;
  }
  return {};
}

std::optional<MemberId> OldMember(const Call& call) {
  const ClusterView cluster = call.api.status.Read();
  for (const ClusterMember& member : cluster.members) {
    if (member.id != cluster.self && !KnowsQueues(member.version)) return member.id;
  }
  return std::nullopt;
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
  const std::optional<MemberId> old = OldMember(call);
  if (!old) return true;
  const std::string detail = fmt::format(
      "Member {} runs a version that does not know {}. Finish the upgrade first.", old->value(),
      field == "schedules" ? "fields of these schedules" : fmt::format("this {}", field));
  return Problem{.status = 409,
                 .code = "upgrade_unfinished",
                 .detail = detail,
                 .errors = {{fmt::format("/{}", field), "upgrade_unfinished", detail}}};
}

Outcome<bool> CheckMembersKnowBackfills(const Call& call) {
  const std::optional<MemberId> old = OldMember(call);
  if (!old) return true;
  return Problem{.status = 409,
                 .code = "upgrade_unfinished",
                 .detail = fmt::format("Member {} runs a version that does not know backfills. "
                                       "Finish the upgrade first.",
                                       old->value())};
}

}  // namespace carillon::scheduler
