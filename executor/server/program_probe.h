// Looks again for the container engine and the interpreters of the host, which may have come, gone
// or been started since the executor's start.
//
// Threads  Step waits for the engine, for some seconds at most, so it has a loop of its own.
// Errors   An engine that cannot be asked, or is silent, keeps the answer that it gave last.
#pragma once

#include <functional>
#include <string>

#include "common/base/loops/loop.h"
#include "executor/server/container_engine.h"
#include "executor/tasks/host_programs.h"

namespace carillon::executor {

class ProgramProbe final : public Stepper {
 public:
  static constexpr Duration kEvery = 30s;

  struct Options {
    std::string engine;  // executor.container.engine
    std::string path;    // the directories of programs
  };
  struct Ports {
    ProgramBoard& board;
    std::function<EngineFound(const std::string& setting, std::string_view path)> find =
        &FindEngine;
    // Called with the path of an engine that was not known before.
    std::function<void(const std::string& engine)> use_engine = [](const std::string&) {};
  };
  ProgramProbe(Ports ports, Options options)
      : ports_(std::move(ports)), options_(std::move(options)) {}

  SteadyTime Step(SteadyTime now) override;

 private:
  const Ports ports_;
  const Options options_;
  SteadyTime next_{};
};

}  // namespace carillon::executor
