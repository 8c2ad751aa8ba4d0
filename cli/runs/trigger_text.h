// Words for the run of an upstream job, or the event, that started a run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace carillon::cli {

// Returns the text for a run's `trigger`: "run 05TG… of Load orders (COMPLETED)". Empty if no run
// started it.
std::string TriggerText(const nlohmann::json& trigger);
// Returns the text for a run's `event`: "42 of shop (order.paid)". Empty if no event started it.
std::string EventText(const nlohmann::json& event);

}  // namespace carillon::cli
