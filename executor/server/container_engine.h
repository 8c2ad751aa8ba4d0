// The container engine of the host: the program that the setting names, tried when the executor
// starts and every 30 s after that.
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
  bool asked = true;  // false: it could not be started, or was silent, which says nothing of it
};
EngineFound FindEngine(const std::string& setting, std::string_view path);

}  // namespace carillon::executor
