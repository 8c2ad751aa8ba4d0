// All transitions of a run. Pure: (locked row, event, now) -> the values to write. The database
// adapter and the in-memory store call them inside their transactions, so they decide alike.
//
// Place    Steps 7, 9 and 10 of docs/life-of-a-run.md; table in docs/run-states.md.
// Time     `now` is cluster time (the database's).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/domain/job/job.h"
#include "common/domain/job/retry.h"
#include "common/domain/queue/group.h"
#include "common/domain/queue/overlap.h"
#include "common/domain/run/run.h"

namespace carillon {

// The part of the job's row that decisions depend on, locked in share mode before the run.
struct JobRow {
  JobNo job_no;
  int64_t version = 0;
  bool paused = false, deleted = false;
  int priority = 0;
  OverlapRules overlap = {};
  RetryRules retry = {};
  bool cooperative = false;                     // job_types.h
  std::optional<LossRules> attempt_rules = {};  // of the attempt's version, if it is another one
  SegmentId segment = {};
  bool has_dependents = false;  // others wait for its ends, or once did
  bool waits = false;           // its first attempts wait for runs of other jobs (waits_for.h)
};

// ---- claim -------------------------------------------------------------------------------------

// kEnqueued is a refusal for the executor: the run waits for a slot of its job or of its group.
enum class ClaimVerdict { kAccepted, kAcceptedAgain, kRefused, kSkipped, kEnqueued };
// Each has a stable name, which is also the label of carillon_claims_total.
enum class ClaimReason {
  kNone,
  kGone,          // no such row (removed by an edit, pause or delete)
  kNotPending,    // RUNNING with another token, or final
  kAttemptMoved,  // the task is for another attempt
  kVersionMoved,  // the job was edited since the task was published, or the run is of another job
  kNotDue,        // too early by cluster time
  kPaused,
  kCancelled,
  kExecutorDisabled,
  kWrongExecutor,  // the run is pinned to another one, or its job must run elsewhere
  kOverlap,        // kSkipped: as many runs of the job are active as may be
  kQueueFull,      // kSkipped: as many runs of the job are queued as may be
  kWaitsForSlot,   // it was put into a queue (kEnqueued), or was there already (kRefused)
  kForbidden,      // kSkipped: somebody behind the run may not run the job now (standing.h)
  kNoLease,        // the owner cannot keep more leases (hold_back)
  kNotOwner,       // sent to a member that does not own the segment; another one may accept it
  kClusterPaused,  // nothing starts anywhere; the run stays PENDING and is offered again
};
std::string_view Name(ClaimReason reason);

// An executor's request to start one attempt.
struct ClaimRequest {
  RunKey key;
  SegmentId segment;
  JobNo job_no;
  int attempt = 1;
  int64_t def_version = 0;
  ClaimToken token;
  ExecutorId executor;
  Incarnation incarnation;
  bool wants_secrets = false;  // its task names secrets
  // The fields below are set by the owner, not by the executor.
  OverlapRules overlap = {};  // the job's rules by version def_version
  std::string group = {};     // of that version, too; empty = none
  // Version def_version of the job must run on other executors. Does not apply to a run that a
  // person has pinned to this one; applies to the pin that a part has from its fire.
  bool elsewhere = false;
  // A start that is later than this causes a notice; zero = never.
  Duration late_after{};
  bool keep_zone = false;  // Begin stores the zone of the fire; only once all members can read it
  // The claim was probably accepted before, so it is not decided as a plain claim (plain.h).
  bool repeated = false;
  bool pinned = false;  // its row names an executor, as far as the owner knows: likewise
  // RunRow::rules by which these fields were set: the row must still have them. nullopt: none.
  std::optional<std::string> rules = {};
  // Refuse new attempts for this reason; a repeated claim is still confirmed.
  ClaimReason hold_back = ClaimReason::kNone;
};

struct ClaimFacts {
  WallTime now;
  bool executor_enabled = true;  // and not draining
  SlotFacts slots = {};          // set if the job's policy takes slots
  GroupFacts group = {};         // set if the job names a group
  std::string refusal = {};      // RefusalOf the people behind a run with run_flag::kOnBehalf
};

struct ClaimDecision {
  ClaimVerdict verdict = ClaimVerdict::kRefused;
  ClaimReason reason = ClaimReason::kNone;
  bool for_group = false;  // kEnqueued: for its group, and takes or keeps the slot of its job
  std::optional<WallTime> not_before = {};  // kNotDue: when its slot of the group is cool
};

// Decides about a claim. `row` is null if the run does not exist. kAccepted: write RUNNING, token,
// executor, incarnation, claimed = now, and take the slots of the job and of its group. kSkipped:
// write SKIPPED, SkipReasonOf, and `refusal` as the error. kEnqueued: put the run into a queue.
// Otherwise write nothing. kAcceptedAgain comes first: an earlier reply was lost.
ClaimDecision DecideClaim(const RunRow* row, const ClaimRequest& request, const ClaimFacts& facts);
std::string_view SkipReasonOf(const ClaimDecision& decision);

// True if the accepted `request` starts later than its job allows; never for a retry.
bool StartsLate(const RunRow& row, const ClaimRequest& request, WallTime now);

// ---- ends of attempts --------------------------------------------------------------------------

// The values to write into the run's row. A final state also frees the slot and clears the request.
struct RunChange {
  RunState state = RunState::kPending;
  int attempt = 1;
  WallTime due = kNever;    // when PENDING; when HELD: presumed dead then (hanging.h)
  int64_t def_version = 0;  // when PENDING; also the priority
  int priority = 0;
  std::string reason = {};
  bool record_attempt = false;  // copy the ended attempt to run_attempts
  bool store_result = false;    // write the result's columns into the run's row
  bool dead_letter = false;     // no attempt is left
  // When PENDING: a repeated result of the old attempt is only recorded, and the slot is free.
  bool clear_token = false;
  bool given_back = false;  // when PENDING: the writer counts it in the row (returns.h)
};

enum class ResultVerdict {
  kApplied,       // change the row as `change` says
  kRecordedOnly,  // late or superseded: written to run_attempts; the row is unchanged
  kUnknownRun,    // no such row: the result is acknowledged and counted
};

// The end of an attempt, as its executor reported it.
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

// Decides what follows the result of an attempt, by the state of its run:
//   RUNNING   Ends with the result. A failure is retried while attempts are left, unless retry_on
//             excludes it, a cancel was requested or the job was deleted. An attempt that never
//             began gives the run back (returns.h); other losses follow on_lost (DecideLost).
//   HELD      The same, but other losses (the process is dead) complete a cancel or lead to the
//             retry of a handler.
//   PENDING   A late success of the previous attempt completes the run.
//   LOST      A late result of the last attempt replaces LOST.
// Everything else is kRecordedOnly: other states, tokens and attempts, and repeated results.
ResultDecision DecideResult(const RunRow* row, const JobRow* job, const ResultReport& report,
                            WallTime now);

// The attempt whose lease ended.
struct LostReport {
  RunKey key;
  SegmentId segment;
  JobNo job_no;
  int attempt = 1;
  ClaimToken token;
};

// Decides what follows when the lease of a RUNNING attempt has ended; nullopt if the row changed
// meanwhile. The job's on_lost decides:
//   retry  PENDING for the next attempt; if none is left, final LOST with a dead letter
//   fail   final FAILED with a dead letter, reason executor_lost
//   hold   HELD; so too under retry, of a handler, which nobody could end (presume_dead: hanging.h)
// The run of a deleted job ends as LOST.
// An attempt that started under fail or hold is not killed when its lease ends, so its process may
// still run. Therefore a later edit to retry does not apply to it, and a requested cancel cannot be
// completed: the run becomes HELD and keeps the request until its host reports the end or a person
// decides. If the attempt started under retry, a requested cancel ends in CANCELLED.
std::optional<RunChange> DecideLost(const RunRow* row, const JobRow& job, const LostReport& report,
                                    WallTime now);

// ---- cancels and retries by users --------------------------------------------------------------

// A user's statement about a run whose process may still run.
enum class Overlap {
  kUnconfirmed,
  kConfirmed,  // the process is dead, or may harmlessly run beside another
};

enum class CancelEffect {
  kNothing,       // already final
  kAskedHarder,   // a kill was requested before: write nothing
  kCancelledNow,  // write CANCELLED with CancelReason
  kRequested,     // set cancel_requested; CANCELLED follows when the tree is dead
};
// The effect of a cancel depends on the state of the run; none if it is final:
//   PENDING, HELD and dead       cancelled immediately
//   HELD, process may still run  kConfirmed: cancelled immediately; kUnconfirmed: cancel request
//   RUNNING                      cancel request
// `mode` applies only to runs that receive a request.
CancelEffect DecideCancel(const RunRow& row, CancelMode mode, Overlap overlap);
// The `reason` stored on a run that is cancelled immediately.
std::string_view CancelReason(const RunRow& row);
// A cancel by a user, as CancelSentence describes it.
struct UserCancel {
  CancelEffect effect = CancelEffect::kRequested;
  CancelMode mode = CancelMode::kGraceful;
  std::string_view actor = {};
  std::string_view reason = {};
};
// The sentence for the error of the run: "killed by anna: …", or "killed by anna"; else empty.
std::string CancelSentence(const UserCancel& word);

// Decides about a retry by a user. A FAILED, TIMED_OUT, LOST, CANCELLED or HELD run is set PENDING:
// next attempt, due now, the job's current version. A run that waits for its next attempt keeps
// attempt and version, and becomes due now. kNotFound: the job is deleted. kConflict: another
// state, or the process may still run and the user did not confirm that.
Result<RunChange> DecideRetryByHand(const RunRow& row, const JobRow& job, Overlap overlap,
                                    WallTime now);

// ---- effect of an edit of the job on one PENDING run of it -------------------------------------

enum class PendingEffect {
  kKeep,      // only update def_version
  kUnplan,    // delete the row: its schedule plans the fire again, or was removed
  kSkip,      // SKIPPED with the edit's reason
  kCancel,    // CANCELLED with the edit's reason
  kHoldBack,  // due = kNever until the job is resumed
};

enum class JobChange { kEdited, kPaused, kDeleted };

// `schedule_kept`: the run's schedule exists unchanged after the edit (always for manual runs).
//                 fire > now          first attempt, fire <= now   later attempts
//   kEdited       kept: kKeep         kKeep                        kKeep
//                 else kUnplan
//   kPaused       kUnplan             kSkip; BACKFILL: kHoldBack   kHoldBack
//   kDeleted      kUnplan             kSkip                        kCancel
// Under a pause, a node that no step has released (IsUnreleased) stays as it is.
PendingEffect DecidePendingEffect(const RunRow& row, JobChange change, bool schedule_kept,
                                  WallTime now);

}  // namespace carillon
