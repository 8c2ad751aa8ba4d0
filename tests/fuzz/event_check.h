// Checks of any text given as the filter of a trigger, or as the value of a parameter that it makes
// of an event; shared by the fuzzer and the unit test.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/domain/condition/condition.h"
#include "common/domain/event/event_parameters.h"
#include "common/domain/job_text.h"

namespace carillon::test {

struct EventCheck {
  bool accepted = false;
  std::string complaint = {};  // empty = all checks passed
};

// A payload of every type. Its texts look like placeholders.
class SampleEventValues final : public NamedValues {
 public:
  static constexpr std::string_view kHostile = "{{event.id}} {{fire_date}} {{{{ {{";

  std::optional<ConditionValue> At(std::string_view name) const override {
    static const std::map<std::string_view, ConditionValue> kValues{
        {"id", "7"},
        {"source", "s"},
        {"type", "t"},
        {"data", ConditionTree{"{}"}},
        {"data.n", ConditionNumber{.whole = 7, .real = 7}},
        {"data.r", ConditionNumber{.is_whole = false, .real = 2.5}},
        {"data.ok", true},
        {"data.digits", "7"},
        {"data.text", std::string(kHostile)},
        {"data.list", ConditionTree{"[1]"}}};
    const auto found = kValues.find(name);
    return found == kValues.end() ? std::nullopt : std::optional(found->second);
  }
};

// A refusal has a code and a sentence. An accepted text means the same in parentheses, the opposite
// after `not`, and nothing new beside `and true` and `or false`.
inline EventCheck CheckEventFilterText(std::string_view text) {
  const auto filter = Condition::ParseForEvents(text);
  if (!filter.ok()) {
    const bool told = filter.code() == ErrorCode::kInvalid && !filter.error().message.empty();
    return {.complaint = told ? "" : "refused without a reason"};
  }
  EventCheck check{.accepted = true};
  const SampleEventValues values;
  const Truth truth = filter->Evaluate(values);
  const Truth opposite = truth == Truth::kNotComputable ? truth
                         : truth == Truth::kTrue        ? Truth::kFalse
                                                        : Truth::kTrue;
  const std::string inner = "(" + std::string(text) + ")";
  const std::vector<std::pair<std::string, Truth>> same{{inner, truth},
                                                        {"not" + inner, opposite},
                                                        {inner + "and true", truth},
                                                        {"false or" + inner, truth}};
  for (const auto& [longer, expected] : same) {
    const auto parsed = Condition::ParseForEvents(longer);
    // The longer texts may exceed a limit.
    if (parsed.ok() && parsed->Evaluate(values) != expected) {
      check.complaint = "differs: " + longer;
    }
  }
  return check;
}

// A value that was refused when it was written is never rendered, and one with text of the payload
// is untrusted. An accepted one fails in an event only because that has no such value.
inline EventCheck CheckEventParameterText(std::string_view text) {
  JobDefinition job;
  job.schedules = {
      {.kind = ScheduleKind::kEvent, .event_type = "*", .parameters = {{"x", std::string(text)}}}};
  const Event event{.origin = {.id = "7", .source = "s", .type = "t"},
                    .values = std::make_shared<const SampleEventValues>()};
  const auto rendered =
      RenderEventParameters(job, job.schedules[0], event, FromUnixMicros(1'772'323'200'000'000));
  EventCheck check{.accepted = CheckEventTriggers(job).ok()};
  if (!rendered.ok()) {
    const std::string& why = rendered.error().message;
    const bool told = rendered.code() == ErrorCode::kInvalid && !why.empty();
    if (!told) check.complaint = "refused without a reason";
    const bool is_text = TextFault(text, 32'768).empty();
    const bool explained = why.find("has no value") != std::string::npos ||
                           why.find("refers to a secret") != std::string::npos ||
                           why.find("bytes") != std::string::npos ||
                           why.find("local date is outside") != std::string::npos;
    if (check.accepted && is_text && !explained) check.complaint = "is refused too late: " + why;
    return check;
  }
  if (!check.accepted) check.complaint = "rendered, but refused when it was written";
  const auto* value = std::get_if<std::string>(&rendered->values.at("x"));
  const bool inserted = value != nullptr && text.find("data.text") != std::string_view::npos &&
                        value->find(SampleEventValues::kHostile) != std::string::npos;
  if (inserted && !rendered->untrusted.contains("x")) check.complaint = "is trusted";
  return check;
}

}  // namespace carillon::test
