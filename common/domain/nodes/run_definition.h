// The definition that a run executes: that of its job's version, resolved for the run. Pure.
//
// Place    The scheduler dispatches, claims and begins runs by it (definition_cache.h).
// Always   The version of a workflow is never the definition of a run without a job of its own:
//          that run would begin as the workflow.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "common/base/ids.h"
#include "common/domain/job/job.h"
#include "common/domain/run/run.h"

namespace carillon {

// The position of the node of which this is the run, or a part of its run; nullopt: of none.
std::optional<size_t> NodePositionOf(const RunKey& run);

// `of_version` is the definition of the job's version; of a row of tasks (task_jobs.h), that of the
// workflow, and `position` that of the node. `rules` is RunRow::rules. kCorrupt: the rules cannot
// be read, or there is no task at this node: nobody may execute an approval or a wait.
Result<JobDefinition> DefinitionForRun(JobDefinition of_version, JobNo job_no,
                                       std::optional<size_t> position, std::string_view rules);

// The timeout of a workflow's run: its own, if it is a node's and has one, or that of its job.
// Rules that cannot be read: that of its job.
Duration TimeoutOf(const JobDefinition& job, const RunRow& run);

}  // namespace carillon
