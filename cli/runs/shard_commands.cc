// The parts of a run that fans out.
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/runs/commands.h"
#include "common/domain/run/run.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct ShardArguments {
  std::string run;
  std::vector<std::string> states;
};

// For --state, which the server does not see.
std::string UnknownState(const std::string& text) {
  const auto state = ParseRunState(UpperCase(text));
  return state.ok() ? std::string() : state.error().message;
}

const View& ShardView() {
  static const View view{{{"SHARD", "index"},
                          {"STATE", "state"},
                          {"EXECUTOR", "executor_id"},
                          {"ATTEMPT", "attempt"},
                          {"STARTED", "started_at"},
                          {"ENDED", "ended_at"},
                          {"REASON", "reason"}},
                         "run_id",
                         {{"RUN", "run_id"}, {"DUE", "due_at"}}};
  return view;
}

bool IsWanted(const json& shard, const std::vector<std::string>& states) {
  if (!shard.is_object()) return false;
  for (const std::string& state : states) {
    if (shard.value("state", json()) == UpperCase(state)) return true;
  }
  return states.empty();
}

Outcome<ExitCode> ShowShards(Session& session, const ShardArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(
      ApiResponse answer, session.Call({.path = "/api/runs/" + Escape(arguments.run) + "/shards"}));
  json kept = json::array();
  const json shards =
      answer.body.is_object() ? answer.body.value("shards", json::array()) : json::array();
  for (const json& shard : shards) {
    if (IsWanted(shard, arguments.states)) kept.push_back(shard);
  }
  Printer print = session.Print();
  const bool whole = print.form() == Form::kJson || print.form() == Form::kYaml;
  if (whole && answer.body.is_object() && !session.flags().quiet) {
    answer.body["shards"] = std::move(kept);
    print.Object(answer.body, ShardView());
  } else {
    print.List({{"items", std::move(kept)}}, ShardView());
  }
  return ExitCode::kDone;
}

}  // namespace

void AddShardCommands(CLI::App& run, Session& session) {
  const auto a = std::make_shared<ShardArguments>();  // outlives this function in the callback
  CLI::App* shards = run.add_subcommand("shards", "Show the parts of a run that fans out");
  shards->add_option("run", a->run, "Run ID")->required();
  shards->add_option("--state", a->states, "Only parts in this state, e.g. FAILED; repeatable")
      ->check(UnknownState)
      ->allow_extra_args(false);
  session.On(shards, [&session, a] { return ShowShards(session, *a); });
}

}  // namespace carillon::cli
