// SQL of the rows of `jobs` that stand for the nodes of a workflow that have no job
// (common/domain/nodes/task_jobs.h).
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "common/domain/nodes/task_jobs.h"

namespace carillon::mysql {

// The value of `deleted` in these rows: neither alive (0) nor deleted (1). What lists jobs asks for
// 0, so it never finds them.
inline constexpr int kTaskJobRow = 2;

// OwnerOf in SQL: the job by which the run with this job_no is shown and judged. The remainder is
// the number of the workflow; all other numbers are below kFirstTaskJob.
inline std::string OwnerNumber(std::string_view job_no) {
  return fmt::format("{} % {}", job_no, kFirstTaskJob);
}

}  // namespace carillon::mysql
