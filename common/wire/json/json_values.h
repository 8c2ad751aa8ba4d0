// Reads single values of a JSON document.
//
// Errors   kInvalid with the given pointer, or one below it, and a sentence about the value.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon::json_value {

Status Read(const nlohmann::json& value, const std::string& pointer, std::string& out);
Status Read(const nlohmann::json& value, const std::string& pointer, bool& out);
// Whole numbers that fit; 60.0 counts as 60.
Status Read(const nlohmann::json& value, const std::string& pointer, int64_t& out);
Status Read(const nlohmann::json& value, const std::string& pointer, int& out);
// An RFC 3339 time.
Status Read(const nlohmann::json& value, const std::string& pointer, WallTime& out);
Status Read(const nlohmann::json& value, const std::string& pointer, std::vector<std::string>& out);

// Refuses texts such as "2h" with a sentence that names the unit.
Status ReadSeconds(const nlohmann::json& value, const std::string& pointer, int64_t& out);

}  // namespace carillon::json_value
