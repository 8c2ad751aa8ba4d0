// Every transition of a run, decided in one place. Pure: (locked row, event, now) -> what to write.
// Both stores call these inside their transaction, so they cannot disagree.
//
// Place    Steps 7, 9 and 10 of docs/life-of-a-run.md; table in docs/run-states.md.
// Time     `now` is cluster time (the database's).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/domain/job.h"
#include "common/domain/retry.h"
#include "common/domain/run.h"

namespace carillon {

// The part of the job's row that decisions look at, locked in share mode before the run.
struct JobRow {
  JobNo job_no;
  int64_t version = 0;
  bool paused = false;
  bool deleted = false;
  int priority = 0;
  OverlapPolicy overlap = OverlapPolicy::kAllow;
  RetryRules retry = {};
  // For DecideLost: of the version that the running attempt executes, when that is not `version`.
  std::optional<OnLost> attempt_on_lost = {};
};

// ---- claim -------------------------------------------------------------------------------------

enum class ClaimVerdict { kAccepted, kAcceptedAgain, kRefused, kSkipped };
// Stable names of refusals; also the label of carillon_claims_total.
enum class ClaimReason {
  kNone,
  kGone,          // no such row (superseded by an edit, pause or delete)
  kNotPending,    // RUNNING with another token, or final
  kAttemptMoved,  // the task is of another attempt
  kVersionMoved,  // the job was edited since the task was published, or the run is another job's
  kNotDue,        // early by cluster time
  kPaused,
  kCancelled,
  kExecutorDisabled,
  kWrongExecutor,  // the run is pinned to another one, or its job is to run elsewhere
  kOverlap,        // kSkipped: another run of the job is active
  kNoLease,        // the owner cannot keep more leases (hold_back)
  kNotOwner,       // asked of a member that does not own the segment: another one may accept it
  kClusterPaused,  // nothing starts anywhere; it stays PENDING and is offered again (hold_back)
};
std::string_view Name(ClaimReason reason);

struct ClaimRequest {
  RunKey key;
  SegmentId segment;
  JobNo job_no;
  int attempt = 1;
  int64_t def_version = 0;
  ClaimToken token;
  ExecutorId executor;
  Incarnation incarnation;
  OverlapPolicy overlap = OverlapPolicy::kAllow;  // by the definition of def_version
  bool wants_secrets = false;                     // its task names some
  // The owner's word: by the definition of def_version other executors run it. A run that is pinned
  // to an executor goes there all the same.
  bool elsewhere = false;
  Duration late_after{};  // the owner's word: a start later than this is told; zero = none is
  // The owner's word: it was probably accepted before, and is asked again. Changes no decision,
  // only the way to it (plain.h).
  bool repeated = false;
  // The owner's word: no attempt begins, for this
  // reason; a repetition is accepted again all the same.
  ClaimReason hold_back = ClaimReason::kNone;
};

struct ClaimFacts {
  WallTime now;
  bool executor_enabled = true;   // and not draining
  bool overlap_slot_free = true;  // only looked at for OverlapPolicy::kSkip
};

struct ClaimDecision {
  ClaimVerdict verdict = ClaimVerdict::kRefused;
  ClaimReason reason = ClaimReason::kNone;
};

// `row` is null when it does not exist. kAccepted: write RUNNING, token, executor, incarnation,
// claimed = now, and take the overlap slot. kSkipped: write SKIPPED, reason overlap. Otherwise
// write nothing. "Accepted again" (a lost reply) is RUNNING with the same token.
ClaimDecision DecideClaim(const RunRow* row, const ClaimRequest& request, const ClaimFacts& facts);

// Whether the start of the accepted `request` is later
// than its job allows; a retry starts when it may.
bool StartsLate(const RunRow& row, const ClaimRequest& request, WallTime now);

// ---- ends of attempts --------------------------------------------------------------------------

// What to write into the run's row when an attempt ended; also frees the overlap slot and the
// cancel request when `state` is final.
struct RunChange {
  RunState state = RunState::kPending;
  int attempt = 1;
  WallTime due = kNever;    // when PENDING
  int64_t def_version = 0;  // stamped when PENDING, as the priority is
  int priority = 0;
  std::string reason = {};
  bool record_attempt = false;  // copy the ended attempt to run_attempts
  bool store_result = false;    // the result's columns go on the run's row
  bool dead_letter = false;     // every attempt is used up
};

enum class ResultVerdict {
  kApplied,       // the row changes as `change` says
  kRecordedOnly,  // late or of a superseded attempt: goes to run_attempts, row unchanged
  kUnknownRun,    // no such row: acknowledged, counted
};

struct ResultReport {
  RunKey key;
  SegmentId segment;
  JobNo job_no;
  int attempt = 1;
  ClaimToken token;
  ExecutorId executor;
  AttemptResult result;
};

struct ResultDecision {
  ResultVerdict verdict = ResultVerdict::kUnknownRun;
  RunChange change = {};
};

// Applies where the token matches and the state is RUNNING, PENDING, LOST or HELD. That a HELD
// run's process is dead (LOST, by its host's word) ends a cancel that waits for it; otherwise the
// run stays HELD with that reason. A repeated report of what is already recorded is kRecordedOnly.
// A result that fails is retried while attempts are left, unless a cancel was asked for, the job
// was deleted (both final). A paused job's retry waits with due = kNever. A late success of a LOST
// attempt whose retry was not yet claimed completes the run; a late failure of it is only recorded.
ResultDecision DecideResult(const RunRow* row, const JobRow* job, const ResultReport& report,
                            WallTime now);

struct LostReport {
  RunKey key;
  SegmentId segment;
  JobNo job_no;
  int attempt = 1;
  ClaimToken token;
};

// The lease of a RUNNING attempt ran out. nullopt when the row moved meanwhile. on_lost: retry
// (LOST -> PENDING while attempts are left, else final LOST with a dead letter), fail (final
// FAILED, reason executor_lost), hold (HELD). An attempt that was started under hold or fail is not
// killed when its lease ends: an edit to retry comes too late for it, and a cancel that was asked
// for is not done yet: the run is HELD, with its request, until its host or a person answers.
// Otherwise such a cancel ends in CANCELLED.
std::optional<RunChange> DecideLost(const RunRow* row, const JobRow& job, const LostReport& report,
                                    WallTime now);

// ---- by hand -----------------------------------------------------------------------------------

// What a person says about a run whose process may still run (RunRow::may_still_run).
enum class Overlap {
  kUnconfirmed,
  kConfirmed,  // it is dead, or running beside others does no harm
};

enum class CancelEffect {
  kNothing,       // already final
  kAskedHarder,   // it is being killed already: nothing to write
  kCancelledNow,  // write CANCELLED with CancelReason
  kRequested,     // set cancel_requested; CANCELLED is written when the tree is dead
};
// PENDING, and HELD of which the process is dead: now. RUNNING, and HELD of which it may still run,
// are asked; the latter ends now for a person who confirms. The mode is of those that are asked.
CancelEffect DecideCancel(const RunRow& row, CancelMode mode, Overlap overlap);
// Of a run that is cancelled now.
std::string_view CancelReason(const RunRow& row);
// What the run says of it afterwards; empty without a reason.
struct CancelWord {
  CancelEffect effect = CancelEffect::kRequested;
  CancelMode mode = CancelMode::kGraceful;
  std::string_view actor = {};
  std::string_view reason = {};
};
std::string CancelSentence(const CancelWord& word);

// FAILED, TIMED_OUT, LOST, CANCELLED or HELD -> PENDING, attempt + 1, due now, the current version.
// kConflict for other states, and for a run whose process may still run unless that is confirmed;
// kNotFound when the job is deleted.
Result<RunChange> DecideRetryByHand(const RunRow& row, const JobRow& job, Overlap overlap,
                                    WallTime now);

// ---- skips -------------------------------------------------------------------------------------

struct SkipItem {
  RunKey key;
  SegmentId segment;
  JobNo job_no;
  int attempt = 1;
  int64_t def_version = 0;
  std::string_view reason;  // run.h reason::…
};

// True when the run is still what the skip was decided about: an edit may have changed what it was
// decided by.
bool DecideSkip(const RunRow& row, const SkipItem& item);

// A run that is SKIPPED (`row`, as written) after it has been tried ends without success: that is a
// dead letter, of the attempts it had.
bool SkipLeavesDeadLetter(const RunRow& row);

// ---- edits of the job, seen from one PENDING run of it
// -------------------------------------------

enum class PendingEffect {
  kKeep,      // re-stamp def_version only
  kUnplan,    // delete the row; its schedule goes back to the earliest such fire (or is gone)
  kSkip,      // SKIPPED with the edit's reason
  kCancel,    // CANCELLED with the edit's reason
  kHoldBack,  // due = kNever until the job is resumed
};

enum class JobChange { kEdited, kPaused, kDeleted };

// `schedule_kept`: the run's schedule exists unchanged after the edit (manual: always).
//                 fire > now          first attempt, fire <= now   later attempts
//   kEdited       kept: kKeep         kKeep                        kKeep
//                 else kUnplan
//   kPaused       kUnplan             kSkip                        kHoldBack
//   kDeleted      kUnplan             kSkip                        kCancel
PendingEffect DecidePendingEffect(const RunRow& row, JobChange change, bool schedule_kept,
                                  WallTime now);

}  // namespace carillon
