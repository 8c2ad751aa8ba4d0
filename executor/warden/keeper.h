// The keeper of one attempt: forked, never exec'd, between the warden and the command.
//
// It is the subreaper of everything the command starts, so whatever forks twice, opens a session or
// empties its environment still descends from it. It waits for the command, kills what the command
// leaves behind, and kills everything when the warden dies or says so.
//
// Place    Step 8 of docs/life-of-a-run.md; the rules are in docs/executor.md.
// Threads  A process of its own with one thread. Waits only in sigtimedwait and waitpid.
// Owns     The attempt's working directory: makes it, removes it.
// Always   Never exits while a descendant lives.
//
// Signals from the warden: SIGTERM passes SIGTERM to the command's process group, SIGUSR1 kills the
// whole tree. SIGUSR2 is the kernel saying that the warden died.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "executor/warden/work_directory.h"

namespace carillon::executor {

struct ShimSpec {
  std::string command;
  std::vector<std::string> env;  // "NAME=value"
  WorkDirectory::Place work_directory;
  int out_write = -1;
  int err_write = -1;
  int report_write = -1;
  rlimit open_files{};  // the warden raises its own
};

// What the keeper writes to its report pipe: kStarted or kSpawnFailed, then kEnded.
enum class ShimReportKind : uint32_t { kStarted = 1, kSpawnFailed = 2, kEnded = 3 };
enum class SpawnStep : uint32_t { kNone, kDirectory, kFork, kExec };
struct ShimReport {
  ShimReportKind kind = ShimReportKind::kStarted;
  SpawnStep step = SpawnStep::kNone;  // kSpawnFailed: what failed
  int32_t value = 0;                  // pid, errno, or what waitpid said
};
static_assert(std::is_trivially_copyable_v<ShimReport>);

// The name of a keeper in /proc/<pid>/comm.
inline constexpr char kShimName[] = "carillon-keeper";

// Called in the forked child; `warden` is the parent's process id.
[[noreturn]] void RunKeeper(const ShimSpec& spec, pid_t warden);

}  // namespace carillon::executor
