// The warden without its socket and its epoll loop: connects its components, and runs them in a
// fixed order in each turn.
//
// Place    Step 8 of docs/life-of-a-run.md; behind WardenServer, which owns the loop.
// Threads  The warden's loop. Nothing here waits for the disk.
// Owns     The journal and the components.
// Always   Components act only on what is on disk: a start is written before its process begins, an
//          end is synced before it is reported.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "executor/warden/attempts/attempt_launcher.h"
#include "executor/warden/attempts/attempt_table.h"
#include "executor/warden/attempts/end_reporter.h"
#include "executor/warden/attempts/running_attempts.h"
#include "executor/warden/process/leftovers.h"
#include "executor/warden/records/journal_driver.h"
#include "executor/warden/records/log_relay.h"

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
  // After the call the daemon takes logs, at most `log_bytes_max` bytes of each new attempt.
  void Note(const HeldAttempt& attempt, const std::string& text);
  void Follow(size_t log_bytes_max);
  void UseEngine(std::string engine) { running_.containers().UseEngine(std::move(engine)); }
  void ConfirmOutput(const std::vector<StoredOutput>& confirmed) { logs_.Confirm(confirmed); }
  // Call it when the warden is ordered to stop: kills and records all attempts, and starts no more.
  void Stop();

  // ---- once per turn, in this order
  void Tick(SteadyTime now);
  // Journals what happened, and acts on what is on disk: starts processes, queues ends for
  // reporting.
  void Commit(SteadyTime now);
  // Call it once more at the end of the turn, because steps after Commit add work for the disk.
  void StepJournal(SteadyTime now) { driver_.Step(now); }
  SteadyTime NextTick() const;

  // ---- reports to the daemon
  // A chunk of a log, if the daemon takes logs. Call after the events, which are more urgent.
  std::optional<WardenMessage> TakeOutput(SteadyTime now);
  // The time at which TakeOutput next returns something.
  SteadyTime NextOutput() const { return followed_ ? logs_.NextDue() : SteadyTime::max(); }
  // Call it when the daemon disconnects. Log chunks that were sent but not confirmed are sent again
  // to the next daemon. Events are dropped, because the next daemon asks for a list of everything.
  void DropReports();
  std::vector<AttemptName> Names() const { return table_.Names(); }
  // True if one more attempt could be started and recorded; false if this is not known yet. An
  // error gives the reason why no attempt could be started or recorded.
  Result<bool> Ready(SteadyTime now) { return driver_.Ready(now); }
  void Complain(const std::string& what) { journal_->Complain(what); }

  EndReporter& reporter() { return reporter_; }
  RunningAttempts& running() { return running_; }
  const RunningAttempts& running() const { return running_; }
  bool empty() const { return table_.empty(); }
  bool clean() const { return launcher_.idle() && reporter_.all_synced() && !journal_->dirty(); }

 private:
  void EndLeftOver(OpenStart start);
  void EndContained(const ContainerCleaner::Removed& removed);

  const Clock& clock_;
  const std::unique_ptr<WardenJournal> journal_;
  LogRelay logs_;  // outlives the runs in table_, which write to the logs
  bool followed_ = false;
  AttemptTable table_;
  JournalDriver driver_;
  EndReporter reporter_;
  RunningAttempts running_;
  AttemptLauncher launcher_;
  Leftovers leftovers_;
  std::vector<OpenStart> contained_;  // starts without an end whose containers are being removed
};

}  // namespace carillon::executor
