// Command lines for a container engine, and what its answers mean. Pure.
//
// Always   A container is removed only if it has the label of this warden: its name alone proves
//          nothing, because two wardens on one host may have attempts of the same name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/ports/executor_host.h"
#include "executor/warden/container/container_end.h"

namespace carillon::executor {

using EngineArguments = std::vector<std::string>;

// The path of the attempt's control directory in its container.
inline constexpr char kControlDirectory[] = "/carillon";
// A variable of every process in a container, and of no other.
inline constexpr char kContainerVariable[] = "CARILLON_CONTAINER";
inline constexpr char kContainerOutputs[] = "/carillon/outputs";

// "carillon-<run>-<attempt>"
std::string ContainerName(const HeldAttempt& attempt);
// The run and the attempt in such a name; nullopt: it is none.
struct NamedAttempt {
  RunKey key;
  int attempt = 1;
};
std::optional<NamedAttempt> ParseContainerName(std::string_view name);

struct ContainerPlan {
  std::string name;
  std::string warden_id;
  std::string control_directory;  // of the host
  ContainerDefinition definition;
  std::optional<Limits> limits = {};
  std::vector<std::string> variables =
      {};  // by name: the engine's command line has their values in its environment
};
EngineArguments CreateCommand(const ContainerPlan& plan);
EngineArguments StartCommand(const std::string& id);  // attached to its output
EngineArguments StopCommand(const std::string& id, int64_t grace_s);
EngineArguments InspectCommand(const std::string& id);
EngineArguments InspectLimitsCommand(const std::string& id);
EngineArguments KillCommand(
    const std::vector<std::string>& ids);  // at once: a removal may give a grace of its own
EngineArguments ListCommand(
    const std::string& warden_id);  // of the containers with the label of this warden
EngineArguments RemoveCommand(const std::vector<std::string>& ids);
struct ListedContainer {
  std::string id;
  std::string name;

  bool operator==(const ListedContainer&) const = default;
};
// Of the answer to ListCommand; nullopt: it is none.
std::optional<std::vector<ListedContainer>> ParseList(std::string_view answer);
// The id in the answer to CreateCommand; empty: there is none.
std::string ParseId(std::string_view answer);

// The step after the engine was asked about a container whose output has ended.
enum class AfterInspect { kOver, kAskAgain };
struct Inspection {
  AfterInspect step = AfterInspect::kAskAgain;
  ContainerEnd end = {};  // kOver
};
// `answer`: to InspectCommand. An answer that cannot be read is none.
Inspection DecideAfterInspect(std::string_view answer);

// `answer`: to InspectLimitsCommand. Returns the name of a limit that the engine does not enforce;
// "": it enforces all.
std::string FindMissingLimit(const Limits& limits, std::string_view answer);

}  // namespace carillon::executor
