// Says whether an attempt could not be started because of the host or because of its job. Pure.
#pragma once

#include "executor/warden/process/keeper.h"

namespace carillon::executor {

// `error` is the errno of the step that failed; `limited`: the job has limits of its own. A command
// that is too long, a missing program or a user who may not run it says nothing about the host: if
// it counted, two broken jobs could keep the work of all others away from it.
bool IsFaultOfHost(SpawnStep step, int error, bool limited);

}  // namespace carillon::executor
