// The order of the list of jobs, and the cursors of its pages.
#pragma once

#include <string>

#include "common/ports/store/job_store.h"
#include "scheduler/api/http/page.h"

namespace carillon::scheduler {

// The filter with the order of the query and the position of the page.
Outcome<JobFilter> WithOrder(JobFilter filter, const Query& query, const Page& page);
// The cursor that continues after this position, or after this job.
std::string JobCursor(const JobFilter& filter, const JobListPlace& place);
std::string JobCursor(const JobFilter& filter, const StoredJob& job);

}  // namespace carillon::scheduler
