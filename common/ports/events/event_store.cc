#include "common/ports/events/event_store.h"

#include <array>
#include <utility>

namespace carillon {
namespace {

constexpr std::array kOutcomes{EventOutcome::kStarted, EventOutcome::kGap, EventOutcome::kRefused};

}  // namespace

std::string_view Name(EventOutcome outcome) {
  switch (outcome) {
    case EventOutcome::kStarted: return "started";
    case EventOutcome::kGap: return "gap";
    case EventOutcome::kRefused: return "refused";
  }
  return "";
}

Result<EventOutcome> ParseEventOutcome(std::string_view text) {
  for (const EventOutcome outcome : kOutcomes) {
    if (Name(outcome) == text) return outcome;
  }
  return {ErrorCode::kInvalid, "must be started, gap or refused"};
}

std::vector<EventTrigger> TriggersOf(const JobVersionRecord& record) {
  std::vector<EventTrigger> triggers;
  const auto& schedules = record.definition.schedules;
  if (!record.readable || record.schedule_ids.size() != schedules.size()) return triggers;
  std::shared_ptr<const JobDefinition> job;
  for (size_t i = 0; i < schedules.size(); ++i) {
    if (schedules[i].kind != ScheduleKind::kEvent) continue;
    auto filter = EventFilter::Compile(schedules[i]);
    if (!filter.ok()) continue;
    if (job == nullptr) job = std::make_shared<const JobDefinition>(record.definition);
    triggers.push_back({.id = record.schedule_ids[i],
                        .job_no = record.job_no,
                        .job_id = record.job_id,
                        .job_version = record.version,
                        .position = i,
                        .job = job,
                        .filter = std::make_shared<const EventFilter>(*std::move(filter))});
  }
  return triggers;
}

}  // namespace carillon
