// The logs of all attempts, running and ended, until the daemon has confirmed them.
//
// Place    Under WardenCore; RunningAttempts opens the logs.
// Threads  The warden's loop.
// Owns     Every AttemptLog, shared with the run that fills it, within one budget. In memory only:
//          unconfirmed text is lost when the warden dies.
// Always   The logs are sent in rotation, so that a verbose attempt does not delay the others.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/ports/executor_host.h"
#include "executor/output/attempt_log.h"
#include "executor/warden/records/warden_journal.h"

namespace carillon::executor {

class LogRelay {
 public:
  explicit LogRelay(size_t bytes_max = 64u << 20) : budget_{.bytes_max = bytes_max} {}

  static constexpr size_t kLogsMax = 16'384;

  // Applies to logs that are opened after the call.
  void SetLimit(size_t log_bytes_max) { limits_.log_bytes_max = log_bytes_max; }
  // Opens the log of an attempt. If there are too many logs, or waiting text fills half of the
  // budget, the oldest logs of ended attempts are discarded.
  std::shared_ptr<AttemptLog> Open(const HeldAttempt& held, const JobId& job_id);
  // The number of logs that were discarded since the last call.
  size_t TakeGivenUp();
  void Drop(const HeldAttempt& held);
  // Drops the log if it has ended and no chunk of it waits for a confirmation. An empty log never
  // has a chunk.
  void DropIfEmpty(const HeldAttempt& held);

  std::optional<AttemptOutput> Take(SteadyTime now);
  SteadyTime NextDue() const;
  void Confirm(const std::vector<StoredOutput>& confirmed);
  void ReportAllAgain();

  size_t size() const { return logs_.size(); }
  size_t bytes() const { return budget_.used; }

 private:
  struct Item {
    HeldAttempt held;
    JobId job_id;
    std::shared_ptr<AttemptLog> log;
  };
  using Items = std::map<uint64_t, Item>;  // oldest first

  Items::iterator Erase(Items::iterator at);
  void MakeRoom();

  LogBudget budget_;
  AttemptLog::Limits limits_;
  Items logs_;
  std::unordered_map<AttemptName, uint64_t, AttemptNameHash> numbers_;
  uint64_t next_number_ = 1;
  size_t given_up_ = 0;
  uint64_t turn_ = 0;  // number of the log that was sent last
};

}  // namespace carillon::executor
