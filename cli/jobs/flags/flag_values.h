// Values of a job's flags, as they are typed and as a body has them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace carillon::cli {

// A body to which flags are applied. In a merge patch null removes a field, in a job it is refused.
enum class FlagsBody { kJob, kPatch };

// Replaces the field of the body; null removes it.
void ReplaceField(nlohmann::json& body, FlagsBody form, const std::string& field,
                  nlohmann::json value);

// nullopt if the whole text is not one number.
std::optional<int64_t> WholeNumberIn(std::string_view text);
// "90m" is 5,400. An error begins with `flag`.
Result<int64_t> WholeSecondsOf(const std::string& flag, const std::string& text);

}  // namespace carillon::cli
