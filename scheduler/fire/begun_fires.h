// The fires with parts that were handed over to begin. Each keeps an executor's room for one part
// until its first part is ready. So no more fires begin than there is room for; the others wait,
// and grow old as a whole.
//
// Place    Step 5 of docs/life-of-a-run.md, a part of run_places.
// Threads  Not thread-safe; the firing loop owns it.
// Always   A room is given back once: for the first part, if the fire has not begun, or when it has
//          been kept for too long since the begin. The begin itself may wait in line for a while.
#pragma once

#include <map>
#include <optional>

#include "scheduler/handover/run_queues.h"
#include "scheduler/route/executor_credits.h"

namespace carillon::scheduler {

class BegunFires {
 public:
  static constexpr Duration kKnown = 10s;  // since the begin; longer than parts need to be read
  // The fires that are handed over and have neither begun nor been refused. Their begins are
  // transactions one after the other, so that more of them would only wait there.
  static constexpr size_t kUnansweredMax = 200;
  static constexpr Duration kAnswered = 1min;  // longer than so many begins take

  explicit BegunFires(ExecutorCredits& credits) : credits_(credits) {}

  // Takes the room, of which there must be some.
  void Begin(const PendingRun& own, ExecutorCredits::Index executor, SlotClass slots,
             SteadyTime now);
  // True for a fire that was handed over and waits for its begin.
  bool Waits(const RunKey& own) const {
    const auto found = begun_.find(own);
    return found != begun_.end() && !found->second.answered;
  }
  // False while too many fires wait for their begin.
  bool MayBegin() const { return unanswered_ < kUnansweredMax; }
  // The fire has begun, as far as is known, and its parts are due.
  void HasBegun(const RunKey& own, SteadyTime now);
  // The fire has not begun, or has no parts.
  void NotBegun(const RunKey& own);
  // A part of the fire is ready. Returns when the fire was due, if that is known: its parts go
  // before what became due later, also before fires that have not begun.
  std::optional<WallTime> Follow(const RunKey& part);
  // Gives back the rooms that were kept for `kept` since the begin, or for kAnswered without one.
  void Expire(SteadyTime now, Duration kept);

 private:
  struct Begun {
    SteadyTime at;  // of the begin, or before it of the hand-over
    WallTime due;
    bool answered = false;
    ExecutorCredits::Index executor = ExecutorCredits::kNone;  // kNone: the room was given back
    SlotClass slots = SlotClass::kProcess;
  };
  void GiveBack(Begun& begun);
  void Answer(Begun& begun);

  ExecutorCredits& credits_;
  std::map<RunKey, Begun> begun_;  // by the key of the own run
  size_t unanswered_ = 0;          // of them
};

}  // namespace carillon::scheduler
