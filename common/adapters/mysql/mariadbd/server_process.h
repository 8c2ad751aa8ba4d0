// Starting, finding and awaiting the processes of private_mariadbd.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon::mysql {

// Starts `command` in its own session, with only `log_path` as stdout and stderr and no other
// descriptor of ours.
Result<pid_t> Spawn(const std::vector<std::string>& command, const std::string& log_path);

// Readable when the process ends; -1 with errno. Close-on-exec.
int OpenPidfd(pid_t pid);

// Whether `pidfd`'s process ended within `timeout`.
bool AwaitExit(int pidfd, Duration timeout);

struct FoundProcess {
  pid_t pid = 0;
  std::vector<std::string> command;
};
// Processes of our own user one of whose arguments is `argument`.
std::vector<FoundProcess> FindByArgument(const std::string& argument);

// The path of `name` in the usual places, or "".
std::string FindProgram(const std::string& name);

// The name of the user this process runs as, or "" where it has none.
std::string CurrentUser();

}  // namespace carillon::mysql
