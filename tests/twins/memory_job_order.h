// Filter and order of lists of jobs, and what is known without a definition, as the database
// has them.
#pragma once

#include <string>
#include <tuple>

#include "common/ports/store/job_store.h"
#include "tests/twins/memory_entries.h"

namespace carillon::memory {

bool Matches(const JobEntry& job, const JobFilter& filter);
bool IsWithin(const JobEntry& job, const JobFilter& filter);

// The sort key of jobs: name or time, then the id. Names are compared without trailing spaces, as
// in the database.
using OrderKey = std::tuple<std::string, WallTime, std::string>;
OrderKey KeyOf(JobOrder order, JobListPlace place);
JobListPlace PlaceOf(const JobEntry& job, JobOrder order);

// All that is known of a job whose definition cannot be read.
StoredJob ColumnsOf(const JobEntry& job);
JobHead HeadOf(const JobEntry& job);

}  // namespace carillon::memory
