// Tells which processes are alive, by descriptors that become readable when a process ends.
//
// Threads  Not thread-safe.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "executor/journal/file_descriptor.h"
#include "executor/worker/worker_book.h"

namespace carillon::executor {

std::string BootId();
// The process with this number as it is now. nullopt: there is none.
std::optional<WorkerProcess> ProcessOf(pid_t pid);

class ProcessWatch {
 public:
  // False: the process has ended.
  bool Add(const WorkerProcess& process);
  void Remove(const WorkerProcess& process) { watched_.erase(process); }
  bool Watches(const WorkerProcess& process) const { return watched_.contains(process); }
  // The descriptors to poll, with their processes.
  std::vector<std::pair<int, WorkerProcess>> Descriptors() const;

 private:
  std::map<WorkerProcess, FileDescriptor> watched_;
};

}  // namespace carillon::executor
