// Rules of the outputs that a run gets from the run after which it starts, judged at rest.
//
// - A run of a schedule that asks for the output `of` has the text that a process of exactly its
//   upstream run left, at one of the ends that this run had; and the text is marked as one from
//   outside.
// - It is skipped for want of it only if its upstream run has ended without it.
//
// In the worlds that check this, each process that exits by itself leaves its run and attempt as
// the output `of` (sim_warden.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/domain/run/run.h"
#include "tests/twins/memory_tables.h"

namespace carillon::sim {

// The text that the process leaves.
std::string OutputOf(const RunKey& key, int attempt);

class OutputsCheck {
 public:
  void RunWritten(const RunRow* before, const RunRow* after);
  // Returns the first thing that is wrong; nullopt: nothing. Counts the runs with an output.
  std::optional<std::string> AtRest(memory::MemoryTables& tables, size_t* given) const;

 private:
  std::optional<std::string> Judge(const memory::MemoryTables& tables, const memory::RunEntry& run,
                                   size_t* given) const REQUIRES(tables.mu);

  std::map<RunKey, std::set<int>> ends_;  // the attempts with which a run has ended
};

}  // namespace carillon::sim
