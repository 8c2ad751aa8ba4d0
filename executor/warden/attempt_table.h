// Every attempt the warden knows: prepared, running, left over by a dead warden, or ended.
//
// Place    Step 8 of docs/life-of-a-run.md; behind WardenServer, which owns the loop.
// Threads  The warden's loop. Nothing here waits for the disk: a start is delayed until its marker
//          is written, an end until it is synced, a kill never.
// Owns     The journal, and the runs, at most kRunningMax of them.
// Errors   An attempt that cannot be started ends at once; none is refused silently.
// Always   A (run, attempt) is started at most once, even across a restart of the warden,
//          because its marker is written before the fork. An end is reported only after it is on
//          the device.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/clock.h"
#include "executor/warden/channel/warden_protocol.h"
#include "executor/warden/forgotten_attempts.h"
#include "executor/warden/leftovers.h"
#include "executor/warden/live_run.h"
#include "executor/warden/log_relay.h"
#include "executor/warden/warden_journal.h"

namespace carillon::executor {

class AttemptTable {
 public:
  static constexpr size_t kRunningMax = 4096;
  static constexpr size_t kSparesMax = 64;  // working directories that are reused
  // Maximum output kept in memory for recorded ends that have not been reported. The output of
  // further ends is read back from the journal.
  static constexpr size_t kUntoldBytesMax = 16u << 20;

  struct Options {
    std::string work_directory;  // must exist
    int epoll = -1;
    // RLIMIT_NOFILE of the commands; the warden raises its own.
    rlimit open_files{};
  };
  AttemptTable(const Clock& clock, std::unique_ptr<WardenJournal> journal,
               WardenJournal::Contents contents, Options options);

  // ---- requests of the daemon
  void Start(StartAttempt start);
  void Renew(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end);
  void Cancel(const HeldAttempt& attempt, CancelMode mode);
  void Forget(const std::vector<HeldAttempt>& attempts);
  // Sends logs to the daemon from now on, at most `log_bytes_max` bytes per attempt.
  void Follow(size_t log_bytes_max);
  void ConfirmOutput(const std::vector<StoredOutput>& confirmed) { logs_.Confirm(confirmed); }
  // The warden was ordered to stop: every attempt is killed and recorded, none is started any more.
  void Stop();

  // ---- events of epoll; `token` as registered
  static constexpr uint64_t kFirstToken = 4;
  void OnReady(uint64_t token, bool writers_gone);
  void ReadMore();  // reads the pipes that had more than one turn's worth
  bool wants_more() const { return !more_.empty(); }
  void ReapChildren();

  // Writes a line to the warden's log. The loop itself never writes to a file: a hanging disk would
  // keep it from enforcing leases.
  void Complain(const std::string& what) { journal_->log().Log("warden: " + what); }

  // ---- once per turn, in this order
  void Tick(SteadyTime now);
  // Journals what happened, and acts on what is durable: starts processes, queues ends
  // for reporting.
  void Commit(SteadyTime now);
  // Runs once more at the end of the turn, after later steps submitted work to the disk.
  void StepJournal(SteadyTime now);
  SteadyTime NextTick() const;

  // ---- reports to the daemon
  // The next event to report, oldest first. Nullopt also while it is being read from the disk.
  std::optional<WardenMessage> TakeEvent();
  // A chunk of a log, if the daemon takes logs. Call after TakeEvent: events are more urgent.
  std::optional<WardenMessage> TakeOutput(SteadyTime now);
  // When TakeOutput next returns something.
  SteadyTime NextOutput() const { return followed_ ? logs_.NextDue() : SteadyTime::max(); }
  // The daemon disconnected: log chunks sent but not confirmed are sent again to the next one.
  // Events are dropped, because the next one lists everything.
  void DropEvents();
  std::vector<AttemptName> Names() const;
  // False: it is being read from the disk; ask again after a Step. Call it before Describe.
  bool Fetch(const AttemptName& name);
  // The answer to List for one attempt; nullopt if it is gone by now.
  std::optional<WardenMessage> Describe(const AttemptName& name, uint64_t request);
  // Whether one more attempt could be started and recorded. False: not known yet.
  Result<bool> Ready(SteadyTime now);
  // Deletes a directory in a child process, which the warden reaps.
  void RemoveInBackground(const std::string& directory);

  bool running() const { return !by_run_no_.empty(); }
  bool empty() const { return entries_.empty(); }
  bool clean() const {
    return waiting_.empty() && prepared_.empty() && ending_.empty() && !journal_->dirty();
  }

 private:
  enum class Stage { kPrepared, kRunning, kLeftOver, kEnding, kEnded };
  struct Entry {
    Stage stage = Stage::kPrepared;
    HeldAttempt held;
    std::optional<StartAttempt> start;  // kPrepared
    std::unique_ptr<LiveRun> live;      // kRunning
    uint64_t run_no = 0;
    bool cancelled = false;  // kPrepared: cancelled before its start
    size_t output_bytes_max = 0;
    bool reserved = false;  // space for its end is reserved
    SegmentLog::RecordId start_record = 0;
    SegmentLog::RecordId end_record = 0;  // 0 = only in memory
    std::optional<AttemptEnded> memory;   // until it is reported
    bool counted = false;                 // its output counts in untold_bytes_
    WallTime started{};
  };
  struct Event {
    AttemptName name;
    bool ended = false;
  };
  struct Child {
    uint64_t run_no = 0;  // 0: it only deletes a directory
    size_t spare = 0;     // directory that its keeper may reuse; 0: none
  };
  struct AtDisk {
    AttemptName name;
    SegmentLog::Position position = 0;  // of its record
  };

  Entry* Find(const AttemptName& name);
  Entry* FindHeld(const HeldAttempt& held);
  bool RefuseStart(const AttemptName& name, Entry& entry);
  void PrepareWaiting();
  void LaunchPrepared();
  void ReleaseEnded();
  void Launch(const AttemptName& name, Entry& entry);
  void Watch(const AttemptName& name, Entry& entry, size_t spare);
  void EndUnstarted(const AttemptName& name, Entry& entry, RunState state, std::string_view reason,
                    std::string error);
  void RecordEnd(const AttemptName& name, Entry& entry, AttemptEnded ended);
  void FinishIfOver(const AttemptName& name);
  void KillStrays();
  void StepLeftovers(SteadyTime now);
  void DropMemory(Entry& entry);
  std::string WorkDirectoryOf(const AttemptName& name) const;
  LiveRun::Now Now() const { return {clock_.Steady(), clock_.Wall()}; }

  const Clock& clock_;
  const std::unique_ptr<WardenJournal> journal_;
  const Options options_;
  Leftovers leftovers_;
  LogRelay logs_;  // outlives the runs of the entries
  bool followed_ = false;
  std::unordered_map<AttemptName, Entry, AttemptNameHash> entries_;
  std::unordered_map<uint64_t, AttemptName> by_run_no_;  // running attempts
  std::unordered_map<pid_t, Child> children_;
  std::vector<size_t> free_spares_;  // taken from the back
  std::deque<AttemptName> waiting_;  // starts that wait for space for their ends
  bool waiting_asked_ = false;       // space for the first one was requested
  std::deque<AtDisk> prepared_;      // started once they are written
  std::deque<AtDisk> ending_;        // reported once they are synced
  std::vector<uint64_t> more_;
  std::deque<Event> events_;
  ForgottenAttempts forgotten_;
  uint64_t next_run_no_ = 1;
  size_t keepers_killed_ = 0;  // runs that wait for KillStrays
  bool stopping_ = false;
  size_t untold_bytes_ = 0;
  bool step_failed_ = false;
  SteadyTime next_step_{};  // earliest retry if step_failed_
  // The last disk failure, kept until something was synced after it: the success of a step that
  // only submitted an order proves nothing.
  std::optional<Error> disk_failure_;
  SegmentLog::Position synced_at_failure_ = 0;
  SteadyTime sync_due_{};
  uint64_t order_seen_ = 0;
  SteadyTime order_since_{};
  SteadyTime next_leftover_look_{};
};

}  // namespace carillon::executor
