#include <fstream>
#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "cli/operations/commands.h"
#include "common/config/config_table.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct ServerArguments {
  std::string config_file;
  std::string port;
  std::string executors;  // HOST:PORT; only of standalone
  std::vector<std::string> settings;
};

Result<StandaloneArguments> Collect(const GlobalFlags& flags, const ServerArguments& arguments) {
  StandaloneArguments collected{.config_file = arguments.config_file};
  if (!arguments.port.empty()) {
    collected.overrides.push_back({"rest.port", arguments.port, "--port"});
  }
  // --port 0 means a free port for `ops.port` too, so that several servers can run on one machine.
  if (arguments.port == "0") collected.overrides.push_back({"ops.port", "0", "--port"});
  if (!arguments.executors.empty()) {
    collected.overrides.push_back({"standalone.executors", arguments.executors, "--executors"});
  }
  if (!flags.target.data_dir.empty()) {
    collected.overrides.push_back({"data_dir", flags.target.data_dir, "--data-dir"});
  }
  CARILLON_ASSIGN_OR_RETURN(const auto settings, ParsePairs(arguments.settings));
  for (const auto& [name, value] : settings) {
    collected.overrides.push_back({name, value, "--set"});
  }
  return collected;
}

// Warns about files that cannot be read. An unreadable file is no error, because the settings may
// be for another host or user.
void RemarkUnreadableFiles(Session& session, const config::Config& config) {
  for (const config::Setting& setting : config::SettingTable()) {
    if (!setting.name.ends_with("_file")) continue;
    const std::string& file = config.Text(setting.name);
    if (file.empty() || std::ifstream(file).good()) continue;
    session.Say(fmt::format("warning: {}: cannot read {} on this machine", setting.name, file));
  }
}

Outcome<ExitCode> CheckConfig(Session& session, const StandaloneArguments& arguments) {
  std::vector<Error> further;
  const auto loaded = config::Load({.file = arguments.config_file,
                                    .environment = session.host().environment,
                                    .flags = arguments.overrides},
                                   &further);
  // An unreadable file is a usage error. kUnavailable would be reported as an unavailable server.
  if (!loaded.ok() && loaded.code() == ErrorCode::kUnavailable) {
    return UsageFailure(loaded.error().message);
  }
  if (!loaded.ok()) {
    Failure failure = FailureOf(loaded.error());
    for (const Error& one : further) failure.details.push_back(one.message);
    return failure;
  }
  const config::Config& config = *loaded;
  json items = json::array();
  for (const config::Setting& setting : config::SettingTable()) {
    const config::Value& value = config.Get(setting.name);
    items.push_back({{"name", setting.name},
                     {"value", value.text},
                     {"origin", config::Name(value.origin)},
                     {"place", value.place}});
  }
  for (const std::string& warning : config.warnings()) session.Say("warning: " + warning);
  RemarkUnreadableFiles(session, config);
  session.Print().List(
      {{"items", items}},
      {{{"SETTING", "name"}, {"VALUE", "value"}, {"ORIGIN", "origin"}, {"PLACE", "place"}},
       "name"});
  return ExitCode::kDone;
}

void AddFlags(CLI::App* verb, ServerArguments& arguments) {
  verb->add_option("--config", arguments.config_file, "Configuration file, YAML (CARILLON_CONFIG)")
      ->envname("CARILLON_CONFIG")
      ->check(NotEmpty);
  verb->add_option("--port", arguments.port,
                   "REST port; the ops port stays: --set ops.port=N moves it. 0 = use free ports")
      ->check(NotEmpty);
  verb->add_option("--set", arguments.settings, "Override a setting, name=value; repeatable")
      ->allow_extra_args(false);
}

}  // namespace

void AddServerCommands(CLI::App& app, Session& session) {
  const auto a = std::make_shared<ServerArguments>();  // shared by the subcommands' callbacks
  CLI::App* standalone =
      app.add_subcommand("standalone", "Start a complete server on this machine");
  AddFlags(standalone, *a);
  standalone
      ->add_option("--executors", a->executors,
                   "Accept executors of other hosts at this address, HOST:PORT")
      ->check(NotEmpty);
  session.On(standalone, [&session, a]() -> Outcome<ExitCode> {
    CARILLON_ASSIGN_OR_RETURN(const auto arguments, Collect(session.flags(), *a));
    return static_cast<ExitCode>(session.host().standalone(arguments));
  });
  CLI::App* check = app.add_subcommand(
      "check-config", "Check the configuration and show the origin of each setting");
  AddFlags(check, *a);
  session.On(check, [&session, a]() -> Outcome<ExitCode> {
    CARILLON_ASSIGN_OR_RETURN(const auto arguments, Collect(session.flags(), *a));
    return CheckConfig(session, arguments);
  });
}

}  // namespace carillon::cli
