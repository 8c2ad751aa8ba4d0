// Imports the jobs of XXL-JOB 2.0 to 3 from dumps of its tables. Pure.
#pragma once

#include "common/imports/import_result.h"

namespace carillon {

// kInvalid: no file has the table xxl_job_info, or a dump is damaged.
Result<ImportResult> ImportXxlJob(const std::vector<ImportFile>& files,
                                  const ImportOptions& options);

}  // namespace carillon
