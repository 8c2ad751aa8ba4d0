#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/domain/condition/condition_program.h"
#include "common/domain/job/fan_out.h"
#include "common/domain/job/job_types.h"
#include "common/domain/job_text.h"
#include "common/domain/template/command_parameters.h"
#include "common/domain/template/node_template.h"
#include "common/domain/workflow/workflow_check.h"

namespace carillon {
namespace {

constexpr size_t kPathMax = kWorkflowDepthMax + 1;

// A result of an upstream node that a text or a condition of a node, or an output of the workflow,
// needs: an output, or the exit code.
struct SourceNeed {
  WorkflowMistake mistake = WorkflowMistake::kBadTemplate;  // if it can never be there
  std::string pointer = {};  // below the node: "/after/0/if"; of an output, below the workflow
  std::string node = {};
  std::string output = {};  // "" = the exit code
};

bool Has(const NodeResults& results, const SourceNeed& need) {
  if (need.output.empty()) return results.exit_code;
  return results.outputs && (!results.names || results.names->contains(need.output));
}

void AddNeeds(const std::string& pointer, const ParameterValue& text,
              std::vector<SourceNeed>& needs) {
  const auto expressions = ExpressionsOf(text);
  if (!expressions.ok()) return;
  for (const NodeExpression& one : *expressions) {
    const bool output = one.kind == NodeExpression::Kind::kOutput;
    if (!output && one.kind != NodeExpression::Kind::kExitCode) continue;
    needs.push_back({.mistake = WorkflowMistake::kBadTemplate,
                     .pointer = pointer,
                     .node = one.node,
                     .output = output ? one.name : std::string()});
  }
}

// A place may have several.
std::vector<SourceNeed> SourceNeedsOf(const WorkflowNode& node) {
  std::vector<SourceNeed> needs;
  for (const NodeText& text : TextsOf(node)) AddNeeds(text.pointer, text.value, needs);
  for (size_t edge = 0; edge < node.after.size(); ++edge) {
    if (node.after[edge].condition.empty()) continue;
    const auto program = CompileCondition(node.after[edge].condition);
    if (!program.ok()) continue;
    for (const ConditionStep& step : *program) {
      const bool output = step.op == ConditionOp::kOutput;
      if (!output && step.op != ConditionOp::kExitCode) continue;
      needs.push_back({.mistake = WorkflowMistake::kBadCondition,
                       .pointer = fmt::format("/after/{}/if", edge),
                       .node = node.after[edge].node,
                       .output = output ? step.text : std::string()});
    }
  }
  return needs;
}

std::vector<SourceNeed> SourceNeedsOf(const std::map<std::string, std::string>& outputs) {
  std::vector<SourceNeed> needs;
  for (const auto& [name, text] : outputs) {
    AddNeeds("/outputs/" + EscapePointer(name), text, needs);
  }
  return needs;
}

// The results that the runs of a node can hand on, and the reason why not more.
struct NodeSource {
  NodeResults results = {};
  std::string because = {};
};

NodeSource SourceOf(const std::string& what, JobType type, std::string_view fan_out) {
  return {.results = ResultsOf(type, !fan_out.empty()),
          .because =
              fan_out.empty()
                  ? fmt::format("{} is of type {}", what, Name(type))
                  : fmt::format("{} has {}, and each part of a run keeps its own", what, fan_out)};
}

// nullopt: that is up to the job of the node.
std::optional<NodeSource> SourceOf(const WorkflowNode& node) {
  // GCC 12 wrongly warns of uninitialised values in temporaries of this type.
  NodeSource source;
  if (!node.over.empty()) {
    source.results.outputs = !node.collect.empty();
    source.results.names = std::set<std::string>{node.collect};
    source.because = "it runs for items, and has only what it collects";
    return source;
  }
  if (!node.task.empty()) return SourceOf("its task", node.task.job().type, "");
  if (node.approval) {
    source.results.outputs = true;
    source.results.names = std::set<std::string>{"decision", "by", "reason"};
    source.because = "it is an approval, which has decision, by and reason";
    return source;
  }
  if (!node.wait) return std::nullopt;
  source.because = "it is a wait";
  return source;
}

std::string FirstRule(const RunRules& rules) {
  const std::string text = ToText(rules);
  return text.substr(0, text.find('='));
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
    CARILLON_TRY(CheckSources("", SourceNeedsOf(workflow_.outputs)));
    return std::move(problems_);
  }

 private:
  using Found = std::optional<WorkflowJob>;

  void Note(WorkflowMistake code, size_t node, std::string_view rest, std::string message) {
    problems_.push_back({code, fmt::format("/nodes/{}/{}", node, rest), std::move(message)});
  }

  Status CheckNode(size_t i) {
    const WorkflowNode& node = workflow_.nodes[i];
    if (RunsNoJob(node)) {
      if (!node.task.empty()) CheckTaskOf(i, node.task.job());
      return CheckSources(fmt::format("/nodes/{}", i), SourceNeedsOf(node));
    }
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
    const std::string what = fmt::format("job '{}'", node.job.value());
    CheckCommand(i, what, (*job)->command_parameters);
    CheckCase(i, **job);
    CheckRules(i, **job);
    if ((*job)->type) {
      CheckMapped(i, what, *(*job)->type, (*job)->fan_out, ResultsOfJob(**job));
    }
    CARILLON_TRY(CheckSources(fmt::format("/nodes/{}", i), SourceNeedsOf(node)));
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

  // The parameter that has the item is named in `as`.
  static std::string PlaceOf(const WorkflowNode& node, const std::string& parameter) {
    return parameter == node.as ? "as" : "parameters/" + EscapePointer(parameter);
  }

  void CheckTaskOf(size_t i, const JobDefinition& task) {
    CheckCommand(i, "the task", CommandParameters(task));
    CheckMapped(i, "the task", task.type, "", ResultsOf(task.type, false));
  }

  void CheckCommand(size_t i, const std::string& what, const std::set<std::string>& in_command) {
    const WorkflowNode& node = workflow_.nodes[i];
    for (const std::string& name : ParametersWithOutputs(node)) {
      if (!in_command.contains(name)) continue;
      Note(WorkflowMistake::kUnsafeParameter, i, PlaceOf(node, name),
           fmt::format("contains an output, and the command of {} contains the parameter; use the "
                       "variable CARILLON_PARAM_{} in the command instead",
                       what, AsciiUpper(name)));
    }
  }

  // Both would set the same variable CARILLON_PARAM_….
  void CheckCase(size_t i, const WorkflowJob& job) {
    const WorkflowNode& node = workflow_.nodes[i];
    std::map<std::string, std::string> names;
    for (const std::string& name : job.parameters) names.emplace(AsciiUpper(name), name);
    const auto check = [&](const std::string& name) {
      const auto known = names.find(AsciiUpper(name));
      if (known == names.end() || known->second == name) return;
      Note(WorkflowMistake::kBadField, i, PlaceOf(node, name),
           fmt::format("differs from the parameter '{}' of job '{}' only by case", known->second,
                       node.job.value()));
    };
    for (const auto& [name, value] : node.parameters) check(name);
    if (!node.as.empty()) check(node.as);
  }

  // A workflow has no attempts that an executor runs.
  void CheckRules(size_t i, const WorkflowJob& job) {
    if (job.type != JobType::kWorkflow) return;
    RunRules others = workflow_.nodes[i].rules;
    others.timeout_s.reset();
    others.priority.reset();
    if (others == RunRules()) return;
    Note(WorkflowMistake::kBadField, i, FirstRule(others),
         fmt::format("job '{}' is a workflow: its node may set timeout and priority only",
                     workflow_.nodes[i].job.value()));
  }

  void CheckMapped(size_t i, const std::string& what, JobType type, std::string_view fan_out,
                   const NodeResults& results) {
    const WorkflowNode& node = workflow_.nodes[i];
    if (node.over.empty()) return;
    if (type == JobType::kWorkflow || !fan_out.empty()) {
      Note(WorkflowMistake::kBadField, i, "over",
           fmt::format("{} {}, so it cannot run for each item", what,
                       fan_out.empty() ? "is a workflow" : fmt::format("has {}", fan_out)));
    } else if (!node.collect.empty() && !results.outputs) {
      Note(WorkflowMistake::kBadField, i, "collect",
           fmt::format("{} is of type {}, which has no outputs", what, Name(type)));
    }
  }

  // A node of which no run has outputs, or an exit code, can never give one. `above`: the pointer
  // of the node that needs it.
  Status CheckSources(const std::string& above, const std::vector<SourceNeed>& needs) {
    std::string noted;
    for (const SourceNeed& need : needs) {
      if (need.pointer == noted || problems_.size() >= kWorkflowProblemsMax) continue;
      CARILLON_ASSIGN_OR_RETURN(std::string missing, MissingFrom(need));
      if (missing.empty()) continue;
      noted = need.pointer;
      problems_.push_back({need.mistake, above + need.pointer, std::move(missing)});
    }
    return {};
  }

  static NodeResults ResultsOfJob(const WorkflowJob& job) {
    NodeResults results = ResultsOf(*job.type, !job.fan_out.empty());
    if (job.type != JobType::kWorkflow) return results;
    results.names = job.output_names;
    results.outputs = !job.output_names || !job.output_names->empty();
    return results;
  }

  // nullopt: nothing is known of its job, or the writer may not know of it.
  Result<std::optional<NodeSource>> SourceOfNode(const WorkflowNode& node) {
    if (std::optional<NodeSource> own = SourceOf(node)) return own;
    if (node.job == self_) return std::optional<NodeSource>();
    CARILLON_ASSIGN_OR_RETURN(const Found* found, Find(node.job));
    if (!*found || !(*found)->visible || !(*found)->type) return std::optional<NodeSource>();
    const WorkflowJob& job = **found;
    NodeSource source =
        SourceOf(fmt::format("its job '{}'", node.job.value()), *job.type, job.fan_out);
    source.results = ResultsOfJob(job);
    return std::optional(std::move(source));
  }

  // A sentence if the runs of the node never have what is needed; else "".
  Result<std::string> MissingFrom(const SourceNeed& need) {
    const auto node = std::ranges::find(workflow_.nodes, need.node, &WorkflowNode::id);
    if (node == workflow_.nodes.end()) return std::string();
    CARILLON_ASSIGN_OR_RETURN(const std::optional<NodeSource> source, SourceOfNode(*node));
    if (!source || Has(source->results, need)) return std::string();
    if (!need.output.empty() && source->results.outputs) {
      return fmt::format("node '{}' has no output '{}'", need.node, need.output);
    }
    return fmt::format("node '{}' has no {}, because {}", need.node,
                       need.output.empty() ? "exit code" : "outputs", source->because);
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

NodeResults ResultsOf(const JobDefinition& job) {
  if (!job.workflow) return ResultsOf(job.type, FansOut(job));
  std::set<std::string> names;
  for (const auto& [name, text] : job.workflow->outputs) names.insert(name);
  const bool outputs = !names.empty();
  return {.outputs = outputs, .names = std::move(names)};
}

std::string AskedOfJob(const WorkflowDefinition& workflow, const JobId& job,
                       const NodeResults& gave, const NodeResults& gives) {
  const auto is_lost = [&](const SourceNeed& need) { return Has(gave, need) && !Has(gives, need); };
  // A mapped node hands on what it collects, whatever the runs of its job have.
  const auto has_job = [&](const SourceNeed& need) {
    return std::ranges::any_of(workflow.nodes, [&](const WorkflowNode& node) {
      return node.id == need.node && node.job == job && node.over.empty();
    });
  };
  const auto asked = [&](const std::string& who, const std::vector<SourceNeed>& needs) {
    const auto lost = std::ranges::find_if(
        needs, [&](const SourceNeed& need) { return is_lost(need) && has_job(need); });
    if (lost == needs.end()) return std::string();
    return fmt::format("{} for {} of node '{}'", who,
                       lost->output.empty() ? "the exit code" : "outputs", lost->node);
  };
  for (const WorkflowNode& node : workflow.nodes) {
    std::string text = asked(fmt::format("node '{}' asks", node.id), SourceNeedsOf(node));
    if (!text.empty()) return text;
    const bool collects = node.job == job && !node.collect.empty();
    if (collects && is_lost({.output = node.collect})) {
      return fmt::format("node '{}' collects outputs", node.id);
    }
  }
  return asked("an output of the workflow asks", SourceNeedsOf(workflow.outputs));
}

}  // namespace carillon
