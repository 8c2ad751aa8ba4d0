// The command of an attempt of type container: creates, starts and watches the container, and
// writes its end, with its outputs, beside its record. Its warden removes the container afterwards.
//
// Place    docs/containers.md: `carillon-warden --container RECORD`, started by the keeper with a
//          DriverInput.
// Threads  A process of its own with one thread.
// Always   Ends only when the container has ended, or does not exist. The removal is not its work,
//          because it may be killed at any time.
#pragma once

#include <string>

namespace carillon::executor {

// Returns the exit code of the process.
int RunContainerDriver(const std::string& record_file);

}  // namespace carillon::executor
