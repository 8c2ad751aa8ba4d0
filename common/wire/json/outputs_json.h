// Outputs of a run as a JSON object of texts, the form in which the store keeps them.
#pragma once

#include <string>
#include <string_view>

#include "common/domain/run/outputs.h"

namespace carillon {

// The outputs must pass CheckOutputs.
std::string OutputsToJson(const Outputs& outputs);
// kCorrupt: not such an object, or not within the limits.
Result<Outputs> OutputsFromJson(std::string_view text);

}  // namespace carillon
