#include "cli/runs/trigger_text.h"

#include <nlohmann/json.hpp>

#include "cli/terminal/output.h"

namespace carillon::cli {

using nlohmann::json;

std::string TriggerText(const json& trigger) {
  if (!trigger.is_object()) return {};
  const json name = trigger.value("job_name", json());
  const bool named = name.is_string() && name != "";
  return "run " + Cell(trigger.value("run_id", json())) + " of " +
         Cell(named ? name : trigger.value("job_id", json())) + " (" +
         Cell(trigger.value("state", json())) + ")";
}

}  // namespace carillon::cli
