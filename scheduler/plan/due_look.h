// Decides which due runs the sweep reads, and when it reads the next page. Pure.
//
// Due runs that are in memory (in the ready queue, or in published bundles) are PENDING in the
// store as well. If there are many of them, they are not all read in every round. The claims for
// which these runs wait need the capacity of the store.
//
// Place    Step 2 of docs/life-of-a-run.md; sweep.h reads the pages.
#pragma once

#include "common/base/time.h"

namespace carillon::scheduler {

struct DueLookFacts {
  size_t in_memory = 0;  // due runs that the firing loop has in memory
  size_t seen = 0;       // rows read in this round so far
  size_t page_rows = 0;  // rows of one page
  size_t busy = 0;       // if memory has this many due runs, one page a round is enough
  bool dropped = false;  // runs that may be due now were dropped from memory
  // Within this time, runs in memory are claimed or published again
  Duration overdue_after{};
};

// Returns how long a run must have been due before the sweep reads it. Runs that became due later
// are in memory, and the firing loop handles them. Zero means that all due runs are read. That is
// so while memory has at most a page of due runs, or after memory has dropped some.
inline Duration LeftToMemory(const DueLookFacts& facts) {
  const bool calm = facts.in_memory <= facts.page_rows;
  return calm || facts.dropped ? Duration{} : facts.overdue_after;
}

// True if the round's next page should be read at once. That is so if runs are known to have been
// dropped, or if the round saw more rows than memory has: some of these rows were new. False while
// memory has at least `busy` due runs: the page is then read in the next round.
inline bool ContinuesAtOnce(const DueLookFacts& facts) {
  return facts.in_memory < facts.busy && (facts.dropped || facts.seen > facts.in_memory);
}

}  // namespace carillon::scheduler
