#include "executor/warden/attempts/running_attempts.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "executor/warden/process/process_tree.h"
#include "executor/warden/process/user_directory.h"

namespace carillon::executor {
namespace {

constexpr Duration kStrayLook = 10ms;

enum TokenKind : uint64_t { kOut = 0, kErr = 1, kReport = 2 };

}  // namespace

RunningAttempts::RunningAttempts(const Clock& clock, Rooms rooms, Options options)
    : clock_(clock),
      rooms_(rooms),
      options_(std::move(options)),
      work_directory_(std::filesystem::absolute(options_.work_directory)),
      cleaner_(*this, {.records = options_.containers, .warden_id = options_.warden_id}) {
  for (size_t spare = kSparesMax; spare > 0; --spare) free_spares_.push_back(spare);
}

LiveRun::Files RunningAttempts::FilesOf(const AttemptName& name, const StartAttempt& start) const {
  const std::string own_name = fmt::format("{}.{}", EncodeRunId(name.key), name.attempt);
  const std::string group = options_.isolation.GroupOf(own_name);
  if (start.user) {
    const std::string all = fmt::format("{}/{}", options_.isolation.run_directory, own_name);
    return {.directory = {WorkDirectoryIn(all)},
            .outputs = OutputFileIn(all),
            .script = ScriptFileIn(all),
            .user_directory = all,
            .cgroup = group,
            .read_outputs = options_.read_outputs};
  }
  const std::string path = fmt::format("{}/{}", work_directory_, own_name);
  if (start.container) {
    return {.directory = {path},
            .outputs = path + "/outputs",  // the container sees this directory
            .script = RecordOf(start.attempt),
            .warden_id = options_.warden_id,
            .read_outputs = options_.read_outputs};
  }
  return {.directory = {path},
          .outputs = path + ".outputs",
          .script = path + ".script",
          .cgroup = group,
          .read_outputs = options_.read_outputs};
}

Status RunningAttempts::Spawn(const AttemptName& name, AttemptEntry& entry) {
  const LiveRun::Now now = Now();
  auto log = rooms_.logs.Open(entry.held, entry.start->job_id);
  if (const size_t given_up = rooms_.logs.TakeGivenUp(); given_up > 0) {
    rooms_.journal.Complain(fmt::format(
        "dropped the logs of {} ended attempts: they were not collected in time", given_up));
  }
  auto live = std::make_unique<LiveRun>(*std::move(entry.start), std::move(log));
  LiveRun::Files files = FilesOf(name, live->start());
  const size_t spare = free_spares_.empty() || live->start().user || live->start().container
                           ? 0
                           : free_spares_.back();
  if (spare != 0) files.directory.spare = fmt::format("{}/spare-{}", work_directory_, spare);
  const Status spawned = live->Spawn(
      files, {.open_files = options_.open_files, .features = options_.isolation.features}, now);
  if (!spawned.ok()) {
    entry.start = live->start();
    rooms_.logs.Drop(entry.held);
    return spawned;
  }
  entry.start.reset();
  entry.live = std::move(live);
  entry.started = now.wall;
  if (entry.live->in_container()) entry.record_file = RecordOf(entry.held);
  entry.stage = AttemptStage::kRunning;
  if (spare != 0) free_spares_.pop_back();
  Watch(name, entry, spare);
  return {};
}

void RunningAttempts::Watch(const AttemptName& name, AttemptEntry& entry, size_t spare) {
  entry.run_no = next_run_no_++;
  by_run_no_[entry.run_no] = name;
  children_[entry.live->keeper()] = {entry.run_no, spare};
  const struct {
    int fd;
    TokenKind kind;
  } watched[] = {{entry.live->fd(OutputStream::kOut), kOut},
                 {entry.live->fd(OutputStream::kErr), kErr},
                 {entry.live->report_fd(), kReport}};
  for (const auto& [fd, kind] : watched) {
    // Edge-triggered: the kernel then reports the streams in the order of their writes.
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.u64 = entry.run_no * 4 + kind;
    CARILLON_CHECK(epoll_ctl(options_.epoll, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
  }
}

void RunningAttempts::KillAll() {
  for (const auto& [run_no, name] : by_run_no_) {
    LiveRun& live = LiveOf(name);
    const bool finished = live.finished();
    live.End(RunState::kLost, reason::kWardenDied, LiveRun::Grace::kNone, clock_.Steady());
    if (!finished) NoteReport(run_no, name, live);
  }
}

void RunningAttempts::Cancel(const AttemptName& name, const AttemptEntry& entry,
                             LiveRun::Grace grace) {
  const bool finished = entry.live->finished();
  entry.live->End(RunState::kCancelled, reason::kCancelRequested, grace, clock_.Steady());
  if (!finished) NoteReport(entry.run_no, name, *entry.live);
}

void RunningAttempts::OnReady(uint64_t token, bool writers_gone) {
  const auto found = by_run_no_.find(token / 4);
  if (found == by_run_no_.end()) return;
  const AttemptName name = found->second;
  LiveRun& live = LiveOf(name);
  if (token % 4 == kReport) {
    live.ReadReport(clock_.Steady());
    NoteReport(found->first, name, live);
    return;
  }
  const OutputStream stream = token % 4 == kErr ? OutputStream::kErr : OutputStream::kOut;
  if (live.ReadOutput(stream, writers_gone, Now())) more_.push_back(token);
}

void RunningAttempts::Continue() {
  for (const uint64_t token : std::exchange(more_, {})) OnReady(token, false);
  for (const uint64_t run_no : std::exchange(over_, std::exchange(ended_, {}))) {
    const auto found = by_run_no_.find(run_no);
    if (found != by_run_no_.end()) FinishIfOver(AttemptName(found->second));
  }
}

// A run whose keeper was killed is left to KillStrays: processes of it may still live. Those of
// a container are the engine's, and its driver and the driver's command lines have died with
// the keeper.
void RunningAttempts::NoteReport(uint64_t run_no, const AttemptName& name, LiveRun& live) {
  if (live.TakeStarted()) rooms_.reporter.Started(name);
  if (live.finished() && (!live.keeper_killed() || live.in_container())) ended_.push_back(run_no);
}

void RunningAttempts::FinishIfOver(const AttemptName& name) {
  AttemptEntry* entry = rooms_.table.Find(name);
  if (entry == nullptr || !entry->live || !entry->live->finished()) return;
  // Comes back here when nothing is left.
  if (entry->live->needs_removal()) return cleaner_.Remove(entry->live->Removal());
  if (entry->live->left_files()) {
    const LiveRun::Files files = FilesOf(name, entry->live->start());
    std::vector<std::string> paths = {files.directory.path, files.outputs};
    // The record of a container stays until the end is in the journal.
    const bool script = !entry->live->script_file().empty() && !entry->live->in_container();
    if (script) paths.push_back(entry->live->script_file());
    if (!files.user_directory.empty()) paths = {files.user_directory};
    if (!entry->live->cgroup().empty()) paths.push_back(entry->live->cgroup());
    RemoveInBackground(paths);
  }
  AttemptEnded ended = entry->live->Finish(Now());
  by_run_no_.erase(entry->run_no);
  entry->live.reset();
  rooms_.logs.DropIfEmpty(entry->held);
  rooms_.reporter.Record(name, *entry, std::move(ended));
}

void RunningAttempts::ReapChildren() {
  for (;;) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
    const auto child = children_.find(pid);
    if (child == children_.end()) {
      cleaner_.Reaped(pid, clock_.Steady());
      continue;
    }
    const auto run = by_run_no_.find(child->second.run_no);
    if (child->second.spare != 0) free_spares_.push_back(child->second.spare);
    children_.erase(child);
    if (run == by_run_no_.end()) continue;
    LiveRun& live = LiveOf(run->second);
    live.KeeperExited(clock_.Steady());
    // The keeper's tree was reparented to this process. KillStrays kills it and ends the attempt.
    if (live.keeper_killed() && !live.in_container()) ++keepers_killed_;
    NoteReport(run->first, run->second, live);
  }
}

std::vector<ContainerCleaner::Removed> RunningAttempts::TakeRemoved() {
  std::vector<ContainerCleaner::Removed> others;
  for (ContainerCleaner::Removed& removed : cleaner_.TakeRemoved()) {
    const auto named = ParseContainerName(removed.name);
    AttemptEntry* entry = named ? rooms_.table.Find({named->key, named->attempt}) : nullptr;
    if (entry == nullptr || !entry->live) {
      others.push_back(std::move(removed));
      continue;
    }
    entry->live->ContainerGone(std::move(removed.end));
    over_.push_back(entry->run_no);
  }
  return others;
}

bool RunningAttempts::HasContainer(std::string_view name) const {
  const auto named = ParseContainerName(name);
  const AttemptEntry* entry = named ? rooms_.table.Find({named->key, named->attempt}) : nullptr;
  return entry != nullptr && entry->stage != AttemptStage::kEnding &&
         entry->stage != AttemptStage::kEnded;
}

// Children that are not keepers were reparented to the warden when their keeper was killed.
void RunningAttempts::KillStrays() {
  const pid_t self = getpid();
  const std::vector<ProcessEntry> processes = ReadProcesses();
  bool found = false;
  for (const ProcessEntry& entry : processes) {
    if (entry.parent != self || entry.state == 'Z' || children_.count(entry.pid) > 0 ||
        cleaner_.Owns(entry.pid)) {
      continue;
    }
    KillDescendants(entry.pid);
    kill(entry.pid, SIGKILL);
    found = true;
  }
  if (found) return;
  keepers_killed_ = 0;
  std::vector<AttemptName> over;
  for (const auto& [run_no, name] : by_run_no_) {
    if (LiveOf(name).keeper_killed()) over.push_back(name);
  }
  for (const AttemptName& name : over) FinishIfOver(name);
}

void RunningAttempts::Tick(SteadyTime now) {
  cleaner_.Tick(now);
  for (const auto& [run_no, name] : by_run_no_) {
    LiveRun& live = LiveOf(name);
    const bool finished = live.finished();
    live.Tick(now);
    if (!finished) NoteReport(run_no, name, live);
  }
  if (keepers_killed_ > 0) KillStrays();
}

SteadyTime RunningAttempts::NextTick() const {
  SteadyTime next = cleaner_.NextTick();
  for (const auto& [run_no, name] : by_run_no_) next = std::min(next, LiveOf(name).NextTick());
  if (keepers_killed_ > 0) next = std::min(next, clock_.Steady() + kStrayLook);
  return next;
}

void RunningAttempts::RemoveInBackground(const std::vector<std::string>& paths) {
  const pid_t cleaner = fork();
  if (cleaner == 0) {
    close_range(3, ~0u, 0);
    for (const std::string& path : paths) RemoveTree(path);
    _exit(0);
  }
  if (cleaner > 0) children_[cleaner] = {};
}

}  // namespace carillon::executor
