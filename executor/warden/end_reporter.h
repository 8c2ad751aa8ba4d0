// Records how attempts end, and reports starts and ends to the daemon.
//
// Place    Steps 8 and 9 of docs/life-of-a-run.md; under WardenCore.
// Threads  The warden's loop. An end is delayed until its record is synced; nothing here waits.
// Errors   An end whose record cannot be read back is reported as LOST.
// Always   An end is reported only after it is on the device.
#pragma once

#include <deque>
#include <optional>

#include "common/base/clock.h"
#include "executor/warden/attempt_table.h"
#include "executor/warden/channel/warden_protocol.h"
#include "executor/warden/start_refusal.h"

namespace carillon::executor {

class EndReporter {
 public:
  // Outputs kept in memory of ends that are recorded but not reported; beyond it they are
  // read back.
  static constexpr size_t kUnreportedBytesMax = 16u << 20;

  EndReporter(const Clock& clock, WardenJournal& journal, AttemptTable& table)
      : clock_(clock), journal_(journal), table_(table) {}

  // ---- what happened
  void Started(const AttemptName& name) { events_.push_back({name, false}); }
  void Record(const AttemptName& name, AttemptEntry& entry, AttemptEnded ended);
  void RecordRefused(const AttemptName& name, AttemptEntry& entry, const StartRefusal& refusal);
  // Nothing of the attempt of a dead warden lives any more.
  void RecordLeftOver(const OpenStart& start);

  // Queues the synced ends for reporting, and asks the journal to sync the others.
  void ReleaseSynced();
  bool all_synced() const { return ending_.empty(); }

  // ---- reports to the daemon
  // The next event to report, oldest first. Nullopt also while it is being read from the disk.
  std::optional<WardenMessage> TakeEvent();
  // The daemon disconnected: the next one lists everything.
  void DropEvents();
  // False: it is being read from the disk; ask again after a Step. Call it before Describe.
  bool Fetch(const AttemptName& name);
  // The answer to List for one attempt; nullopt if it is gone by now.
  std::optional<WardenMessage> Describe(const AttemptName& name, uint64_t request);
  // The database has these ends.
  void Forget(const std::vector<HeldAttempt>& attempts);

 private:
  struct Event {
    AttemptName name;
    bool ended = false;
  };

  void DropMemory(AttemptEntry& entry);

  const Clock& clock_;
  WardenJournal& journal_;
  AttemptTable& table_;
  std::deque<AttemptAtDisk> ending_;  // reported once they are synced
  std::deque<Event> events_;
  size_t unreported_bytes_ = 0;
};

}  // namespace carillon::executor
