#include "common/config/environment.h"

#include <unistd.h>

namespace carillon::config {

std::map<std::string, std::string> ProcessEnvironment() {
  std::map<std::string, std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

std::string ExpandHome(std::string_view path, std::string_view home) {
  if (path != "~" && path.substr(0, 2) != "~/") return std::string(path);
  return std::string(home) + std::string(path.substr(1));
}

}  // namespace carillon::config
