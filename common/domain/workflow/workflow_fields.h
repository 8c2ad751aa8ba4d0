// Checks the workflow of a job together with the job's parameters. Pure.
#pragma once

#include "common/domain/job/job.h"
#include "common/domain/workflow/workflow_check.h"

namespace carillon {

// The parameters that every run of the job has: those with a default, and those that must be given.
std::set<std::string> ParametersOfEveryRun(const JobDefinition& job);

// CheckWorkflow with these parameters; empty for a job without a workflow.
WorkflowProblems FindWorkflowProblems(const JobDefinition& job);

}  // namespace carillon
