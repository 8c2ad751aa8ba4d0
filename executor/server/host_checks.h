// The start-up report of an executor: what its host offers, why something is missing, and the cure.
//
// Threads  Stateless.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/host_check.h"
#include "executor/tasks/interpreters.h"

namespace carillon::executor {

struct HostFacts {
  std::string user;  // its name, or its number
  bool root = false;
  uint64_t open_files = 0;  // hard limit
  std::string directory;    // of the executor
  uint64_t free_bytes = 0;  // of its file system
  Interpreters interpreters = {};
  std::string path;  // where they were looked for
  int slots = 0;
};

// Pure.
std::vector<HostCheck> DecideHostChecks(const HostFacts& facts);
// The line about an interpreter, which was looked for in `path`. Pure.
HostCheck CheckInterpreter(const Interpreters& found, const std::string& path,
                           Interpreter interpreter);
// The report on whether workers can attach; `why` is the reason if they cannot.
HostCheck DecideWorkersCheck(const std::string& socket, const Status& why);
// Sets the fields that are read from the operating system.
void ReadHost(HostFacts* facts);
// Writes what does not work to the log.
void LogHostChecks(const std::vector<HostCheck>& checks);

}  // namespace carillon::executor
