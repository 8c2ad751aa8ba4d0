// Reads and writes the field `parameter_rules` of a job, and the values of parameters.
//
// Errors   kInvalid with the pointer of the first field of a wrong type, or of an unknown field.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/domain/job/job.h"

namespace carillon {

Status ReadParameterValue(const nlohmann::json& value, const std::string& pointer,
                          ParameterValue& out);
nlohmann::json WriteParameterValue(const ParameterValue& value);

Status ReadParameterValues(const nlohmann::json& value, const std::string& pointer,
                           std::map<std::string, ParameterValue>& out);
nlohmann::json WriteParameterValues(const std::map<std::string, ParameterValue>& values);

Status ReadParameterRule(const nlohmann::json& value, const std::string& pointer,
                         ParameterRule& out);
nlohmann::json WriteParameterRules(const std::map<std::string, ParameterRule>& rules);

}  // namespace carillon
