// Every attempt that the warden knows: prepared, running, left over by a dead warden, or ended.
//
// Place    Under WardenCore. The launcher, the running attempts and the reporter move an entry on.
// Threads  Not thread-safe; the warden's loop owns it.
// Owns     The entries, with the runs in them, and the names of forgotten attempts.
// Always   An attempt is known once, by (run, attempt). A forgotten one is remembered for a while,
//          so that a repeated start order does not start it again.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "executor/warden/forgotten_attempts.h"
#include "executor/warden/live_run.h"
#include "executor/warden/warden_journal.h"

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
  std::optional<AttemptEnded> memory;   // until it is reported
  bool counted = false;                 // its output counts as not reported yet
  WallTime started{};
};

// An attempt that waits until its record is on the device.
struct AttemptAtDisk {
  AttemptName name;
  SegmentLog::Position position = 0;
};

class AttemptTable {
 public:
  AttemptEntry* Find(const AttemptName& name);
  // The entry of this attempt, only if it was started under this very token.
  AttemptEntry* FindHeld(const HeldAttempt& held);
  // The attempt must not be known yet.
  AttemptEntry& Insert(const HeldAttempt& held, AttemptStage stage);
  // An end that an earlier warden recorded; of two, the later counts.
  void AddEnded(const RecordedEnd& end);
  // A start that an earlier warden recorded. False: its end is known as well, and counts.
  bool AddLeftOver(const OpenStart& start);
  // The database has its end. Invalidates the entry.
  void Forget(const HeldAttempt& held);
  // Token of the claim that a forgotten attempt was started under; nullopt if it is not known.
  std::optional<ClaimToken> ForgottenToken(const AttemptName& name) const {
    return forgotten_.TokenOf(name);
  }

  // Neighbours on disk are neighbours in this list, which the caller reads from the back.
  std::vector<AttemptName> Names() const;
  bool empty() const { return entries_.empty(); }

 private:
  std::unordered_map<AttemptName, AttemptEntry, AttemptNameHash> entries_;
  ForgottenAttempts forgotten_;
};

}  // namespace carillon::executor
