// Mistakes of a workflow's definition in the terms of the API: 400 for its form, 422 for the jobs
// that its nodes run.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/domain/workflow/workflow_check.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// The other jobs of a request that writes several.
struct ComingJobs {
  // Only in a dry run, in which no job is stored before the workflows that run it: ids of jobs that
  // would be there by now. Otherwise null.
  const std::set<std::string>* stored = nullptr;
  // The definition that a job of the store has after the request, also if it stays as it is;
  // nullopt: the request deletes it. An empty function: no other job changes.
  std::function<std::optional<JobDefinition>(const StoredJob&)> after = {};
  // By namespace: schedules of kind event that were accepted, but are not stored yet.
  std::map<std::string, size_t> triggers = {};
};

// The jobs of a workflow's nodes, with the rights of the caller. Reads all jobs of a level
// together. `call` and `coming` must outlive it.
//
// Threads  One request owns it.
class NodeJobs final : public WorkflowLookup {
 public:
  NodeJobs(const Call& call, const WorkflowDefinition& workflow, const ComingJobs& coming);

  Result<std::optional<WorkflowJob>> Find(const JobId& job) override;

 private:
  Status Read();
  Result<std::optional<WorkflowJob>> ReadHead(const JobId& job);

  const Call& call_;
  const ComingJobs& coming_;
  std::set<JobId> wanted_;  // to be read together
  std::map<JobId, std::optional<WorkflowJob>> known_;
};

// A job is unknown, or the caller may not run it, or workflows contain each other or are nested
// too deep, or a parameter is not safe. `before` is the stored definition, or null; a workflow that
// stays as it is there is not checked.
Result<WorkflowProblems> FindNodeProblems(const Call& call, const JobId& self,
                                          const JobDefinition* before,
                                          const JobDefinition& definition,
                                          const ComingJobs& coming);
// A sentence without its full stop, if a workflow asks a node with this job for an output or an
// exit code that its runs had before and would have no more, or a job that starts after it for such
// an output; else "". Judges each of these by the definition that it has after the request.
Result<std::string> FindLostResults(const Call& call, const JobId& id, const JobDefinition& before,
                                    const JobDefinition& definition, const ComingJobs& coming);
// 409 in_use. Not for an empty text.
Problem LostResultsProblem(const std::string& lost, const JobDefinition& before,
                           const JobDefinition& definition);
// 422 with the codes of Name(WorkflowMistake) and pointers below /workflow. Not for an empty list.
Problem NodeJobProblem(const WorkflowProblems& found);
Outcome<bool> CheckNodeJobs(const Call& call, const JobId& self, const JobDefinition& definition);

// Replaces the codes of mistakes in the form of the workflow in `body` by those of
// Name(WorkflowMistake).
void NameWorkflowMistakes(const nlohmann::json& body, Problem& problem);

}  // namespace carillon::scheduler
