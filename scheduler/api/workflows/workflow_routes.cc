#include "scheduler/api/workflows/workflow_routes.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "common/domain/workflow/workflow_fields.h"
#include "common/wire/json/job/job_fields.h"
#include "common/wire/json/workflow/workflow_json.h"
#include "scheduler/api/call/path_ids.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/workflows/node_job_check.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kJobsReadTogether = 100;
constexpr size_t kJobIdCharactersMax = 250;

using JobsById = std::map<JobId, StoredJob>;

Outcome<JobsById> JobsOf(const Call& call, const WorkflowDefinition& workflow) {
  std::set<JobId> wanted;
  for (const WorkflowNode& node : workflow.nodes) {
    if (!RunsNoJob(node)) wanted.insert(node.job);
  }
  JobsById found;
  for (auto next = wanted.begin(); next != wanted.end();) {
    JobKeys keys;
    for (; next != wanted.end() && keys.ids.size() < kJobsReadTogether; ++next) {
      keys.ids.push_back(*next);
    }
    CARILLON_ASSIGN_OR_RETURN(FoundJobs jobs, call.stores.jobs.FindJobs(keys));
    for (StoredJob& job : jobs.jobs) {
      const JobId id = job.job_id;
      found.emplace(id, std::move(job));
    }
  }
  return found;
}

json ShowGraphNode(const WorkflowNode& node, const JobsById& jobs) {
  json shown = CompleteNodeToJson(node);
  shown.update(NodeWorkToJson(node));
  shown["parameters"] = NodeParametersToJson(node);
  shown["job_name"] = nullptr;
  shown["job_type"] = node.task.empty() ? json(nullptr) : json(Name(node.task.job().type));
  shown["job_state"] = nullptr;
  const auto job = jobs.find(node.job);
  if (job == jobs.end()) return shown;
  const JobDefinition& definition = job->second.definition;
  shown["job_name"] = definition.name;
  shown["job_type"] = Name(definition.type);
  shown["job_state"] = definition.enabled ? "ENABLED" : "PAUSED";
  return shown;
}

// Mistakes in the jobs of the nodes; none if the form of the workflow is wrong already.
Outcome<WorkflowProblems> ProblemsOf(const Call& call, const json& body, const JobId& self,
                                     const JobDefinition& job) {
  const auto parameters = ParametersOfEveryRun(job);
  const bool given = body.contains("parameters") && !body["parameters"].is_null();
  ParsedWorkflow parsed =
      ParseWorkflow(body["workflow"], {.parameters = given ? &parameters : nullptr});
  if (!parsed.problems.empty()) return std::move(parsed.problems);
  const ComingJobs none;
  NodeJobs jobs(call, parsed.definition, none);
  CARILLON_ASSIGN_OR_RETURN(WorkflowProblems found,
                            CheckWorkflowJobs(parsed.definition, self, jobs));
  return found;
}

}  // namespace

Reply GetJobGraph(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const JobId id, PathJobId(call));
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {}));
  const auto job = call.stores.jobs.GetJob(id);
  if (!job.ok()) return Explain(call, id, job.error());
  if (!job->definition.workflow) {
    return Problem{.status = 422,
                   .code = "not_a_workflow",
                   .detail = fmt::format("Job {} is not a workflow.", id.value())};
  }
  const WorkflowDefinition& workflow = *job->definition.workflow;
  CARILLON_ASSIGN_OR_RETURN(const JobsById jobs, JobsOf(call, workflow));
  json nodes = json::array();
  for (const WorkflowNode& node : workflow.nodes) nodes.push_back(ShowGraphNode(node, jobs));
  return JsonResponse(200, {{"job_id", id.value()},
                            {"version", job->version},
                            {"max_parallel", workflow.max_parallel},
                            {"nodes", std::move(nodes)}});
}

Reply ValidateWorkflow(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kRequired,
                                                        {"job_id", "parameters", "workflow"}));
  if (!body.contains("workflow")) {
    return InvalidField("/workflow", "missing", "Must be given.");
  }
  CARILLON_ASSIGN_OR_RETURN(const std::string id, TextMember(body, "job_id", kJobIdCharactersMax));
  if (!id.empty()) CARILLON_TRY(ValidateJobId(id));
  JobDefinition job;
  if (body.contains("parameters") && !body["parameters"].is_null()) {
    CARILLON_TRY(ReadJobField("parameters", body["parameters"], job));
  }
  CARILLON_ASSIGN_OR_RETURN(const WorkflowProblems found, ProblemsOf(call, body, JobId(id), job));
  json problems = json::array();
  for (const WorkflowProblem& one : found) {
    problems.push_back({{"code", Name(one.code)},
                        {"pointer", "/workflow" + one.pointer},
                        {"message", one.message + "."}});
  }
  return JsonResponse(200, {{"valid", found.empty()}, {"problems", std::move(problems)}});
}

}  // namespace carillon::scheduler
