#include "common/domain/template/command_parameters.h"

#include <string_view>
#include <vector>

#include "common/domain/template/http_template.h"
#include "common/domain/template/node_template.h"
#include "common/domain/template/template_text.h"

namespace carillon {
namespace {

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

// The parameters of a text that is code, also those in the variables that it names.
std::set<std::string> CodeParameters(const JobDefinition& job, std::string_view code) {
  std::set<std::string> parameters = NamesIn(code, kParameterPrefix);
  for (const std::string& variable : NamesIn(code, kEnvPrefix)) {
    const auto found = job.env.find(variable);
    if (found != job.env.end()) parameters.merge(NamesIn(found->second, kParameterPrefix));
  }
  return parameters;
}

// Every word of a container's command line: which of them is code is up to the program, and the
// entry point of the image, a shell for example, is unknown here.
std::set<std::string> ContainerParameters(const JobDefinition& job) {
  std::set<std::string> parameters;
  for (const auto* words : {&job.container->command, &job.container->args}) {
    for (const std::string& word : *words) parameters.merge(CodeParameters(job, word));
  }
  return parameters;
}

void AddWorkflowParameters(const ParameterValue& value, std::set<std::string>& parameters) {
  const auto expressions = ExpressionsOf(value);
  if (!expressions.ok()) return;
  for (const NodeExpression& one : *expressions) {
    if (one.kind == NodeExpression::Kind::kWorkflowParameter) parameters.insert(one.name);
  }
}

std::set<std::string> TaskParameters(const WorkflowDefinition& workflow) {
  std::set<std::string> parameters;
  for (const WorkflowNode& node : workflow.nodes) {
    if (node.task.empty()) continue;
    for (const std::string& name : CommandParameters(node.task.job())) {
      const auto given = node.parameters.find(name);
      if (given != node.parameters.end()) AddWorkflowParameters(given->second, parameters);
      if (name == node.as) AddWorkflowParameters(node.over, parameters);
    }
  }
  return parameters;
}

}  // namespace

std::set<std::string> CommandParameters(const JobDefinition& job) {
  if (job.http) return PlainHttpParameters(*job.http);
  if (job.container) return ContainerParameters(job);
  if (job.workflow) return TaskParameters(*job.workflow);
  // A no-op has no command that runs, and the arguments of a script reach it as they are.
  if (job.type != JobType::kShell) return {};
  return CodeParameters(job, job.command);
}

}  // namespace carillon
