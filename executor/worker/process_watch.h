// Tells which processes are alive, by descriptors that become readable when a process ends.
//
// A process that cannot be looked at is neither alive nor dead: a full table of descriptors or a
// hidden /proc says nothing.
//
// Threads  Not thread-safe.
#pragma once

#include <sys/types.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/file_descriptor.h"
#include "executor/worker/worker_table.h"

namespace carillon::executor {

// kDead: there is no such process any more, or its program has made room for another one (execve).
enum class Life { kAlive, kDead, kUnknown };

// A process, and the address of its stack, which is another one after each execve. 0: the system
// does not tell it, because the process is of another user.
struct SeenProcess {
  WorkerProcess process;
  uint64_t image = 0;
};

// The process with this number as it is now. kNotFound: there is none. kUnavailable: it cannot be
// looked at.
Result<SeenProcess> LookAtProcess(pid_t pid);
Life LifeOf(const WorkerProcess& process, uint64_t image);

// kUnavailable: this system does not let processes be watched, and never will.
Status CheckProcessWatch();

class ProcessWatch {
 public:
  // kAlive: it is watched from now on. kUnknown: it is not; try again later.
  Life Add(const WorkerProcess& process);
  bool Watches(const WorkerProcess& process) const { return watched_.contains(process); }
  // Forgets all others.
  void Keep(const std::set<WorkerProcess>& processes);
  // The descriptors to poll, with their processes.
  std::vector<std::pair<int, WorkerProcess>> Descriptors() const;

 private:
  std::map<WorkerProcess, FileDescriptor> watched_;
};

}  // namespace carillon::executor
