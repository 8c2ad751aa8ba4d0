// Counts how many more tasks each executor may be given, as far as this member knows. Pure.
//
// An executor's heartbeat says how many slots were free when it was sent. Changes since then are
// added up here:   free + ended since − published and not claimed − claimed since + prefetch.
// A heartbeat may cross claims, answers and results in transit, so it also lists the attempts that
// it counted; that way each run is charged once, either by the report or here (`Charge`).
//
// Prefetch follows Little's law, for each class of slots: completions a second × the time for
// which a run is charged here without running there. So short runs find their successor waiting
// at the executor, and long runs hold no tasks back. That time runs from publishing to the claim.
// For a process, the transit times of the claim's answer and of the result are added, because its
// slot at the executor is free meanwhile (the slot of an in-process run is not free until its
// result is applied).
//
//   8 slots, runs of 5 ms, 20 ms until the claim, 55 ms more until the end is known here: without
//   the 55 ms the 8 credits come back once in 60 ms, and the executor is idle meanwhile
//
//   reported 8 free; 5 published, 3 of them claimed, 1 of those ended: 8 − 2 − 2 = 4 free
//
// Place    Step 5 of docs/life-of-a-run.md.
// Threads  Not thread-safe; the firing loop owns it.
// Always   An executor that is not usable has no credit. One that let kSilentAfter tasks in a row
//          time out is given one at a time until it claims again, which delays few runs and still
//          notices its recovery. A wrong estimate only makes a run wait at the executor; it never
//          affects correctness, because the claim decides.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/selector.h"

namespace carillon::scheduler {

// The kind of slot that a task takes: kLight is for in-process types and has many slots.
enum class SlotClass { kProcess, kLight };

// An executor's report on one attempt.
enum class Mention {
  kClaiming,  // its claim is not answered yet: the report counts its slot as free
  kHolding,   // it occupies its slot
  kEnded,     // it ended: the report counts its slot as free
};

// Where a run that was given to an executor is counted: here, or in the executor's latest report.
struct Charge {
  enum class In {
    kNothing,      // neither here nor in the report
    kSinceReport,  // here, as claimed since the report
    kReport,       // in the report, as an occupied slot
    kOver,         // in the report, as a slot that is free again
  };
  In in = In::kNothing;
  uint64_t report = 0;  // its number; if there is a later one, the run had ended by then
};

class ExecutorCredits {
 public:
  using Index = size_t;
  static constexpr Index kNone = static_cast<Index>(-1);
  static constexpr int kSilentAfter = 3;
  // Upper bound of the measured times. A run that takes longer to be claimed is waiting at the
  // executor; sending more tasks would only lengthen that wait.
  static constexpr Duration kTripMax = 100ms;

  struct Report {
    ExecutorId id;
    Incarnation incarnation;
    bool usable = false;
    std::map<std::string, std::string> labels = {};
    int slots = 0;             // process slots
    int free_slots = 0;        // process slots
    int free_light_slots = 0;  // in-process slots
    uint64_t heartbeats = 0;   // heartbeats received so far; a higher number means a new report
    bool takes_secrets = false;
  };
  explicit ExecutorCredits(int prefetch_max) : prefetch_max_(prefetch_max) {}

  // Returns true if the executor's process was replaced or became unusable: runs that are published
  // to it and not claimed should be published elsewhere.
  bool Update(const Report& report);
  // The executor is no longer known; it gets no credit.
  void Forget(const ExecutorId& id);
  // Frees the indexes of forgotten executors that have no open runs, for reuse.
  void RemoveForgotten();

  Index Find(const ExecutorId& id) const;  // kNone when unknown
  // One more than the highest index. Unused indexes below it have no credit.
  size_t size() const { return executors_.size(); }
  const ExecutorId& id(Index index) const { return executors_[index].id; }
  const Incarnation& incarnation(Index index) const { return executors_[index].incarnation; }
  uint64_t heartbeats(Index index) const { return executors_[index].heartbeats; }
  int Available(Index index, SlotClass slots) const;
  // Returns how busy the executor is, without regard to prefetch; comparable between executors
  // within one class of slots. For process slots it is the share that is taken; for light slots,
  // which are many, it is minus the number of free ones.
  double Busy(Index index, SlotClass slots) const;
  bool Matches(Index index, const Selector& selector) const {
    return selector.Matches(executors_[index].labels);
  }
  bool takes_secrets(Index index) const { return executors_[index].takes_secrets; }
  const std::map<ExecutorId, Index>& by_id() const { return index_; }

  void Published(Index index, SlotClass slots);
  // The latest report mentions a run. One function each for a run that is, as far as is known here,
  // published, claimed, or over.
  void MentionPublished(Index index, Mention mention, Charge& charge);
  void MentionClaimed(Index index, SlotClass slots, Mention mention, Charge& charge);
  void MentionOver(Index index, SlotClass slots, Mention mention);
  // The run was claimed, `waited` after it was published to this executor.
  void Claimed(Index index, SlotClass slots, Charge& charge, Duration waited, SteadyTime now);
  // The run was claimed although it no longer counted as published (it had timed out).
  void ClaimedLate(Index index, SlotClass slots, Charge& charge);
  // The run no longer counts as published here: it is dispatched again, or dropped.
  void Returned(Index index, SlotClass slots);
  // Like Returned, because the run was not claimed in time. True if this made the executor silent.
  bool TimedOut(Index index, SlotClass slots);
  // The executor answered: it is not silent.
  void Answers(Index index) { executors_[index].timeouts = 0; }
  void Ended(Index index, SlotClass slots, const Charge& charge);
  // Measures for how long the run was charged without running; call it before Ended. `idle`: that
  // time, from the claim until now.
  void OnEnd(Index index, SlotClass slots, Duration idle);

 private:
  struct Room {
    int free = 0;
    int published = 0;
    int claimed_since = 0;
    int ended_since = 0;
    // Claim rate and transit times, measured over windows of a quarter of a second.
    SteadyTime window{};  // when it began
    int claims = 0;
    Duration claim_trip = kTripMax;  // the shortest: longer ones include waiting at the executor
    Duration idle_charged{};         // sum over `ends`; includes no wait for a slot
    int ends = 0;
    int prefetch = 0;  // from the previous window
  };
  struct Executor {
    ExecutorId id;
    Incarnation incarnation;
    std::map<std::string, std::string> labels;
    int slots = 0;
    bool usable = false;
    bool forgotten = false;
    bool takes_secrets = false;
    int open = 0;      // runs that refer to its index
    int timeouts = 0;  // in a row
    uint64_t heartbeats = 0;
    Room rooms[2];
  };
  // Slots that no known run occupies, and to which none is on its way.
  static int Unused(const Room& room) {
    return room.free + room.ended_since - room.claimed_since - room.published;
  }
  Room& RoomOf(Index index, SlotClass slots) {
    return executors_[index].rooms[static_cast<size_t>(slots)];
  }
  void ChargeHere(Index index, SlotClass slots, Charge& charge);
  void Measure(Room& room, Duration waited, SteadyTime now);

  const int prefetch_max_;
  std::vector<Executor> executors_;
  std::map<ExecutorId, Index> index_;
  std::vector<Index> leaving_;  // forgotten, but not freed yet
  std::vector<Index> unused_;   // free for reuse
};

}  // namespace carillon::scheduler
