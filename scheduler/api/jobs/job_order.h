// The order of the list of jobs, and where its pages end.
#pragma once

#include <string>

#include "common/ports/store/job_store.h"
#include "scheduler/api/http/page.h"

namespace carillon::scheduler {

// The filter with the query's order and the page's place.
Outcome<JobFilter> WithOrder(JobFilter filter, const Query& query, const Page& page);
// Where to go on after the place.
std::string JobCursor(const JobFilter& filter, const JobListPlace& place);
std::string JobCursor(const JobFilter& filter, const StoredJob& job);

}  // namespace carillon::scheduler
