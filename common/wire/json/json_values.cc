#include "common/wire/json/json_values.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/wire/json/json_text.h"

namespace carillon::json_value {
namespace {

using nlohmann::json;

}  // namespace

Status Read(const json& value, const std::string& pointer, std::string& out) {
  if (!value.is_string()) return InvalidAt(pointer, "must be a string");
  out = value.get<std::string>();
  return {};
}

Status Read(const json& value, const std::string& pointer, bool& out) {
  if (!value.is_boolean()) return InvalidAt(pointer, "must be true or false");
  out = value.get<bool>();
  return {};
}

// Reads a whole number that fits into 64 bits; 60.0 counts as 60.
Status Read(const json& value, const std::string& pointer, int64_t& out) {
  constexpr double kExactMax = 9007199254740992.0;  // 2^53: every whole double below is exact
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(INT64_MAX)) return InvalidAt(pointer, "is too large");
    out = static_cast<int64_t>(number);
    return {};
  }
  if (value.is_number_integer()) {
    out = value.get<int64_t>();
    return {};
  }
  if (!value.is_number_float()) return InvalidAt(pointer, "must be a whole number");
  const auto number = value.get<double>();
  if (std::trunc(number) != number || std::fabs(number) > kExactMax) {
    return InvalidAt(pointer, "must be a whole number");
  }
  out = static_cast<int64_t>(number);
  return {};
}

Status Read(const json& value, const std::string& pointer, int& out) {
  int64_t number = 0;
  CARILLON_TRY(Read(value, pointer, number));
  if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max()) {
    return InvalidAt(pointer, "is out of range");
  }
  out = static_cast<int>(number);
  return {};
}

Status Read(const json& value, const std::string& pointer, WallTime& out) {
  if (!value.is_string()) return InvalidAt(pointer, "must be an RFC 3339 time");
  const auto time = ParseRfc3339(value.get_ref<const std::string&>());
  if (!time.ok()) return InvalidAt(pointer, time.error().message);
  out = *time;
  return {};
}

Status Read(const json& value, const std::string& pointer, std::vector<std::string>& out) {
  if (!value.is_array()) return InvalidAt(pointer, "must be a list");
  out.clear();
  for (size_t i = 0; i < value.size(); ++i) {
    CARILLON_TRY(Read(value[i], JsonPointer(pointer, std::to_string(i)), out.emplace_back()));
  }
  return {};
}

Status ReadSeconds(const json& value, const std::string& pointer, int64_t& out) {
  if (value.is_string()) {
    return InvalidAt(pointer, "must be a whole number of seconds, e.g. 7200 for two hours");
  }
  return Read(value, pointer, out);
}

}  // namespace carillon::json_value
