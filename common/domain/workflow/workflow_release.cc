#include "common/domain/workflow/workflow_release.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/domain/job/fan_out.h"
#include "common/domain/job/parameter_rules.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/template/command_parameters.h"
#include "common/domain/template/template.h"

namespace carillon {
namespace {

constexpr size_t kNamedFailures = 10;

NodeRelease Skipped(std::string_view reason, std::string error = {}) {
  return {.skip = reason, .error = std::move(error)};
}

NodeRelease BadParameters(const Error& error) {
  return Skipped(reason::kBadParameters, fmt::format("{}: {}", error.pointer, error.message));
}

// The parameters of every part of a mapped node, or of the one run.
Status CheckGiven(const WorkflowNode& node, const RenderedParameters& rendered,
                  const JobDefinition& definition) {
  if (node.over.empty()) return CheckGivenParameters(definition, rendered.values);
  if (definition.workflow || FansOut(definition)) {
    return Error{ErrorCode::kInvalid,
                 "the job is a workflow, or fans out itself, so it cannot run for each item",
                 "/over"};
  }
  Parameters values = rendered.values;
  for (size_t i = 0; i < rendered.items.size(); ++i) {
    values[node.as] = rendered.items[i];
    const Status fits = CheckGivenParameters(definition, values);
    if (fits.ok()) continue;
    return Error{ErrorCode::kInvalid, fmt::format("item {}: {}", i + 1, fits.error().message),
                 fits.error().pointer};
  }
  return {};
}

std::string_view PresentOwner(const std::vector<Backer>& backers) {
  const auto owner = std::ranges::find(backers, Backer::Part::kOwnsWorkflow, &Backer::part);
  return owner == backers.end() ? std::string_view() : std::string_view(owner->user_id);
}

// A task belongs to its workflow, and so to the present owner of that. Claims hand out the secrets
// of whoever owned the version of the graph, and nobody else may have them used.
struct Owned {
  JobDefinition judged;  // what rights ask of a job
  bool changed = false;
};
Owned OwnedOf(const WorkflowNode& node, const WorkflowFacts& facts,
              const JobDefinition& definition) {
  Owned owned{.judged = {.labels = definition.labels,
                         .user_id = definition.user_id,
                         .name_space = definition.name_space}};
  if (!RunsNoJob(node)) return owned;
  owned.judged.user_id = PresentOwner(facts.backers);
  owned.changed = owned.judged.user_id != definition.user_id;
  return owned;
}

}  // namespace

NodeRelease DecideRelease(const WorkflowGraph& graph, size_t position, const NodeRows& rows,
                          const WorkflowFacts& facts, const JobRow& job,
                          const JobDefinition& definition) {
  if (job.deleted) return Skipped(reason::kDeleted);
  const WorkflowNode& node = graph.node(position);
  const Owned owned = OwnedOf(node, facts, definition);
  if (std::string refusal = RefusalOf(facts.backers, owned.judged); !refusal.empty()) {
    return Skipped(reason::kForbidden, std::move(refusal));
  }
  if (owned.changed && !SecretsOf(definition).empty()) {
    return Skipped(reason::kForbidden,
                   "The workflow has another owner since, who may not use the secrets of this task "
                   "of an earlier version.");
  }
  auto rendered = RenderNodeParameters(graph, position, rows, facts);
  if (!rendered.ok()) return BadParameters(rendered.error());
  const Status fit = CheckGiven(node, *rendered, definition);
  if (!fit.ok()) return BadParameters(fit.error());
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
  RunRules rules = RulesOfNode(node);
  if (!node.over.empty()) rules.items = static_cast<int64_t>(rendered->items.size());
  return {.parameters = std::move(*rendered),
          .flags = BehalfFlag(facts.backers, owned.judged.user_id),
          .rules = ToText(rules)};
}

NodeRelease DecideOpening(const WorkflowGraph& graph, size_t position, const NodeRows& rows,
                          const WorkflowFacts& facts) {
  auto rendered = RenderApproval(graph, position, rows, facts);
  if (!rendered.ok()) return BadParameters(rendered.error());
  return {.parameters = std::move(*rendered), .rules = ToText(RulesOfNode(graph.node(position)))};
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
