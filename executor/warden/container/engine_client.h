// Runs the command line of a container engine.
//
// Threads  Stateless. Waits for the engine: never called by the warden's own loop.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "executor/warden/container/engine_commands.h"

namespace carillon::executor {

// An engine that says nothing for this long has not answered.
inline constexpr int kEngineSilenceMillis = 30'000;

struct EngineCall {
  const std::string& engine;
  const EngineArguments& arguments;
  const std::vector<std::string>& env;
  bool quiet = true;            // discards what it writes to stderr
  std::string_view input = {};  // its standard input
};
struct EngineAnswer {
  bool ok = false;  // exit code 0
  std::string text = {};
  bool ran = false;  // to its end: it could be started, and was not killed
};
// Runs it to its end and returns what it has written. A command line that is silent for too long,
// or does not end for so long after its last word, is killed.
EngineAnswer AskEngine(const EngineCall& call, int silence_ms = kEngineSilenceMillis);

// Starts it in a process group of its own, with no signal blocked. It dies with this thread.
// `output`: its stdout, -1 for that of this process. Returns -1 if that is impossible.
pid_t StartClient(const EngineCall& call, int output);

}  // namespace carillon::executor
