// The port Housekeeping in memory: deletes rows that are older than their retention.
#pragma once

#include <set>
#include <vector>

#include "common/ports/store/housekeeping.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryHousekeeping final : public Housekeeping {
 public:
  explicit MemoryHousekeeping(MemoryTables& tables) : tables_(tables) {}

  Result<Upkeep> Maintain(WallTime now, const Retention& retention) override;

 private:
  // Of the runs that are about to be dropped, keeps the newest finished ones of each job; of the
  // runs kept before, only those that are still among them.
  void KeepLast(const std::vector<RunKey>& dropped, const Retention& retention)
      REQUIRES(tables_.mu);
  void DropCalendarVersions(WallTime before) REQUIRES(tables_.mu);
  // Runs of jobs with a retention of their own.
  void DropShortLived(WallTime now, Duration retention) REQUIRES(tables_.mu);
  // Adds the run, and those of its nodes if it is of a workflow.
  void AddWithNodes(const RunKey& key, std::set<RunKey>& gone) REQUIRES(tables_.mu);
  // Those whose own run has been deleted.
  void DropWorkflowRuns() REQUIRES(tables_.mu);

  MemoryTables& tables_;
};

}  // namespace carillon::memory
