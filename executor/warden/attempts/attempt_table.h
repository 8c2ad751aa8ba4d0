// Every attempt that the warden knows: prepared, running, left over by a dead warden, or ended.
//
// Place    Under WardenCore. The launcher, the running attempts and the reporter change the stages.
// Threads  Not thread-safe; the warden's loop owns it.
// Owns     The entries, with the runs in them, and the names of forgotten attempts.
// Always   An attempt is known once, by (run, attempt). A forgotten one is remembered for a while,
//          so that a repeated start order does not start it again.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "executor/warden/attempts/forgotten_attempts.h"
#include "executor/warden/attempts/live_run.h"
#include "executor/warden/records/warden_journal.h"

namespace carillon::executor {

enum class AttemptStage { kPrepared, kRunning, kLeftOver, kEnding, kEnded };

// All that the warden knows of one attempt.
struct AttemptEntry {
  AttemptStage stage = AttemptStage::kPrepared;
  HeldAttempt held;
  std::optional<StartAttempt> start;  // kPrepared
  std::unique_ptr<LiveRun> live;      // kRunning
  uint64_t run_no = 0;
  bool cancelled = false;  // kPrepared: cancelled before its start
  size_t output_bytes_max = 0;
  bool reserved = false;  // space for its end is reserved
  SegmentLog::RecordId start_record = 0;
  SegmentLog::RecordId end_record = 0;  // 0 = only in memory
  std::optional<AttemptEnded> memory;   // the end, until it is reported
  bool counted = false;                 // the output of the attempt counts as not reported
  WallTime started{};
  std::string record_file = {};  // of its container; empty: none
};

// An attempt that waits until its record is on the device.
struct AttemptAtDisk {
  AttemptName name;
  SegmentLog::Position position = 0;
};

class AttemptTable {
 public:
  AttemptEntry* Find(const AttemptName& name);
  // The entry of this attempt if it was started under the same token; else null.
  AttemptEntry* FindHeld(const HeldAttempt& held);
  // The attempt must not be known yet.
  AttemptEntry& Insert(const HeldAttempt& held, AttemptStage stage);
  // Adds an end that an earlier warden recorded. If there are two, the later one counts.
  void AddEnded(const RecordedEnd& end);
  // Adds a start that an earlier warden recorded. Returns false, and adds nothing, if the end of
  // the attempt is known.
  bool AddLeftOver(const OpenStart& start);
  // Removes an attempt whose end is in the database. Invalidates its entry.
  void Forget(const HeldAttempt& held);
  // Token of the claim that a forgotten attempt was started under; nullopt if it is not known.
  std::optional<ClaimToken> ForgottenToken(const AttemptName& name) const {
    return forgotten_.TokenOf(name);
  }

  // The newest end on disk first. The caller takes names from the back, so that ends are read in
  // their order on disk, several with one read.
  std::vector<AttemptName> Names() const;
  bool empty() const { return entries_.empty(); }

 private:
  std::unordered_map<AttemptName, AttemptEntry, AttemptNameHash> entries_;
  ForgottenAttempts forgotten_;
};

}  // namespace carillon::executor
