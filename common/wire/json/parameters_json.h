// Reads the parameters of a manual run from the JSON object of its request.
#pragma once

#include <string_view>

#include "common/domain/job/template.h"

namespace carillon {

// "" means no parameters. kInvalid with the pointer: not an object of texts, numbers and booleans.
Result<Parameters> ParametersFromText(std::string_view text);

}  // namespace carillon
