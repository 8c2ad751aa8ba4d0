// The container engine of the host: the program that the setting names, tried once when the
// executor starts.
//
// Threads  Stateless. FindEngine waits for the engine, for some seconds at most.
#pragma once

#include <string>
#include <string_view>

#include "common/domain/host_check.h"

namespace carillon::executor {

struct EngineFacts {
  std::string setting;  // executor.container.engine
  std::string path;     // where its lookup was done, for names
  std::string program;  // absolute path; empty: not found
  bool answered = false;
};
// Pure.
HostCheck DecideEngineCheck(const EngineFacts& facts);

struct EngineFound {
  std::string path;  // empty: this host runs no containers
  HostCheck check;
};
EngineFound FindEngine(const std::string& setting, std::string_view path);

}  // namespace carillon::executor
