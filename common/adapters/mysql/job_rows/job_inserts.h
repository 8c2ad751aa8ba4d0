// Inserts many jobs at once, and what their columns have in common with those of one job.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/job_rows/job_rows.h"

namespace carillon::mysql {

// Inserts the jobs and their versions as InsertJob does, in two statements.
Status InsertJobs(Session& session, const std::vector<StoredJobRow>& jobs,
                  const std::string& actor);

// The SQL expression of a DATETIME column from microseconds since 1970.
std::string ToTime(std::string_view placeholder);
// The column cron_expression: NULL unless the only schedule of the job is a cron schedule.
Param CronOf(const JobDefinition& definition);
// The bits of `flags` that each write of a job sets.
int64_t ChangingFlagsOf(const StoredJobRow& job);

}  // namespace carillon::mysql
