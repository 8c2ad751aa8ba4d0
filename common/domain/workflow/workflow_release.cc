#include "common/domain/workflow/workflow_release.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/domain/job/parameter_rules.h"
#include "common/domain/template/command_parameters.h"

namespace carillon {
namespace {

constexpr size_t kNamedFailures = 10;

NodeRelease Skipped(std::string_view reason, std::string error = {}) {
  return {.skip = reason, .error = std::move(error)};
}

}  // namespace

NodeRelease DecideRelease(const WorkflowGraph& graph, size_t position, const NodeRows& rows,
                          const WorkflowFacts& facts, const JobRow& job,
                          const JobDefinition& definition) {
  if (job.deleted) return Skipped(reason::kDeleted);
  if (std::string refusal = RefusalOf(facts.backers, definition); !refusal.empty()) {
    return Skipped(reason::kForbidden, std::move(refusal));
  }
  auto rendered = RenderNodeParameters(graph, position, rows, facts);
  if (!rendered.ok()) {
    return Skipped(reason::kBadParameters,
                   fmt::format("{}: {}", rendered.error().pointer, rendered.error().message));
  }
  const Status fit = CheckGivenParameters(definition, rendered->values);
  if (!fit.ok()) {
    return Skipped(reason::kBadParameters,
                   fmt::format("{}: {}", fit.error().pointer, fit.error().message));
  }
  for (const std::string& name : CommandParameters(definition)) {
    if (!rendered->untrusted.contains(name)) continue;
    return Skipped(reason::kUnsafeParameter,
                   fmt::format("The parameter {} has text from outside and would become part of "
                               "the command; use \"$CARILLON_PARAM_...\" there.",
                               name));
  }
  if (definition.workflow && !rendered->values.empty()) {
    for (const Backer& backer : facts.backers) rendered->given_by.insert(backer.user_id);
  }
  return {.parameters = std::move(*rendered),
          .flags = BehalfFlag(facts.backers, definition.user_id)};
}

std::string FailureSentence(const WorkflowGraph& graph, const std::vector<size_t>& failures) {
  std::string names;
  for (size_t i = 0; i < std::min(failures.size(), kNamedFailures); ++i) {
    names += (i == 0 ? "" : ", ") + graph.node(failures[i]).id;
  }
  const size_t more = failures.size() - std::min(failures.size(), kNamedFailures);
  if (more > 0) names += fmt::format(" and {} more", more);
  return fmt::format("{} failed: {}.", failures.size() == 1 ? "A node" : "Nodes", names);
}

}  // namespace carillon
