#include "executor/warden/container/container_start.h"

#include <fmt/format.h>

#include "common/domain/results/exit_code.h"
#include "common/domain/run/outputs.h"
#include "executor/journal/byte_codec.h"

namespace carillon::executor {

namespace {

// The engines read a file of variables line by line, with at most 64 KiB a line.
constexpr size_t kEnvLineBytesMax = 60'000;
constexpr uint32_t kInputTextsMax = 100'000;

Status AddVariable(const std::string& name, const std::string& value, DriverInput& input,
                   std::vector<std::string>& by_name) {
  const std::string line = fmt::format("{}={}", name, value);
  if (line.find_first_of("\r\n") == std::string::npos && line.size() <= kEnvLineBytesMax) {
    input.env_file += line + "\n";
    return {};
  }
  // No program of the host is steered by these.
  if (!name.starts_with("CARILLON_")) {
    return {ErrorCode::kInvalid,
            fmt::format(
                "give the container its variable {}: it has a line break, or more than {} bytes",
                name, kEnvLineBytesMax)};
  }
  by_name.push_back(name);
  input.variables.push_back(line);
  return {};
}

}  // namespace

std::string EncodeInput(const DriverInput& input) {
  ByteWriter out;
  out.Text(input.env_file);
  out.Texts(input.variables);
  out.Texts(input.masked);
  return out.Take();
}

std::optional<DriverInput> DecodeInput(std::string_view bytes) {
  ByteReader in(bytes);
  DriverInput input;
  input.env_file = in.Text();
  input.variables = in.Texts(kInputTextsMax);
  input.masked = in.Texts(kInputTextsMax);
  if (!in.Finished()) return std::nullopt;
  return input;
}

Result<PreparedContainer> PrepareContainer(const StartAttempt& start, const ContainerPlace& place) {
  ContainerPlan plan{.name = ContainerName(start.attempt),
                     .warden_id = place.warden_id,
                     .control_directory = place.control_directory,
                     .definition = start.container->definition,
                     .limits = start.limits};
  PreparedContainer prepared;
  prepared.input.masked = start.masked;
  std::map<std::string, std::string> env = start.env;
  env[kOutputFileVariable] = kContainerOutputs;
  // Leftovers leaves processes with this variable to the engine.
  env[kContainerVariable] = place.warden_id;
  for (const auto& [name, value] : env) {
    CARILLON_TRY(AddVariable(name, value, prepared.input, plan.variables));
  }
  prepared.record = {.engine = start.container->engine,
                     .name = plan.name,
                     .warden_id = place.warden_id,
                     .create = CreateCommand(plan),
                     .limits = start.limits,
                     .grace_s = start.kill_grace / 1s,
                     .outputs_file = place.outputs_file,
                     .client_env = ClientEnvironment()};
  // A new warden finds a command line that outlived its keeper by these.
  for (const char* name : {"CARILLON_RUN_ID", "CARILLON_ATTEMPT"}) {
    if (const auto found = env.find(name); found != env.end()) {
      prepared.record.client_env.push_back(fmt::format("{}={}", name, found->second));
    }
  }
  return prepared;
}

AttemptResult ResultOf(const ContainerEnd& end, const std::optional<Limits>& limits) {
  AttemptResult result{.state = RunState::kFailed, .outputs = end.outputs};
  switch (end.kind) {
    case ContainerEnd::Kind::kExited:
      result.exit_code = end.exit_code;
      if (end.exit_code == 0) {
        result.state = RunState::kCompleted;
      } else {
        result.reason = reason::kExitCode;
        result.error = "exit code " + ExitCodeText(end.exit_code);
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
      result.error = "its container was removed from outside";
      break;
  }
  if (end.outputs_fault.empty()) return result;
  const std::string fault = "its outputs cannot be used: " + end.outputs_fault;
  if (result.state == RunState::kCompleted) {
    result.state = RunState::kFailed;
    result.reason = reason::kBadOutputs;
    result.error = fault;
  } else {
    result.error += "; " + fault;
  }
  return result;
}

}  // namespace carillon::executor
