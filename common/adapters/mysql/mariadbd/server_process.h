// Starts, finds and awaits the processes of private_mariadbd.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon::mysql {

// Starts `command` in its own session. The process reads from /dev/null, writes stdout and stderr
// to `log_path`, and inherits no other descriptor.
Result<pid_t> Spawn(const std::vector<std::string>& command, const std::string& log_path);

// Returns a close-on-exec descriptor that becomes readable when the process ends. If that fails,
// returns -1 and sets errno.
int OpenPidfd(pid_t pid);

// Waits up to `timeout` for the process of `pidfd` to end. True if it has ended.
bool AwaitExit(int pidfd, Duration timeout);

struct FoundProcess {
  pid_t pid = 0;
  std::vector<std::string> command;
};
// Finds the processes of our own user that have `argument` among their arguments.
std::vector<FoundProcess> FindByArgument(const std::string& argument);

// Returns the path of the program `name` in the usual directories, or "".
std::string FindProgram(const std::string& name);

// Returns the name of the user that this process runs as, or "" if that user has no name.
std::string CurrentUser();

}  // namespace carillon::mysql
