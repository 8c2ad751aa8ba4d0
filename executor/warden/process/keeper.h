// The keeper of one attempt: a process between the warden and the command, forked without exec.
//
// It is the subreaper of everything the command starts, so that a process that forks twice, creates
// a session or clears its environment remains a descendant. It waits for the command, kills what
// the command leaves behind, and kills everything when the warden dies or orders it to.
//
// Place    Step 8 of docs/life-of-a-run.md; the rules are in docs/executor.md.
// Threads  A process of its own with one thread. Waits for signals and children, and for the disk
//          when it creates and removes the directory.
// Owns     The attempt's working directory, its file of outputs and its script: creates and removes
//          the directory and the script, reads and removes the outputs.
// Always   Never exits while a descendant lives.
//
// Signals from the warden: SIGTERM passes SIGTERM to the command's process group, SIGUSR1 kills the
// whole tree. SIGUSR2 is sent by the kernel when the warden dies.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/domain/results/resource_usage.h"
#include "common/ports/executor_host.h"
#include "executor/warden/container/container_removal.h"
#include "executor/warden/process/cgroup.h"
#include "executor/warden/process/output_file.h"
#include "executor/warden/process/work_directory.h"

namespace carillon::executor {

// The values that the keeper needs, prepared before the fork. The descriptors are the write ends of
// the pipes.
struct ShimSpec {
  std::string program;                 // absolute path
  std::vector<std::string> arguments;  // from argv[0] on
  std::string script_file = {};  // written before the start and removed at the end; empty: none
  std::string script = {};       // its text
  // Of a container: the script is its record. Its descendants are the engine's, and only the
  // command is killed. The warden removes the container, and the files; if it dies, the keeper
  // removes the container.
  std::optional<ContainerToRemove> container = {};
  std::string input = {};        // the standard input of the command; empty: that of the warden
  std::vector<std::string> env;  // "NAME=value"
  WorkDirectory::Place work_directory;
  std::string start_directory = {};  // of the job: the command begins there; empty: in the former
  std::string output_file;
  OutputReader read_outputs = &ReadOutputFile;
  int out_write = -1;
  int err_write = -1;
  int report_write = -1;
  rlimit open_files{};  // RLIMIT_NOFILE of the command; the warden raises its own
  std::optional<rlim_t> open_files_max = {};  // below that: a limit of the job
  std::optional<rlim_t> file_bytes_max = {};  // likewise
  std::string cgroup =
      {};  // path of its control group, made and removed by the keeper; empty: none
  std::vector<CgroupSetting> cgroup_settings = {};
  std::optional<ProcessUser> user = {};  // the command's; nullopt: the warden's
  // With a user: holds the working directory and the other files (user_directory.h).
  std::string user_directory = {};
};

// The records that the keeper writes to its report pipe: kSpawnFailed, or kStarted, kOom, kUsage,
// kEnded and kOutputs. kOutputs follows when the file of outputs was read, which may take long.
enum class ShimReportKind : uint32_t {
  kStarted = 1,
  kSpawnFailed = 2,
  kEnded = 3,
  kOutputs = 4,
  kUsage = 5,
  kOom = 6,          // before kEnded: the kernel has killed a process of the attempt for its memory
  kLeftRunning = 8,  // before kEnded, if the command has left processes: the size of a sentence
  // Before kEnded, if the driver has left one: the size of the container's end, which follows.
  kContainer = 7,
};
enum class SpawnStep : uint32_t {
  kNone,
  kDirectory,
  kFork,
  kExec,
  kScript,
  kLimits,
  kUser,
  kEnter,
  kCgroup,
  kEnterOfJob
};
struct ShimReport {
  ShimReportKind kind = ShimReportKind::kStarted;
  SpawnStep step = SpawnStep::kNone;  // kSpawnFailed: the step that failed
  // By kind: pid, errno, or the status of waitpid. kOutputs: the number of bytes of the file, which
  // follow the record (0 also without a file), or an OutputFault below 0. kUsage: the size of the
  // ResourceUsage that follows the record.
  int32_t value = 0;
};
static_assert(std::is_trivially_copyable_v<ShimReport>);
static_assert(std::is_trivially_copyable_v<ResourceUsage>);

// The name of a keeper in /proc/<pid>/comm.
inline constexpr char kShimName[] = "carillon-keeper";
// That of one whose warden has died, and which only removes its container any more: the next warden
// need not wait for it.
inline constexpr char kRemoverName[] = "carillon-remove";

// Called in the forked child; `warden` is the parent's process id.
[[noreturn]] void RunKeeper(const ShimSpec& spec, pid_t warden);

}  // namespace carillon::executor
