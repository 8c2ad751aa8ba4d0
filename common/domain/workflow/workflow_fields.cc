#include "common/domain/workflow/workflow_fields.h"

namespace carillon {

std::set<std::string> ParametersOfEveryRun(const JobDefinition& job) {
  std::set<std::string> names;
  for (const auto& [name, value] : job.parameters) names.insert(name);
  for (const auto& [name, rule] : job.parameter_rules) {
    if (rule.required) names.insert(name);
  }
  return names;
}

WorkflowProblems FindWorkflowProblems(const JobDefinition& job) {
  if (!job.workflow) return {};
  const std::set<std::string> parameters = ParametersOfEveryRun(job);
  return CheckWorkflow(*job.workflow, {.parameters = &parameters});
}

}  // namespace carillon
