#include "common/adapters/mysql/workflow/collected_outputs.h"

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/adapters/mysql/workflow/workflow_rows.h"
#include "common/domain/nodes/run_rules.h"
#include "common/domain/parts/fire_end.h"
#include "common/domain/workflow/node_key.h"
#include "common/wire/json/outputs_json.h"

namespace carillon::mysql {
namespace {

// The name of the output; "" = the run collects none.
Result<std::string> CollectedName(Session& session, const RunRow& own) {
  const auto place = NodePlaceOf(own.key);
  if (!place || (own.flags & run_flag::kRules) == 0) return std::string();
  const Result<RunRules> rules = RunRulesFromText(own.rules);
  if (!rules.ok() || !rules->items) return std::string();
  CARILLON_ASSIGN_OR_RETURN(const auto row,
                            ReadWorkflow(session, place->workflow_run_no, WorkflowLock::kNone));
  if (!row) return std::string();
  CARILLON_ASSIGN_OR_RETURN(const LoadedWorkflow loaded,
                            LoadWorkflow(session, {row->job_no, row->def_version}));
  if (place->position >= loaded.graph.size()) return std::string();
  return loaded.graph.node(place->position).collect;
}

// The output with this name of each part, by index. Only this one is read of each part.
Result<std::vector<std::optional<std::string>>> OutputsOfParts(Session& session, const RunKey& own,
                                                               const std::string& name) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(
          // As text: the connector cannot take MySQL's type JSON.
          "SELECT CONVERT(JSON_EXTRACT(CONVERT(r.outputs USING utf8mb4), ?) USING utf8mb4) FROM "
          "job_runs r FORCE INDEX (PRIMARY) WHERE r.fire_us = ? AND r.schedule_id = ? AND r.shard "
          "> 0 ORDER BY r.shard",
          {fmt::format("$.\"{}\"", name), ToUnixMicros(own.fire), own.schedule_id.value()}));
  std::vector<std::optional<std::string>> outputs;
  while (rows.Next()) {
    std::optional<std::string>& output = outputs.emplace_back();
    if (rows.IsNull(1)) continue;
    auto one = OutputsFromJson(fmt::format("{{\"{}\": {}}}", name, rows.Text(1)));
    if (one.ok()) output = std::move((*one)[name]);
  }
  return outputs;
}

}  // namespace

Status CollectOutputs(Session& session, const RunRow& own, RunChange& change,
                      AttemptResult& result) {
  CARILLON_ASSIGN_OR_RETURN(const std::string name, CollectedName(session, own));
  if (name.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(const auto outputs, OutputsOfParts(session, own.key, name));
  AddCollected(name, outputs, change, result);
  return {};
}

}  // namespace carillon::mysql
