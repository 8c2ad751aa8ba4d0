// The nodes of a workflow that run no job of their own name: tasks, approvals and waits. Pure.
//
// Their runs need a job's row all the same. It is one for all nodes of a workflow, numbered 2^51
// above the workflow, and never listed (`deleted` = 2 in the store). It has no text: the text of a
// task is that of the workflow's version by which its run began, found by the position of its node.
// So a retry runs what ran before, and an edit is for later runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/ids.h"
#include "common/domain/job/job.h"

namespace carillon {

// Numbers of jobs are given out from 1 upwards and stay far below it.
inline constexpr uint64_t kFirstTaskJob = uint64_t{1} << 51;
constexpr bool IsTaskJob(JobNo job) { return job.value() >= kFirstTaskJob; }
// The row of the nodes of this workflow that have no job.
constexpr JobNo TaskJobOf(JobNo workflow) {
  return IsTaskJob(workflow) ? workflow : JobNo(workflow.value() + kFirstTaskJob);
}
// The workflow; any other job is its own owner.
constexpr JobNo OwnerOf(JobNo job) {
  return IsTaskJob(job) ? JobNo(job.value() - kFirstTaskJob) : job;
}

struct NodeJob {
  size_t position = 0;  // of the node in the definition
  JobDefinition job = {};

  bool operator==(const NodeJob&) const = default;
};
// All tasks, complete: with what they have from the workflow (name, owner, namespace, zone, labels,
// notices: none).
std::vector<NodeJob> TaskJobs(const JobDefinition& workflow);
// The definition that the run of the node at `position` executes: the task, or a no-op job for an
// approval or a wait. kCorrupt: there is no such node, or it runs a job of its own name.
Result<JobDefinition> TaskAt(const JobDefinition& workflow, size_t position);

// The rules that the run of this node has: those of the node, or all of its task, or only the type.
RunRules RulesOfNode(const WorkflowNode& node);

// True if a node of the workflow runs no job.
bool NeedsTaskJob(const JobDefinition& job);

// Checks what a task may have; bounds of fields are those of ValidateJob. kInvalid with a pointer
// below "/task".
Status CheckTask(const JobDefinition& task);

}  // namespace carillon
