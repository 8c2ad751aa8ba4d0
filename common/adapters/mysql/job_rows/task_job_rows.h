// The row of `jobs` for the nodes of a workflow that have no job (common/domain/nodes/task_jobs.h).
//
// Always   Its number is greater than that of the workflow, so it is locked after it. Only a move
//          of the workflow changes it, so claims of tasks do not wait for other edits.
#pragma once

#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/base/ids.h"
#include "common/domain/job/job.h"

namespace carillon::mysql {

// Inserts the rows of new workflows, whose own rows are there already.
Status InsertTaskJobs(Session& session, const std::vector<JobNo>& workflows);

// Inserts the row if a node of the workflow, which has been written, needs it; makes an existing
// row agree with the workflow. A row that no node needs any more stays: runs may have it.
Status WriteTaskJob(Session& session, JobNo workflow, const JobDefinition& definition);

}  // namespace carillon::mysql
