#include "executor/warden/container/container_start.h"

#include <fmt/format.h>

#include "common/domain/run/outputs.h"

namespace carillon::executor {

ContainerRecord TakeRecord(StartAttempt& start, const std::string& warden_id, const std::string& control_directory) {
  start.env[kOutputFileVariable] = kContainerOutputs;
  ContainerPlan plan{.name = ContainerName(start.attempt),
                     .warden_id = warden_id,
                     .control_directory = control_directory,
                     .definition = start.container->definition,
                     .limits = start.limits};
  for (auto variable = start.env.begin(); variable != start.env.end();) {
    if (SteersEngine(variable->first)) {
      plan.stated.insert(start.env.extract(variable++));
    } else {
      plan.variables.push_back((variable++)->first);
    }
  }
  // Leftovers leaves processes with this variable to the engine.
  plan.stated[kContainerVariable] = warden_id;
  ContainerRecord record{.engine = start.container->engine,
                         .name = plan.name,
                         .warden_id = warden_id,
                         .create = CreateCommand(plan),
                         .grace_s = start.kill_grace / 1s,
                         .client_env = ClientEnvironment()};
  // A new warden finds a command line that outlived its keeper by these.
  for (const char* name : {"CARILLON_RUN_ID", "CARILLON_ATTEMPT"}) {
    record.client_env.push_back(fmt::format("{}={}", name, start.env[name]));
  }
  return record;
}

AttemptResult ResultOf(const ContainerEnd& end, const std::optional<Limits>& limits) {
  AttemptResult result{.state = RunState::kFailed};
  switch (end.kind) {
    case ContainerEnd::Kind::kExited:
      result.exit_code = end.exit_code;
      if (end.exit_code == 0) {
        result.state = RunState::kCompleted;
      } else {
        result.reason = reason::kExitCode;
        result.error = fmt::format("exit code {}", end.exit_code);
      }
      break;
    case ContainerEnd::Kind::kOutOfMemory:
      result.reason = reason::kOom;
      result.error = limits && limits->memory_mb != 0
                         ? fmt::format("killed by the kernel for its memory; its limit is {} MiB",
                                       limits->memory_mb)
                         : "killed by the kernel for its memory";
      break;
    case ContainerEnd::Kind::kNotStarted:
      result.reason = reason::kSpawn;
      result.error = end.text;
      break;
    case ContainerEnd::Kind::kRemoved:
      result.reason = reason::kSignal;
      result.error = "somebody has removed its container";
      break;
  }
  return result;
}

}  // namespace carillon::executor
