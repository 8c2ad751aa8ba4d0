#include "common/domain/job/parameter_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "common/domain/enum_names.h"
#include "common/domain/event/event_parameters.h"
#include "common/domain/job_text.h"
#include "common/domain/template/template.h"
#include "common/domain/template/trigger_outputs.h"

namespace carillon {
namespace {

using Values = std::map<std::string, ParameterValue>;

constexpr size_t kRulesMax = 100;
constexpr size_t kChoicesMax = 100;
constexpr size_t kChoicesBytesShown = 200;
constexpr size_t kRuleDescriptionBytesMax = 1'000;

constexpr std::array<NameOf<ParameterType>, 4> kTypes{{{ParameterType::kString, "string"},
                                                       {ParameterType::kInteger, "integer"},
                                                       {ParameterType::kNumber, "number"},
                                                       {ParameterType::kBoolean, "boolean"}}};

// Returns why the value does not have the type; "" if it has.
std::string_view TypeMismatch(ParameterType type, const ParameterValue& value) {
  const bool whole = std::holds_alternative<int64_t>(value);
  switch (type) {
    case ParameterType::kString:
      return std::holds_alternative<std::string>(value) ? "" : "must be a string";
    case ParameterType::kInteger: return whole ? "" : "must be a whole number";
    case ParameterType::kNumber:
      return whole || std::holds_alternative<double>(value) ? "" : "must be a number";
    case ParameterType::kBoolean:
      return std::holds_alternative<bool>(value) ? "" : "must be true or false";
  }
  return "has a rule of an unknown type";
}

std::optional<double> AsNumber(const ParameterValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return {};
}

// True also for 1 and 1.0.
bool SameValue(const ParameterValue& left, const ParameterValue& right) {
  if (left.index() == right.index()) return left == right;
  const auto number = AsNumber(left);
  return number && number == AsNumber(right);
}

std::string ChoicesText(const ParameterRule& rule) {
  std::string text;
  for (const ParameterValue& choice : rule.choices) {
    const std::string one = ParameterText(choice);
    if (text.size() + one.size() > kChoicesBytesShown) {
      return text.empty() ? "the choices of its rule" : text + ", …";
    }
    text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

// Returns why the value does not fit the rule; "" if it fits.
std::string Mismatch(const ParameterRule& rule, const ParameterValue& value) {
  const std::string_view type = TypeMismatch(rule.type, value);
  if (!type.empty() || rule.choices.empty()) return std::string(type);
  const bool listed = std::any_of(rule.choices.begin(), rule.choices.end(),
                                  [&](const auto& choice) { return SameValue(choice, value); });
  return listed ? "" : "must be one of " + ChoicesText(rule);
}

// `place`: the pointer of the values, without a slash at its end.
Status CheckValues(const JobDefinition& job, const Values& values, const std::string& place,
                   ErrorCode code) {
  for (const auto& [name, rule] : job.parameter_rules) {
    const auto value = values.find(name);
    if (value == values.end()) continue;
    std::string why = Mismatch(rule, value->second);
    if (!why.empty()) return Error{code, std::move(why), place + "/" + name};
  }
  return {};
}

const std::string* FindMissing(const JobDefinition& job, const Values& values) {
  for (const auto& [name, rule] : job.parameter_rules) {
    if (rule.required && !values.contains(name)) return &name;
  }
  return nullptr;
}

Status CheckChoices(const ParameterRule& rule, const std::string& name,
                    const std::string& pointer) {
  if (rule.choices.size() > kChoicesMax) {
    return InvalidAt(pointer, fmt::format("has {} entries; at most {} are allowed",
                                          rule.choices.size(), kChoicesMax));
  }
  for (size_t i = 0; i < rule.choices.size(); ++i) {
    const ParameterValue& choice = rule.choices[i];
    const std::string place = fmt::format("{}/{}", pointer, i);
    if (const auto why = TypeMismatch(rule.type, choice); !why.empty()) {
      return Error{ErrorCode::kConflict, std::string(why), place};
    }
    const Status valid = ValidateParameters({{name, choice}});
    if (!valid.ok()) return InvalidAt(place, valid.error().message);
    const auto same =
        std::find_if(rule.choices.begin(), rule.choices.begin() + static_cast<long>(i),
                     [&](const auto& other) { return SameValue(other, choice); });
    if (same != rule.choices.begin() + static_cast<long>(i)) {
      return InvalidAt(place, "is the same as an earlier choice");
    }
  }
  return {};
}

Status CheckRule(const std::string& name, const ParameterRule& rule) {
  const std::string pointer = "/parameter_rules/" + EscapePointer(name);
  if (!IsVariableName(name)) {
    return InvalidAt(
        pointer,
        "a parameter name must be 1 to 63 letters, digits and _, not beginning with a digit");
  }
  const std::string& text = rule.description;
  if (text.size() > kRuleDescriptionBytesMax) {
    return InvalidAt(pointer + "/description", fmt::format("has {} bytes; at most {} are allowed",
                                                           text.size(), kRuleDescriptionBytesMax));
  }
  if (text.find('\0') != std::string::npos || !CountUtf8(text)) {
    return InvalidAt(pointer + "/description", "must be UTF-8 without NUL bytes");
  }
  return CheckChoices(rule, name, pointer + "/choices");
}

// Two of one name in capitals would set the same variable CARILLON_PARAM_….
using NamesByVariable = std::map<std::string, std::string>;

template <typename ByName>
void AddNames(const ByName& values, NamesByVariable& names) {
  for (const auto& [name, value] : values) names.emplace(AsciiUpper(name), name);
}

NamesByVariable NamesOf(const JobDefinition& job) {
  NamesByVariable names;
  AddNames(job.parameters, names);
  AddNames(job.parameter_rules, names);
  return names;
}

// `place`: the pointer of the values, without a slash at its end.
template <typename ByName>
Status CheckCase(const NamesByVariable& names, const ByName& values, std::string_view place) {
  for (const auto& [name, value] : values) {
    const auto known = names.find(AsciiUpper(name));
    if (known == names.end() || known->second == name) continue;
    return InvalidAt(
        fmt::format("{}/{}", place, name),
        fmt::format("'{}' differs from '{}' only by case; both would be CARILLON_PARAM_{}", name,
                    known->second, known->first));
  }
  return {};
}

Status CheckDefaults(const JobDefinition& job) {
  for (const auto& [name, rule] : job.parameter_rules) {
    if (!rule.required || !job.parameters.contains(name)) continue;
    return Error{ErrorCode::kConflict,
                 "has a default in parameters, so it cannot be required; omit one of the two",
                 "/parameter_rules/" + name + "/required"};
  }
  return CheckValues(job, job.parameters, "/parameters", ErrorCode::kConflict);
}

// The values that can be judged before an event comes, or the run before ends.
Values FixedValues(const ScheduleSpec& spec) {
  Values values = spec.parameters;
  if (spec.kind == ScheduleKind::kAfter) {
    std::erase_if(values, [](const auto& entry) { return AsksForOutputs(entry.second); });
  }
  if (spec.kind == ScheduleKind::kEvent) {
    std::erase_if(values, [](const auto& entry) { return HasEventPlaceholder(entry.second); });
  }
  return values;
}

Status CheckScheduleValues(const JobDefinition& job) {
  const NamesByVariable names = NamesOf(job);
  for (size_t i = 0; i < job.schedules.size(); ++i) {
    const Values& values = job.schedules[i].parameters;
    const std::string place = fmt::format("/schedules/{}/parameters", i);
    CARILLON_TRY(CheckCase(names, values, place));
    CARILLON_TRY(CheckValues(job, FixedValues(job.schedules[i]), place, ErrorCode::kConflict));
    if (const std::string* missing = FindMissing(job, values)) {
      return Error{
          ErrorCode::kConflict,
          fmt::format("the schedule gives '{}' no value, but it is required; set it in the "
                      "parameters of the schedule, or replace `required` by a default",
                      *missing),
          place + "/" + *missing};
    }
  }
  return {};
}

}  // namespace

Status ValidateParameterRules(const JobDefinition& job) {
  if (job.parameter_rules.size() > kRulesMax) {
    return InvalidAt("/parameter_rules", fmt::format("has {} entries; at most {} are allowed",
                                                     job.parameter_rules.size(), kRulesMax));
  }
  for (const auto& [name, rule] : job.parameter_rules) CARILLON_TRY(CheckRule(name, rule));
  CARILLON_TRY(CheckCase(NamesOf(job), job.parameter_rules, "/parameter_rules"));
  CARILLON_TRY(CheckDefaults(job));
  return CheckScheduleValues(job);
}

Status CheckParameterCase(const JobDefinition& job, const Values& given) {
  if (given.empty()) return {};
  NamesByVariable names = NamesOf(job);
  AddNames(given, names);
  return CheckCase(names, given, "/parameters");
}

Status CheckGivenParameters(const JobDefinition& job, const Values& given) {
  CARILLON_TRY(CheckParameterCase(job, given));
  CARILLON_TRY(CheckValues(job, given, "/parameters", ErrorCode::kInvalid));
  const std::string* missing = FindMissing(job, given);
  if (missing == nullptr) return {};
  return InvalidAt("/parameters/" + *missing,
                   fmt::format("'{}' is required; give it a value of type {}", *missing,
                               Name(job.parameter_rules.at(*missing).type)));
}

std::string_view Name(ParameterType value) { return NameIn(kTypes, value); }

template <>
Result<ParameterType> ParseName(std::string_view text) {
  return ValueIn(kTypes, text);
}

}  // namespace carillon
