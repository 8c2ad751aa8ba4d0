// Decides whether a due run may start beside the other runs of its job (overlap_policy,
// max_running), and which queued runs may start when one of those ends. Pure.
//
// Place    Step 7 of docs/life-of-a-run.md, and the admission of queued runs.
//
// A run of a job with any policy but `allow` holds one of the job's slots: from its first claim, or
// from its admission if it was queued, until its final state, also between two attempts. A run that
// waits for a slot is queued: PENDING with `due` kQueued.
//
// Example  queue_all, max_running 1. Run A is claimed and holds the slot. B and C become due and
//          are claimed by executors: DecideSlot queues both. A ends; DecideAdmission admits B,
//          which holds the slot from now on, although it is only due, not claimed. A run D that
//          becomes due now is queued behind C.
#pragma once

#include <optional>
#include <vector>

#include "common/domain/job/job.h"
#include "common/domain/run/run.h"

namespace carillon {

struct OverlapRules {
  OverlapPolicy policy = OverlapPolicy::kAllow;
  int64_t max_running = 1;
  int64_t queue_max = 100;
  Duration queue_timeout{};  // a queued run is skipped after this time; zero = never

  bool operator==(const OverlapRules&) const = default;
};
OverlapRules OverlapRulesOf(const JobDefinition& job);

// ---- a run that is claimed ---------------------------------------------------------------------

struct SlotFacts {
  bool has_slot = false;  // the run holds one: it was admitted, or claimed before
  int64_t taken = 0;      // slots that other runs of the job hold
  int64_t ahead = 0;   // those of runs that run or are HELD, or have an earlier key than this one
  int64_t queued = 0;  // queued runs of the job
  bool queued_before = false;  // one of them has an earlier key than this run
};

enum class SlotVerdict {
  kStart,
  kSkip,      // SKIPPED, reason overlap
  kSkipFull,  // SKIPPED, reason queue_full
  kQueue,
};
// A free slot is not enough: a queued run with an earlier key goes first. Nor is a slot of its own:
// after an edit that lowers the limit, more runs may hold slots than may be active. Those with the
// earliest keys go on first. The others are queued under every policy, because a skip would end
// what has begun. A run that is queued gives its slot back.
SlotVerdict DecideSlot(const OverlapRules& rules, const SlotFacts& facts);

// ---- the queue of a job ------------------------------------------------------------------------

struct Admission {
  std::vector<RunKey> admitted = {};  // they become due, and take a slot unless overlap is allowed
  std::vector<RunKey> replaced = {};  // SKIPPED, reason replaced
  std::optional<CancelMode> holders = {};  // how the runs that hold slots are cancelled
};
// `queue`: queued runs of the job, by key. `taken`: slots in use. The rules are those of the job
// now, so an edit of the policy also applies to runs that were queued before it.
Admission DecideAdmission(const OverlapRules& rules, const std::vector<RunKey>& queue,
                          int64_t taken);

// Fate of a run that holds a slot while `newest` waits, the newest queued run of the job.
enum class MakeRoom {
  kKeep,    // it is newer than the run that waits, which was retried by hand, for example
  kSkip,    // it was admitted but never started: SKIPPED, reason replaced
  kCancel,  // as DecideCancel (run_state.h) says
};
MakeRoom DecideMakeRoom(const RunRow& holder, const RunKey& newest);
// Stored as the `error` of a run that is cancelled by its job's policy.
std::string ReplacedSentence(const OverlapRules& rules, const RunKey& by);

}  // namespace carillon
