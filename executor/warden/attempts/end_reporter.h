// Records how attempts end, and reports starts and ends to the daemon.
//
// Place    Steps 8 and 9 of docs/life-of-a-run.md; under WardenCore.
// Threads  The warden's loop. An end is delayed until its record is synced; nothing here waits.
// Errors   An end whose record cannot be read back is reported as LOST.
// Always   An end is reported only after it is on the device.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "executor/warden/attempts/attempt_table.h"
#include "executor/warden/attempts/start_refusal.h"
#include "executor/warden/channel/warden_protocol.h"

namespace carillon::executor {

class EndReporter {
 public:
  // Limit of the output in memory of ends that are recorded but not reported. Beyond it an end is
  // read back from the journal when it is reported.
  static constexpr size_t kUnreportedBytesMax = 16u << 20;

  EndReporter(const Clock& clock, WardenJournal& journal, AttemptTable& table)
      : clock_(clock), journal_(journal), table_(table) {}

  // ---- starts and ends of attempts
  void Started(const AttemptName& name) { events_.push_back({name, false}); }
  void Record(const AttemptName& name, AttemptEntry& entry, AttemptEnded ended);
  void RecordRefused(const AttemptName& name, AttemptEntry& entry, const StartRefusal& refusal);
  // Records the end of an attempt of a dead warden, when no process of it lives any more: as LOST,
  // unless its container had ended by itself.
  void RecordLeftOver(const OpenStart& start,
                      const std::optional<ContainerEnd>& end = std::nullopt);

  // Queues the synced ends for reporting, and asks the journal to sync the ends that
  // are not synced.
  void ReleaseSynced();
  bool all_synced() const { return ending_.empty(); }
  // The records of containers whose ends are on the device now.
  std::vector<std::string> TakeRecordFiles() { return std::exchange(record_files_, {}); }

  // ---- reports to the daemon
  // The next event to report, oldest first. nullopt if there is none, or while it is being read
  // from the disk.
  std::optional<WardenMessage> TakeEvent();
  // Call it when the daemon disconnects. The events are dropped, because the next daemon asks for a
  // list of everything.
  void DropEvents();
  // Loads the end of an ended attempt into memory; call it before Describe. False: the end is being
  // read from the disk; call it again after a Step.
  bool Fetch(const AttemptName& name);
  // The answer to List for one attempt; nullopt if it is gone by now.
  std::optional<WardenMessage> Describe(const AttemptName& name, uint64_t request);
  // Removes ends that are in the database.
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
  std::vector<std::string> record_files_;
  size_t unreported_bytes_ = 0;
};

}  // namespace carillon::executor
