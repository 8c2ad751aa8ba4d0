#include "executor/warden/process/spawn_fault.h"

#include <cerrno>

namespace carillon::executor {

bool IsFaultOfHost(SpawnStep step, int error, bool limited) {
  if (step == SpawnStep::kCgroup) return true;
  if (step == SpawnStep::kEnterOfJob) return false;  // the job chose the place, whatever is there
  switch (error) {
    case ENOSPC:
    case EROFS:
    case EIO:
    case ESTALE:
    case EMFILE:
    case ENFILE: return true;
    // A job may reach its own limits of processes and memory.
    case EAGAIN:
    case ENOMEM: return step == SpawnStep::kFork && !limited;
    default: return false;
  }
}

}  // namespace carillon::executor
