#include "executor/warden/container/container_cleaner.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace carillon::executor {
namespace {

constexpr Duration kSweepEvery = 30s;
constexpr Duration kForkAgain = 100ms;

void WriteAnswer(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);
    text.remove_prefix(static_cast<size_t>(n));
  }
}

// The answer is in memory, so reading it waits for nothing.
std::string ReadWhole(int fd) {
  std::string text;
  char buffer[65536];
  for (ssize_t n = 0;
       (n = pread(fd, buffer, sizeof(buffer), static_cast<off_t>(text.size()))) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

// Runs `work` in a child without the warden's descriptors, and keeps what it returns. False: there
// can be none now.
template <typename Child, typename Work>
bool InChild(Child& child, const Work& work) {
  FileDescriptor answer(memfd_create("carillon-answer", MFD_CLOEXEC));
  const pid_t warden = getpid();
  child.pid = answer.open() ? fork() : -1;
  if (child.pid < 0) return false;
  if (child.pid > 0) {
    child.answer = std::move(answer);
    return true;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != warden) _exit(1);
  const int kept = dup2(answer.Release(), 3);
  close_range(4, ~0u, 0);
  WriteAnswer(kept, work());
  _exit(0);
}

// The containers of the records there, with their engines in place of their ids; nullopt: the disk
// does not say. A record that cannot be read, or is of another version, is left alone.
std::optional<std::vector<ListedContainer>> ReadRecords(const std::string& records) {
  const auto names = ListRecords(records);
  if (!names.ok()) return std::nullopt;
  std::vector<ListedContainer> found;
  for (const std::string& name : *names) {
    const auto record = ReadRecord(records + "/" + name);
    if (!record.ok() && record.code() == ErrorCode::kUnavailable) return std::nullopt;
    if (record.ok()) found.push_back({record->engine, name});
  }
  return found;
}

std::string EncodeAnswer(const std::optional<std::vector<ListedContainer>>& listed) {
  return listed ? EncodeListed(*listed) : std::string();
}

}  // namespace

void ContainerCleaner::Remove(ContainerToRemove container) {
  if (container.warden_id.empty()) container.warden_id = options_.warden_id;
  if (container.record_file.empty())
    container.record_file = options_.records + "/" + container.name;
  const std::string name = container.name;
  waiting_.try_emplace(name, Waiting{.container = std::move(container)});
}

bool ContainerCleaner::Owns(pid_t child) const {
  return child == removers_[kFirst].pid || child == removers_[kAgain].pid || child == sweeper_.pid;
}

void ContainerCleaner::Reaped(pid_t child, SteadyTime now) {
  for (Child& remover : removers_) {
    if (child == remover.pid) return TakeAnswer(remover, now);
  }
  if (child == sweeper_.pid) TakeSwept(now);
}

void ContainerCleaner::TakeAnswer(Child& child, SteadyTime now) {
  child.pid = -1;
  const auto answers = DecodeRemoved(ReadWhole(child.answer.get()));
  child.answer.Close();
  const std::vector<std::string> names = std::exchange(child.names, {});
  for (size_t at = 0; at < names.size(); ++at) {
    const auto found = waiting_.find(names[at]);
    Waiting& waiting = found->second;
    waiting.asked = false;
    // Without a whole answer somebody has killed the child.
    const bool told = answers && at < answers->size();
    if (told && !waiting.end) waiting.end = (*answers)[at].end;
    if (!told || (*answers)[at].killed) waiting.container.ask_engine = false;
    if (told && (*answers)[at].gone) {
      removed_.push_back({names[at], std::move(waiting.end)});
      waiting_.erase(found);
      continue;
    }
    waiting.due = now + PauseAfter(++waiting.tries);
  }
}

void ContainerCleaner::StartRemover(Which which, SteadyTime now) {
  Child& child = removers_[which];
  if (child.pid > 0) return;
  std::vector<ContainerToRemove> containers;
  for (auto& [name, waiting] : waiting_) {
    if (waiting.asked || waiting.due > now || (waiting.tries > 0) != (which == kAgain)) continue;
    child.names.push_back(name);
    containers.push_back(waiting.container);
    if (containers.back().engine.empty()) containers.back().engine = engine_;
  }
  if (containers.empty()) return;
  if (!InChild(child, [&containers] { return EncodeRemoved(RemoveContainers(containers)); })) {
    child.names.clear();
    next_fork_ = now + kForkAgain;
    return;
  }
  for (const std::string& name : child.names) waiting_[name].asked = true;
}

void ContainerCleaner::Tick(SteadyTime now) {
  if (now < next_fork_) return;
  for (const Which which : {kFirst, kAgain}) StartRemover(which, now);
  if (sweeper_.pid < 0) StepSweep(now);
}

void ContainerCleaner::StepSweep(SteadyTime now) {
  if (!swept_ids_.empty()) {
    sweep_ = Sweep::kRemoving;
  } else if (now < next_sweep_) {
    return;
  } else if (!records_read_) {
    sweep_ = Sweep::kReadingRecords;
  } else if (!engine_.empty()) {
    sweep_ = Sweep::kListing;
  } else {
    return;
  }
  if (!InChild(sweeper_, [this] { return Swept(); })) next_fork_ = now + kForkAgain;
}

// In the child.
std::string ContainerCleaner::Swept() const {
  if (sweep_ == Sweep::kListing) return EncodeAnswer(ListContainers(engine_, options_.warden_id));
  if (sweep_ == Sweep::kReadingRecords) return EncodeAnswer(ReadRecords(options_.records));
  RemoveById(engine_, swept_ids_);
  return {};
}

void ContainerCleaner::TakeSwept(SteadyTime now) {
  sweeper_.pid = -1;
  const auto listed = DecodeListed(ReadWhole(sweeper_.answer.get()));
  sweeper_.answer.Close();
  if (sweep_ == Sweep::kRemoving) {
    swept_ids_.clear();
    return;
  }
  if (!listed) {
    next_sweep_ = now + PauseAfter(++sweeps_failed_);
    return;
  }
  sweeps_failed_ = 0;
  if (sweep_ == Sweep::kReadingRecords) {
    records_read_ = true;
    return RemoveOf(*listed);
  }
  next_sweep_ = now + kSweepEvery;
  // An attempt is known before its container is created, so one that was listed and has no attempt
  // now is nobody's.
  for (const ListedContainer& container : *listed) {
    if (!known_.HasContainer(container.name) && !waiting_.contains(container.name)) {
      swept_ids_.push_back(container.id);
    }
  }
}

// A power cut can undo the start of an attempt in the journal, and not the record of its container.
void ContainerCleaner::RemoveOf(const std::vector<ListedContainer>& records) {
  for (const ListedContainer& record : records) {
    if (!known_.HasContainer(record.name)) Remove({.name = record.name, .engine = record.id});
  }
}

SteadyTime ContainerCleaner::NextTick() const {
  SteadyTime next = SteadyTime::max();
  for (const auto& [name, waiting] : waiting_) {
    const bool busy = waiting.asked || removers_[waiting.tries > 0 ? kAgain : kFirst].pid > 0;
    if (!busy) next = std::min(next, waiting.due);
  }
  if (sweeper_.pid < 0) {
    if (!swept_ids_.empty()) return next_fork_;
    if (!engine_.empty() || !records_read_) next = std::min(next, next_sweep_);
  }
  return std::max(next, next_fork_);
}

}  // namespace carillon::executor
