// Imports CronJobs of Kubernetes from their manifests. Pure.
#pragma once

#include "common/imports/import_result.h"

namespace carillon {

// A manifest that names no time zone gets that of the options, which is that of the controller.
// kInvalid: no document is a manifest.
Result<ImportResult> ImportCronJobs(const std::vector<ImportFile>& files,
                                    const ImportOptions& options);

}  // namespace carillon
