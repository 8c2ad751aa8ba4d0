// Shares as JSON: [{"namespace": "payroll"}, {"namespace": "*", "selector": "team = etl"}].
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/job/share.h"

namespace carillon {

nlohmann::json SharesToJson(const std::vector<Share>& shares);
// Validated. kInvalid with the pointer of the mistake, e.g. "/shares/0/namespace".
Result<std::vector<Share>> SharesFromJson(const nlohmann::json& shares);

// The stored form. It is not validated again when it is read. kCorrupt: not a list of shares.
std::string SharesToText(const std::vector<Share>& shares);
Result<std::vector<Share>> SharesFromText(std::string_view text);

}  // namespace carillon
