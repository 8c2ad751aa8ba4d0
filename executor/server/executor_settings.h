// Converts the settings into the options of an executor. Pure, except that the name and the number
// of cores of the host are read.
#pragma once

#include "common/config/load.h"
#include "executor/agent/executor_daemon.h"

namespace carillon::executor {

// The settings that may change while the executor runs.
ExecutorTuning ExecutorTuningOf(const config::Config& config);
// `seed` determines the incarnation and must differ for each start.
ExecutorOptions ExecutorOptionsOf(const config::Config& config, uint64_t seed);

}  // namespace carillon::executor
