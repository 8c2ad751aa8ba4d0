#include "common/wire/json/job/parameters_json.h"

#include <nlohmann/json.hpp>

#include "common/domain/job/parameter_rules.h"
#include "common/wire/json/job/given_parameters.h"
#include "common/wire/json/job/job_fields.h"
#include "common/wire/json/json_text.h"

namespace carillon {

Result<Parameters> ParametersFromText(std::string_view text) {
  if (text.empty()) return Parameters{};
  CARILLON_ASSIGN_OR_RETURN(const nlohmann::json document, ParseJsonText(text));
  JobDefinition job;
  CARILLON_ASSIGN_OR_RETURN(const bool known, ReadJobField("parameters", document, job));
  if (!known) return Error{ErrorCode::kInvalid, "parameters: not a known field"};
  return std::move(job.parameters);
}

std::string ParametersToText(const Parameters& parameters) {
  nlohmann::json document = nlohmann::json::object();
  for (const auto& [name, value] : parameters) {
    std::visit([&](const auto& held) { document[name] = held; }, value);
  }
  return document.dump();
}

Status CheckParametersText(const JobDefinition& job, std::string_view text) {
  if (job.parameter_rules.empty() && text.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(const RenderedParameters given, GivenFromText(text));
  return CheckGivenParameters(job, given.values);
}

}  // namespace carillon
