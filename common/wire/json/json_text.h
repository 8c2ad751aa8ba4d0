// Parses JSON text from outside, with more checks than nlohmann's own.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace carillon {

inline constexpr size_t kJsonDepthMax = 32;
inline constexpr size_t kJsonBytesMax = 1u << 20;
inline constexpr size_t kJsonValuesMax = 50'000;  // 1 MiB can contain 350,000 empty arrays

// Parses one JSON document. kInvalid: not JSON, not UTF-8, nested deeper than kJsonDepthMax, more
// than kJsonValuesMax values, or a duplicate name in an object (with the pointer of the second).
// kExhausted: above kJsonBytesMax.
Result<nlohmann::json> ParseJsonText(std::string_view text);

// Returns a document as one line. Bytes that are not UTF-8 become U+FFFD; never throws.
std::string JsonToText(const nlohmann::json& document);

// `name` appended to the JSON pointer `parent` (RFC 6901).
std::string JsonPointer(std::string_view parent, std::string_view name);
// True if `pointer` is `part` or below it.
bool IsWithin(std::string_view pointer, std::string_view part);

}  // namespace carillon
