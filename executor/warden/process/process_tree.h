// Reads the descendants of a process from /proc, and kills all of them.
//
// Threads  Stateless.
// Errors   A process that vanishes while it is being read is left out.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace carillon::executor {

// One process, from /proc/<pid>/stat.
struct ProcessEntry {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';  // 'Z' is a zombie: dead, not yet reaped
  std::string name;  // at most 15 bytes
};

std::vector<ProcessEntry> ReadProcesses();
// Living descendants of `root` (itself not included), parents before children.
std::vector<pid_t> DescendantsOf(pid_t root, const std::vector<ProcessEntry>& processes);

// A sentence about processes that were still running when their command had ended, or "" if there
// are none: "2 processes were still running when the command ended and were stopped: sleep, tail".
std::string LeftRunningText(const std::vector<pid_t>& pids,
                            const std::vector<ProcessEntry>& processes);

// One round: stops every descendant of `root`, rescans until no new one appears, then kills all
// of them. The caller repeats it until its own waitpid finds no child left. Returns how many
// were found.
size_t KillDescendants(pid_t root);

// /proc/<pid>/environ and cmdline: NUL-separated; empty if unreadable.
std::string ReadEnvironment(pid_t pid);
std::string ReadCommandLine(pid_t pid);
// True if `environment` has the entry "NAME=value".
bool HasVariable(std::string_view environment, std::string_view entry);

}  // namespace carillon::executor
