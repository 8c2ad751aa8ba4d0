#include "common/process/command_line.h"

#include <CLI/CLI.hpp>

#include "common/base/version.h"

namespace carillon::process {
namespace {

constexpr int kUsage = 2;

}  // namespace

std::optional<DaemonFlags> ParseDaemonFlags(const std::string& about, int argc, char** argv,
                                            int& exit_code) {
  CLI::App app{about};
  DaemonFlags flags;
  std::string data_dir;
  std::vector<std::string> settings;
  app.add_option("--config", flags.config_file, "YAML file (CARILLON_CONFIG)")
      ->envname("CARILLON_CONFIG");
  app.add_option("--data-dir", data_dir, "Directory of everything it keeps");
  app.add_option("--set", settings, "Override a setting, name=value")->allow_extra_args(false);
  app.set_version_flag("--version", std::string(kVersion));
  try {
    app.parse(argc, argv);
    for (const std::string& setting : settings) {
      const size_t equals = setting.find('=');
      if (equals == std::string::npos) throw CLI::ValidationError("--set", "takes name=value");
      flags.overrides.push_back({setting.substr(0, equals), setting.substr(equals + 1), "--set"});
    }
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? 0 : kUsage;
    return std::nullopt;
  }
  if (app.count("--data-dir") > 0) flags.overrides.push_back({"data_dir", data_dir, "--data-dir"});
  return flags;
}

}  // namespace carillon::process
