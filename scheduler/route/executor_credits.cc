#include "scheduler/route/executor_credits.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace carillon::scheduler {
namespace {

// Short, so that prefetch adapts to a burst before the burst ends.
constexpr Duration kWindow = 250ms;
// A window ends with the first claim after kWindow. A longer window counts as this long.
constexpr Duration kQuietMax = 10s;
// Twice the measured number of tasks in transit. So a slow window does not throttle the
// next window.
constexpr double kGain = 2.0;
// Parts of the weighted load. Busy slots count as much as the processor, because they count
// at once.
constexpr double kCpuPart = 0.35;
constexpr double kMemoryPart = 0.2;
constexpr double kIoPart = 0.1;
constexpr double kBusyPart = 0.35;
constexpr double kNearlyFull = 0.95;
constexpr int kWeightMax = 100;

int WeightOf(const std::map<std::string, std::string>& labels) {
  const auto found = labels.find("weight");
  if (found == labels.end()) return 1;
  int weight = 0;
  const char* end = found->second.data() + found->second.size();
  const auto [read, error] = std::from_chars(found->second.data(), end, weight);
  return error == std::errc() && read == end ? std::clamp(weight, 1, kWeightMax) : 1;
}

}  // namespace

bool ExecutorCredits::Update(const Report& report) {
  const Index next = unused_.empty() ? executors_.size() : unused_.back();
  const auto [at, fresh] = index_.try_emplace(report.id, next);
  if (fresh) {
    if (unused_.empty()) {
      executors_.emplace_back();
    } else {
      unused_.pop_back();
    }
    executors_[at->second] = {.id = report.id};
  }
  Executor& executor = executors_[at->second];
  executor.forgotten = false;
  const bool replaced = !fresh && executor.incarnation != report.incarnation;
  const bool went = executor.usable && !report.usable;
  if (replaced) {
    executor.timeouts = 0;
    for (Room& room : executor.rooms) room.prefetch = 0;
  }
  executor.incarnation = report.incarnation;
  executor.usable = report.usable;
  executor.one_at_a_time = report.one_at_a_time;
  if (fresh || executor.features != report.features || executor.labels != report.labels) {
    executor.features = report.features;
    executor.labels = report.labels;
    executor.weight = WeightOf(report.labels);
    ++changes_;
    ++openings_;
  }
  executor.slots = report.slots;
  executor.load = report.load;
  if (executor.heartbeats != report.heartbeats) {
    executor.heartbeats = report.heartbeats;
    for (Room& room : executor.rooms) {
      room.free = 0;
      room.offered = false;
      room.claimed_since = 0;
      room.ended_since = 0;
    }
    const auto take = [&](SlotClass slots, int free) {
      Room& room = RoomOf(at->second, slots);
      room.free = free;
      room.offered = true;
      room.most_free = std::max(room.most_free, free);
    };
    take(SlotClass::kProcess, report.free_slots);
    take(SlotClass::kLight, report.free_light_slots);
    for (const auto& [handler, free] : report.free_handler_slots) take(HandlerSlots(handler), free);
  }
  Reopen(at->second);
  return replaced || went;
}

SlotClass ExecutorCredits::HandlerSlots(const std::string& handler) {
  const auto [at, fresh] = handlers_.try_emplace(handler, static_cast<SlotClass>(open_.size()));
  if (fresh) open_.emplace_back();
  return at->second;
}

void ExecutorCredits::Reopen(Index index) {
  for (size_t i = 0; i < executors_[index].rooms.size(); ++i) {
    ReopenOne(index, static_cast<SlotClass>(i));
  }
}

// If the executor gets one task at a time, a change of one kind of slot opens or closes all.
void ExecutorCredits::Reopen(Index index, SlotClass slots) {
  const Executor& executor = executors_[index];
  if (executor.one_at_a_time || executor.timeouts >= kSilentAfter) return Reopen(index);
  ReopenOne(index, slots);
}

void ExecutorCredits::ReopenOne(Index index, SlotClass slots) {
  IndexSet& open = open_[static_cast<size_t>(slots)];
  const bool was = open.Contains(index);
  const bool is = Available(index, slots) > 0;
  if (was == is) return;
  if (is) {
    open.Insert(index);
    ++openings_;
  } else {
    open.Erase(index);
  }
}

void ExecutorCredits::Answers(Index index) {
  executors_[index].timeouts = 0;
  Reopen(index);
}

void ExecutorCredits::Forget(const ExecutorId& id) {
  const auto found = index_.find(id);
  if (found == index_.end()) return;
  Executor& executor = executors_[found->second];
  executor.usable = false;
  if (!std::exchange(executor.forgotten, true)) leaving_.push_back(found->second);
  Reopen(found->second);
}

void ExecutorCredits::RemoveForgotten() {
  std::erase_if(leaving_, [this](Index index) {
    Executor& executor = executors_[index];
    if (!executor.forgotten) return true;  // the executor has registered again
    if (executor.open > 0) return false;
    index_.erase(executor.id);
    executor = {};
    ++changes_;
    unused_.push_back(index);
    return true;
  });
}

ExecutorCredits::Index ExecutorCredits::Find(const ExecutorId& id) const {
  const auto found = index_.find(id);
  return found == index_.end() ? kNone : found->second;
}

int ExecutorCredits::Available(Index index, SlotClass slots) const {
  const Executor& executor = executors_[index];
  if (!executor.usable) return 0;
  const Room& of_class = RoomAt(index, slots);
  const int room = std::max(0, Unused(of_class) + of_class.prefetch);
  if (!executor.one_at_a_time && executor.timeouts < kSilentAfter) return room;
  const bool asked = std::any_of(executor.rooms.begin(), executor.rooms.end(),
                                 [](const Room& one) { return one.published > 0; });
  return asked ? 0 : std::min(room, 1);
}

double ExecutorCredits::Busy(Index index, SlotClass slots) const {
  const Executor& executor = executors_[index];
  const int unused = Unused(RoomAt(index, slots));
  if (slots != SlotClass::kProcess) return -unused;
  return 1.0 - static_cast<double>(unused) / std::max(1, executor.slots);
}

// Counts a dispatch at once, by the share of the slots, where the load of the host follows later.
double ExecutorCredits::WeightedLoad(Index index, SlotClass slots) const {
  const Executor& executor = executors_[index];
  const Room& room = RoomAt(index, slots);
  const int all = slots == SlotClass::kProcess ? std::max(1, executor.slots) : room.most_free;
  const double busy = 1.0 - static_cast<double>(Unused(room)) / all;
  const ExecutorLoad& load = executor.load;
  const double sum =
      kCpuPart * load.cpu + kMemoryPart * load.memory + kIoPart * load.io + kBusyPart * busy;
  const bool full = load.memory > kNearlyFull || load.disk > kNearlyFull;
  return sum / executor.weight + (full ? kLast : 0);
}

void ExecutorCredits::Published(Index index, SlotClass slots) {
  ++RoomOf(index, slots).published;
  ++executors_[index].open;
  Reopen(index, slots);
}

// If the mention is not kClaiming, the executor received the claim's answer and sent its report
// before this loop handled the claim. `charge` records that for the later call of Claimed.
void ExecutorCredits::MentionPublished(Index index, Mention mention, Charge& charge) {
  if (mention == Mention::kClaiming) return;
  charge = {mention == Mention::kHolding ? Charge::In::kReport : Charge::In::kOver,
            executors_[index].heartbeats};
}

void ExecutorCredits::MentionClaimed(Index index, SlotClass slots, Mention mention,
                                     Charge& charge) {
  if (mention == Mention::kClaiming) return ChargeHere(index, slots, charge);
  MentionPublished(index, mention, charge);
}

void ExecutorCredits::MentionOver(Index index, SlotClass slots, Mention mention) {
  if (mention != Mention::kHolding) return;
  ++RoomOf(index, slots).ended_since;
  Reopen(index, slots);
}

void ExecutorCredits::Claimed(Index index, SlotClass slots, Charge& charge, Duration waited,
                              SteadyTime now) {
  --RoomOf(index, slots).published;
  const bool reported =
      charge.in != Charge::In::kNothing && charge.report == executors_[index].heartbeats;
  if (!reported) ChargeHere(index, slots, charge);
  if (slots <= SlotClass::kLight) Measure(RoomOf(index, slots), waited, now);
  Reopen(index, slots);
}

void ExecutorCredits::ClaimedLate(Index index, SlotClass slots, Charge& charge) {
  ++executors_[index].open;
  ChargeHere(index, slots, charge);
}

void ExecutorCredits::ChargeHere(Index index, SlotClass slots, Charge& charge) {
  ++RoomOf(index, slots).claimed_since;
  charge = {Charge::In::kSinceReport, executors_[index].heartbeats};
  Reopen(index, slots);
}

void ExecutorCredits::Returned(Index index, SlotClass slots) {
  --RoomOf(index, slots).published;
  --executors_[index].open;
  Reopen(index, slots);
}

bool ExecutorCredits::TimedOut(Index index, SlotClass slots) {
  const bool silent = ++executors_[index].timeouts == kSilentAfter;
  Returned(index, slots);
  return silent;
}

void ExecutorCredits::Ended(Index index, SlotClass slots, const Charge& charge) {
  Room& room = RoomOf(index, slots);
  // A report that does not mention the run, or mentions it as ended, counted its slot as free.
  if (charge.report == executors_[index].heartbeats) {
    if (charge.in == Charge::In::kSinceReport) --room.claimed_since;
    if (charge.in == Charge::In::kReport) ++room.ended_since;
  }
  --executors_[index].open;
  Reopen(index, slots);
}

void ExecutorCredits::OnEnd(Index index, SlotClass slots, Duration idle) {
  if (slots != SlotClass::kProcess) return;
  Room& room = RoomOf(index, slots);
  room.idle_charged += std::clamp<Duration>(idle, Duration{}, kTripMax);
  ++room.ends;
}

void ExecutorCredits::Measure(Room& room, Duration waited, SteadyTime now) {
  if (now - room.window >= kWindow) {
    const double seconds =
        std::chrono::duration<double>(std::min(now - room.window, kQuietMax)).count();
    if (room.claims > 0) {
      const Duration trip = room.claim_trip + room.idle_charged / std::max(1, room.ends);
      const double content =
          kGain * room.claims / seconds * std::chrono::duration<double>(trip).count();
      room.prefetch = static_cast<int>(std::min<double>(content, prefetch_max_));
    }
    room.window = now;
    room.claims = 0;
    room.claim_trip = kTripMax;
    room.idle_charged = {};
    room.ends = 0;
  }
  ++room.claims;
  room.claim_trip = std::min(room.claim_trip, waited);
}

}  // namespace carillon::scheduler
