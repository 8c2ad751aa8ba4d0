#include "executor/agent/executor_core.h"

#include <algorithm>
#include <set>

#include "common/base/log.h"
#include "executor/tasks/task_kinds.h"
#include "executor/warden/lease_watch.h"

namespace carillon::executor {
namespace {

constexpr Duration kRecoverAgain = 100ms;
constexpr Duration kSampleEvery = 1s;
// Freed slots are reported at once if a member was last told of at most 1 slot in 4.
constexpr int kNearlyFull = 4;
// A change is reported at once, but not more often than this.
constexpr Duration kChangeBeatEvery = 200ms;
// A lease that its member did not renew for this long, and for longer than one heartbeat interval,
// is offered to every member, because the segment may have a new owner. That happens with the
// second heartbeat after the last renewal at the latest, before the shortest configurable lease
// (three heartbeats and a margin) ends.
constexpr Duration kOwnerSilent = 5s;
constexpr Duration SilenceAt(Duration heartbeat_every) {
  return std::max(kOwnerSilent, heartbeat_every * 3 / 2);
}

ExecutorRecord RecordOf(const ExecutorOptions& options, WallTime now) {
  ExecutorRecord record;
  record.id = options.executor_id;
  record.incarnation = options.incarnation;
  record.host = options.host;
  record.ops_port = options.ops_port;
  record.labels = options.labels;
  record.slots = options.tuning.slots;
  record.version = options.version;
  record.last_heartbeat = now;
  record.registered = now;
  return record;
}

// Approximate memory that a task holds.
size_t BytesOf(const TaskMessage& task) {
  constexpr size_t kFixed = 512;
  size_t bytes = kFixed + task.command.size();
  for (const auto& [name, value] : task.env) bytes += name.size() + value.size();
  return bytes;
}

}  // namespace

ExecutorCore::Gauges::Gauges(Metrics& metrics)
    : slots_used(metrics.gauge("carillon_executor_slots", "used")),
      slots_free(metrics.gauge("carillon_executor_slots", "free")),
      config_version(metrics.gauge("carillon_config_version")),
      queue_depth(metrics.gauge("carillon_queue_depth", "executor")) {}

ExecutorCore::ExecutorCore(const ExecutorDaemon::Ports& ports, const ExecutorOptions& options,
                           ResultSender& sender, LogSender& logs)
    : ports_(ports),
      options_(options),
      sender_(sender),
      logs_(logs),
      gauges_(ports.metrics),
      intake_({.bus = ports.tasks, .metrics = ports.metrics, .public_keys = ports.public_keys},
              {.executor = options.executor_id, .incarnation = options.incarnation}),
      sessions_(ports.link, RecordOf(options, ports.clock.Wall())),
      slots_(options.tuning.slots),
      output_bytes_max_(options.tuning.output_bytes_max) {}

SteadyTime ExecutorCore::Step(SteadyTime now) {
  more_ = false;
  // Nothing is claimed until the attempts of an earlier daemon are known: they may occupy slots.
  const bool recovered = Recover(now);
  TakeMessages(now);
  TakeWardenEvents();
  WatchWarden(now);
  StartDue(now);
  CheckLeases(now);
  HandOver();
  if (recovered) {
    TakeTasks(now);
    DropExpired(now);
    ClaimFree(now);
    AskAgain(now);
  }
  sessions_.Sync(now);
  sessions_.FlushClaims(now);
  if (recovered) Beat(now);
  PublishStatus();
  return recovered ? NextWake(now) : now + kRecoverAgain;
}

bool ExecutorCore::Recover(SteadyTime) {
  if (spool_loaded_ && warden_listed_) return true;
  if (!spool_loaded_) {
    Result<std::vector<AttemptEnded>> spooled = ports_.spool.Load();
    if (!spooled.ok()) {
      log::Error("executor", "spool: {}", spooled.error().message);
      return false;
    }
    for (AttemptEnded& ended : *spooled) AdoptEnded(std::move(ended), ResultHome::kSpool);
    spool_loaded_ = true;
  }
  Result<Warden::Inventory> inventory = ports_.warden.List();
  if (!inventory.ok()) return false;
  for (const AttemptStarted& started : inventory->running) AdoptRunning(started);
  for (AttemptEnded& ended : inventory->ended) AdoptEnded(std::move(ended), ResultHome::kWarden);
  warden_listed_ = true;
  if (runs_.size() > 0) {
    log::Info("executor", "found {} running and {} to report", runs_.count(RunStage::kRunning),
              runs_.count(RunStage::kReporting));
  }
  return true;
}

void ExecutorCore::TakeTasks(SteadyTime now) {
  const size_t room = std::min(kQueueMax - queues_[0].size(), kQueueMax - queues_[1].size());
  const size_t bytes = std::min(queues_[0].bytes_room(), queues_[1].bytes_room());
  const size_t records =
      std::min({kRecordsPerStep, room / kBundleTasksMax, bytes / kRecordBytesMax});
  if (records == 0) return;  // the tasks wait on the bus
  const WallTime cluster_now = cluster_time_.At(now).value_or(ports_.clock.Wall());
  std::vector<TaskMessage> tasks = intake_.Take(records, cluster_now);
  more_ = more_ || !tasks.empty();
  for (TaskMessage& task : tasks) Admit(std::move(task), now);
}

void ExecutorCore::Admit(TaskMessage task, SteadyTime now) {
  RunEntry* const known = runs_.Find({task.key, task.attempt});
  if (known == nullptr) return Enqueue(std::move(task), now);
  // Published again, as a newer version of the job or by the segment's new owner. An open claim
  // keeps its token and goes to the current owner; an accepted one keeps what it has.
  if (known->stage == RunStage::kQueued) {
    // An older version that arrived late.
    if (task.def_version < known->task.def_version) return;
    // Everything may differ, even the queue.
    QueueOf(known->lane).Remove(known->id);
    runs_.Move(*known, RunStage::kGone);
    Enqueue(std::move(task), now);
  } else if (known->stage == RunStage::kClaiming && known->member != task.member &&
             known->task.def_version == task.def_version) {
    known->member = task.member;
    known->asked = SteadyTime{};
    next_ask_ = now;
  }
}

void ExecutorCore::Enqueue(TaskMessage task, SteadyTime now) {
  const AttemptId id{task.key, task.attempt};
  const Lane lane = KindOf(task.type).in_process ? Lane::kLight : Lane::kProcess;
  const Queue::Waiting waiting{.priority = task.priority,
                               .arrived = now,
                               .expires = now + kQueueWaitMax,
                               .bytes = BytesOf(task)};
  if (draining_.load() || !QueueOf(lane).Push(id, waiting).ok()) {
    ports_.metrics.counter("carillon_queue_rejections_total", "executor").Add();
    return;
  }
  RunEntry entry;
  entry.id = id;
  entry.held = {
      .key = task.key, .segment = task.segment, .job_no = task.job_no, .attempt = task.attempt};
  entry.lane = lane;
  entry.member = task.member;
  entry.since = now;
  entry.kill_at_lease_end = task.on_lost == OnLost::kRetry;
  entry.task = std::move(task);
  runs_.Insert(std::move(entry));
}

// The owner publishes expired tasks elsewhere; if it chooses this executor again, they come back.
void ExecutorCore::DropExpired(SteadyTime now) {
  for (Queue& queue : queues_) {
    for (const AttemptId& id : queue.PopExpired(now)) {
      RunEntry* entry = runs_.Find(id);
      if (entry != nullptr) runs_.Move(*entry, Next(entry->stage, RunEvent::kQueueExpired).stage);
      ports_.metrics.counter("carillon_queue_rejections_total", "executor").Add();
    }
  }
}

bool ExecutorCore::Accepts(Lane lane) {
  if (draining_.load() || !to_sender_.empty()) return false;
  if (runs_.reporting_bytes() > kReportingBytesMax) return false;
  if (lane == Lane::kLight) return !sender_.blocked();
  return warden_listed_ && runs_.count(RunStage::kReporting) < kReportingMax &&
         ports_.warden.CanStart().ok();
}

int ExecutorCore::FreeSlots(Lane lane) const {
  const int slots = lane == Lane::kLight ? options_.light_slots : slots_.load();
  return std::max(0, slots - runs_.used(lane));
}

// Returns the number of free slots to report to this member. The member itself deducts the tasks
// that it published until their claims are answered. So the slot of a claim that it has not
// answered counts as free here; otherwise the task would be deducted twice.
int ExecutorCore::RoomFor(const MemberId& member, Lane lane) {
  if (!Accepts(lane)) return 0;
  int room = FreeSlots(lane);
  for (const auto& [token, id] : claims_) {
    const RunEntry& entry = *runs_.Find(id);
    if (entry.lane == lane && entry.member == member && entry.holds_slot) ++room;
  }
  return std::max(0, room);
}

// A hanging warden keeps its attempts and does nothing, so the members must be told.
void ExecutorCore::WatchWarden(SteadyTime now) {
  const Status warden = ports_.warden.CanStart();
  const bool away = warden.code() == ErrorCode::kUnavailable;
  if (!away || !warden_seen_) warden_seen_ = now;
  const bool in_trouble = away && now - *warden_seen_ >= kWardenPatience;
  if (in_trouble == !trouble_.empty()) return;
  trouble_ = in_trouble ? warden.error().message : "";
  if (in_trouble) {
    log::Error("executor", "accepts no work: {}", trouble_);
  } else {
    log::Info("executor", "the warden responds: accepts work again");
  }
}

// Attempts of the warden are left out, so that their leases are not renewed, once the warden has
// been unreachable for as long as the leases last. A dead warden took its processes with it, and a
// live one without a connection kills them by itself. The end of the lease then tells the owner
// what nobody here can.
bool ExecutorCore::TellsRunning(const RunEntry& entry, SteadyTime now) const {
  const bool runs = entry.stage == RunStage::kStarting || entry.stage == RunStage::kRunning;
  if (!runs) return false;
  if (entry.lane == Lane::kLight || !warden_seen_) return true;
  return now - *warden_seen_ < lease_ - kLeaseMargin;
}

// True if a heartbeat should be sent early. A result tells only the member that owns the run that
// a slot is free; the others learn from a heartbeat of free slots and of lanes that open or close.
bool ExecutorCore::RoomChanged() {
  if (told_trouble_ == trouble_.empty()) return true;
  for (const Lane lane : {Lane::kProcess, Lane::kLight}) {
    if (told_accepting_[static_cast<size_t>(lane)] != Accepts(lane)) return true;
  }
  const int told = sessions_.LeastRoomTold();
  return sessions_.several() && told <= slots_.load() / kNearlyFull &&
         FreeSlots(Lane::kProcess) > told && Accepts(Lane::kProcess);
}

void ExecutorCore::ClaimFree(SteadyTime now) {
  for (const Lane lane : {Lane::kLight, Lane::kProcess}) {
    if (QueueOf(lane).size() == 0 || !Accepts(lane)) continue;
    while (FreeSlots(lane) > 0) {
      const std::optional<AttemptId> id = QueueOf(lane).Pop();
      if (!id) break;
      RunEntry* entry = runs_.Find(*id);
      if (entry == nullptr) continue;
      if (!sessions_.Connected(entry->member)) {
        // No member to claim from: the segment's next owner publishes the task again.
        runs_.Move(*entry, RunStage::kGone);
        continue;
      }
      runs_.Move(*entry, Next(entry->stage, RunEvent::kSlotTaken).stage);
      entry->held.token = ports_.tokens.Next();
      entry->since = now;
      claims_[entry->held.token] = *id;
      SendClaim(*entry, now);
    }
  }
}

void ExecutorCore::SendClaim(RunEntry& entry, SteadyTime now) {
  entry.asked = now;
  ClaimRequest request;
  request.key = entry.held.key;
  request.segment = entry.held.segment;
  request.job_no = entry.held.job_no;
  request.attempt = entry.held.attempt;
  request.def_version = entry.task.def_version;
  request.token = entry.held.token;
  request.executor = options_.executor_id;
  request.incarnation = options_.incarnation;
  request.overlap = entry.task.overlap;
  request.wants_secrets = !entry.task.secret_env.empty();
  sessions_.QueueClaim(entry.member, std::move(request), now);
}

// A claim is repeated with its own token only, so that the owner can recognise it and answer
// "accepted again". It is dropped when its lease would have ended; then whoever owns the segment
// decides by the lease.
void ExecutorCore::AskAgain(SteadyTime now) {
  if (now < next_ask_) return;
  next_ask_ = now + kAskAgain / 2;
  std::set<MemberId> asked_again;
  for (const AttemptId& id : runs_.InStage(RunStage::kClaiming)) {
    RunEntry& entry = *runs_.Find(id);
    if (now >= entry.since + lease_ - kLeaseMargin) {
      GiveUp(entry);
      continue;
    }
    if (now >= entry.since + kSlotPatience) runs_.SetSlot(entry, false);
    if (now < entry.asked + sessions_.Patience(entry.member)) continue;
    // Zero: the claim has just moved to this member and is sent to it for the first time. That does
    // not mean that the member is slow to answer.
    if (entry.asked != SteadyTime{}) asked_again.insert(entry.member);
    SendClaim(entry, now);
  }
  for (const MemberId& member : asked_again) sessions_.OnAskedAgain(member);
}

void ExecutorCore::GiveUp(RunEntry& entry) {
  log::Warn("executor", "claim of run {} attempt {} was never answered", EncodeRunId(entry.id.key),
            entry.id.attempt);
  claims_.erase(entry.held.token);
  runs_.Move(entry, Next(entry.stage, RunEvent::kGivenUp).stage);
}

void ExecutorCore::Beat(SteadyTime now) {
  if (now >= next_sample_) {
    next_sample_ = now + kSampleEvery;
    load_ = ports_.load.Sample();
    tasks_behind_ = ports_.tasks.Look().behind;
    ports_.metrics.gauge("carillon_consumer_lag", kTasksTopic).Set(GaugeOf(tasks_behind_));
  }
  const auto fill = [this, now](const MemberId& member, Heartbeat* heartbeat) {
    FillHeartbeat(member, now, heartbeat);
  };
  const bool changed = now >= next_change_beat_ && RoomChanged();
  if (changed) {
    for (const Lane lane : {Lane::kProcess, Lane::kLight}) {
      told_accepting_[static_cast<size_t>(lane)] = Accepts(lane);
    }
    told_trouble_ = !trouble_.empty();
    next_change_beat_ = now + kChangeBeatEvery;
  }
  sessions_.SendHeartbeats(
      now, changed ? MemberSessions::Cause::kChange : MemberSessions::Cause::kTime, fill);
}

void ExecutorCore::Leave(SteadyTime now) {
  draining_.store(true);
  sessions_.SendHeartbeats(now, MemberSessions::Cause::kChange,
                           [this, now](const MemberId& member, Heartbeat* heartbeat) {
                             FillHeartbeat(member, now, heartbeat);
                             heartbeat->leaving = true;
                           });
}

void ExecutorCore::FillHeartbeat(const MemberId& member, SteadyTime now, Heartbeat* heartbeat) {
  heartbeat->load = load_;
  heartbeat->slots = slots_.load();
  heartbeat->config_version = ports_.settings.version();
  heartbeat->takes_secrets = true;
  heartbeat->tasks_behind = tasks_behind_;
  heartbeat->trouble = trouble_;
  // Counted as the store counts: RUNNING from the claim, whose answer may be lost, until the end is
  // applied. At zero the host may be switched off.
  heartbeat->running_count = runs_.count(RunStage::kClaiming) + runs_.count(RunStage::kStarting) +
                             runs_.count(RunStage::kRunning) + runs_.count(RunStage::kReporting);
  heartbeat->free_slots = RoomFor(member, Lane::kProcess);
  heartbeat->free_light_slots = RoomFor(member, Lane::kLight);
  for (const auto& [token, id] : claims_) {
    const RunEntry& entry = *runs_.Find(id);
    if (entry.member == member) heartbeat->claiming.push_back(entry.held);
  }
  runs_.ForEach([&](const RunEntry& entry) {
    const bool runs = TellsRunning(entry, now);
    if (!runs && entry.stage != RunStage::kReporting) return;
    const bool owner_silent =
        now - entry.renewed > SilenceAt(sessions_.HeartbeatEvery(entry.member)) ||
        !sessions_.Connected(entry.member);
    if (entry.member != member && !owner_silent) return;
    (runs ? heartbeat->running : heartbeat->reporting).push_back(entry.held);
  });
}

void ExecutorCore::PublishStatus() {
  const int running = runs_.count(RunStage::kStarting) + runs_.count(RunStage::kRunning);
  const int reporting = runs_.count(RunStage::kReporting);
  idle_.store(running + reporting + runs_.count(RunStage::kClaiming) == 0 && spool_loaded_ &&
              warden_listed_);
  gauges_.slots_used.Set(runs_.used(Lane::kProcess));
  gauges_.slots_free.Set(FreeSlots(Lane::kProcess));
  gauges_.config_version.Set(static_cast<double>(ports_.settings.version()));
  gauges_.queue_depth.Set(runs_.count(RunStage::kQueued));
  MutexLock lock(mu_);
  status_ = {.running = running,
             .queued = runs_.count(RunStage::kQueued),
             .reporting = reporting,
             .warden_ready = warden_listed_ && ports_.warden.CanStart().ok()};
  refusal_ = sessions_.refusal();
}

SteadyTime ExecutorCore::NextWake(SteadyTime now) const {
  if (more_) return now;
  SteadyTime next = sessions_.NextDue();
  if (runs_.count(RunStage::kClaiming) > 0) next = std::min(next, next_ask_);
  if (!starting_.empty() || !to_sender_.empty()) next = std::min(next, now + kRecoverAgain);
  for (const Queue& queue : queues_) {
    // A full disk or an absent warden is checked again soon.
    if (queue.size() > 0) next = std::min({next, queue.NextExpiry(), now + kRecoverAgain});
  }
  return next;
}

std::string ExecutorCore::refusal() const {
  MutexLock lock(mu_);
  return refusal_;
}

ExecutorDaemon::Status ExecutorCore::status() const {
  MutexLock lock(mu_);
  return status_;
}

}  // namespace carillon::executor
