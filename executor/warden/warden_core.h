// The warden without its socket and its epoll loop: connects its rooms, and orders their work in
// a turn.
//
// Place    Step 8 of docs/life-of-a-run.md; behind WardenServer, which owns the loop.
// Threads  The warden's loop. Nothing here waits for the disk.
// Owns     The journal and the rooms.
// Always   A room acts on what is durable: a start is written before its process, an end is synced
//          before its report.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "executor/warden/attempt_launcher.h"
#include "executor/warden/attempt_table.h"
#include "executor/warden/end_reporter.h"
#include "executor/warden/journal_driver.h"
#include "executor/warden/leftovers.h"
#include "executor/warden/log_relay.h"
#include "executor/warden/running_attempts.h"

namespace carillon::executor {

class WardenCore {
 public:
  using Options = RunningAttempts::Options;
  WardenCore(const Clock& clock, std::unique_ptr<WardenJournal> journal,
             WardenJournal::Contents contents, Options options);

  // ---- requests of the daemon
  void Start(StartAttempt start) { launcher_.Start(std::move(start)); }
  void Renew(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end);
  void Cancel(const HeldAttempt& attempt, CancelMode mode);
  // A daemon takes logs from now on, at most so many bytes per attempt.
  void Follow(size_t log_bytes_max);
  void ConfirmOutput(const std::vector<StoredOutput>& confirmed) { logs_.Confirm(confirmed); }
  // The warden was ordered to stop: every attempt is killed and recorded, none is started any more.
  void Stop();

  // ---- once per turn, in this order
  void Tick(SteadyTime now);
  // Journals what happened, and acts on what is durable: starts processes, queues ends
  // for reporting.
  void Commit(SteadyTime now);
  // Runs once more at the end of the turn, after later steps submitted work to the disk.
  void StepJournal(SteadyTime now) { driver_.Step(now); }
  SteadyTime NextTick() const;

  // ---- reports to the daemon
  // A chunk of a log, if the daemon takes logs. Call after the events, which are more urgent.
  std::optional<WardenMessage> TakeOutput(SteadyTime now);
  // When TakeOutput next returns something.
  SteadyTime NextOutput() const { return followed_ ? logs_.NextDue() : SteadyTime::max(); }
  // The daemon disconnected: log chunks sent but not confirmed are sent again to the next one.
  // Events are dropped, because the next one lists everything.
  void DropReports();
  std::vector<AttemptName> Names() const { return table_.Names(); }
  // Whether one more attempt could be started and recorded. False: not known yet.
  Result<bool> Ready(SteadyTime now) { return driver_.Ready(now); }
  void Complain(const std::string& what) { journal_->Complain(what); }

  EndReporter& reporter() { return reporter_; }
  RunningAttempts& running() { return running_; }
  const RunningAttempts& running() const { return running_; }
  bool empty() const { return table_.empty(); }
  bool clean() const { return launcher_.idle() && reporter_.all_synced() && !journal_->dirty(); }

 private:
  const Clock& clock_;
  const std::unique_ptr<WardenJournal> journal_;
  LogRelay logs_;  // outlives the runs of the entries
  bool followed_ = false;
  AttemptTable table_;
  JournalDriver driver_;
  EndReporter reporter_;
  RunningAttempts running_;
  AttemptLauncher launcher_;
  Leftovers leftovers_;
};

}  // namespace carillon::executor
