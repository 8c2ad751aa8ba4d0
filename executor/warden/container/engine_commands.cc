#include "executor/warden/container/engine_commands.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace carillon::executor {
namespace {

constexpr int kExitKilled = 128 + 9;  // by SIGKILL
constexpr char kWardenLabel[] = "carillon.warden";

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    if (end != 0) parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

bool IsHexId(std::string_view text) {
  return text.size() >= 12 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<int> WholeOf(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void AddLimits(const Limits& limits, EngineArguments& out) {
  const auto add = [&out](std::string flag, std::string value) {
    out.push_back(std::move(flag));
    out.push_back(std::move(value));
  };
  if (limits.memory_mb != 0) {
    add("--memory", fmt::format("{}m", limits.memory_mb));
    add("--memory-swap", fmt::format("{}m", limits.memory_mb));  // with swap: no more than without
  }
  if (limits.cpu != 0) add("--cpus", fmt::format("{}", limits.cpu));
  if (limits.pids != 0) add("--pids-limit", fmt::format("{}", limits.pids));
  if (limits.open_files != 0) add("--ulimit", fmt::format("nofile={0}:{0}", limits.open_files));
  if (limits.file_size_mb != 0) {
    add("--ulimit", fmt::format("fsize={0}:{0}", limits.file_size_mb * (int64_t{1} << 20)));
  }
}

}  // namespace

std::string ContainerName(const HeldAttempt& attempt) {
  return fmt::format("carillon-{}-{}", EncodeRunId(attempt.key), attempt.attempt);
}

std::optional<NamedAttempt> ParseContainerName(std::string_view name) {
  constexpr std::string_view kPrefix = "carillon-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const size_t dash = name.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const Result<RunKey> key = DecodeRunId(name.substr(0, dash));
  const std::optional<int> attempt = WholeOf(name.substr(dash + 1));
  if (!key.ok() || !attempt) return std::nullopt;
  return NamedAttempt{*key, *attempt};
}

EngineArguments CreateCommand(const ContainerPlan& plan) {
  const ContainerDefinition& definition = plan.definition;
  EngineArguments out = {
      "create", "--name", plan.name, "--label", fmt::format("{}={}", kWardenLabel, plan.warden_id),
      "--log-driver",  // the attempt has the output; a copy at the engine would have no limit
      "none", "--pull", std::string(Name(definition.pull)), "--network",
      std::string(Name(definition.network)), "--volume",
      fmt::format("{}:{}", plan.control_directory, kControlDirectory),
      // Whoever calls the engine gives it the variables so: no argument that all users can see, and
      // no environment of a program on the host.
      "--env-file", "/dev/stdin"};
  if (definition.read_only) out.emplace_back("--read-only");
  if (!definition.user.empty()) out.insert(out.end(), {"--user", definition.user});
  if (plan.limits) AddLimits(*plan.limits, out);
  for (const std::string& name : plan.variables) out.insert(out.end(), {"--env", name});
  const std::vector<std::string>& command = definition.command;
  if (!command.empty()) out.insert(out.end(), {"--entrypoint", command.front()});
  out.push_back(definition.image);
  if (!command.empty()) out.insert(out.end(), command.begin() + 1, command.end());
  out.insert(out.end(), definition.args.begin(), definition.args.end());
  return out;
}

EngineArguments StartCommand(const std::string& id) {
  // The driver stops the container itself, with the grace of its job.
  return {"start", "--attach", "--sig-proxy=false", id};
}

EngineArguments StopCommand(const std::string& id, int64_t grace_s) {
  return {"stop", "-t", fmt::format("{}", grace_s), id};
}

EngineArguments InspectCommand(const std::string& id) {
  return {"inspect", "--format", "{{.State.Status}} {{.State.ExitCode}} {{.State.OOMKilled}}", id};
}

EngineArguments InspectLimitsCommand(const std::string& id) {
  return {"inspect", "--format",
          "{{.HostConfig.Memory}} {{.HostConfig.NanoCpus}} {{.HostConfig.CpuQuota}} "
          "{{.HostConfig.PidsLimit}}",
          id};
}

EngineArguments KillCommand(const std::vector<std::string>& ids) {
  EngineArguments out = {"kill", "--signal", "KILL"};
  out.insert(out.end(), ids.begin(), ids.end());
  return out;
}

EngineArguments ListCommand(const std::string& warden_id) {
  return {"ps",
          "--all",
          "--no-trunc",
          "--filter",
          fmt::format("label={}={}", kWardenLabel, warden_id),
          "--format",
          "{{.ID}} {{.Names}}"};
}

EngineArguments RemoveCommand(const std::vector<std::string>& ids) {
  EngineArguments out = {"rm", "--force", "--volumes"};
  out.insert(out.end(), ids.begin(), ids.end());
  return out;
}

std::optional<std::vector<ListedContainer>> ParseList(std::string_view answer) {
  std::vector<ListedContainer> listed;
  for (const std::string_view line : SplitAt(answer, '\n')) {
    const std::vector<std::string_view> words = SplitAt(line, ' ');
    if (words.empty() || words.size() > 2 || !IsHexId(words[0])) return std::nullopt;
    listed.push_back({std::string(words[0]), std::string(words.size() == 2 ? words[1] : "")});
  }
  return listed;
}

std::string ParseId(std::string_view answer) {
  // A pull may write its progress before it.
  const std::vector<std::string_view> lines = SplitAt(answer, '\n');
  return !lines.empty() && IsHexId(lines.back()) ? std::string(lines.back()) : std::string();
}

Inspection DecideAfterInspect(std::string_view answer) {
  while (answer.ends_with('\n')) answer.remove_suffix(1);
  const std::vector<std::string_view> words = SplitAt(answer, ' ');
  if (words.size() != 3) return {};
  const std::optional<int> code = WholeOf(words[1]);
  if (!code) return {};
  if (words[0] == "created" || words[0] == "configured" || words[0] == "initialized") {
    return {AfterInspect::kOver,
            {.kind = ContainerEnd::Kind::kNotStarted,
             .text = "the engine could not start the container; the output has its reason"}};
  }
  if (words[0] != "exited" && words[0] != "stopped" && words[0] != "dead") return {};
  // The kernel may also have killed one of several processes, after which the container ended
  // by itself.
  if (words[2] == "true" && *code == kExitKilled)
    return {AfterInspect::kOver, {.kind = ContainerEnd::Kind::kOutOfMemory}};
  return {AfterInspect::kOver, {.exit_code = *code}};
}

std::string FindMissingLimit(const Limits& limits, std::string_view answer) {
  while (answer.ends_with('\n')) answer.remove_suffix(1);
  const std::vector<std::string_view> words = SplitAt(answer, ' ');
  const auto set = [&words](size_t at) {
    return at < words.size() && !words[at].empty() && words[at].front() >= '1' &&
           words[at].front() <= '9';
  };
  if (limits.memory_mb != 0 && !set(0)) return "memory_mb";
  if (limits.cpu != 0 && !set(1) && !set(2)) return "cpu";
  if (limits.pids != 0 && !set(3)) return "pids";
  return {};
}

}  // namespace carillon::executor
