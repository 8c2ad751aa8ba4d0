#include "executor/tasks/interpreters.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace carillon::executor {

bool IsProgram(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::string FindProgram(std::string_view path, std::string_view name) {
  while (!path.empty()) {
    const size_t end = path.find(':');
    const std::string_view directory = path.substr(0, end);
    // A relative directory would depend on where the daemon was started.
    if (directory.starts_with('/')) {
      std::string program = fmt::format("{}/{}", directory, name);
      if (IsProgram(program)) return program;
    }
    if (end == std::string_view::npos) break;
    path.remove_prefix(end + 1);
  }
  return {};
}

Interpreters FindInterpreters(std::string_view path) {
  Interpreters found;
  for (const Interpreter interpreter : AllInterpreters()) {
    std::string program = FindProgram(path, Name(interpreter));
    if (!program.empty()) found[interpreter] = std::move(program);
  }
  return found;
}

void OfferCommand(const std::string& directory, std::map<std::string, std::string>& env) {
  const std::string program = directory + "/carillon";
  if (!directory.starts_with('/') || !IsProgram(program)) return;
  env["CARILLON_BIN"] = program;
  std::string& path = env["PATH"];
  const bool listed = (":" + path + ":").find(":" + directory + ":") != std::string::npos;
  if (!listed && directory.find(':') == std::string::npos) path += ":" + directory;
}

Features FeaturesOf(const Interpreters& interpreters) {
  Features features{Feature::kSecrets, Feature::kHttp, Feature::kHttpExtended};
  for (const auto& [interpreter, program] : interpreters) features.Add(FeatureOf(interpreter));
  return features;
}

}  // namespace carillon::executor
