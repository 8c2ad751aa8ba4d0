// Words for what runs wait for, and their places in queues.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace carillon::cli {

// Returns "1st", "2nd", "11th".
std::string Ordinal(int64_t number);
// Returns the words for a run's `waiting`: "waits for a slot of group db, 3rd", "waits for
// load-orders of 2026-11-28 …". Empty if it waits for neither a group nor runs of other jobs.
std::string WaitingText(const nlohmann::json& waiting);

}  // namespace carillon::cli
