#include "executor/warden/leftovers.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "executor/warden/run_shim.h"

namespace carillon::executor {
namespace {

// Keepers kill their trees by themselves when their warden dies; one that was stopped does not.
constexpr Duration kKeeperPatience = 2s;

struct Mark {
  std::string run;
  std::string attempt;
};

Mark MarkOf(const OpenStart& start) {
  return {"CARILLON_RUN_ID=" + EncodeRunId(start.attempt.key),
          fmt::format("CARILLON_ATTEMPT={}", start.attempt.attempt)};
}

}  // namespace

Leftovers::Leftovers(std::vector<OpenStart> starts)
    : waiting_(std::move(starts)), own_command_line_(ReadCommandLine(getpid())) {}

bool Leftovers::KeepersLeft(const std::vector<ProcessEntry>& processes, SteadyTime now) {
  const pid_t self = getpid();
  bool left = false;
  if (keepers_killed_at_ == SteadyTime::max()) keepers_killed_at_ = now + kKeeperPatience;
  for (const ProcessEntry& entry : processes) {
    if (entry.name != kShimName || entry.parent == self || entry.state == 'Z') continue;
    if (ReadCommandLine(entry.pid) != own_command_line_) continue;
    left = true;
    if (now < keepers_killed_at_) continue;
    if (KillDescendants(entry.pid) == 0) kill(entry.pid, SIGKILL);
  }
  return left;
}

std::vector<OpenStart> Leftovers::Step(SteadyTime now) {
  if (waiting_.empty()) return {};
  const std::vector<ProcessEntry> processes = ReadProcesses();
  const bool keepers_left = KeepersLeft(processes, now);
  std::vector<bool> alive(waiting_.size(), keepers_left);
  for (const ProcessEntry& entry : processes) {
    if (entry.pid == getpid() || entry.state == 'Z') continue;
    const std::string environment = ReadEnvironment(entry.pid);
    if (environment.find("CARILLON_RUN_ID=") == std::string::npos) continue;
    for (size_t i = 0; i < waiting_.size(); ++i) {
      const Mark mark = MarkOf(waiting_[i]);
      if (!HasVariable(environment, mark.run) || !HasVariable(environment, mark.attempt)) continue;
      kill(entry.pid, SIGKILL);
      alive[i] = true;
    }
  }
  std::vector<OpenStart> dead;
  std::vector<OpenStart> still;
  for (size_t i = 0; i < waiting_.size(); ++i) {
    (alive[i] ? still : dead).push_back(std::move(waiting_[i]));
  }
  waiting_ = std::move(still);
  return dead;
}

}  // namespace carillon::executor
