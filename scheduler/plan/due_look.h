// Decides how far the sweep reads due runs, and when it reads the next page. Pure.
//
// What memory knows (the ready queue, bundles in flight) is due and
// PENDING in the store as well. When much of it waits, reading it all
// again and again takes from the store what the waiting runs need.
//
// Place    Step 2 of docs/life-of-a-run.md; sweep.h reads the pages.
#pragma once

#include "common/base/time.h"

namespace carillon::scheduler {

struct DueLookFacts {
  size_t in_memory = 0;      // due runs that the firing loop has
  size_t seen = 0;           // rows that this round has read, none of them twice
  size_t page_rows = 0;      // of one page
  size_t busy = 0;           // due runs in memory: above it, one page a round is enough
  bool dropped = false;      // memory has lost runs that may be due now
  Duration overdue_after{};  // a run that memory has is claimed, or published again, before this
};

// Runs that became due within this are left to memory. Zero while one page shows all that memory
// has and something besides.
inline Duration LeftToMemory(const DueLookFacts& facts) {
  const bool calm = facts.in_memory <= facts.page_rows;
  return calm || facts.dropped ? Duration{} : facts.overdue_after;
}

// True when the round's next page is worth reading now: more rows were seen than memory has, so
// that some of them were news, or it is known that there are such rows.
inline bool GoesOnAtOnce(const DueLookFacts& facts) {
  return facts.in_memory < facts.busy && (facts.dropped || facts.seen > facts.in_memory);
}

}  // namespace carillon::scheduler
