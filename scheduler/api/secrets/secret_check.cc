#include "scheduler/api/secrets/secret_check.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/core.h>

#include "common/domain/template/template.h"

namespace carillon::scheduler {

Outcome<bool> CheckSecrets(const Call& call, const JobDefinition& definition,
                           const std::optional<std::set<std::string>>& named) {
  const std::map<std::string, std::string> used = SecretsOf(definition);
  if (used.empty()) return true;
  std::vector<std::string> names;
  for (const auto& [name, variable] : used) names.push_back(name);
  CARILLON_ASSIGN_OR_RETURN(const auto found, call.stores.secrets.FindSecrets(names));
  Problem problem{.status = 422, .code = "unknown_secret"};
  for (const auto& [name, variable] : used) {
    const auto at = std::find_if(
        found.begin(), found.end(),
        [&, &wanted = name](const auto& secret) { return secret.record.name == wanted; });
    const std::string pointer = "/env/" + variable;
    if (at == found.end()) {
      problem.errors.push_back(
          {pointer, "unknown_secret", fmt::format("Unknown secret {}.", name)});
    } else if (!MayUse(at->record, definition.user_id)) {
      problem.errors.push_back(
          {pointer, "secret_forbidden",
           fmt::format("Secret {} is neither owned by the owner of the job nor shared.", name)});
    } else if (named && !named->contains(name) && !MayUse(at->record, call.caller.user_id)) {
      problem.errors.push_back(
          {pointer, "secret_forbidden",
           fmt::format("Secret {} is neither yours nor shared. In a job that is shared with you, "
                       "you can keep the secrets it already uses but not add others.",
                       name)});
    }
  }
  if (problem.errors.empty()) return true;
  problem.code = problem.errors[0].code;
  problem.detail = problem.errors[0].detail;
  return problem;
}

}  // namespace carillon::scheduler
