// Mapped nodes: the run of the node fans out into one part for each item of a list. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/schedule/schedule_spec.h"

namespace carillon {

inline constexpr size_t kMappedItemsMax = 1'000;

// The items of a JSON list, in its order; lists and objects within it become their JSON text.
// kInvalid: no list, or longer than kMappedItemsMax.
Result<std::vector<ParameterValue>> ItemsOf(const ParameterValue& list);

// The output `collect` of the node: a JSON list of the parts' outputs in the order of the items,
// null for a part without one. kInvalid: longer than outputs may be.
Result<std::string> CollectedOf(const std::vector<std::optional<std::string>>& outputs);

}  // namespace carillon
