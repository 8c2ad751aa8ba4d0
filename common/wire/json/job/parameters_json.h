// Reads and checks the parameters of a manual run, the JSON object of its request.
#pragma once

#include <string_view>

#include "common/domain/template/template.h"

namespace carillon {

// "" means no parameters. kInvalid with the pointer: not an object of texts, numbers and booleans.
Result<Parameters> ParametersFromText(std::string_view text);
// The inverse: a JSON object.
std::string ParametersToText(const Parameters& parameters);
// Checks them by the rules of the job (CheckGivenParameters).
Status CheckParametersText(const JobDefinition& job, std::string_view text);

}  // namespace carillon
