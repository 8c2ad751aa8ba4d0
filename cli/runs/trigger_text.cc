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

std::string EventText(const json& event) {
  if (!event.is_object()) return {};
  return Cell(event.value("id", json())) + " of " + Cell(event.value("source", json())) + " (" +
         Cell(event.value("type", json())) + ")";
}

}  // namespace carillon::cli
