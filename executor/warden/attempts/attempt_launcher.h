// Takes start orders: records each start, and starts its process once the record is written.
//
// Place    Step 8 of docs/life-of-a-run.md; under WardenCore.
// Threads  The warden's loop. A start is delayed until its record is written; nothing here waits.
// Errors   An attempt that cannot be started ends at once; none is refused silently.
// Always   A (run, attempt) is started at most once, even across a restart of the warden, because
//          its start record is written before the fork.
#pragma once

#include <deque>

#include "common/base/clock.h"
#include "executor/warden/attempts/attempt_table.h"
#include "executor/warden/attempts/end_reporter.h"
#include "executor/warden/attempts/running_attempts.h"
#include "executor/warden/attempts/start_refusal.h"

namespace carillon::executor {

class AttemptLauncher {
 public:
  struct Rooms {
    WardenJournal& journal;
    AttemptTable& table;
    EndReporter& reporter;
    RunningAttempts& running;
  };
  AttemptLauncher(const Clock& clock, Rooms rooms) : clock_(clock), rooms_(rooms) {}

  void Start(StartAttempt start);
  // After the call nothing is started; starts that wait end as LOST.
  void Stop() { stopping_ = true; }

  // Records the waiting starts in order. A start waits until space for its end is reserved. All
  // later starts wait for it.
  void PrepareWaiting();
  // Starts the attempts whose records are written.
  void LaunchPrepared();
  bool idle() const { return waiting_.empty() && prepared_.empty(); }

 private:
  bool Refuse(const AttemptName& name, AttemptEntry& entry);
  bool Prepare(const AttemptName& name, AttemptEntry& entry);

  const Clock& clock_;
  const Rooms rooms_;
  std::deque<AttemptName> waiting_;     // starts that wait for space for their ends
  bool waiting_asked_ = false;          // space for the first waiting start was requested
  std::deque<AttemptAtDisk> prepared_;  // started once their records are written
  bool stopping_ = false;
};

}  // namespace carillon::executor
