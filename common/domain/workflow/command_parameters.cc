#include "common/domain/workflow/command_parameters.h"

#include <string_view>

#include "common/domain/job/http_template.h"
#include "common/domain/job/template_text.h"

namespace carillon {
namespace {

constexpr std::string_view kParameterPrefix = "params.";
constexpr std::string_view kEnvPrefix = "env.";
constexpr auto kSkipText = [](std::string_view) {};

// Names in `text` that begin with `prefix`, without it. A malformed text has those before its end.
std::set<std::string> NamesIn(std::string_view text, std::string_view prefix) {
  std::set<std::string> names;
  const Status scanned = ScanTemplate(text, kSkipText, [&](std::string_view name) {
    if (name.starts_with(prefix)) names.emplace(name.substr(prefix.size()));
    return Status();
  });
  static_cast<void>(scanned.ok());
  return names;
}

}  // namespace

std::set<std::string> CommandParameters(const JobDefinition& job) {
  if (job.http) return PlainHttpParameters(*job.http);
  // A no-op has no command that runs, and the arguments of a script reach it as they are.
  if (job.type != JobType::kShell) return {};
  std::set<std::string> parameters = NamesIn(job.command, kParameterPrefix);
  for (const std::string& variable : NamesIn(job.command, kEnvPrefix)) {
    const auto found = job.env.find(variable);
    if (found != job.env.end()) parameters.merge(NamesIn(found->second, kParameterPrefix));
  }
  return parameters;
}

}  // namespace carillon
