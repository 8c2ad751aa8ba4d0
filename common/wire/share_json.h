// Shares as JSON: [{"namespace": "payroll"}, {"namespace": "*", "selector": "team = etl"}].
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/share.h"

namespace carillon {

nlohmann::json SharesToJson(const std::vector<Share>& shares);
// Validated. kInvalid with the pointer of what is wrong, "/shares/0/namespace".
Result<std::vector<Share>> SharesFromJson(const nlohmann::json& shares);

// As the store keeps them; what is read is not validated again. kCorrupt: no shares.
std::string SharesToText(const std::vector<Share>& shares);
Result<std::vector<Share>> SharesFromText(std::string_view text);

}  // namespace carillon
