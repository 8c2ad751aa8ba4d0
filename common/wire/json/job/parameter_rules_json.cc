#include "common/wire/json/job/parameter_rules_json.h"

#include <nlohmann/json.hpp>

#include "common/base/nearest.h"
#include "common/domain/job/parameter_rules.h"
#include "common/wire/json/json_text.h"

namespace carillon {
namespace {

Error WrongRule(const std::string& pointer, std::string why) {
  return {ErrorCode::kInvalid, std::move(why), pointer};
}

Status ReadChoices(const nlohmann::json& value, const std::string& pointer,
                   std::vector<ParameterValue>& out) {
  if (!value.is_array()) return WrongRule(pointer, "must be a list");
  for (size_t i = 0; i < value.size(); ++i) {
    const std::string place = JsonPointer(pointer, std::to_string(i));
    CARILLON_TRY(ReadParameterValue(value[i], place, out.emplace_back()));
  }
  return {};
}

Status ReadRuleType(const nlohmann::json& value, const std::string& pointer, ParameterType& out) {
  if (!value.is_string()) return WrongRule(pointer, "must be a string");
  const auto type = ParseName<ParameterType>(value.get_ref<const std::string&>());
  if (!type.ok()) return WrongRule(pointer, type.error().message);
  out = *type;
  return {};
}

Status ReadRuleField(std::string_view name, const nlohmann::json& value, const std::string& pointer,
                     ParameterRule& out) {
  if (name == "type") return ReadRuleType(value, pointer, out.type);
  if (name == "choices") return ReadChoices(value, pointer, out.choices);
  if (name == "description") {
    if (!value.is_string()) return WrongRule(pointer, "must be a string");
    out.description = value.get<std::string>();
    return {};
  }
  if (name == "required") {
    if (!value.is_boolean()) return WrongRule(pointer, "must be true or false");
    out.required = value.get<bool>();
    return {};
  }
  return WrongRule(pointer, "unknown field '" + std::string(name) + "' in a parameter rule" +
                                DidYouMean(name, {"type", "description", "choices", "required"}));
}

}  // namespace

Status ReadParameterValue(const nlohmann::json& value, const std::string& pointer,
                          ParameterValue& out) {
  if (value.is_string()) {
    out = value.get<std::string>();
  } else if (value.is_boolean()) {
    out = value.get<bool>();
  } else if (value.is_number_float()) {
    out = value.get<double>();
  } else if (value.is_number_unsigned() &&
             value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    return WrongRule(pointer, "is too large");
  } else if (value.is_number()) {
    out = value.get<int64_t>();
  } else {
    std::string what = "must be a string, a number, true or false";
    if (value.is_array()) what += "; write a list as a string, '[1, 2]'";
    return WrongRule(pointer, what);
  }
  return {};
}

nlohmann::json WriteParameterValue(const ParameterValue& value) {
  return std::visit([](const auto& v) { return nlohmann::json(v); }, value);
}

Status ReadParameterValues(const nlohmann::json& value, const std::string& pointer,
                           std::map<std::string, ParameterValue>& out) {
  if (!value.is_object()) return WrongRule(pointer, "must be an object");
  out.clear();
  for (const auto& [name, entry] : value.items()) {
    CARILLON_TRY(ReadParameterValue(entry, JsonPointer(pointer, name), out[name]));
  }
  return {};
}

nlohmann::json WriteParameterValues(const std::map<std::string, ParameterValue>& values) {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [name, value] : values) out[name] = WriteParameterValue(value);
  return out;
}

Status ReadParameterRule(const nlohmann::json& value, const std::string& pointer,
                         ParameterRule& out) {
  if (!value.is_object()) return WrongRule(pointer, "must be an object");
  out = {};
  for (const auto& [name, entry] : value.items()) {
    CARILLON_TRY(ReadRuleField(name, entry, JsonPointer(pointer, name), out));
  }
  return {};
}

nlohmann::json WriteParameterRules(const std::map<std::string, ParameterRule>& rules) {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [name, rule] : rules) {
    nlohmann::json choices = nlohmann::json::array();
    for (const ParameterValue& choice : rule.choices)
      choices.push_back(WriteParameterValue(choice));
    out[name] = {{"type", Name(rule.type)},
                 {"description", rule.description},
                 {"choices", std::move(choices)},
                 {"required", rule.required}};
  }
  return out;
}

}  // namespace carillon
