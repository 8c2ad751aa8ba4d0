// Recognises "plain" claims and results. A claim or result is plain if its request already states
// every fact on which the decision (run_state.h) depends. A store can then write the rows of a
// whole batch at once without reading them first, on the condition that all stated facts hold. If
// one fact does not hold, nothing of the batch is written, and its rows are read and decided
// one by one.
//
// Place    Steps 7 and 9 of docs/life-of-a-run.md. The in-memory store evaluates the predicates;
//          the MariaDB adapter states each fact in its statement (plain_writes.cc).
// Always   If every fact holds for a row, DecideClaim accepts the claim, or DecideResult completes
//          the run. Then only the run's own row must be written. A claim that may start late is not
//          plain: lateness counts from the due time, which only the row has. Nor is that of a node:
//          only the row says whether it has the rules by which the request was filled in.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <vector>

#include "common/domain/run/run_state.h"

namespace carillon {

// A stored run: the fields that decisions read, and two facts that only a store knows.
struct PlainRow {
  const RunRow& row;
  bool readable = true;     // this version of Carillon knows the run's kind and state
  bool slot_taken = false;  // the run holds the overlap slot of its job until it ends
};

// The facts about a run that make a claim plain. RuleOf names a failpoint for each fact: if a test
// disables that rule (failpoint.h), the fact counts as true.
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
  kGroup,
  kOnBehalf,
};
inline constexpr std::array kClaimFacts = {
    ClaimFact::kReadable, ClaimFact::kState,   ClaimFact::kAttempt, ClaimFact::kCancel,
    ClaimFact::kJob,      ClaimFact::kVersion, ClaimFact::kSegment, ClaimFact::kDue,
    ClaimFact::kPin,      ClaimFact::kGroup,   ClaimFact::kOnBehalf};
std::string_view RuleOf(ClaimFact fact);
bool Holds(ClaimFact fact, const PlainRow& run, const ClaimRequest& request, WallTime now);
bool IsPlain(const PlainRow& run, const ClaimRequest& request, WallTime now);
// True if these facts alone decide about the claim, provided that the executor accepts runs.
bool MayBePlain(const ClaimRequest& request);

// The facts about a run that make a result plain; RuleOf, Holds and IsPlain as for claims.
enum class ResultFact {
  kReadable,
  kState,
  kAttempt,
  kToken,
  kCancel,
  kJob,
  kSegment,
  kSlot,
  kGroup,
  kAwaited,
};
inline constexpr std::array kResultFacts = {
    ResultFact::kReadable, ResultFact::kState,  ResultFact::kAttempt, ResultFact::kToken,
    ResultFact::kCancel,   ResultFact::kJob,    ResultFact::kSegment, ResultFact::kSlot,
    ResultFact::kGroup,    ResultFact::kAwaited};
std::string_view RuleOf(ResultFact fact);
bool Holds(ResultFact fact, const PlainRow& run, const ResultReport& report);
bool IsPlain(const PlainRow& run, const ResultReport& report);
// True for a success without reason, error, output and outputs.
bool MayBePlain(const ResultReport& report);

// The indexes of a batch, divided: `plain` has the items that may be plain, sorted by the keys of
// their runs. `others` has all other items in the batch's order. Plain items are written first. So
// if several items are about the same run, only the first may be plain: this keeps their order.
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
