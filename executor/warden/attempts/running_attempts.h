// Runs attempts: starts their keepers, reads their pipes, enforces their deadlines, reaps
// and ends them.
//
// Place    Step 8 of docs/life-of-a-run.md; under WardenCore.
// Threads  The warden's loop. A kill never waits for the disk.
// Owns     The children of the warden, and the working directories. A LiveRun belongs to its entry.
// Always   An attempt ends here only when no process of it lives.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/clock.h"
#include "executor/warden/attempts/attempt_table.h"
#include "executor/warden/attempts/end_reporter.h"
#include "executor/warden/container/container_cleaner.h"
#include "executor/warden/process/host_isolation.h"
#include "executor/warden/records/log_relay.h"

namespace carillon::executor {

class RunningAttempts : private KnownContainers {
 public:
  static constexpr size_t kSparesMax = 64;  // working directories that are reused

  struct Rooms {
    WardenJournal& journal;
    AttemptTable& table;
    LogRelay& logs;
    EndReporter& reporter;
  };
  struct Options {
    std::string work_directory;  // must exist
    int epoll = -1;
    // RLIMIT_NOFILE of the commands; the warden raises its own.
    rlimit open_files{};
    OutputReader read_outputs = &ReadOutputFile;  // in the keepers
    HostIsolation isolation = {};
    std::string containers = {};  // directory of the records of containers
    std::string warden_id = {};
  };
  RunningAttempts(const Clock& clock, Rooms rooms, Options options);

  // Starts a prepared attempt. After an error nothing was started and the entry is as before.
  Status Spawn(const AttemptName& name, AttemptEntry& entry);
  // Kills every attempt, because the warden stops.
  void KillAll();

  // ---- events of epoll; `token` is the number registered with the descriptor
  static constexpr uint64_t kFirstToken = 4;
  void OnReady(uint64_t token, bool writers_gone);
  // After the events of a turn: continues with pipes that were not emptied, and finishes the
  // attempts whose end the turn before noticed. An end may be noticed ahead of output that was
  // written before it, and only the events of the next turn tell the order of the two streams.
  void Continue();
  bool wants_turn() const { return !more_.empty() || !ended_.empty() || !over_.empty(); }
  void ReapChildren();
  void Cancel(const AttemptName& name, const AttemptEntry& entry, LiveRun::Grace grace);

  // Acts on the deadlines of the attempts, and kills what a killed keeper left running.
  void Tick(SteadyTime now);
  SteadyTime NextTick() const;
  // ---- containers
  ContainerCleaner& containers() { return cleaner_; }
  // The path of the record of the attempt's container.
  std::string RecordOf(const HeldAttempt& attempt) const {
    return RecordOf(ContainerName(attempt));
  }
  std::string RecordOf(std::string_view container) const {
    return fmt::format("{}/{}", options_.containers, container);
  }
  // Ends the attempts whose containers are gone; returns those of other attempts.
  std::vector<ContainerCleaner::Removed> TakeRemoved();
  // Deletes files and directories in a child process, which the warden reaps.
  void RemoveInBackground(const std::vector<std::string>& paths);

  size_t size() const { return by_run_no_.size(); }
  bool empty() const { return by_run_no_.empty(); }

 private:
  struct Child {
    uint64_t run_no = 0;  // 0: it only deletes a directory
    size_t spare = 0;     // directory that its keeper may reuse; 0: none
  };

  void Watch(const AttemptName& name, AttemptEntry& entry, size_t spare);
  // Call it after whatever may read the attempt's report.
  void NoteReport(uint64_t run_no, const AttemptName& name, LiveRun& live);
  void FinishIfOver(const AttemptName& name);
  void KillStrays();
  bool HasContainer(std::string_view name) const override;
  LiveRun& LiveOf(const AttemptName& name) const { return *rooms_.table.Find(name)->live; }
  LiveRun::Files FilesOf(const AttemptName& name, const StartAttempt& start) const;
  LiveRun::Now Now() const { return {clock_.Steady(), clock_.Wall()}; }

  const Clock& clock_;
  const Rooms rooms_;
  const Options options_;
  const std::string work_directory_;  // as an absolute path
  std::unordered_map<uint64_t, AttemptName> by_run_no_;
  std::unordered_map<pid_t, Child> children_;
  std::vector<size_t> free_spares_;  // taken from the back
  std::vector<uint64_t> more_;
  std::vector<uint64_t> ended_;  // run numbers whose end this turn noticed
  std::vector<uint64_t> over_;   // those of the turn before
  uint64_t next_run_no_ = 1;
  size_t keepers_killed_ = 0;  // runs that wait for KillStrays
  ContainerCleaner cleaner_;
};

}  // namespace carillon::executor
