#include <map>
#include <nlohmann/json.hpp>

#include "cli/operations/commands.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

void Append(std::string& list, const std::string& word) {
  list += (list.empty() ? "" : ", ") + word;
}

std::string Seconds(const json& seconds) { return std::to_string(seconds.get<int64_t>()) + " s"; }

// Returns the time of an effect: "after 20 s", "for 6 s". Empty if the effect begins at once and
// lasts until the end of the outage.
std::string When(const json& row) {
  if (row.value("after_s", 0.0) > 0) return "after " + Seconds(row["after_s"]);
  const json until = row.value("until_s", json());
  return until.is_number() ? "for " + Seconds(until) : "";
}

// Lists the features that have this `effect` while the part is unavailable: "planning, running
// after 20 s".
std::string Affected(const json& node, const std::string& effect) {
  std::string list;
  for (const json& row : node.value("affects", json::array())) {
    if (row.value("effect", "") != effect) continue;
    const std::string when = When(row);
    Append(list, row.value("capability", "") + (when.empty() ? "" : " " + when));
  }
  return list;
}

json TextOrNull(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

// Makes one row per part: its dependencies, and the features that stop or are delayed without it.
json PartsOf(const json& topology) {
  std::map<std::string, std::string> needs;
  for (const json& edge : topology.value("edges", json::array())) {
    const std::string state = edge.value("state", "");
    const bool well = state == "ok" || state == "unknown";
    Append(needs[edge.value("from", "")], edge.value("to", "") + (well ? "" : " (" + state + ")"));
  }
  json items = json::array();
  for (const json& node : topology.value("nodes", json::array())) {
    const std::string id = node.value("id", "");
    const bool leads = node.value("leader", false);
    items.push_back({{"id", id},
                     {"part", id + (leads ? " (leader)" : "")},
                     {"state", node.value("state", "")},
                     {"needs", TextOrNull(needs[id])},
                     {"stops", TextOrNull(Affected(node, "stops"))},
                     {"delayed", TextOrNull(Affected(node, "delayed"))},
                     {"address", node.value("address", json())},
                     {"detail", node.value("detail", json())}});
  }
  return {{"items", std::move(items)}};
}

// Returns a sentence such as "Current impact: starting delayed. Tasks are delayed."
std::string SentenceOf(const json& impact) {
  const std::string when = When(impact);
  const bool goes_on = impact.value("effect", "") == "goes_on";
  return "Current impact: " + Cell(impact.value("capability", json())) + " " +
         (goes_on ? "continues" : Cell(impact.value("effect", json()))) +
         (when.empty() ? "" : " " + when) + ". " + Cell(impact.value("detail", json()));
}

Outcome<ExitCode> ShowTopology(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse topology,
                            session.Call({.path = "/api/system/topology"}));
  Printer print = session.Print();
  if (print.form() != Form::kTable && print.form() != Form::kName) {
    print.Object(topology.body, {});
    return ExitCode::kDone;
  }
  print.List(PartsOf(topology.body), {.columns = {{"COMPONENT", "part"},
                                                  {"STATE", "state"},
                                                  {"DEPENDS ON", "needs"},
                                                  {"STOPS IF DOWN", "stops"},
                                                  {"DELAYED IF DOWN", "delayed"}},
                                      .id = "id",
                                      .wide = {{"ADDRESS", "address"}, {"DETAIL", "detail"}}});
  if (print.form() == Form::kName || session.flags().quiet) return ExitCode::kDone;
  for (const json& impact : topology.body.value("impact", json::array())) {
    print.Line(SentenceOf(impact));
  }
  return ExitCode::kDone;
}

}  // namespace

void AddTopologyCommand(CLI::App& system, Session& session) {
  session.On(system.add_subcommand("topology", "Show dependencies and the effects of an outage"),
             [&session] { return ShowTopology(session); });
}

}  // namespace carillon::cli
