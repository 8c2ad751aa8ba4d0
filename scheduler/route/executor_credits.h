// Counts how many more tasks each executor may be given, as far as this member knows. Pure.
//
// An executor's heartbeat says how many slots were free when it was sent. What happened since is
// added up here:   free + ended since − published and not claimed − claimed since + prefetch.
// A heartbeat crosses claims, answers and results on their way, so it also names the attempts it
// counted: each run is charged once, by the report or here (`Charge`).
// Prefetch follows Little's law, for each class of slots: completions a second × the time for which
// a run is charged here and does not run there, so that short runs find their successor waiting and
// long runs hold nothing back. That is its way to the executor, until it is claimed; and of a
// process also the answer and the way of its result, because its slot at the executor is free
// meanwhile (that of an in-process run is not, until its result is applied).
//
//   8 slots, runs of 5 ms, 20 ms until the claim, 55 ms more until the end is heard of: without the
//   55 ms the 8 credits come back once in 60 ms, and the executor has nothing to do meanwhile
//
//   reported 8 free; 5 published, 3 of them claimed, 1 of those ended: 8 − 2 − 2 = 4 free
//
// Place    Step 5 of docs/life-of-a-run.md.
// Threads  Not thread-safe; the firing loop owns it.
// Always   An executor that is not usable has no credit. One that let kSilentAfter tasks in a row
//          time out is given one at a time, until it claims: it costs others little, and is found
//          again. Errors of the estimate cost a wait at the
//          executor, never correctness: the claim decides.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/selector.h"

namespace carillon::scheduler {

// Which slots a task takes: those of processes, or the many of in-process types.
enum class SlotClass { kProcess, kLight };

// The report on one attempt.
enum class Mention {
  kClaiming,  // asked for and not answered: its slot is counted as free
  kHolding,   // it has its slot
  kEnded,     // it is over, and its slot is free
};

// The state of a run, given to an executor, in that executor's latest report.
struct Charge {
  enum class In {
    kNothing,  // neither here nor in the report
    kBook,     // here, as claimed since
    kReport,   // there, as a slot that is not free
    kOver,     // there, as a slot that is free again
  };
  In in = In::kNothing;
  uint64_t report = 0;  // its number; in an older one than the latest, the run was over by then
};

class ExecutorCredits {
 public:
  using Index = size_t;
  static constexpr Index kNone = static_cast<Index>(-1);
  static constexpr int kSilentAfter = 3;
  // Whatever takes longer waits at the executor: to send it more would only let it wait longer.
  static constexpr Duration kTripMax = 100ms;

  struct Report {
    ExecutorId id;
    Incarnation incarnation;
    bool usable = false;
    std::map<std::string, std::string> labels = {};
    int slots = 0;  // of processes
    int free_slots = 0;
    int free_light_slots = 0;
    uint64_t heartbeats = 0;  // a higher number than before: the report is new
    bool takes_secrets = false;
  };
  explicit ExecutorCredits(int prefetch_max) : prefetch_max_(prefetch_max) {}

  // Returns true when the executor's process was replaced or it became unusable: what is published
  // to it and not claimed should go elsewhere.
  bool Update(const Report& report);
  // The executor is not known any more: it gets nothing.
  void Forget(const ExecutorId& id);
  // Frees the indexes of those of which nothing that they were given is open; others get them.
  void RemoveForgotten();

  Index Find(const ExecutorId& id) const;
  // One more than the highest index; some may be unused, which have no credit.
  size_t size() const { return executors_.size(); }
  const ExecutorId& id(Index index) const { return executors_[index].id; }
  const Incarnation& incarnation(Index index) const { return executors_[index].incarnation; }
  uint64_t heartbeats(Index index) const { return executors_[index].heartbeats; }
  int Available(Index index, SlotClass slots) const;
  // How busy it is, without the prefetch; comparable between executors for one class of slots. Of
  // processes the share of the slots that are taken; of the many light ones, how many fewer than
  // none are free.
  double Busy(Index index, SlotClass slots) const;
  bool Matches(Index index, const Selector& selector) const {
    return selector.Matches(executors_[index].labels);
  }
  bool takes_secrets(Index index) const { return executors_[index].takes_secrets; }
  const std::map<ExecutorId, Index>& by_id() const { return index_; }

  void Published(Index index, SlotClass slots);
  // Looks up what the latest report says of a run that is published, claimed, or known to be over.
  void MentionPublished(Index index, Mention mention, Charge& charge);
  void MentionClaimed(Index index, SlotClass slots, Mention mention, Charge& charge);
  void MentionOver(Index index, SlotClass slots, Mention mention);
  // Claimed after being published here, `waited` ago.
  void Claimed(Index index, SlotClass slots, Charge& charge, Duration waited, SteadyTime now);
  // Claimed here although it was not counted as published any more (it had timed out).
  void ClaimedLate(Index index, SlotClass slots, Charge& charge);
  void Returned(Index index, SlotClass slots);
  // As Returned: it was not claimed in time. True when that made the executor a silent one.
  bool TimedOut(Index index, SlotClass slots);
  // It claims what it is given.
  void Answers(Index index) { executors_[index].timeouts = 0; }
  void Ended(Index index, SlotClass slots, const Charge& charge);
  // Before Ended: from its claim until now it did not run for so long.
  void HeardOfEnd(Index index, SlotClass slots, Duration idle);

 private:
  struct Room {
    int free = 0;
    int published = 0;
    int claimed_since = 0;
    int ended_since = 0;
    // Rate and times on the way over windows of a quarter of a second.
    SteadyTime window{};
    int claims = 0;
    Duration claim_trip = kTripMax;  // the shortest: one that waits at the executor earns nothing
    Duration idle_charged{};         // the sum of `ends`; none of it is a wait for a slot there
    int ends = 0;
    int prefetch = 0;
  };
  struct Executor {
    ExecutorId id;
    Incarnation incarnation;
    std::map<std::string, std::string> labels;
    int slots = 0;
    bool usable = false;
    bool forgotten = false;
    bool takes_secrets = false;
    int open = 0;      // runs that hold its index
    int timeouts = 0;  // in a row
    uint64_t heartbeats = 0;
    Room rooms[2];
  };
  // Slots that nothing is known to be meant for.
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
  std::vector<Index> leaving_;  // forgotten
  std::vector<Index> unused_;
};

}  // namespace carillon::scheduler
