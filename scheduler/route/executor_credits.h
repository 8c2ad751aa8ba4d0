// Counts how many more tasks each executor may be given, with the knowledge of this member. Pure.
//
// An executor's heartbeat says how many slots were free when it was sent. Later changes are
// added up here:
//   free + ended since − published and not claimed − claimed since + prefetch
// A heartbeat may cross claims, answers and results in transit. So it also lists the attempts that
// it counted. That way each run is charged once, either by the report or here (`Charge`).
//
// Prefetch follows Little's law, for each class of slots: completions per second × the time for
// which a run is charged here without running at the executor. So when a short run ends, the next
// task already waits at the executor. Behind long runs, few tasks wait.
//
// The time is measured from publishing to the claim. For a process, the transit times of the
// claim's answer and of the result are added, because its slot at the executor is free meanwhile.
// The slot of an in-process run is not free until its result is applied.
//
//   8 slots, runs of 5 ms, 20 ms until the claim, 55 ms more until the end is known here:
//   without adding the 55 ms, the 8 credits would return only once in 60 ms, and the executor
//   would be idle
//
//   reported 8 free; 5 published, 3 of these claimed, 1 of the claimed ended: 8 − 2 − 2 = 4 free
//
// Place    Step 5 of docs/life-of-a-run.md.
// Threads  Not thread-safe; the firing loop owns it.
// Always   An executor that is not usable has no credit. If kSilentAfter tasks in a row have timed
//          out at an executor, it gets one task at a time until it claims again. This delays few
//          runs, and the executor's recovery is still noticed. A wrong estimate only makes a run
//          wait at the executor. It never affects correctness, because the claim decides.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/features.h"
#include "common/domain/selector.h"
#include "common/ports/store/executor_store.h"
#include "scheduler/route/index_set.h"

namespace carillon::scheduler {

// The kind of slot that a task takes. In-process job types use kLight. An executor has many slots
// of this kind. Further values stand for one handler each (HandlerSlots).
enum class SlotClass : size_t { kProcess, kLight };

// An executor's report on one attempt.
enum class Mention {
  kClaiming,  // the claim is not answered yet: the report counts the slot as free
  kHolding,   // the attempt occupies its slot
  kEnded,     // the attempt has ended: the report counts its slot as free
};

// Says where a run that was published to an executor is counted: here, or in the executor's report.
struct Charge {
  enum class In {
    kNothing,      // neither here nor in the report
    kSinceReport,  // here, as claimed since the report
    kReport,       // in the report, as an occupied slot
    kOver,         // in the report, as a slot that is free again
  };
  In in = In::kNothing;
  // The number of that report. If the executor has sent a later report and this number is
  // unchanged, the later report did not list the run. So the run had ended before that report.
  uint64_t report = 0;
};

class ExecutorCredits {
 public:
  using Index = size_t;
  static constexpr Index kNone = static_cast<Index>(-1);
  static constexpr int kSilentAfter = 3;
  // Upper bound of the measured times. A run that takes longer to be claimed waits at the executor.
  // Sending more tasks would only lengthen that wait.
  static constexpr Duration kTripMax = 100ms;

  struct Report {
    ExecutorId id;
    Incarnation incarnation;
    bool usable = false;
    bool one_at_a_time = false;  // the next task when the last one was claimed
    std::map<std::string, std::string> labels = {};
    int slots = 0;                                       // process slots
    int free_slots = 0;                                  // process slots
    int free_light_slots = 0;                            // in-process slots
    std::map<std::string, int> free_handler_slots = {};  // by the name of the handler
    uint64_t heartbeats = 0;  // heartbeats received so far; a higher number means a new report
    Features features = {};
    ExecutorLoad load = {};  // averages of about 10 s
  };
  explicit ExecutorCredits(int prefetch_max) : prefetch_max_(prefetch_max) {}

  // Returns true if the executor's process was replaced or became unusable. Runs that were
  // published to it and are not claimed should then be published elsewhere.
  bool Update(const Report& report);
  // Call it when the executor is no longer known. It then gets no credit.
  void Forget(const ExecutorId& id);
  // Frees the indexes of forgotten executors that have no open runs, for reuse.
  void RemoveForgotten();

  Index Find(const ExecutorId& id) const;  // kNone when unknown
  // The slots of a handler. They have no prefetch: a run goes to a free slot only.
  SlotClass HandlerSlots(const std::string& handler);
  // One more than the highest index. Unused indexes below this number have no credit.
  size_t size() const { return executors_.size(); }
  const ExecutorId& id(Index index) const { return executors_[index].id; }
  const Incarnation& incarnation(Index index) const { return executors_[index].incarnation; }
  uint64_t heartbeats(Index index) const { return executors_[index].heartbeats; }
  int Available(Index index, SlotClass slots) const;
  // The executors with Available(…) > 0.
  const IndexSet& open(SlotClass slots) const {
    const auto place = static_cast<size_t>(slots);
    return place < open_.size() ? open_[place] : none_;
  }
  // Grows when an executor gets into the set of open ones, or may have become eligible for
  // other runs.
  uint64_t openings() const { return openings_; }
  // Grows when the executors, their labels or their features change.
  uint64_t changes() const { return changes_; }
  // Returns how busy the executor is, not counting prefetch. Only values for the same class of
  // slots are comparable. For process slots the value is the share of slots that are taken. For
  // light slots, of which there are many, it is the number of free slots with a minus sign.
  double Busy(Index index, SlotClass slots) const;
  // True if no slot is free, whether or not runs are published for it.
  bool Full(Index index, SlotClass slots) const {
    const Room& room = RoomAt(index, slots);
    return Unused(room) + room.published <= 0;
  }
  // True if the executor would take tasks of this kind, whether or not it has room now.
  bool Offers(Index index, SlotClass slots) const {
    return executors_[index].usable && RoomAt(index, slots).offered;
  }
  // True if it also works on them.
  bool Serves(Index index, SlotClass slots) const { return Offers(index, slots) && !Silent(index); }
  // The label `weight`, 1 to 100; 1 without one.
  int Weight(Index index) const { return executors_[index].weight; }
  // The load of the host and the share of its slots in use, by its weight; kLast is added if its
  // memory or its disk is nearly full.
  double WeightedLoad(Index index, SlotClass slots) const;
  static constexpr double kLast = 1000;
  bool Matches(Index index, const Selector& selector) const {
    return selector.Matches(executors_[index].labels);
  }
  bool HasAll(Index index, Features needed) const {
    return executors_[index].features.HasAll(needed);
  }
  const std::map<ExecutorId, Index>& by_id() const { return index_; }

  void Published(Index index, SlotClass slots);
  // Apply the mention of a run in the executor's latest report. The three functions are for a run
  // that this member believes to be published, claimed, or finished.
  void MentionPublished(Index index, Mention mention, Charge& charge);
  void MentionClaimed(Index index, SlotClass slots, Mention mention, Charge& charge);
  void MentionOver(Index index, SlotClass slots, Mention mention);
  // Call it when the run was claimed, `waited` after it was published to this executor.
  void Claimed(Index index, SlotClass slots, Charge& charge, Duration waited, SteadyTime now);
  // Call it when a run is claimed that no longer counts as published, because it had timed out.
  void ClaimedLate(Index index, SlotClass slots, Charge& charge);
  // Call it when the run no longer counts as published to this executor, because the run is
  // dispatched again or dropped.
  void Returned(Index index, SlotClass slots);
  // Like Returned, for a run that was not claimed in time. Returns true if the executor counts as
  // silent from this timeout on.
  bool TimedOut(Index index, SlotClass slots);
  // Call it when the executor has answered, so that it does not count as silent.
  void Answers(Index index);
  bool Silent(Index index) const { return executors_[index].timeouts >= kSilentAfter; }
  void Ended(Index index, SlotClass slots, const Charge& charge);
  // Measures for how long a run was charged without running. `idle` is the part of that time after
  // the claim. Call it before Ended.
  void OnEnd(Index index, SlotClass slots, Duration idle);

 private:
  struct Room {
    int free = 0;
    int most_free = 1;     // the most that was ever reported
    bool offered = false;  // in the latest report
    int published = 0;
    int claimed_since = 0;
    int ended_since = 0;
    // Claim rate and transit times, measured over windows of a quarter of a second.
    SteadyTime window{};  // when the window began
    int claims = 0;
    // The shortest in the window, because longer times include waiting at the executor.
    Duration claim_trip = kTripMax;
    Duration idle_charged{};  // sum over `ends`; does not include waiting for a slot
    int ends = 0;
    int prefetch = 0;  // as the previous window determined
  };
  struct Executor {
    ExecutorId id;
    Incarnation incarnation;
    std::map<std::string, std::string> labels;
    int slots = 0;
    bool usable = false;
    bool one_at_a_time = false;
    bool forgotten = false;
    Features features = {};
    int weight = 1;
    ExecutorLoad load = {};
    int open = 0;      // runs that refer to the executor's index
    int timeouts = 0;  // in a row
    uint64_t heartbeats = 0;
    std::vector<Room> rooms = std::vector<Room>(2);  // by SlotClass; grows
  };
  // Number of slots that no known run occupies and for which no run is published.
  static int Unused(const Room& room) {
    return room.free + room.ended_since - room.claimed_since - room.published;
  }
  Room& RoomOf(Index index, SlotClass slots) {
    std::vector<Room>& rooms = executors_[index].rooms;
    const auto place = static_cast<size_t>(slots);
    if (place >= rooms.size()) rooms.resize(place + 1);
    return rooms[place];
  }
  const Room& RoomAt(Index index, SlotClass slots) const {
    const std::vector<Room>& rooms = executors_[index].rooms;
    const auto place = static_cast<size_t>(slots);
    return place < rooms.size() ? rooms[place] : no_room_;
  }
  void ChargeHere(Index index, SlotClass slots, Charge& charge);
  // Follows a change of the executor in the sets of open ones; the second one a change of
  // these slots.
  void Reopen(Index index);
  void Reopen(Index index, SlotClass slots);
  void ReopenOne(Index index, SlotClass slots);
  void Measure(Room& room, Duration waited, SteadyTime now);

  const int prefetch_max_;
  std::vector<Executor> executors_;
  std::map<ExecutorId, Index> index_;
  std::vector<Index> leaving_;                             // forgotten, but not freed yet
  std::vector<Index> unused_;                              // free for reuse
  std::vector<IndexSet> open_ = std::vector<IndexSet>(2);  // by SlotClass; grows
  const IndexSet none_;
  const Room no_room_;
  std::map<std::string, SlotClass> handlers_;
  uint64_t openings_ = 0;
  uint64_t changes_ = 0;
};

}  // namespace carillon::scheduler
