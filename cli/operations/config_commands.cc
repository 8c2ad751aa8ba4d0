#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/operations/commands.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr const char* kPath = "/api/system/config";

struct ConfigArguments {
  std::string name;
  std::vector<std::string> names;
  std::vector<std::string> settings;
  std::string reason;
};

const View& SettingView() {
  static const View view{
      {{"SETTING", "name"}, {"VALUE", "value"}, {"SOURCE", "source"}, {"LIVE", "live"}}, "name"};
  return view;
}

bool IsLive(const json& config, const std::string& name) {
  const json live = config.value("live", json::array());
  return std::find(live.begin(), live.end(), json(name)) != live.end();
}

json ItemOf(const json& config, const std::string& name) {
  const json settings = config.value("settings", json::object());
  return {{"name", name},
          {"value", settings.value(name, json(nullptr))},
          {"source", config.value("sources", json::object()).value(name, json(nullptr))},
          {"live", IsLive(config, name)}};
}

// Prints the settings, one per line. As JSON or YAML, prints the whole document.
void PrintConfig(Session& session, const json& config) {
  Printer print = session.Print();
  const json settings = config.value("settings", json::object());
  if (print.form() == Form::kJson || print.form() == Form::kYaml) return print.Object(config, {});
  json items = json::array();
  for (const auto& [name, value] : settings.items()) items.push_back(ItemOf(config, name));
  print.List({{"items", items}}, SettingView());
}

Outcome<ExitCode> Get(Session& session, const ConfigArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse config, session.Call({.path = kPath}));
  if (arguments.name.empty()) {
    PrintConfig(session, config.body);
    return ExitCode::kDone;
  }
  if (!config.body.value("settings", json::object()).contains(arguments.name)) {
    return Failure{
        .exit = ExitCode::kNotFound,
        .message = "unknown setting '" + arguments.name + "'. See `carillon system config`.",
        .code = "not_found"};
  }
  session.Print().Row(ItemOf(config.body, arguments.name), SettingView());
  return ExitCode::kDone;
}

// Changes settings on the condition that their version has not changed since it was read here. So
// no concurrent change is lost.
Outcome<ExitCode> Change(Session& session, const ConfigArguments& arguments, const json& settings) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse before, session.Call({.path = kPath}));
  json body = {{"settings", settings}};
  if (!arguments.reason.empty()) body["reason"] = arguments.reason;
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse after,
      session.Call({.method = "PUT", .path = kPath, .body = body, .if_match = before.etag}));
  for (const auto& [name, value] : settings.items()) {
    session.Print().Row(ItemOf(after.body, name), SettingView());
  }
  return ExitCode::kDone;
}

Outcome<ExitCode> Set(Session& session, const ConfigArguments& arguments) {
  const auto pairs = ParsePairs(arguments.settings);
  if (!pairs.ok()) return UsageFailure(pairs.error().message);
  return Change(session, arguments, json(*pairs));
}

Outcome<ExitCode> Unset(Session& session, const ConfigArguments& arguments) {
  json settings = json::object();
  for (const std::string& name : arguments.names) settings[name] = nullptr;
  return Change(session, arguments, settings);
}

}  // namespace

void AddConfigCommands(CLI::App& system, Session& session) {
  const auto a = std::make_shared<ConfigArguments>();  // shared by the subcommands' callbacks
  CLI::App* config = system.add_subcommand("config", "Show and change the settings of the cluster");
  config->require_subcommand(0, 1);
  session.On(config, [&session, a, config]() -> Outcome<ExitCode> {
    if (!config->get_subcommands().empty()) return session.exit();  // a subcommand has done it
    return Get(session, *a);
  });
  CLI::App* get = config->add_subcommand("get", "Show all effective settings, or one");
  get->add_option("name", a->name, "Name of the setting");
  session.On(get, [&session, a] { return Get(session, *a); });
  CLI::App* set = config->add_subcommand("set", "Change settings of the whole cluster");
  set->add_option("settings", a->settings, "name=value")->required();
  CLI::App* unset = config->add_subcommand(
      "unset", "Remove settings of the cluster; each process then uses its own value");
  unset->add_option("names", a->names, "Names of settings")->required();
  for (CLI::App* verb : {set, unset}) {
    verb->add_option("--reason", a->reason, "Reason, kept in the audit log");
  }
  session.On(set, [&session, a] { return Set(session, *a); });
  session.On(unset, [&session, a] { return Unset(session, *a); });
}

}  // namespace carillon::cli
