#include "scheduler/api/events/event_answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/domain/event/event_parameters.h"
#include "common/wire/json/job/parameter_rules_json.h"
#include "scheduler/events/event_counts.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

json TextOrNull(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

json StartToAnswer(const EventStart& start) {
  return {{"job_id", start.job_id.value()},
          {"schedule_id", start.schedule_id.value()},
          {"run_id", start.run ? json(EncodeRunId(*start.run)) : json(nullptr)},
          {"gap", start.gap ? json(Name(*start.gap)) : json(nullptr)},
          {"problem", TextOrNull(start.problem)}};
}

json StartsToAnswer(const std::vector<EventStart>& starts) {
  json items = json::array();
  for (const EventStart& start : starts) items.push_back(StartToAnswer(start));
  return items;
}

json Verdict(std::string_view result, std::string sentence) {
  return {{"result", result},
          {"sentence", std::move(sentence)},
          {"parameters", json::object()},
          {"untrusted", json::array()}};
}

json VerdictOnMatch(const JobDefinition& job, const ScheduleSpec& spec, const Event& event,
                    WallTime now) {
  const auto rendered = RenderEventParameters(job, spec, event, now);
  if (!rendered.ok()) {
    const Error& error = rendered.error();
    return Verdict("bad_event", fmt::format("The event matches, but makes no run: {} {}",
                                            error.pointer, error.message));
  }
  json verdict = Verdict("matched", job.enabled ? "The event starts a run."
                                                : "The event matches, but the job is paused: it "
                                                  "leaves a gap and starts no run.");
  verdict["parameters"] = WriteParameterValues(rendered->values);
  for (const std::string& name : rendered->untrusted) verdict["untrusted"].push_back(name);
  return verdict;
}

}  // namespace

json EffectToJson(const EventOrigin& origin, const EventEffect& effect) {
  return {{"id", origin.id},
          {"source", origin.source},
          {"status", StatusOf(effect)},
          {"starts", StartsToAnswer(effect.starts)}};
}

json EventRecordToJson(const EventRecord& record) {
  return {{"namespace", record.name_space},
          {"id", record.origin.id},
          {"source", record.origin.source},
          {"type", TextOrNull(record.origin.type)},
          {"subject", TextOrNull(record.origin.subject)},
          {"accepted_at", FormatRfc3339(record.accepted)},
          {"outcome", Name(record.outcome)},
          {"starts", StartsToAnswer(record.starts)},
          {"problem", TextOrNull(record.problem)}};
}

json VerdictOn(const EventFilter& filter, const JobDefinition& job, const ScheduleSpec& spec,
               const Event& event, WallTime now) {
  switch (filter.Matches(event)) {
    case Truth::kTrue: return VerdictOnMatch(job, spec, event, now);
    case Truth::kNotComputable:
      return Verdict("not_computable",
                     "Type and source match, but the filter has no answer: a value that it "
                     "compares is missing, or has another type.");
    case Truth::kFalse: break;
  }
  ScheduleSpec unfiltered = spec;
  unfiltered.filter.clear();
  const auto rest = EventFilter::Compile(unfiltered);
  const bool by_filter = rest.ok() && rest->Matches(event) == Truth::kTrue;
  return Verdict("no_match",
                 by_filter
                     ? "Type and source match, but the filter is false."
                     : fmt::format("The trigger is for events of type {}{}.", spec.event_type,
                                   spec.event_source.empty() ? "" : " from " + spec.event_source));
}

}  // namespace carillon::scheduler
