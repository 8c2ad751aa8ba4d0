#include "executor/warden/process/leftovers.h"

#include <signal.h>
#include <unistd.h>

#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "executor/warden/container/engine_commands.h"
#include "executor/warden/process/keeper.h"

namespace carillon::executor {
namespace {

// The time in which a keeper whose warden died must kill its tree and exit. A stopped keeper
// (SIGSTOP) cannot, so afterwards its tree is killed here.
constexpr Duration kKeeperPatience = 2s;
constexpr Duration kStepEvery = 50ms;

struct Mark {
  std::string run;
  std::string attempt;
};

Mark MarkOf(const OpenStart& start) {
  return {"CARILLON_RUN_ID=" + EncodeRunId(start.attempt.key),
          fmt::format("CARILLON_ATTEMPT={}", start.attempt.attempt)};
}

// Finds the owner of a process. A keeper is responsible for all processes below it. So a process
// below a living keeper of another warden is no leftover, whatever its environment contains: two
// clusters on one host may have runs of the same name.
class Lineage {
 public:
  enum class Owner { kNone, kOtherKeeper, kUnknown };

  Lineage(const std::vector<ProcessEntry>& processes, const WardenDirectory& own) : own_(own) {
    for (const ProcessEntry& entry : processes) by_pid_[entry.pid] = &entry;
    // This warden may itself run in a job of another Carillon. The keeper of that job is then above
    // every process here, so it does not show to whom a process belongs.
    WalkUp(getpid(), [this](const ProcessEntry& entry) {
      above_.insert(entry.pid);
      return false;
    });
  }

  // kUnknown if a process above `pid` is missing, because processes started or exited while /proc
  // was read.
  Owner OwnerOf(pid_t pid) const {
    bool kept = false;
    const bool whole = WalkUp(pid, [&](const ProcessEntry& entry) {
      kept = entry.name == kShimName && entry.state != 'Z' && above_.count(entry.pid) == 0 &&
             !WardenDirectoryOf(entry.pid).Same(own_);
      return kept;
    });
    if (kept) return Owner::kOtherKeeper;
    return whole ? Owner::kNone : Owner::kUnknown;
  }

 private:
  // Walks from `pid` up to the first process of the host, or until `stop` returns true. Returns
  // false if a parent is missing.
  template <typename Stop>
  bool WalkUp(pid_t pid, const Stop& stop) const {
    for (size_t steps = 0; pid != 0 && steps <= by_pid_.size(); ++steps) {
      const auto found = by_pid_.find(pid);
      if (found == by_pid_.end()) return false;
      if (stop(*found->second)) return true;
      pid = found->second->parent;
    }
    return pid == 0;
  }

  const WardenDirectory& own_;
  std::unordered_map<pid_t, const ProcessEntry*> by_pid_;
  std::unordered_set<pid_t> above_;
};

}  // namespace

Leftovers::Leftovers(std::vector<OpenStart> starts)
    : waiting_(std::move(starts)), own_(WardenDirectoryOf(getpid())) {}

bool Leftovers::KeepersLeft(const std::vector<ProcessEntry>& processes, SteadyTime now) {
  const pid_t self = getpid();
  bool left = false;
  if (keepers_killed_at_ == SteadyTime::max()) keepers_killed_at_ = now + kKeeperPatience;
  for (const ProcessEntry& entry : processes) {
    if (entry.name != kShimName || entry.parent == self || entry.state == 'Z') continue;
    if (!WardenDirectoryOf(entry.pid).Same(own_)) continue;
    left = true;
    if (now < keepers_killed_at_) continue;
    if (KillDescendants(entry.pid) == 0) kill(entry.pid, SIGKILL);
  }
  return left;
}

std::vector<OpenStart> Leftovers::Step(SteadyTime now) {
  if (waiting_.empty() || now < next_step_) return {};
  next_step_ = now + kStepEvery;
  const std::vector<ProcessEntry> processes = ReadProcesses();
  const bool keepers_left = KeepersLeft(processes, now);
  std::vector<bool> alive(waiting_.size(), keepers_left);
  const Lineage lineage(processes, own_);
  for (const ProcessEntry& entry : processes) {
    if (entry.pid == getpid() || entry.state == 'Z') continue;
    const std::string environment = ReadEnvironment(entry.pid);
    if (environment.find("CARILLON_RUN_ID=") == std::string::npos) continue;
    const bool contained =
        environment.find(std::string(kContainerVariable) + "=") != std::string::npos;
    for (size_t i = 0; i < waiting_.size(); ++i) {
      const Mark mark = MarkOf(waiting_[i]);
      if (!HasVariable(environment, mark.run) || !HasVariable(environment, mark.attempt)) continue;
      // In a container it may be another warden's, and its parents do not show that. The removal of
      // the container ends it. A process of any other attempt may have set this variable itself.
      if (contained && waiting_[i].container) continue;
      const Lineage::Owner owner = lineage.OwnerOf(entry.pid);
      if (owner == Lineage::Owner::kOtherKeeper) continue;
      // If the owner stays unknown (some hosts hide processes), the process is killed once
      // kKeeperPatience has passed.
      const bool leftover = owner == Lineage::Owner::kNone || now >= keepers_killed_at_;
      if (leftover) kill(entry.pid, SIGKILL);
      alive[i] = true;  // checked again in the next Step
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
