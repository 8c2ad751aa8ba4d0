// Parses JSON documents of requests whose path takes more than kJsonBytesMax, such as a text to
// import. The HTTP server has bounded them by their path.
#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"

namespace carillon {

inline constexpr size_t kLargeJsonBytesMax = 8u << 20;

// As ParseJsonText, but kExhausted is above kLargeJsonBytesMax.
Result<nlohmann::json> ParseLargeJsonText(std::string_view text);

}  // namespace carillon
