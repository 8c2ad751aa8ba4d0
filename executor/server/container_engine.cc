#include "executor/server/container_engine.h"

#include <fmt/format.h>

#include "executor/tasks/interpreters.h"
#include "executor/warden/container/container_record.h"
#include "executor/warden/container/engine_client.h"

namespace carillon::executor {
namespace {

constexpr int kVersionWithinMillis = 10'000;

}  // namespace

HostCheck DecideEngineCheck(const EngineFacts& facts) {
  HostCheck check{.name = "container", .state = HostCheckState::kNo};
  if (facts.setting.empty() || facts.setting == "none") {
    check.detail = "executor.container.engine is none.";
    check.cure =
        "Set it to docker or podman, if jobs of this executor may use it: who can use an engine "
        "can become root.";
  } else if (facts.program.empty()) {
    check.detail = facts.setting.starts_with('/')
                       ? fmt::format("{} is no program.", facts.setting)
                       : fmt::format("There is no {} in {}.", facts.setting, facts.path);
    check.cure = "Install it, or correct executor.container.engine and restart the executor.";
  } else if (!facts.answered) {
    check.detail = fmt::format("'{} version' fails, or does not answer.", facts.program);
    check.cure =
        "Start the engine: it is asked every 30 s. If the user of the executor may not use its "
        "socket, allow that and restart the executor.";
  } else {
    check.state = HostCheckState::kWorks;
    check.detail = facts.program;
  }
  return check;
}

EngineFound FindEngine(const std::string& setting, std::string_view path) {
  EngineFacts facts{.setting = setting, .path = std::string(path)};
  if (setting.starts_with('/')) {
    if (IsProgram(setting)) facts.program = setting;
  } else if (setting == "docker" || setting == "podman") {
    facts.program = FindProgram(path, setting);
  }
  EngineAnswer answer{.ran = true};
  if (!facts.program.empty()) {
    const EngineArguments version = {"version"};
    answer = AskEngine({facts.program, version, ClientEnvironment()}, kVersionWithinMillis);
    facts.answered = answer.ok;
  }
  return {.path = facts.answered ? facts.program : "",
          .check = DecideEngineCheck(facts),
          .asked = answer.ran};
}

}  // namespace carillon::executor
