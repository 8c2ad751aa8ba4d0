#include "executor/warden/attempt_table.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "executor/warden/lease_watch.h"
#include "executor/warden/process/process_tree.h"

namespace carillon::executor {
namespace {

constexpr size_t kOutputBytesMax = 256u << 10;  // per stream, whatever the daemon asks for
constexpr Duration kStepAgain = 200ms;          // after a disk failure
// When one order takes the disk longer than this, nothing more should be claimed.
constexpr Duration kDiskAnswers = 1s;
// Changes that nobody waits for (starts, removals) are synced after this long at most.
constexpr Duration kSyncDelay = 200ms;
constexpr Duration kLeftoverLook = 50ms;
constexpr uint64_t kFreeBytesMin = 4u << 20;
constexpr uint64_t kFreeInodesMin = 64;

enum TokenKind : uint64_t { kOut = 0, kErr = 1, kReport = 2 };

}  // namespace

AttemptTable::AttemptTable(const Clock& clock, std::unique_ptr<WardenJournal> journal,
                           WardenJournal::Contents contents, Options options)
    : clock_(clock), journal_(std::move(journal)), options_(std::move(options)), leftovers_({}) {
  for (RecordedEnd& end : contents.ends) {
    Entry& entry = entries_[NameOf(end.attempt)];
    entry.stage = Stage::kEnded;
    entry.held = end.attempt;
    entry.end_record = end.record;
  }
  std::vector<OpenStart> open_starts;
  for (OpenStart& start : contents.open_starts) {
    // The warden died between the two records of one commit: the end counts.
    if (entries_.count(NameOf(start.attempt)) > 0) {
      journal_->Remove(start.record);
      continue;
    }
    Entry& entry = entries_[NameOf(start.attempt)];
    entry.stage = Stage::kLeftOver;
    entry.held = start.attempt;
    entry.start_record = start.record;
    entry.started = start.started;
    open_starts.push_back(std::move(start));
  }
  leftovers_ = Leftovers(std::move(open_starts));
  for (size_t spare = kSparesMax; spare > 0; --spare) free_spares_.push_back(spare);
}

AttemptTable::Entry* AttemptTable::Find(const AttemptName& name) {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

AttemptTable::Entry* AttemptTable::FindHeld(const HeldAttempt& held) {
  Entry* entry = Find(NameOf(held));
  return entry != nullptr && entry->held.token == held.token ? entry : nullptr;
}

std::string AttemptTable::WorkDirectoryOf(const AttemptName& name) const {
  return fmt::format("{}/{}.{}", options_.work_directory, EncodeRunId(name.key), name.attempt);
}

void AttemptTable::Start(StartAttempt start) {
  const AttemptName name = NameOf(start.attempt);
  const auto forgotten = forgotten_.TokenOf(name);
  if (entries_.count(name) > 0 || forgotten == start.attempt.token) return;
  start.output_bytes_max = std::min(start.output_bytes_max, kOutputBytesMax);
  Entry& entry = entries_[name];
  entry.held = start.attempt;
  entry.output_bytes_max = start.output_bytes_max;
  entry.start = std::move(start);
  if (forgotten) {  // the database forgot its end: it was restored to an earlier state
    EndUnstarted(name, entry, RunState::kLost, reason::kLeaseEnded,
                 "this attempt already ran here under another claim");
  } else if (by_run_no_.size() + waiting_.size() + prepared_.size() >= kRunningMax) {
    EndUnstarted(name, entry, RunState::kFailed, reason::kSpawn, "too many processes are running");
  } else {
    waiting_.push_back(name);
  }
}

// If the attempt must not start any more, ends it and returns true. Checked before the record of
// the start is written and again afterwards, because the disk may take long.
bool AttemptTable::RefuseStart(const AttemptName& name, Entry& entry) {
  if (stopping_) {
    EndUnstarted(name, entry, RunState::kLost, reason::kWardenDied, "the warden is stopping");
  } else if (entry.cancelled) {
    EndUnstarted(name, entry, RunState::kCancelled, reason::kCancelRequested,
                 "cancelled before it started");
  } else if (DecideAtStart({entry.start->lease_end, true}, clock_.Steady()) != LeaseAction::kNone) {
    EndUnstarted(name, entry, RunState::kLost, reason::kLeaseEnded,
                 "its lease expired before it could start");
  } else {
    return false;
  }
  return true;
}

// In order: a start whose end finds no space yet delays those behind it.
void AttemptTable::PrepareWaiting() {
  while (!waiting_.empty()) {
    const AttemptName name = waiting_.front();
    Entry& entry = *Find(name);
    if (!RefuseStart(name, entry)) {
      const auto asked = std::exchange(waiting_asked_, true) ? WardenJournal::Asked::kAgain
                                                             : WardenJournal::Asked::kFirst;
      const auto record = journal_->PrepareStart(*entry.start, clock_.Wall(), asked);
      if (record.ok() && !*record) return;
      if (record.ok()) {
        entry.start_record = **record;
        entry.reserved = true;
        prepared_.push_back({name, journal_->last()});
      } else {
        EndUnstarted(
            name, entry, RunState::kFailed, reason::kSpawn,
            "not started, because its end could not be recorded: " + record.error().message);
      }
    }
    waiting_.pop_front();
    waiting_asked_ = false;
  }
}

void AttemptTable::EndUnstarted(const AttemptName& name, Entry& entry, RunState state,
                                std::string_view reason, std::string error) {
  AttemptEnded ended{entry.held,
                     {.state = state,
                      .reason = std::string(reason),
                      .error = std::move(error),
                      .ended = clock_.Wall()}};
  if (entry.start) ended.job_id = entry.start->job_id;
  RecordEnd(name, entry, std::move(ended));
}

void AttemptTable::RecordEnd(const AttemptName& name, Entry& entry, AttemptEnded ended) {
  entry.start.reset();
  const Result<SegmentLog::RecordId> record = journal_->PrepareEnd(ended, entry.start_record);
  // Without space for its record, the end of an attempt that never ran may be reported from memory:
  // if it is lost, the lease expires with the same result.
  entry.memory = std::move(ended);
  entry.end_record = record.ok() ? *record : 0;
  entry.stage = Stage::kEnding;
  ending_.push_back({name, journal_->last()});
}

void AttemptTable::Renew(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) {
  for (const HeldAttempt& held : attempts) {
    Entry* entry = FindHeld(held);
    if (entry == nullptr) continue;
    if (entry->start) entry->start->lease_end = RenewedEnd(entry->start->lease_end, lease_end);
    if (entry->live) entry->live->Renew(lease_end);
  }
}

void AttemptTable::Cancel(const HeldAttempt& attempt, CancelMode mode) {
  Entry* entry = FindHeld(attempt);
  if (entry == nullptr) return;
  entry->cancelled = true;
  if (!entry->live) return;
  const auto grace = mode == CancelMode::kKill ? LiveRun::Grace::kNone : LiveRun::Grace::kGiven;
  entry->live->End(RunState::kCancelled, reason::kCancelRequested, grace, clock_.Steady());
}

void AttemptTable::Forget(const std::vector<HeldAttempt>& attempts) {
  for (const HeldAttempt& held : attempts) {
    const AttemptName name = NameOf(held);
    Entry* entry = Find(name);
    if (entry == nullptr || entry->stage != Stage::kEnded) continue;
    if (entry->end_record != 0) journal_->Remove(entry->end_record);
    DropMemory(*entry);
    entries_.erase(name);
    forgotten_.Add(held);
  }
}

void AttemptTable::Stop() {
  stopping_ = true;
  for (const auto& [run_no, name] : by_run_no_) {
    Find(name)->live->End(RunState::kLost, reason::kWardenDied, LiveRun::Grace::kNone,
                          clock_.Steady());
  }
}

void AttemptTable::Commit(SteadyTime now) {
  PrepareWaiting();
  StepJournal(now);
  LaunchPrepared();
  ReleaseEnded();
  if (!ending_.empty()) journal_->WantSync(ending_.front().position);
  if (!journal_->dirty()) {
    sync_due_ = now + kSyncDelay;
  } else if (now >= sync_due_) {
    journal_->WantSync(journal_->last());
    sync_due_ = now + kSyncDelay;
  }
  StepJournal(now);
}

void AttemptTable::StepJournal(SteadyTime now) {
  // An order under way is collected even then, because its completion is signalled only once.
  if (step_failed_ && now < next_step_ && !journal_->log().busy()) return;
  const Status status = journal_->Step();
  step_failed_ = !status.ok();
  const SegmentLog& log = journal_->log();
  if (!log.busy() || log.orders() != order_seen_) {
    order_seen_ = log.orders();
    order_since_ = now;
  }
  if (!log.dirty() || log.synced() > synced_at_failure_) disk_failure_.reset();
  if (status.ok()) return;
  Complain(status.error().message);
  next_step_ = now + kStepAgain;
  disk_failure_ = status.error();
  synced_at_failure_ = log.synced();
}

// A start need not wait for the sync: written data survives this process, and a power cut, which
// could undo it, would also end the started process.
void AttemptTable::LaunchPrepared() {
  while (!prepared_.empty() && prepared_.front().position <= journal_->written()) {
    const AttemptName name = prepared_.front().name;
    prepared_.pop_front();
    Entry* entry = Find(name);
    if (entry != nullptr && entry->stage == Stage::kPrepared) Launch(name, *entry);
  }
}

void AttemptTable::ReleaseEnded() {
  while (!ending_.empty() && ending_.front().position <= journal_->synced()) {
    const AttemptName name = ending_.front().name;
    ending_.pop_front();
    Entry& entry = *Find(name);
    // Nothing is reserved for an attempt of an earlier warden: its reservation died with that one.
    if (entry.reserved) journal_->ReleaseReserve(entry.output_bytes_max);
    entry.reserved = false;
    entry.stage = Stage::kEnded;
    entry.counted = entry.end_record != 0;
    if (entry.counted) untold_bytes_ += entry.memory->result.output.size();
    if (untold_bytes_ > kUntoldBytesMax) DropMemory(entry);
    events_.push_back({name, true});
  }
}

void AttemptTable::DropMemory(Entry& entry) {
  if (entry.counted) untold_bytes_ -= entry.memory->result.output.size();
  if (entry.end_record != 0) entry.memory.reset();
  entry.counted = false;
}

void AttemptTable::Launch(const AttemptName& name, Entry& entry) {
  if (RefuseStart(name, entry)) return;
  const LiveRun::Now now = Now();
  auto log = logs_.Open(entry.held, entry.start->job_id);
  if (const size_t given_up = logs_.TakeGivenUp(); given_up > 0) {
    Complain(fmt::format("dropped the logs of {} ended attempts: they were not collected in time",
                         given_up));
  }
  auto live = std::make_unique<LiveRun>(*std::move(entry.start), std::move(log));
  WorkDirectory::Place place{WorkDirectoryOf(name)};
  const size_t spare = free_spares_.empty() ? 0 : free_spares_.back();
  if (spare != 0) place.spare = fmt::format("{}/spare-{}", options_.work_directory, spare);
  const Status spawned = live->Spawn(place, options_.open_files, now);
  if (!spawned.ok()) {
    entry.start = live->start();
    logs_.Drop(entry.held);
    EndUnstarted(name, entry, RunState::kFailed, reason::kSpawn,
                 "could not " + spawned.error().message);
    return;
  }
  entry.start.reset();
  entry.live = std::move(live);
  entry.started = now.wall;
  entry.stage = Stage::kRunning;
  if (spare != 0) free_spares_.pop_back();
  Watch(name, entry, spare);
}

void AttemptTable::Watch(const AttemptName& name, Entry& entry, size_t spare) {
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

void AttemptTable::OnReady(uint64_t token, bool writers_gone) {
  const auto found = by_run_no_.find(token / 4);
  if (found == by_run_no_.end()) return;
  const AttemptName name = found->second;
  LiveRun& live = *Find(name)->live;
  if (token % 4 == kReport) {
    live.ReadReport();
    if (live.TakeStarted()) events_.push_back({name, false});
    FinishIfOver(name);
    return;
  }
  const OutputStream stream = token % 4 == kErr ? OutputStream::kErr : OutputStream::kOut;
  if (live.ReadOutput(stream, writers_gone, Now())) more_.push_back(token);
}

void AttemptTable::ReadMore() {
  for (const uint64_t token : std::exchange(more_, {})) OnReady(token, false);
}

void AttemptTable::FinishIfOver(const AttemptName& name) {
  Entry* entry = Find(name);
  if (entry == nullptr || !entry->live || !entry->live->finished()) return;
  if (entry->live->keeper_killed()) RemoveInBackground(WorkDirectoryOf(name));
  AttemptEnded ended = entry->live->Finish(Now());
  by_run_no_.erase(entry->run_no);
  entry->live.reset();
  logs_.DropIfEmpty(entry->held);
  RecordEnd(name, *entry, std::move(ended));
}

void AttemptTable::ReapChildren() {
  for (;;) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
    const auto child = children_.find(pid);
    if (child == children_.end()) continue;
    const auto run = by_run_no_.find(child->second.run_no);
    if (child->second.spare != 0) free_spares_.push_back(child->second.spare);
    children_.erase(child);
    if (run == by_run_no_.end()) continue;
    const AttemptName name = run->second;
    LiveRun& live = *Find(name)->live;
    live.KeeperExited();
    if (live.TakeStarted()) events_.push_back({name, false});
    if (live.keeper_killed()) {
      // Its process tree was reparented to the warden; KillStrays kills it before the run is over.
      ++keepers_killed_;
    } else {
      FinishIfOver(name);
    }
  }
}

// Children that are not keepers were reparented to the warden when their keeper was killed.
void AttemptTable::KillStrays() {
  const pid_t self = getpid();
  const std::vector<ProcessEntry> processes = ReadProcesses();
  bool found = false;
  for (const ProcessEntry& entry : processes) {
    if (entry.parent != self || entry.state == 'Z' || children_.count(entry.pid) > 0) continue;
    KillDescendants(entry.pid);
    kill(entry.pid, SIGKILL);
    found = true;
  }
  if (found) return;
  keepers_killed_ = 0;
  std::vector<AttemptName> over;
  for (const auto& [run_no, name] : by_run_no_) {
    if (Find(name)->live->keeper_killed()) over.push_back(name);
  }
  for (const AttemptName& name : over) FinishIfOver(name);
}

void AttemptTable::StepLeftovers(SteadyTime now) {
  if (leftovers_.empty() || now < next_leftover_look_) return;
  next_leftover_look_ = now + kLeftoverLook;
  for (const OpenStart& start : leftovers_.Step(now)) {
    const AttemptName name = NameOf(start.attempt);
    AttemptEnded ended{start.attempt,
                       {.state = RunState::kLost,
                        .reason = std::string(reason::kWardenDied),
                        .error = "the warden died during the run",
                        .started = start.started,
                        .ended = clock_.Wall()},
                       start.job_id};
    RecordEnd(name, *Find(name), std::move(ended));
  }
}

void AttemptTable::Tick(SteadyTime now) {
  for (const auto& [run_no, name] : by_run_no_) Find(name)->live->Tick(now);
  if (keepers_killed_ > 0) KillStrays();
  StepLeftovers(now);
}

SteadyTime AttemptTable::NextTick() const {
  SteadyTime next = SteadyTime::max();
  if (step_failed_) {
    next = next_step_;
  } else if (journal_->dirty() && !journal_->log().busy()) {
    next = sync_due_;  // while it is busy, its completion wakes the loop
  }
  for (const auto& [run_no, name] : by_run_no_) {
    next = std::min(next, entries_.at(name).live->NextTick());
  }
  if (!leftovers_.empty()) next = std::min(next, next_leftover_look_);
  if (keepers_killed_ > 0) next = std::min(next, clock_.Steady() + kLeftoverLook / 5);
  return next;
}

Result<bool> AttemptTable::Ready(SteadyTime now) {
  SegmentLog& log = journal_->log();
  if (log.busy() && now - order_since_ >= kDiskAnswers) {
    return {ErrorCode::kUnavailable,
            "the disk under " + options_.work_directory + " does not respond"};
  }
  // While nothing can be written, space for one more is useless; and each failed write uses up the
  // file that was made for it, so that the request for space might never be answered.
  if (disk_failure_) return *disk_failure_;
  CARILLON_ASSIGN_OR_RETURN(const bool headroom, journal_->EnsureHeadroom());
  log.AskSpace(options_.work_directory);
  const std::optional<SegmentLog::Space> space = log.space();
  if (!headroom || !space) return false;
  if (space->error != 0) {
    return {ErrorCode::kUnavailable, "the working directory cannot be reached"};
  }
  if (space->free_bytes < kFreeBytesMin || space->free_inodes < kFreeInodesMin) {
    return {ErrorCode::kExhausted, "no space left in " + options_.work_directory};
  }
  return true;
}

void AttemptTable::RemoveInBackground(const std::string& directory) {
  const pid_t cleaner = fork();
  if (cleaner == 0) {
    close_range(3, ~0u, 0);
    RemoveTree(directory);
    _exit(0);
  }
  if (cleaner > 0) children_[cleaner] = {};
}

}  // namespace carillon::executor
