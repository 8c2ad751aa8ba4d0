// Words for concurrency groups and their queues.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace carillon::cli {

// Returns "1st", "2nd", "11th".
std::string Ordinal(int64_t number);
// Returns the sentence for a run's `waiting` that names a group: "waits for a slot of group db,
// 3rd". Empty if the run does not wait for a group.
std::string GroupWaitText(const nlohmann::json& waiting);

}  // namespace carillon::cli
