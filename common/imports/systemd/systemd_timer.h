// Imports timers of systemd with their services. Pure.
#pragma once

#include "common/imports/import_result.h"

namespace carillon {

// `files`: unit files, or what `systemctl cat` prints. kInvalid: none is a timer.
Result<ImportResult> ImportSystemdTimers(const std::vector<ImportFile>& files,
                                         const ImportOptions& options);

}  // namespace carillon
