// Gives the symbol H in the cron fields of a job its seed: a hash of the job's id.
//
// Place    Wherever a definition gets its job: a request with the id, and every read from the
//          store. The JSON form has no seed, so that one file means the same for each job that it
//          is applied to.
// Always   The seed of an id never changes, in no version: the fires of existing jobs would move.
#pragma once

#include "common/domain/job/job.h"

namespace carillon {

// From 1 to INT64_MAX.
uint64_t SpreadSeed(const JobId& id);
// Sets the seed of each cron schedule that uses H; 0 for the others.
void SetSpread(JobDefinition& job, const JobId& id);
JobDefinition WithSpread(JobDefinition job, const JobId& id);

}  // namespace carillon
