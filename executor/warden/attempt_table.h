// Every attempt the warden knows: prepared, running, left over by a dead warden, ended.
//
// Place    Step 8 of docs/life-of-a-run.md; behind WardenServer, which owns the loop.
// Threads  The warden's loop. Nothing here waits for the disk: a start waits until its marker is
//          written, an end until it is synced, a kill for nothing.
// Owns     The journal, the runs, at most kRunningMax of them.
// Errors   What cannot be started ends at once; nothing is refused silently.
// Always   A (run, attempt) is started at most once, also across a restart of the warden: that is
//          written before it is forked. An end is told only after it is on the device.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/clock.h"
#include "executor/warden/forgotten_attempts.h"
#include "executor/warden/leftovers.h"
#include "executor/warden/live_run.h"
#include "executor/warden/log_relay.h"
#include "executor/warden/warden_journal.h"
#include "executor/warden/warden_protocol.h"

namespace carillon::executor {

class AttemptTable {
 public:
  static constexpr size_t kRunningMax = 4096;
  static constexpr size_t kSparesMax = 64;  // working directories that are used again
  // Outputs of ends that are recorded but not yet told; beyond it they are read from the disk.
  static constexpr size_t kUntoldBytesMax = 16u << 20;

  struct Options {
    std::string work_directory;  // exists
    int epoll = -1;
    rlimit open_files{};  // of the commands
  };
  AttemptTable(const Clock& clock, std::unique_ptr<WardenJournal> journal,
               WardenJournal::Contents contents, Options options);

  // ---- from the daemon
  void Start(StartAttempt start);
  void Renew(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end);
  void Cancel(const HeldAttempt& attempt, CancelMode mode);
  void Forget(const std::vector<HeldAttempt>& attempts);
  // Logs: who wants them and how much of each, and what has been taken over.
  void Follow(size_t log_bytes_max);
  void ConfirmOutput(const std::vector<StoredOutput>& confirmed) { logs_.Confirm(confirmed); }
  // The warden was told to stop: everything is killed and recorded, nothing starts any more.
  void Stop();

  // ---- from epoll: `token` as registered
  static constexpr uint64_t kFirstToken = 4;
  void OnReady(uint64_t token, bool writers_gone);
  void ReadMore();  // pipes that had more than one turn's worth
  bool wants_more() const { return !more_.empty(); }
  void ReapChildren();

  // A line for the warden's own log. The loop itself never writes to a file: one on a disk that
  // hangs would keep it from enforcing leases.
  void Complain(const std::string& what) { journal_->log().Log("warden: " + what); }

  // ---- once a turn, in this order
  void Tick(SteadyTime now);
  // Has what happened written down, and acts on what is: starts processes, queues ends to be told.
  void Commit(SteadyTime now);
  // Also after what follows asked for something of the disk.
  void StepJournal(SteadyTime now);
  SteadyTime NextTick() const;

  // ---- to the daemon
  // The next thing to tell, oldest first. Nullopt also while it is being read from the disk.
  std::optional<WardenMessage> TakeEvent();
  // A piece of a log, when somebody follows. After the events: they are what others wait for.
  std::optional<WardenMessage> TakeOutput(SteadyTime now);
  // When TakeOutput next has something.
  SteadyTime NextOutput() const { return followed_ ? logs_.NextDue() : SteadyTime::max(); }
  // Who listened is gone: what was told and not confirmed is told to the next one.
  void DropEvents();
  std::vector<AttemptName> Names() const;
  // False: it is being read from the disk, ask again after a step. Always before Describe.
  bool Fetch(const AttemptName& name);
  // What List says about one; nullopt when it is gone meanwhile.
  std::optional<WardenMessage> Describe(const AttemptName& name, uint64_t request);
  // Whether one more attempt could be started and recorded. False: not known yet.
  Result<bool> Ready(SteadyTime now);
  // Deletes a directory in a process of its own, which this one waits for.
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
    bool cancelled = false;  // kPrepared
    size_t output_bytes_max = 0;
    bool reserved = false;  // room for its end
    SegmentLog::RecordId start_record = 0;
    SegmentLog::RecordId end_record = 0;  // 0 = only in memory
    std::optional<AttemptEnded> memory;   // until it is told
    bool counted = false;                 // in untold_bytes_
    WallTime started{};
  };
  struct Event {
    AttemptName name;
    bool ended = false;
  };
  struct Child {
    uint64_t run_no = 0;  // 0: it only cleans up
    size_t spare = 0;     // that its keeper may use; 0: none
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
  std::unordered_map<uint64_t, AttemptName> by_run_no_;  // what lives
  std::unordered_map<pid_t, Child> children_;
  std::vector<size_t> free_spares_;  // taken from the back
  std::deque<AttemptName> waiting_;  // for room for their ends
  bool waiting_asked_ = false;       // the first one's room is being made
  std::deque<AtDisk> prepared_;      // started once they are written
  std::deque<AtDisk> ending_;        // told once they are synced
  std::vector<uint64_t> more_;
  std::deque<Event> events_;
  ForgottenAttempts forgotten_;
  uint64_t next_run_no_ = 1;
  size_t keepers_killed_ = 0;  // runs that wait for KillStrays
  bool stopping_ = false;
  size_t untold_bytes_ = 0;
  bool step_failed_ = false;
  SteadyTime next_step_{};  // when step_failed_
  // The last failure, until something was synced after it: a step that only began says nothing.
  std::optional<Error> disk_failure_;
  SegmentLog::Position synced_at_failure_ = 0;
  SteadyTime sync_due_{};
  uint64_t order_seen_ = 0;
  SteadyTime order_since_{};
  SteadyTime next_leftover_look_{};
};

}  // namespace carillon::executor
