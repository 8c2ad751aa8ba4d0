#include "common/domain/event/event_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/nearest.h"
#include "common/domain/condition/condition.h"
#include "common/domain/job/fire_zone.h"
#include "common/domain/job/parameter_rules.h"
#include "common/domain/job_text.h"
#include "common/domain/template/command_parameters.h"
#include "common/domain/template/fire_date.h"
#include "common/domain/template/template_text.h"

namespace carillon {
namespace {

constexpr std::string_view kEventPrefix = "event.";
constexpr std::string_view kDataName = "data";
constexpr std::string_view kFireTime = "fire_time";

// Bytes of the event in all parameters of one run. Each of the 100 may name the whole payload.
constexpr size_t kInsertedBytesMax = 2 * kEventDataBytesMax;

// ---- placeholders ------------------------------------------------------------------------------

struct Expression {
  bool of_event = false;  // otherwise of the fire
  std::string name;       // without "event."
};

std::string ShownName(std::string_view name) {
  return std::string(name.substr(0, kPlaceholderShownMax));
}

Error UnknownExpression(std::string_view name) {
  std::string meant;
  if (const std::string_view ours = FireDateLike(name); !ours.empty()) {
    meant = fmt::format("; write {{{{{}}}}}", ours);
  } else if (IsEventName(name)) {
    meant = fmt::format("; did you mean 'event.{}'?", ShownName(name));
  } else {
    meant = DidYouMean(name, {"event.id", "event.source", "event.type", "event.subject",
                              "event.data", "fire_time", "fire_date", "fire_time.local"});
  }
  return TemplateError(
      fmt::format("unknown expression '{}'{}; known are event.id, event.source, event.type, "
                  "event.subject, event.data, event.data.NAME, fire_time, fire_date and "
                  "fire_time.local; write {{{{{{{{ for a literal {{{{",
                  ShownName(name), meant));
}

Result<Expression> ParseExpression(std::string_view text) {
  if (text == kFireTime) return Expression{.name = std::string(text)};
  if (IsFireDate(text)) {
    CARILLON_TRY(ParseFireDate(text));
    return Expression{.name = std::string(text)};
  }
  if (!text.starts_with(kEventPrefix)) return UnknownExpression(text);
  const std::string_view name = text.substr(kEventPrefix.size());
  if (!IsEventName(name)) return UnknownExpression(text);
  return Expression{.of_event = true, .name = std::string(name)};
}

struct Parsed {
  std::vector<Expression> expressions;
  bool literal = false;  // there is other text, too

  bool HasEvent() const {
    return std::any_of(expressions.begin(), expressions.end(),
                       [](const Expression& one) { return one.of_event; });
  }
  // A value that takes the type of the payload. The other members of an event are texts.
  bool IsTyped() const {
    return !literal && expressions.size() == 1 && expressions.front().of_event &&
           expressions.front().name.starts_with(kDataName);
  }
};

Result<Parsed> ParseValue(const ParameterValue& value) {
  Parsed parsed;
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return parsed;
  const auto note_text = [&](std::string_view part) {
    parsed.literal = parsed.literal || !part.empty();
  };
  CARILLON_TRY(ScanTemplate(*text, note_text, [&](std::string_view name) -> Status {
    CARILLON_ASSIGN_OR_RETURN(parsed.expressions.emplace_back(), ParseExpression(name));
    return {};
  }));
  return parsed;
}

const ParameterRule* RuleOf(const JobDefinition& job, const std::string& name) {
  const auto found = job.parameter_rules.find(name);
  return found == job.parameter_rules.end() ? nullptr : &found->second;
}

// True if a value that fits the rule is no text of somebody else's choice.
bool Tames(const ParameterRule* rule) {
  return rule != nullptr && (rule->type != ParameterType::kString || !rule->choices.empty());
}

// ---- rendering ---------------------------------------------------------------------------------

struct Filled {
  ParameterValue value;
  bool untrusted = false;
};

class Renderer {
 public:
  Renderer(const Event& event, WallTime fire, const std::string& zone)
      : event_(event), fire_(fire), zone_(zone) {}

  Result<Filled> Render(const ParameterValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return Filled{value};
    Filled whole;
    std::string filled;
    std::optional<Filled> first;
    bool alone = true;  // the text is the placeholder `first` and nothing else
    const auto add = [&](std::string_view part) {
      alone = alone && part.empty();
      filled += part;
    };
    CARILLON_TRY(ScanTemplate(*text, add, [&](std::string_view name) -> Status {
      CARILLON_ASSIGN_OR_RETURN(Filled one, ValueOf(name));
      whole.untrusted = whole.untrusted || one.untrusted;
      filled += ParameterText(one.value);
      alone = alone && !first;
      first = std::move(one);
      return {};
    }));
    if (first && alone) return *std::move(first);
    whole.value = std::move(filled);
    return whole;
  }

 private:
  Result<Filled> ValueOf(std::string_view text) {
    CARILLON_ASSIGN_OR_RETURN(const Expression expression, ParseExpression(text));
    if (expression.of_event) return OfEvent(expression.name, text);
    if (expression.name == kFireTime) return Filled{FormatRfc3339(fire_)};
    CARILLON_ASSIGN_OR_RETURN(const FireDate date, ParseFireDate(expression.name));
    CARILLON_ASSIGN_OR_RETURN(std::string local, FormatFireDate(date, fire_, zone_));
    return Filled{std::move(local)};
  }

  Result<Filled> OfEvent(const std::string& name, std::string_view shown) {
    auto value = event_.values->At(name);
    if (!value) {
      return TemplateError(fmt::format("'{}' has no value in this event", ShownName(shown)));
    }
    if (const auto* truth = std::get_if<bool>(&*value)) return Filled{*truth};
    if (const auto* number = std::get_if<ConditionNumber>(&*value)) {
      if (number->is_whole) return Filled{number->whole};
      return Filled{number->real};
    }
    auto* tree = std::get_if<ConditionTree>(&*value);
    std::string text = std::move(tree != nullptr ? tree->json : std::get<std::string>(*value));
    if (text.size() > room_) {
      return TemplateError(
          fmt::format("the values of the event have more than {} bytes in all", kInsertedBytesMax));
    }
    room_ -= text.size();
    return Filled{std::move(text), true};
  }

  const Event& event_;
  const WallTime fire_;
  const std::string& zone_;
  size_t room_ = kInsertedBytesMax;
};

// ---- checks ------------------------------------------------------------------------------------

std::string_view KindOf(ParameterType type) {
  switch (type) {
    case ParameterType::kString: return "a text";
    case ParameterType::kInteger: return "a whole number";
    case ParameterType::kNumber: return "a number";
    case ParameterType::kBoolean: return "true or false";
  }
  return "";
}

Status CheckParameter(const JobDefinition& job, const std::string& name,
                      const ParameterValue& value, bool in_command) {
  CARILLON_ASSIGN_OR_RETURN(const Parsed parsed, ParseValue(value));
  const ParameterRule* rule = RuleOf(job, name);
  if (!parsed.expressions.empty() && !parsed.IsTyped() && rule != nullptr &&
      rule->type != ParameterType::kString) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("is a text in every event, but its rule asks for {}; a value that is "
                             "nothing but one {{{{event.data.NAME}}}} keeps its type",
                             KindOf(rule->type))};
  }
  if (!in_command || !parsed.HasEvent() || Tames(rule)) return {};
  if (job.http) {
    return Error{ErrorCode::kInvalid,
                 "is part of the host, or of a body that is neither JSON nor a form, where a text "
                 "of an event could change the request. Give the parameter choices, or the type "
                 "integer, number or boolean"};
  }
  return Error{
      ErrorCode::kInvalid,
      fmt::format("is part of the command, where a text of an event could change what it does. In "
                  "the command, use $CARILLON_PARAM_{} instead, or give the parameter choices, or "
                  "the type integer, number or boolean",
                  AsciiUpper(name))};
}

Status CheckTrigger(const JobDefinition& job, const ScheduleSpec& spec,
                    const std::set<std::string>& in_command) {
  // CheckEventPattern, at the schedules, reports what is wrong with the type and the source.
  if (!spec.filter.empty()) {
    const auto filter = Condition::ParseForEvents(spec.filter);
    if (!filter.ok()) return Error{ErrorCode::kInvalid, filter.error().message, "/filter"};
  }
  for (const auto& [name, value] : spec.parameters) {
    const Status checked = CheckParameter(job, name, value, in_command.contains(name));
    if (checked.ok()) continue;
    return Error{ErrorCode::kInvalid, checked.error().message,
                 "/parameters/" + EscapePointer(name)};
  }
  return {};
}

}  // namespace

Result<RenderedParameters> RenderEventParameters(const JobDefinition& job, const ScheduleSpec& spec,
                                                 const Event& event, WallTime fire) {
  Renderer renderer(event, fire, FireZone(job, &spec));
  RenderedParameters rendered{.event = event.origin};
  for (const auto& [name, value] : spec.parameters) {
    auto filled = renderer.Render(value);
    if (!filled.ok()) {
      return Error{ErrorCode::kInvalid, filled.error().message,
                   "/parameters/" + EscapePointer(name)};
    }
    if (filled->untrusted && !Tames(RuleOf(job, name))) rendered.untrusted.insert(name);
    rendered.values[name] = std::move(filled->value);
  }
  CARILLON_TRY(ValidateParameters(rendered.values));
  CARILLON_TRY(CheckGivenParameters(job, rendered.values));
  return rendered;
}

bool HasEventPlaceholder(const ParameterValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return false;
  bool found = false;
  const Status scanned = ScanTemplate(*text, kSkipText, [&found](std::string_view) {
    found = true;
    return Status();
  });
  return scanned.ok() && found;
}

Status CheckEventTriggers(const JobDefinition& job) {
  const std::set<std::string> in_command = CommandParameters(job);
  for (size_t i = 0; i < job.schedules.size(); ++i) {
    if (job.schedules[i].kind != ScheduleKind::kEvent) continue;
    const Status checked = CheckTrigger(job, job.schedules[i], in_command);
    if (checked.ok()) continue;
    return Error{ErrorCode::kInvalid, checked.error().message,
                 fmt::format("/schedules/{}{}", i, checked.error().pointer)};
  }
  return {};
}

}  // namespace carillon
