#include "common/wire/json/given_parameters.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/wire/json/job_fields.h"
#include "common/wire/json/json_text.h"

namespace carillon {

Result<RenderedParameters> GivenFromText(std::string_view text) {
  RenderedParameters given;
  if (text.empty()) return given;
  CARILLON_ASSIGN_OR_RETURN(nlohmann::json document, ParseJsonText(text));
  if (document.is_object() && document.contains(kUntrustedNames)) {
    for (const auto& name : document[kUntrustedNames]) {
      if (name.is_string()) given.untrusted.insert(name.get<std::string>());
    }
    document.erase(kUntrustedNames);
  }
  JobDefinition job;
  CARILLON_ASSIGN_OR_RETURN(const bool known, ReadJobField("parameters", document, job));
  if (!known) return Error{ErrorCode::kInvalid, "parameters: not a known field"};
  given.values = std::move(job.parameters);
  return given;
}

std::string GivenToText(const RenderedParameters& given) {
  if (given.values.empty()) return {};
  nlohmann::json document = nlohmann::json::object();
  for (const auto& [name, value] : given.values) {
    std::visit([&, &key = name](const auto& v) { document[key] = v; }, value);
  }
  if (!given.untrusted.empty()) document[kUntrustedNames] = given.untrusted;
  return JsonToText(document);
}

}  // namespace carillon
