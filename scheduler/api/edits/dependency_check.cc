#include "scheduler/api/edits/dependency_check.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "common/domain/run/dependents.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kNamesShown = 3;

}  // namespace

Problem DependencyProblem(const Error& error) {
  const std::string code(DependencyCode(error));
  if (code.empty()) return ToProblem(error);
  const std::string sentence = DependencySentence(error);
  return Problem{
      .status = 422, .code = code, .detail = sentence, .errors = {{error.pointer, code, sentence}}};
}

Problem HasDependents(const Call& call, const JobId& id) {
  const auto known = call.stores.jobs.ListDependencies(id);
  if (!known.ok()) return ToProblem(known.error());
  std::vector<std::string> names;
  for (const JobDependency& one : known->downstream) {
    if (one.job_id == id) continue;
    if (std::find(names.begin(), names.end(), one.job_name) == names.end()) {
      names.push_back(one.job_name);
    }
  }
  std::string listed;
  for (size_t i = 0; i < std::min(names.size(), kNamesShown); ++i) {
    listed += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kNamesShown) listed += fmt::format(" and {} more", names.size() - kNamesShown);
  Problem problem{
      .status = 409,
      .code = "has_dependents",
      .detail = fmt::format(
          "Jobs start after this one, wait for it or run it as a node: {}. Change them first, or "
          "repeat the request with force=true; they then start only after its runs that are under "
          "way, workflows skip the node, and runs that wait for it fail at the end of their limit.",
          listed)};
  problem.members["details"] = {{"jobs", names}};
  return problem;
}

Outcome<bool> CheckNotAwaited(const Call& call, const JobId& id,
                              const std::function<bool(const JobId&)>& stays) {
  CARILLON_ASSIGN_OR_RETURN(const JobDependencies known, call.stores.jobs.ListDependencies(id));
  for (const JobDependency& one : known.downstream) {
    if (one.job_id != id && stays(one.job_id)) return HasDependents(call, id);
  }
  return true;
}

}  // namespace carillon::scheduler
