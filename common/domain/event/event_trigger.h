// The triggers of events: schedules of kind event, and the events that they match. Pure.
//
// Errors   Compile: kInvalid with "/type", "/source" or "/filter".
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/condition/condition.h"
#include "common/domain/event/event.h"
#include "common/domain/job/job.h"
#include "common/domain/run/run.h"

namespace carillon {

// The part of a trigger that decides whether an event matches it.
class EventFilter {
 public:
  static Result<EventFilter> Compile(const ScheduleSpec& spec);

  // kNotComputable: type and source match, and the condition has no answer.
  Truth Matches(const Event& event) const;

 private:
  EventFilter(std::string type, std::string source, std::optional<Condition> condition)
      : type_(std::move(type)), source_(std::move(source)), condition_(std::move(condition)) {}

  std::string type_;  // a star at its end: the beginning of a type
  std::string source_;
  std::optional<Condition> condition_;
};

struct EventTrigger {
  ScheduleId id;
  JobNo job_no;
  JobId job_id;
  int64_t job_version = 0;
  size_t position = 0;  // of the schedule in the definition
  std::shared_ptr<const JobDefinition> job;
  std::shared_ptr<const EventFilter> filter;

  const ScheduleSpec& spec() const;
};

// The triggers of one namespace, by schedule id. Immutable.
class TriggerSet {
 public:
  explicit TriggerSet(std::vector<EventTrigger> triggers);
  TriggerSet(const TriggerSet&) = delete;
  TriggerSet& operator=(const TriggerSet&) = delete;

  const std::vector<EventTrigger>& all() const { return all_; }
  // Those whose type may match `type`, by schedule id.
  std::vector<const EventTrigger*> ForType(std::string_view type) const;

 private:
  std::vector<EventTrigger> all_;
  std::map<std::string, std::vector<size_t>, std::less<>> exact_;
  std::vector<size_t> open_;  // positions of those whose type has a star
};

struct EventMatches {
  std::vector<const EventTrigger*> matched = {};  // by schedule id
  int64_t not_computable = 0;
};
// kInvalid: the event matches more than kMatchesPerEvent triggers.
Result<EventMatches> MatchEvent(const TriggerSet& triggers, const Event& event);

}  // namespace carillon
