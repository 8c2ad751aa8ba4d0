// Rows of workflow_groups: the concurrency groups that nodes of present workflows name.
//
// Place    mysql_job_store writes them with the workflow; mysql_group_store deletes no group that
//          has some.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/job_rows/job_rows.h"

namespace carillon::mysql {

using GroupNumbers = std::map<std::string, GroupNo>;

// Puts the numbers of their groups into the rows of new jobs, and writes those of their nodes.
// Nobody waits for rows of new jobs, so their groups may be locked before them.
Status FillGroups(Session& session, const std::vector<StoredJobRow*>& jobs);

// Makes the rows of the job agree with its nodes. `numbers` has all groups that they name, locked.
Status WriteWorkflowGroups(Session& session, JobNo job_no, const JobDefinition& definition,
                           const GroupNumbers& numbers);

Status DeleteWorkflowGroups(Session& session, JobNo job_no);

}  // namespace carillon::mysql
