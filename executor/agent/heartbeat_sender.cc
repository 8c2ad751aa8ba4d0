#include "executor/agent/heartbeat_sender.h"

#include <algorithm>

#include "executor/leases/lease_watch.h"

namespace carillon::executor {
namespace {

constexpr Duration kSampleEvery = 1s;
// Part of a new sample in the average, which so is one of about 10 s: routing should not follow
// single seconds.
constexpr double kNewPart = 0.1;
// Freed slots are reported at once if some member was last told of at most 1 free slot in 4.
constexpr int kNearlyFull = 4;
// A change is reported at once, but not more often than this.
constexpr Duration kChangeBeatEvery = 200ms;
// An attempt is reported to every member if its lease was not renewed for this long, or for 1.5
// heartbeat intervals if that is longer. Its segment may then have a new owner. The second
// heartbeat after the last renewal reports it at the latest. That is before the shortest
// configurable lease (three heartbeats and a margin) ends.
constexpr Duration kOwnerSilent = 5s;
constexpr Duration SilenceAt(Duration heartbeat_every) {
  return std::max(kOwnerSilent, heartbeat_every * 3 / 2);
}

}  // namespace

void HeartbeatSender::Beat(SteadyTime now) {
  Sample(now);
  auto cause = MemberSessions::Cause::kTime;
  if (now >= next_change_beat_) {
    const Announced current = Current();
    if (current != told_ || RoomFreed(current)) {
      told_ = current;
      next_change_beat_ = now + kChangeBeatEvery;
      cause = MemberSessions::Cause::kChange;
    }
  }
  rooms_.sessions.SendHeartbeats(
      now, cause,
      [this, now](const MemberId& member, Heartbeat* heartbeat) { Fill(member, now, heartbeat); });
}

void HeartbeatSender::Leave(SteadyTime now) {
  rooms_.sessions.SendHeartbeats(now, MemberSessions::Cause::kChange,
                                 [this, now](const MemberId& member, Heartbeat* heartbeat) {
                                   Fill(member, now, heartbeat);
                                   heartbeat->leaving = true;
                                 });
}

void HeartbeatSender::Sample(SteadyTime now) {
  if (now < next_sample_) return;
  next_sample_ = now + kSampleEvery;
  const ExecutorLoad load = ports_.load.Sample();
  if (!sampled_) load_ = load;
  sampled_ = true;
  for (double ExecutorLoad::*part :
       {&ExecutorLoad::cpu, &ExecutorLoad::memory, &ExecutorLoad::disk, &ExecutorLoad::io}) {
    load_.*part += (load.*part - load_.*part) * kNewPart;
  }
  tasks_behind_ = ports_.tasks.Look().behind;
  ports_.metrics.gauge("carillon_consumer_lag", kTasksTopic).Set(GaugeOf(tasks_behind_));
}

HeartbeatSender::Announced HeartbeatSender::Current() const {
  Announced current{.offers = rooms_.gate.offers(), .trouble = !rooms_.warden.trouble().empty()};
  for (const Lane lane : {Lane::kProcess, Lane::kLight, Lane::kHandler}) {
    current.accepting[static_cast<size_t>(lane)] = rooms_.gate.Accepts(lane);
  }
  return current;
}

// Scripts and containers are offered also while no warden is attached, on purpose: the host has
// them, and that nothing is started now is said by the free slots and the trouble.
Features HeartbeatSender::CurrentFeatures() const {
  Features isolation = ports_.warden.Isolation();
  if (!runs_as_others_) isolation.Remove(Feature::kRunAs);
  const Features programs =
      ports_.programs == nullptr ? features_ : FeaturesOf(*ports_.programs->Current());
  return programs.With(isolation);
}

// True if a heartbeat should be sent early. Only the member that owns a run learns from its result
// that a slot is free; the other members learn it from a heartbeat.
bool HeartbeatSender::RoomFreed(const Announced& current) const {
  const int told = rooms_.sessions.LeastReportedFreeSlots();
  return rooms_.sessions.several() && told <= rooms_.gate.slots() / kNearlyFull &&
         rooms_.gate.FreeSlots(Lane::kProcess) > told &&
         current.accepting[static_cast<size_t>(Lane::kProcess)];
}

// Returns the number of free slots to report to this member. The member itself deducts the tasks
// that it published until their claims are answered. So the slot of a claim that the member has not
// answered counts as free here. Otherwise the task would be deducted twice.
int HeartbeatSender::RoomFor(const MemberId& member, Lane lane) const {
  if (!rooms_.gate.Accepts(lane)) return 0;
  const int room = rooms_.gate.FreeSlots(lane) + rooms_.claims.SlotsOf(member, lane);
  // More would only wait here, while another executor may have room.
  const int rate = rooms_.gate.rate().per_second();
  return lane == Lane::kProcess && rate > 0 ? std::min(room, rate) : room;
}

// True if the attempt is reported as running. Nobody speaks for a silent one. When the warden
// does not respond, nobody here knows whether its processes live. The processes of a dead warden
// are killed; a warden without a connection kills its processes when their leases end. So the
// attempt is reported only until shortly before a lease would have ended. Then the owner decides
// by the lease.
bool HeartbeatSender::ReportsRunning(const RunEntry& entry, SteadyTime now) const {
  const bool runs = entry.stage == RunStage::kStarting || entry.stage == RunStage::kRunning;
  if (!runs) return false;
  if (entry.runner != Runner::kWarden) return !entry.silent;
  return rooms_.warden.Away(now) < rooms_.sessions.lease() - kLeaseMargin;
}

void HeartbeatSender::Fill(const MemberId& member, SteadyTime now, Heartbeat* heartbeat) const {
  heartbeat->load = load_;
  heartbeat->slots = rooms_.gate.slots();
  heartbeat->config_version = ports_.settings.version();
  heartbeat->features = CurrentFeatures();
  heartbeat->features.Add(Feature::kErrorCodes);
  heartbeat->features.Add(Feature::kShards);
  if (ports_.files != nullptr) heartbeat->features.Add(Feature::kCheckpoints);
  heartbeat->tasks_behind = tasks_behind_;
  heartbeat->trouble = rooms_.warden.trouble();
  // Counts the attempts that the store may count as RUNNING: from the claim, because its answer may
  // be lost, until the end is applied. At zero the host may be switched off.
  const RunTable& runs = rooms_.runs;
  heartbeat->running_count = runs.count(RunStage::kClaiming) + runs.count(RunStage::kStarting) +
                             runs.count(RunStage::kRunning) + runs.count(RunStage::kReporting);
  heartbeat->free_slots = RoomFor(member, Lane::kProcess);
  heartbeat->free_light_slots = RoomFor(member, Lane::kLight);
  const bool takes_handlers = rooms_.gate.Accepts(Lane::kHandler);
  std::map<std::string, int> asked = rooms_.claims.HandlerSlotsOf(member);
  for (const auto& [name, slots] : *rooms_.gate.offers()) {
    const int free = takes_handlers ? rooms_.gate.FreeSlots(name) + asked[name] : 0;
    heartbeat->handlers[name] = {.slots = slots, .free = free};
  }
  heartbeat->claiming = rooms_.claims.SentTo(member);
  rooms_.runs.ForEach([&](const RunEntry& entry) {
    const bool tells = ReportsRunning(entry, now);
    if (!tells && entry.stage != RunStage::kReporting) return;
    const bool owner_silent =
        now - entry.renewed > SilenceAt(rooms_.sessions.HeartbeatEvery(entry.member)) ||
        !rooms_.sessions.Connected(entry.member);
    if (entry.member != member && !owner_silent) return;
    (tells ? heartbeat->running : heartbeat->reporting).push_back(entry.held);
  });
}

}  // namespace carillon::executor
