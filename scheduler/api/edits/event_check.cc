#include "scheduler/api/edits/event_check.h"

#include <fmt/core.h>

#include <algorithm>

namespace carillon::scheduler {
namespace {

std::vector<size_t> TriggersIn(const JobDefinition& job) {
  std::vector<size_t> positions;
  for (size_t i = 0; i < job.schedules.size(); ++i) {
    if (job.schedules[i].kind == ScheduleKind::kEvent) positions.push_back(i);
  }
  return positions;
}

}  // namespace

size_t AddedTriggers(const JobDefinition* before, const JobDefinition& definition) {
  const bool stays = before != nullptr && before->name_space == definition.name_space;
  const size_t had = stays ? TriggersIn(*before).size() : 0;
  const size_t has = TriggersIn(definition).size();
  return has > had ? has - had : 0;
}

Outcome<std::optional<size_t>> FindTriggerWithoutRoom(const Call& call, const JobId& id,
                                                      const JobDefinition* before,
                                                      const JobDefinition& definition,
                                                      const ComingJobs& coming) {
  if (AddedTriggers(before, definition) == 0) return std::optional<size_t>();
  const std::vector<size_t> own = TriggersIn(definition);
  CARILLON_ASSIGN_OR_RETURN(const auto stored,
                            call.stores.events.ReadTriggers(definition.name_space));
  size_t others = static_cast<size_t>(
      std::ranges::count_if(stored->all(), [&](const auto& one) { return one.job_id != id; }));
  const auto added = coming.triggers.find(definition.name_space);
  if (added != coming.triggers.end()) others += added->second;
  const size_t room = others < kTriggersPerNamespace ? kTriggersPerNamespace - others : 0;
  return own.size() > room ? std::optional(own[room]) : std::nullopt;
}

Problem TooManyTriggers(size_t position, const std::string& name_space) {
  const std::string detail =
      fmt::format("The namespace {} has {} schedules of kind event already, which is the limit.",
                  name_space, kTriggersPerNamespace);
  return {.status = 422,
          .code = "too_many_triggers",
          .detail = detail,
          .errors = {{fmt::format("/schedules/{}", position), "too_many_triggers", detail}}};
}

}  // namespace carillon::scheduler
