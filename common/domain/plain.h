// Claims and results that need no look at their rows: a request that is plain names every fact that
// the decision about it (run_state.h) would look at, so that a store can write the rows of a whole
// batch on the condition that all of them hold. Where one does not, nothing of the batch is
// written, and its rows are read and decided.
//
// Place    Steps 7 and 9 of docs/life-of-a-run.md. The memory twin asks the predicates; the MariaDB
//          adapter says each fact in its statement (plain_writes.cc).
// Always   A row for which every fact holds is one that DecideClaim accepts, and that DecideResult
//          makes COMPLETED, with nothing else to write than the run's own row (and the notice of a
//          late start, which follows from the request).
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <vector>

#include "common/domain/run_state.h"

namespace carillon {

// A run as stored: what decisions look at, and what only a store knows of it.
struct PlainRow {
  const RunRow& row;
  bool readable = true;     // its kind and state are such that this version knows
  bool slot_taken = false;  // it holds an overlap slot, to be freed with its end
};

// Each names itself to the tests: broken (failpoint.h), it counts as holding.
enum class ClaimFact {
  kReadable,
  kState,
  kAttempt,
  kCancel,
  kJob,
  kVersion,
  kSegment,
  kDue,
  kPin,
};
inline constexpr std::array kClaimFacts = {
    ClaimFact::kReadable, ClaimFact::kState, ClaimFact::kAttempt,
    ClaimFact::kCancel,   ClaimFact::kJob,   ClaimFact::kVersion,
    ClaimFact::kSegment,  ClaimFact::kDue,   ClaimFact::kPin};
std::string_view RuleOf(ClaimFact fact);
bool Holds(ClaimFact fact, const PlainRow& run, const ClaimRequest& request, WallTime now);
bool IsPlain(const PlainRow& run, const ClaimRequest& request, WallTime now);
// Whether its facts are all there is to decide, where its executor takes runs.
bool MayBePlain(const ClaimRequest& request);

enum class ResultFact {
  kReadable,
  kState,
  kAttempt,
  kToken,
  kCancel,
  kJob,
  kSegment,
  kSlot,
};
inline constexpr std::array kResultFacts = {
    ResultFact::kReadable, ResultFact::kState, ResultFact::kAttempt, ResultFact::kToken,
    ResultFact::kCancel,   ResultFact::kJob,   ResultFact::kSegment, ResultFact::kSlot};
std::string_view RuleOf(ResultFact fact);
bool Holds(ResultFact fact, const PlainRow& run, const ResultReport& report);
bool IsPlain(const PlainRow& run, const ResultReport& report);
// A success without texts.
bool MayBePlain(const ResultReport& report);

// A batch by places: those that may be plain, by the keys of their runs, and the others, in the
// batch's order. Of several items about one run only the first may be plain, so that the order
// among them stays when the plain ones are written first.
struct PlainSplit {
  std::vector<size_t> plain = {};
  std::vector<size_t> others = {};
};
template <typename Item, typename MayBe>
PlainSplit SplitPlain(const std::vector<Item>& items, MayBe may_be) {
  std::vector<size_t> by_key(items.size());
  std::iota(by_key.begin(), by_key.end(), size_t{0});
  std::sort(by_key.begin(), by_key.end(), [&](size_t a, size_t b) {
    return items[a].key == items[b].key ? a < b : items[a].key < items[b].key;
  });
  PlainSplit split;
  split.plain.reserve(items.size());
  for (size_t i = 0; i < by_key.size(); ++i) {
    const Item& item = items[by_key[i]];
    const bool first = i == 0 || !(items[by_key[i - 1]].key == item.key);
    (first && may_be(item) ? split.plain : split.others).push_back(by_key[i]);
  }
  std::sort(split.others.begin(), split.others.end());
  return split;
}

}  // namespace carillon
