// The parameters of a run made by hand, as the JSON object that came with it.
#pragma once

#include <string_view>

#include "common/domain/template.h"

namespace carillon {

// "" = none. kInvalid with the pointer: not an object of texts, numbers and booleans.
Result<Parameters> ParametersFromText(std::string_view text);

}  // namespace carillon
