// From the table of settings to the options of an
// executor. Pure, but for the host's name and cores.
#pragma once

#include "common/config/load.h"
#include "executor/agent/executor_daemon.h"

namespace carillon::executor {

// The live ones.
ExecutorTuning ExecutorTuningOf(const config::Config& config);
// `seed` makes the incarnation: another one for each start.
ExecutorOptions ExecutorOptionsOf(const config::Config& config, uint64_t seed);

}  // namespace carillon::executor
