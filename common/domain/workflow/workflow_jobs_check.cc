#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/domain/condition/condition.h"
#include "common/domain/job/job_types.h"
#include "common/domain/job_text.h"
#include "common/domain/template/node_template.h"
#include "common/domain/workflow/workflow_check.h"

namespace carillon {
namespace {

constexpr size_t kPathMax = kWorkflowDepthMax + 1;

// A result of an upstream node that a parameter or a condition of a node needs.
struct SourceNeed {
  WorkflowMistake mistake = WorkflowMistake::kBadTemplate;  // if it can never be there
  std::string place = {};                                   // below the node: "after/0/if"
  std::string node = {};
  NodeResults results = {};
};

// A place may have several.
std::vector<SourceNeed> SourceNeedsOf(const WorkflowNode& node) {
  std::vector<SourceNeed> needs;
  for (const auto& [name, value] : node.parameters) {
    const auto expressions = ExpressionsOf(value);
    if (!expressions.ok()) continue;
    for (const NodeExpression& one : *expressions) {
      using Kind = NodeExpression::Kind;
      needs.push_back({.mistake = WorkflowMistake::kBadTemplate,
                       .place = "parameters/" + EscapePointer(name),
                       .node = one.node,
                       .results = {.outputs = one.kind == Kind::kOutput,
                                   .exit_code = one.kind == Kind::kExitCode}});
    }
  }
  for (size_t edge = 0; edge < node.after.size(); ++edge) {
    if (node.after[edge].condition.empty()) continue;
    const auto condition = Condition::Parse(node.after[edge].condition);
    if (!condition.ok()) continue;
    needs.push_back({.mistake = WorkflowMistake::kBadCondition,
                     .place = fmt::format("after/{}/if", edge),
                     .node = node.after[edge].node,
                     .results = {.outputs = condition->AsksForOutputs(),
                                 .exit_code = condition->AsksForExitCode()}});
  }
  return needs;
}

// The jobs of a workflow's nodes, and of the workflows among them, level by level.
class JobsChecker {
 public:
  JobsChecker(const WorkflowDefinition& workflow, const JobId& self, WorkflowLookup& lookup)
      : workflow_(workflow), self_(self), lookup_(lookup) {}

  Result<WorkflowProblems> Check() && {
    for (size_t i = 0; i < workflow_.nodes.size(); ++i) {
      if (problems_.size() >= kWorkflowProblemsMax) break;
      CARILLON_TRY(CheckNode(i));
    }
    return std::move(problems_);
  }

 private:
  using Found = std::optional<WorkflowJob>;

  void Note(WorkflowMistake code, size_t node, std::string_view rest, std::string message) {
    problems_.push_back({code, fmt::format("/nodes/{}/{}", node, rest), std::move(message)});
  }

  Status CheckNode(size_t i) {
    const WorkflowNode& node = workflow_.nodes[i];
    if (node.job == self_) {
      Note(WorkflowMistake::kCycle, i, "job", fmt::format("{0} -> {0}", self_.value()));
      return {};
    }
    CARILLON_ASSIGN_OR_RETURN(const Found* job, Find(node.job));
    if (!*job || !(*job)->visible) {
      Note(WorkflowMistake::kUnknownJob, i, "job", fmt::format("no job '{}'", node.job.value()));
      return {};
    }
    if (!(*job)->may_run) {
      Note(WorkflowMistake::kForbidden, i, "job",
           fmt::format("you may not run job '{}'", node.job.value()));
    }
    for (const std::string& name : ParametersWithOutputs(node)) {
      if (!(*job)->command_parameters.contains(name)) continue;
      Note(WorkflowMistake::kUnsafeParameter, i, "parameters/" + EscapePointer(name),
           fmt::format("contains an output, and the command of job '{}' contains the parameter; "
                       "use the variable CARILLON_PARAM_{} in the command instead",
                       node.job.value(), AsciiUpper(name)));
    }
    CheckCase(i, **job);
    CARILLON_TRY(CheckSources(i));
    CARILLON_TRY(CheckGiven(i));
    path_ = {self_, node.job};
    CARILLON_ASSIGN_OR_RETURN(const int depth, DepthOf(node.job, i));
    if (depth >= kWorkflowDepthMax) {
      Note(WorkflowMistake::kTooDeep, i, "job",
           fmt::format("job '{}' contains workflows nested {} deep; with this one, at most {} are "
                       "allowed",
                       node.job.value(), depth, kWorkflowDepthMax));
    }
    return {};
  }

  // Both would set the same variable CARILLON_PARAM_….
  void CheckCase(size_t i, const WorkflowJob& job) {
    std::map<std::string, std::string> names;
    for (const std::string& name : job.parameters) names.emplace(AsciiUpper(name), name);
    for (const auto& [name, value] : workflow_.nodes[i].parameters) {
      const auto known = names.find(AsciiUpper(name));
      if (known == names.end() || known->second == name) continue;
      Note(WorkflowMistake::kBadField, i, "parameters/" + EscapePointer(name),
           fmt::format("differs from the parameter '{}' of job '{}' only by case", known->second,
                       workflow_.nodes[i].job.value()));
    }
  }

  // A node of which no run has outputs, or an exit code, can never give one to this node.
  Status CheckSources(size_t i) {
    std::string noted;
    for (const SourceNeed& need : SourceNeedsOf(workflow_.nodes[i])) {
      if (need.place == noted) continue;
      CARILLON_ASSIGN_OR_RETURN(const std::string missing, MissingFrom(need));
      if (missing.empty()) continue;
      noted = need.place;
      Note(need.mistake, i, need.place, missing);
    }
    return {};
  }

  // A sentence if the runs of the node's job never have what is needed; else "". Says nothing of
  // a job that the writer may not know of.
  Result<std::string> MissingFrom(const SourceNeed& need) {
    const bool outputs = need.results.outputs, exit_code = need.results.exit_code;
    if (!outputs && !exit_code) return std::string();
    const auto node = std::ranges::find(workflow_.nodes, need.node, &WorkflowNode::id);
    if (node == workflow_.nodes.end() || node->job == self_) return std::string();
    CARILLON_ASSIGN_OR_RETURN(const Found* found, Find(node->job));
    if (!*found || !(*found)->visible || !(*found)->type) return std::string();
    const WorkflowJob& job = **found;
    const NodeResults results = ResultsOf(*job.type, !job.fan_out.empty());
    const bool lacks_outputs = outputs && !results.outputs;
    if (!lacks_outputs && (!exit_code || results.exit_code)) return std::string();
    const std::string because =
        job.fan_out.empty()
            ? fmt::format("is of type {}", Name(*job.type))
            : fmt::format("has {}, and each part of a run keeps its own", job.fan_out);
    return fmt::format("node '{}' has no {}, because its job '{}' {}", need.node,
                       lacks_outputs ? "outputs" : "exit code", node->job.value(), because);
  }

  // The parameters of a node that is a workflow reach the jobs of its nodes, and theirs.
  Status CheckGiven(size_t i) {
    const WorkflowNode& node = workflow_.nodes[i];
    if (node.parameters.empty()) return {};
    std::set<JobId> reached = {self_, node.job};
    std::vector<JobId> left = {node.job};
    while (!left.empty()) {
      const JobId outer = std::move(left.back());
      left.pop_back();
      CARILLON_ASSIGN_OR_RETURN(const Found* workflow, Find(outer));
      if (!*workflow || !(*workflow)->node_jobs) continue;
      const std::vector<JobId> inside = *(*workflow)->node_jobs;
      for (const JobId& inner : inside) {
        if (!reached.insert(inner).second) continue;
        left.push_back(inner);
        CARILLON_ASSIGN_OR_RETURN(const Found* job, Find(inner));
        if (!*job || (*job)->may_run) continue;
        Note(WorkflowMistake::kForbidden, i, "parameters",
             fmt::format("they reach job '{}' in workflow '{}', and you may not run it",
                         (*job)->visible ? inner.value() : std::string("(hidden)"), outer.value()));
        return {};
      }
    }
    return {};
  }

  // The number of workflows on the longest path that begins at `job`; 0 if it is no workflow.
  // Reports a path that leads back to the workflow that is checked.
  Result<int> DepthOf(const JobId& job, size_t node) {
    const auto known = depths_.find(job);
    if (known != depths_.end()) return known->second;
    CARILLON_ASSIGN_OR_RETURN(const Found* found, Find(job));
    if (!*found || !(*found)->node_jobs) return depths_[job] = 0;
    int deepest = 0;
    // Deeper paths are refused by their depth, also if the jobs in the store contain each other.
    if (path_.size() > kPathMax) return 1;
    for (const JobId& next : *(*found)->node_jobs) {
      path_.push_back(next);
      if (next == self_) {
        NoteCycle(node);
      } else {
        CARILLON_ASSIGN_OR_RETURN(const int depth, DepthOf(next, node));
        deepest = std::max(deepest, depth);
      }
      path_.pop_back();
    }
    return depths_[job] = deepest + 1;
  }

  void NoteCycle(size_t node) {
    std::string text;
    for (const JobId& job : path_) {
      const auto found = jobs_.find(job);
      const bool hidden = found != jobs_.end() && found->second && !found->second->visible;
      text += (text.empty() ? "" : " -> ") + (hidden ? std::string("(hidden)") : job.value());
    }
    Note(WorkflowMistake::kCycle, node, "job", std::move(text));
  }

  Result<const Found*> Find(const JobId& job) {
    const auto known = jobs_.find(job);
    if (known != jobs_.end()) return &known->second;
    CARILLON_ASSIGN_OR_RETURN(Found found, lookup_.Find(job));
    return &jobs_.emplace(job, std::move(found)).first->second;
  }

  const WorkflowDefinition& workflow_;
  const JobId& self_;
  WorkflowLookup& lookup_;
  std::map<JobId, Found> jobs_;
  std::map<JobId, int> depths_;
  std::vector<JobId> path_;
  WorkflowProblems problems_;
};

}  // namespace

Result<WorkflowProblems> CheckWorkflowJobs(const WorkflowDefinition& workflow, const JobId& self,
                                           WorkflowLookup& lookup) {
  return JobsChecker(workflow, self, lookup).Check();
}

NodeResults ResultsOf(JobType type, bool fans_out) {
  return {.outputs = !fans_out && MayHaveOutputs(type),
          .exit_code = !fans_out && MayHaveExitCode(type)};
}

std::string AskedOfJob(const WorkflowDefinition& workflow, const JobId& job,
                       const NodeResults& results) {
  const auto has_job = [&](const SourceNeed& need) {
    return std::ranges::any_of(workflow.nodes, [&](const WorkflowNode& node) {
      return node.id == need.node && node.job == job;
    });
  };
  for (const WorkflowNode& node : workflow.nodes) {
    for (const SourceNeed& need : SourceNeedsOf(node)) {
      const bool outputs = need.results.outputs && results.outputs;
      if (!outputs && !(need.results.exit_code && results.exit_code)) continue;
      if (!has_job(need)) continue;
      return fmt::format("node '{}' asks for {} of node '{}'", node.id,
                         outputs ? "outputs" : "the exit code", need.node);
    }
  }
  return {};
}

}  // namespace carillon
