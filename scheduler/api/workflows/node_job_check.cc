#include "scheduler/api/workflows/node_job_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/domain/job/fan_out.h"
#include "common/domain/run/dependents.h"
#include "common/domain/template/command_parameters.h"
#include "common/domain/template/trigger_outputs.h"
#include "common/wire/json/workflow/workflow_json.h"
#include "scheduler/api/call/ownership.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kReadTogether = 100;
constexpr std::string_view kWorkflowPart = "/workflow/";

bool MayRun(const Call& call, const JobAccessScope& job) {
  const Reach reach = call.caller.ReachFor(Permission::kRunJobs);
  return reach == Reach::kAll || (reach == Reach::kOwn && MayAct(call.caller, job));
}

std::string_view FanOutOf(const JobDefinition& definition) {
  if (!FansOut(definition)) return {};
  return definition.shards ? "shards" : "broadcast";
}

WorkflowJob SeenBy(const Call& call, const JobDefinition& definition) {
  WorkflowJob job{.may_run = MayRun(call, ScopeOf(definition)),
                  .command_parameters = CommandParameters(definition),
                  .type = definition.type,
                  .fan_out = FanOutOf(definition)};
  for (const auto& [name, value] : definition.parameters) job.parameters.insert(name);
  for (const auto& [name, rule] : definition.parameter_rules) job.parameters.insert(name);
  if (definition.workflow) {
    job.node_jobs = NodeJobsOf(definition);
    job.output_names = ResultsOf(definition).names;
  }
  return job;
}

// True if each schedule has parameters that one had before, or none.
bool SchedulesGiveNothingNew(const JobDefinition& before, const JobDefinition& definition) {
  return std::ranges::all_of(definition.schedules, [&](const ScheduleSpec& schedule) {
    return schedule.parameters.empty() ||
           std::ranges::any_of(before.schedules, [&](const ScheduleSpec& one) {
             return one.parameters == schedule.parameters;
           });
  });
}

// True if nothing that CheckWorkflowJobs looks at, or that the caller gives to the nodes, has
// changed.
bool StaysAsItIs(const JobDefinition* before, const JobDefinition& definition) {
  return before != nullptr && before->workflow == definition.workflow &&
         before->parameters == definition.parameters &&
         before->parameter_rules == definition.parameter_rules &&
         SchedulesGiveNothingNew(*before, definition);
}

// A part of a sentence, if a schedule of the job asks for an output of `id` that `gave` has and
// `gives` has not; else "".
std::string AskedAfter(const JobDefinition& dependent, const JobId& id, const NodeResults& gave,
                       const NodeResults& gives) {
  const auto has = [](const NodeResults& results, const std::string& output) {
    return results.outputs && (!results.names || results.names->contains(output));
  };
  for (const ScheduleSpec& spec : dependent.schedules) {
    if (spec.kind != ScheduleKind::kAfter || spec.upstream != id.value()) continue;
    for (const auto& [name, value] : spec.parameters) {
      for (const std::string& output : OutputsAskedBy(value)) {
        if (!has(gave, output) || has(gives, output)) continue;
        return fmt::format("asks for its output '{}'", output);
      }
    }
  }
  return {};
}

// True if `gives` lacks something that `gave` has.
bool Loses(const NodeResults& gave, const NodeResults& gives) {
  if ((gave.outputs && !gives.outputs) || (gave.exit_code && !gives.exit_code)) return true;
  if (!gave.outputs || !gives.names) return false;
  return !gave.names || !std::ranges::includes(*gives.names, *gave.names);
}

}  // namespace

NodeJobs::NodeJobs(const Call& call, const WorkflowDefinition& workflow, const ComingJobs& coming)
    : call_(call), coming_(coming) {
  for (const WorkflowNode& node : workflow.nodes) {
    if (!RunsNoJob(node)) wanted_.insert(node.job);
  }
}

Result<std::optional<WorkflowJob>> NodeJobs::Find(const JobId& job) {
  if (!known_.contains(job)) {
    wanted_.insert(job);
    CARILLON_TRY(Read());
  }
  const std::optional<WorkflowJob>& found = known_.at(job);
  if (!found || !found->node_jobs) return found;
  for (const JobId& node : *found->node_jobs) {
    if (!known_.contains(node)) wanted_.insert(node);
  }
  return found;
}

Status NodeJobs::Read() {
  const std::set<JobId> wanted = std::exchange(wanted_, {});
  for (auto next = wanted.begin(); next != wanted.end();) {
    JobKeys keys;
    for (; next != wanted.end() && keys.ids.size() < kReadTogether; ++next) {
      keys.ids.push_back(*next);
    }
    CARILLON_ASSIGN_OR_RETURN(const FoundJobs found, call_.stores.jobs.FindJobs(keys));
    for (const StoredJob& job : found.jobs) {
      std::optional<JobDefinition> later;
      if (coming_.stored != nullptr && coming_.after) later = coming_.after(job);
      // A job that would be deleted is still there while the workflow is written.
      known_.emplace(job.job_id, SeenBy(call_, later ? *later : job.definition));
    }
    for (const JobId& id : keys.ids) {
      if (known_.contains(id)) continue;
      std::optional<WorkflowJob> job;
      if (found.taken.contains(id)) {
        CARILLON_ASSIGN_OR_RETURN(job, ReadHead(id));
      }
      if (!job && coming_.stored != nullptr && coming_.stored->contains(id.value()))
        job = WorkflowJob{};
      known_.emplace(id, std::move(job));
    }
  }
  return {};
}

// A job that is deleted or unreadable.
Result<std::optional<WorkflowJob>> NodeJobs::ReadHead(const JobId& job) {
  const auto head = call_.stores.jobs.GetJobHead(job);
  if (!head.ok() && head.code() != ErrorCode::kNotFound) return head.error();
  if (!head.ok() || head->deleted) return std::optional<WorkflowJob>();
  return std::optional(WorkflowJob{
      .may_run = MayRun(call_, {.user_id = head->user_id, .name_space = head->name_space})});
}

Result<WorkflowProblems> FindNodeProblems(const Call& call, const JobId& self,
                                          const JobDefinition* before,
                                          const JobDefinition& definition,
                                          const ComingJobs& coming) {
  if (!definition.workflow || StaysAsItIs(before, definition)) return WorkflowProblems();
  NodeJobs jobs(call, *definition.workflow, coming);
  return CheckWorkflowJobs(*definition.workflow, self, jobs);
}

Result<std::string> FindLostResults(const Call& call, const JobId& id, const JobDefinition& before,
                                    const JobDefinition& definition, const ComingJobs& coming) {
  const NodeResults gave = ResultsOf(before);
  const NodeResults gives = ResultsOf(definition);
  if (!Loses(gave, gives)) return std::string();
  CARILLON_ASSIGN_OR_RETURN(const JobDependencies known, call.stores.jobs.ListDependencies(id));
  std::set<JobId> askers;
  for (const JobDependency& one : known.downstream) {
    if (one.kind != DependencyKind::kWaits) askers.insert(one.job_id);
  }
  for (auto next = askers.begin(); next != askers.end();) {
    JobKeys keys;
    for (; next != askers.end() && keys.ids.size() < kReadTogether; ++next) {
      keys.ids.push_back(*next);
    }
    CARILLON_ASSIGN_OR_RETURN(const FoundJobs found, call.stores.jobs.FindJobs(keys));
    for (const StoredJob& job : found.jobs) {
      const auto later = coming.after ? coming.after(job) : std::optional(job.definition);
      if (!later) continue;
      if (const std::string after = AskedAfter(*later, id, gave, gives); !after.empty()) {
        return fmt::format("Job {}, which starts after this one, {}", job.job_id.value(), after);
      }
      if (!later->workflow) continue;
      const std::string asked = AskedOfJob(*later->workflow, id, gave, gives);
      if (asked.empty()) continue;
      return fmt::format("In workflow {}, {}, which runs this job", job.job_id.value(), asked);
    }
  }
  return std::string();
}

Problem LostResultsProblem(const std::string& lost, const JobDefinition& before,
                           const JobDefinition& definition) {
  const bool by_parts = FansOut(definition) && !FansOut(before);
  const bool by_names = before.workflow && definition.workflow;
  std::string field(by_parts ? FanOutOf(definition) : "type");
  if (by_names) field = "workflow/outputs";
  const std::string detail =
      fmt::format("{}. With {} there would be none: change that job first.", lost,
                  by_parts   ? field
                  : by_names ? "these outputs"
                             : "this type");
  return Problem{.status = 409,
                 .code = "in_use",
                 .detail = detail,
                 .errors = {{"/" + field, "in_use", detail}}};
}

Problem NodeJobProblem(const WorkflowProblems& found) {
  Problem problem{.status = 422,
                  .code = std::string(Name(found.front().code)),
                  .detail = found.front().message + "."};
  for (const WorkflowProblem& one : found) {
    problem.errors.push_back(
        {"/workflow" + one.pointer, std::string(Name(one.code)), one.message + "."});
  }
  return problem;
}

Outcome<bool> CheckNodeJobs(const Call& call, const JobId& self, const JobDefinition& definition) {
  CARILLON_ASSIGN_OR_RETURN(const WorkflowProblems found,
                            FindNodeProblems(call, self, nullptr, definition, {}));
  if (found.empty()) return true;
  return NodeJobProblem(found);
}

void NameWorkflowMistakes(const json& body, Problem& problem) {
  if (!body.is_object() || !body.contains("workflow")) return;
  std::map<std::string, std::string> codes;  // by pointer
  // Without the parameters of the job: what names an unknown one is the only mistake below that has
  // no code here.
  for (const WorkflowProblem& one : ParseWorkflow(body["workflow"]).problems) {
    codes.emplace("/workflow" + one.pointer, Name(one.code));
  }
  for (FieldError& error : problem.errors) {
    if (!error.pointer.starts_with(kWorkflowPart)) continue;
    const auto found = codes.find(error.pointer);
    error.code = found != codes.end() ? found->second : Name(WorkflowMistake::kBadTemplate);
  }
}

}  // namespace carillon::scheduler
