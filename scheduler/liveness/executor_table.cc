#include "scheduler/liveness/executor_table.h"

#include <cmath>
#include <utility>

#include "common/base/failpoint.h"
#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

// A smaller change of the load does not change where runs go.
constexpr double kLoadMoved = 0.05;
// A task is not claimed at once by an executor that is busy in some other way.
constexpr int kBeatsUntilSuspected = 2;
constexpr int64_t kOvertakenMaxUs = 60'000'000;

bool Moved(const ExecutorLoad& a, const ExecutorLoad& b) {
  const auto far = [](double x, double y) { return std::abs(x - y) > kLoadMoved; };
  return far(a.cpu, b.cpu) || far(a.memory, b.memory) || far(a.disk, b.disk) || far(a.io, b.io);
}

bool Lists(const Heartbeat& heartbeat) {
  return !heartbeat.claiming.empty() || !heartbeat.running.empty() || !heartbeat.reporting.empty();
}

}  // namespace

ExecutorTable::Admission ExecutorTable::Admit(const ExecutorRecord& record, SteadyTime now) {
  MutexLock lock(mu_);
  const auto found = known_.find(record.id);
  if (found == known_.end()) {
    return known_.size() < options_.executors_max ? Admission::kAdmit : Admission::kFull;
  }
  if (found->second.record.incarnation == record.incarnation) return Admission::kAdmit;
  const Known& known = found->second;
  const SteadyTime heard = known.heard;
  const Duration wait = ReplacedAfter(known.next_in, options_.incarnation_wait, options_.health);
  if (known.left || now - heard >= wait) return Admission::kAdmit;
  // A restart begins after the end. Who was there while the other one spoke is a second host, which
  // must not take the name, and with it the leases, at each interruption of the network.
  const auto waits = newcomers_.find(record.id);
  const bool twin = waits != newcomers_.end() && waits->second.incarnation == record.incarnation &&
                    heard > waits->second.since;
  if (known.ended && !twin) return Admission::kAdmit;
  auto [newcomer, fresh] = newcomers_.try_emplace(record.id, Newcomer{record.incarnation, now});
  if (!fresh && newcomer->second.incarnation != record.incarnation) {
    newcomer->second = {record.incarnation, now};
  }
  // If the accepted process was heard after the newcomer had registered, both processes are alive.
  const bool both_alive =
      heard > newcomer->second.since && now - newcomer->second.since >= options_.health.heartbeat;
  return both_alive ? Admission::kRefuse : Admission::kWait;
}

std::optional<ExecutorRecord> ExecutorTable::AcceptKnown(ExecutorRecord record, SteadyTime now) {
  MutexLock lock(mu_);
  const auto found = known_.find(record.id);
  if (found == known_.end()) return std::nullopt;
  record.enabled = found->second.record.enabled;
  record.draining = found->second.record.draining;
  record.labels = found->second.record.labels;
  AcceptLocked(record, now);
  return record;
}

void ExecutorTable::Accept(const ExecutorRecord& record, SteadyTime now) {
  MutexLock lock(mu_);
  AcceptLocked(record, now);
}

void ExecutorTable::AcceptLocked(const ExecutorRecord& record, SteadyTime now) {
  newcomers_.erase(record.id);
  const auto [entry, fresh] = known_.try_emplace(record.id);
  Known& known = entry->second;
  const bool same = known.record.incarnation == record.incarnation;
  // The record of a new one is the store's, which need not be told its own words.
  const ExecutorState before = fresh ? record.state : known.record.state;
  state_changed_ = state_changed_ || fresh || before != ExecutorState::kOnline;
  if (before != ExecutorState::kOnline) unreported_.insert(record.id);
  const std::optional<Features> features = same ? known.record.features : std::nullopt;
  const std::optional<BreakerView> breaker = same ? known.record.breaker : std::nullopt;
  const bool claims_nothing = same && known.record.claims_nothing;
  std::map<std::string, HandlerSlots> handlers = std::move(known.record.handlers);
  if (!same) known.breaker.Reset();
  known.record = record;
  known.record.breaker = breaker;
  known.record.claims_nothing = claims_nothing;
  known.record.features = features;  // until the next heartbeat
  if (same) known.record.handlers = std::move(handlers);
  known.record.state = ExecutorState::kOnline;
  known.left = false;
  known.heard = now;
  known.next_in = {};
  known.ended.reset();
  known.asked.reset();
  known.stirred = true;
  if (!same) {
    // The new process's free slots are not known until its first heartbeat.
    known.free_slots = 0;
    known.free_light_slots = 0;
    known.sent_us = 0;
    known.claiming.clear();
    known.running.clear();
    known.reporting.clear();
    ++known.heartbeats;
  }
  changed_.insert(record.id);
}

bool ExecutorTable::HeartbeatFrom(const ExecutorId& id, const Incarnation& incarnation,
                                  const Heartbeat& heartbeat, WallTime wall, SteadyTime now) {
  MutexLock lock(mu_);
  const auto found = known_.find(id);
  if (found == known_.end() || found->second.record.incarnation != incarnation) return false;
  Known& known = found->second;
  known.heard = now;
  known.ended.reset();
  known.asked.reset();
  known.record.last_heartbeat = wall;
  // It announced another interval than the executor keeps to since, and knows of other attempts.
  // A host that was restored from a snapshot begins at an earlier time, and is believed.
  const bool overtaken =
      heartbeat.sent_us < known.sent_us && known.sent_us - heartbeat.sent_us < kOvertakenMaxUs;
  if (overtaken && !failpoint::Broken("quiet.overtaken")) {
    if (!known.left) SetState(known, StateOf(known, now));
    return true;
  }
  const bool news = SaysNew(known, heartbeat);
  known.sent_us = heartbeat.sent_us;
  known.next_in = heartbeat.next_in;
  known.free_slots = heartbeat.free_slots;
  known.free_light_slots = heartbeat.free_light_slots;
  known.record.features = heartbeat.features;
  known.record.handlers = heartbeat.handlers;
  known.claiming = heartbeat.claiming;
  known.running = heartbeat.running;
  known.reporting = heartbeat.reporting;
  if (heartbeat.slots > 0) known.record.slots = heartbeat.slots;
  known.record.config_version = heartbeat.config_version;
  known.record.tasks_behind = heartbeat.tasks_behind;
  known.record.running = heartbeat.running_count;
  known.record.load = heartbeat.load;
  known.left = heartbeat.leaving;
  known.record.trouble = heartbeat.trouble;
  SetState(known, known.left ? ExecutorState::kOffline : StateOf(known, now));
  if (!news) return true;
  // Only with what routing sees: a view that is taken later must not look like a report that knows
  // of the claims since.
  ++known.heartbeats;
  known.listed = Lists(heartbeat);
  known.stirred = false;
  known.routed_load = heartbeat.load;
  changed_.insert(id);
  return true;
}

bool ExecutorTable::SaysNew(const Known& known, const Heartbeat& heartbeat) {
  const ExecutorRecord& record = known.record;
  const bool same_slots = known.free_slots == heartbeat.free_slots &&
                          known.free_light_slots == heartbeat.free_light_slots &&
                          (heartbeat.slots == 0 || record.slots == heartbeat.slots);
  return known.stirred || known.listed || Lists(heartbeat) || !same_slots ||
         record.features != heartbeat.features || record.handlers != heartbeat.handlers ||
         record.trouble != heartbeat.trouble || known.left != heartbeat.leaving ||
         Moved(known.routed_load, heartbeat.load);
}

bool ExecutorTable::MessageFrom(const ExecutorId& id, const Incarnation& incarnation,
                                SteadyTime now) {
  MutexLock lock(mu_);
  const auto found = known_.find(id);
  if (found == known_.end() || found->second.record.incarnation != incarnation) return false;
  found->second.heard = now;
  found->second.ended.reset();
  found->second.asked.reset();
  found->second.stirred = true;
  return true;
}

void ExecutorTable::SetClaimsNothing(const ExecutorId& id, bool nothing) {
  MutexLock lock(mu_);
  const auto found = known_.find(id);
  if (found != known_.end()) found->second.record.claims_nothing = nothing;
}

void ExecutorTable::StreamEnded(const ExecutorId& id, const Incarnation& incarnation,
                                SteadyTime now) {
  MutexLock lock(mu_);
  const auto found = known_.find(id);
  if (found == known_.end() || found->second.record.incarnation != incarnation) return;
  if (!found->second.ended) found->second.ended = now;
}

bool ExecutorTable::Suspect(const ExecutorId& id, const Incarnation& incarnation, SteadyTime since,
                            SteadyTime now) {
  MutexLock lock(mu_);
  const auto found = known_.find(id);
  if (found == known_.end() || found->second.record.incarnation != incarnation) return false;
  Known& known = found->second;
  if (known.heard >= since || known.record.state != ExecutorState::kOnline) return false;
  // The timeout may be shorter than the patience, and no other task may follow. So the first one is
  // remembered, and JudgeHealth judges.
  if (!known.asked) {
    known.asked = since;
    switched_.insert(id);
  }
  SetState(known, StateOf(known, now));
  return known.record.state != ExecutorState::kOnline;
}

void ExecutorTable::Refresh(const std::vector<ExecutorRecord>& stored) {
  MutexLock lock(mu_);
  for (const ExecutorRecord& record : stored) {
    const auto found = known_.find(record.id);
    if (found == known_.end()) continue;
    ExecutorRecord& known = found->second.record;
    const bool switched = known.enabled != record.enabled || known.draining != record.draining;
    if (switched) switched_.insert(record.id);
    if (switched || known.labels != record.labels) changed_.insert(record.id);
    // To disable and enable an executor says that its host was looked at.
    if (record.enabled && !known.enabled) found->second.breaker.Reset();
    known.enabled = record.enabled;
    known.draining = record.draining;
    known.labels = record.labels;
  }
}

bool ExecutorTable::JudgeHealth(SteadyTime now) {
  MutexLock lock(mu_);
  size_t living = 0;
  for (auto& [id, known] : known_) {
    if (!known.left) SetState(known, StateOf(known, now));
    if (!known.left && known.record.state != ExecutorState::kLost) ++living;
    FollowBreaker(known, now);
  }
  quiet_heartbeat_ = QuietHeartbeat(living, options_.health.heartbeat, options_.quiet_each);
  ForgetLocked(now);
  return std::exchange(state_changed_, false);
}

void ExecutorTable::AttemptEnded(const ExecutorId& id, JobNo job, HostWord word, SteadyTime now) {
  MutexLock lock(mu_);
  const auto found = known_.find(id);
  if (found == known_.end()) return;
  found->second.stirred = true;
  found->second.breaker.Note(job, word, now);
  FollowBreaker(found->second, now);
}

void ExecutorTable::FollowBreaker(Known& known, SteadyTime now) {
  std::optional<BreakerView> view;
  const HostBreaker& breaker = known.breaker;
  if (breaker.Pauses(now) || breaker.Probes(now)) {
    view = BreakerView{.half_open = breaker.Probes(now), .pause = breaker.pause()};
  }
  if (view == known.record.breaker) return;
  if (!view) {
    log::Info("liveness", "executor gets work again executor_id={}", known.record.id.value());
  } else if (!view->half_open) {
    log::Warn("liveness",
              "executor gets no work for {} s: its host could not run attempts executor_id={}",
              view->pause / 1s, known.record.id.value());
  }
  known.record.breaker = view;
  changed_.insert(known.record.id);
  state_changed_ = true;
}

ExecutorState ExecutorTable::StateOf(const Known& known, SteadyTime now) const {
  Contact contact{.silence = now - known.heard, .next_in = known.next_in};
  if (known.ended) contact.ended = now - *known.ended;
  const ExecutorState state = HealthOf(contact, options_.health);
  const bool suspected =
      known.asked && now - *known.asked >= kBeatsUntilSuspected * options_.health.heartbeat;
  const bool troubled = suspected || !known.record.trouble.empty();
  return state == ExecutorState::kOnline && troubled ? ExecutorState::kUnhealthy : state;
}

void ExecutorTable::SetState(Known& known, ExecutorState state) {
  if (state == known.record.state) return;
  known.record.state = state;
  changed_.insert(known.record.id);
  unreported_.insert(known.record.id);
  if (state == ExecutorState::kUnhealthy || state == ExecutorState::kLost) {
    fallen_.insert(known.record.id);
  }
  state_changed_ = true;
}

void ExecutorTable::ForgetLocked(SteadyTime now) {
  for (auto at = known_.begin(); at != known_.end();) {
    // An executor is forgotten only after routing has taken its last change, namely that it is lost
    // or has left.
    const bool forgotten = now - at->second.heard >= options_.lost_kept &&
                           (at->second.left || at->second.record.state == ExecutorState::kLost) &&
                           !changed_.contains(at->first);
    if (forgotten) changed_.insert(at->first);
    state_changed_ = state_changed_ || forgotten;
    at = forgotten ? known_.erase(at) : std::next(at);
  }
  std::erase_if(newcomers_,
                [&](const auto& entry) { return now - entry.second.since >= options_.lost_kept; });
}

std::vector<ExecutorView> ExecutorTable::TakeChanges() {
  std::vector<ExecutorView> views;
  MutexLock lock(mu_);
  views.reserve(changed_.size());
  for (const ExecutorId& id : changed_) {
    const auto known = known_.find(id);
    views.push_back(known == known_.end() ? ExecutorView{.id = id, .forgotten = true}
                                          : TakeView(known->second));
  }
  changed_.clear();
  return views;
}

bool ExecutorTable::has_changes() const {
  MutexLock lock(mu_);
  return !changed_.empty();
}

std::vector<ExecutorRecord> ExecutorTable::TakeLocked(std::set<ExecutorId>& ids) {
  std::vector<ExecutorRecord> records;
  for (const ExecutorId& id : std::exchange(ids, {})) {
    const auto known = known_.find(id);
    if (known != known_.end()) records.push_back(known->second.record);
  }
  return records;
}

std::vector<ExecutorRecord> ExecutorTable::TakeFallen() {
  MutexLock lock(mu_);
  return TakeLocked(fallen_);
}

std::vector<ExecutorRecord> ExecutorTable::TakeStateChanges() {
  MutexLock lock(mu_);
  return TakeLocked(unreported_);
}

std::vector<ExecutorRecord> ExecutorTable::TakeSwitched() {
  MutexLock lock(mu_);
  return TakeLocked(switched_);
}

std::map<ExecutorState, int> ExecutorTable::Counts() const {
  std::map<ExecutorState, int> counts{{ExecutorState::kOnline, 0},
                                      {ExecutorState::kUnhealthy, 0},
                                      {ExecutorState::kLost, 0},
                                      {ExecutorState::kOffline, 0}};
  MutexLock lock(mu_);
  for (const auto& [id, known] : known_) ++counts[known.record.state];
  return counts;
}

std::vector<ExecutorRecord> ExecutorTable::Records() const {
  std::vector<ExecutorRecord> records;
  MutexLock lock(mu_);
  records.reserve(known_.size());
  for (const auto& [id, known] : known_) records.push_back(known.record);
  return records;
}

std::optional<ExecutorRecord> ExecutorTable::Find(const ExecutorId& id) const {
  MutexLock lock(mu_);
  const auto found = known_.find(id);
  if (found == known_.end()) return std::nullopt;
  return found->second.record;
}

std::optional<Incarnation> ExecutorTable::IncarnationOf(const ExecutorId& id) const {
  MutexLock lock(mu_);
  const auto found = known_.find(id);
  if (found == known_.end()) return std::nullopt;
  return found->second.record.incarnation;
}

ExecutorView ExecutorTable::TakeView(Known& known) {
  const ExecutorRecord& record = known.record;
  std::map<std::string, int> free_handler_slots;
  for (const auto& [name, slots] : record.handlers) free_handler_slots[name] = slots.free;
  return {.id = record.id,
          .incarnation = record.incarnation,
          .usable = record.state == ExecutorState::kOnline && record.enabled && !record.draining &&
                    (!record.breaker || record.breaker->half_open),
          .one_at_a_time = record.breaker && record.breaker->half_open,
          .labels = record.labels,
          .slots = record.slots,
          .free_slots = known.free_slots,
          .free_light_slots = known.free_light_slots,
          .free_handler_slots = std::move(free_handler_slots),
          .heartbeats = known.heartbeats,
          .features = known.record.features.value_or(Features{}),
          .load = known.record.load,
          .claiming = std::exchange(known.claiming, {}),
          .running = std::exchange(known.running, {}),
          .reporting = std::exchange(known.reporting, {})};
}

}  // namespace carillon::scheduler
