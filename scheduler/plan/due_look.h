// Decides which due runs the sweep reads, and when it reads the next page. Pure.
//
// The due runs in memory (the ready queue, bundles in flight) are PENDING in the store as well.
// When there are many of them, reading them all in every round would take store capacity from the
// claims that these runs are waiting for.
//
// Place    Step 2 of docs/life-of-a-run.md; sweep.h reads the pages.
#pragma once

#include "common/base/time.h"

namespace carillon::scheduler {

struct DueLookFacts {
  size_t in_memory = 0;      // due runs that the firing loop has
  size_t seen = 0;           // rows read in this round so far
  size_t page_rows = 0;      // rows of one page
  size_t busy = 0;           // with this many due runs in memory, one page a round is enough
  bool dropped = false;      // runs that may be due now were dropped from memory
  Duration overdue_after{};  // runs in memory are claimed or published again within this time
};

// Returns how long a run must have been due before the sweep reads it. Runs that became due later
// are in memory, and the firing loop handles them. Zero (read all due runs) while memory has at
// most a page of due runs, or after it dropped some.
inline Duration LeftToMemory(const DueLookFacts& facts) {
  const bool calm = facts.in_memory <= facts.page_rows;
  return calm || facts.dropped ? Duration{} : facts.overdue_after;
}

// True if the round's next page should be read at once, not in the next round: runs are known to
// have been dropped, or the round saw more rows than memory has, so some of them were new. False
// while memory has at least `busy` due runs.
inline bool ContinuesAtOnce(const DueLookFacts& facts) {
  return facts.in_memory < facts.busy && (facts.dropped || facts.seen > facts.in_memory);
}

}  // namespace carillon::scheduler
