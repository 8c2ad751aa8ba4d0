#include "common/domain/event/event_trigger.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/domain/schedule/event_pattern.h"

namespace carillon {

static_assert(kEventTypePatternBytesMax == kEventTypeBytesMax);
static_assert(kEventSourcePatternBytesMax == kEventSourceBytesMax);

Result<EventFilter> EventFilter::Compile(const ScheduleSpec& spec) {
  CARILLON_TRY(CheckEventPattern(spec));
  std::optional<Condition> condition;
  if (!spec.filter.empty()) {
    auto parsed = Condition::ParseForEvents(spec.filter);
    if (!parsed.ok()) return Error{ErrorCode::kInvalid, parsed.error().message, "/filter"};
    condition = *std::move(parsed);
  }
  return EventFilter(spec.event_type, spec.event_source, std::move(condition));
}

Truth EventFilter::Matches(const Event& event) const {
  if (!FitsEventType(type_, event.origin.type)) return Truth::kFalse;
  if (!source_.empty() && source_ != event.origin.source) return Truth::kFalse;
  return condition_ ? condition_->Evaluate(*event.values) : Truth::kTrue;
}

const ScheduleSpec& EventTrigger::spec() const {
  CARILLON_CHECK(position < job->schedules.size(), "a trigger without its schedule");
  return job->schedules[position];
}

TriggerSet::TriggerSet(std::vector<EventTrigger> triggers) : all_(std::move(triggers)) {
  std::sort(all_.begin(), all_.end(),
            [](const EventTrigger& a, const EventTrigger& b) { return a.id < b.id; });
  for (size_t i = 0; i < all_.size(); ++i) {
    const std::string& type = all_[i].spec().event_type;
    auto& positions = IsOpenEventType(type) ? open_ : exact_[type];
    positions.push_back(i);
  }
}

std::vector<const EventTrigger*> TriggerSet::ForType(std::string_view type) const {
  std::vector<size_t> positions;
  if (const auto found = exact_.find(type); found != exact_.end()) positions = found->second;
  for (const size_t i : open_) {
    if (FitsEventType(all_[i].spec().event_type, type)) positions.push_back(i);
  }
  std::sort(positions.begin(), positions.end());
  std::vector<const EventTrigger*> found;
  found.reserve(positions.size());
  for (const size_t i : positions) found.push_back(&all_[i]);
  return found;
}

Result<EventMatches> MatchEvent(const TriggerSet& triggers, const Event& event) {
  EventMatches matches;
  for (const EventTrigger* trigger : triggers.ForType(event.origin.type)) {
    switch (trigger->filter->Matches(event)) {
      case Truth::kFalse: break;
      case Truth::kTrue: matches.matched.push_back(trigger); break;
      case Truth::kNotComputable: ++matches.not_computable; break;
    }
    if (matches.matched.size() > kMatchesPerEvent) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("matches more than {} triggers", kMatchesPerEvent)};
    }
  }
  return matches;
}

}  // namespace carillon
