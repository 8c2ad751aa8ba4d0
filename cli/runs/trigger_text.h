// Words for the run of an upstream job that started another run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace carillon::cli {

// Returns the text for a run's `trigger`: "run 05TG… of Load orders (COMPLETED)". Empty if no run
// started it.
std::string TriggerText(const nlohmann::json& trigger);

}  // namespace carillon::cli
