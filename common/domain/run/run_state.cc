#include "common/domain/run/run_state.h"

#include <algorithm>

#include "common/base/failpoint.h"
#include "common/domain/run/returns.h"
#include "common/domain/run/run_kind.h"
#include "common/domain/workflow/node_key.h"

namespace carillon {
namespace {

bool TokenMatches(const RunRow& row, ClaimToken token) {
  return row.claim_token == token || failpoint::Broken("claim.token");
}

uint64_t SeedOf(const RunKey& key) { return std::hash<RunKey>{}(key); }

// Returns the run to PENDING for one more attempt. Every automatic retry calls this function, so
// that each uses the current version of the job and waits while the job is paused.
RunChange NextAttempt(const RunRow& row, const JobRow& job, WallTime due) {
  const bool keep_version = failpoint::Broken("retry.version");
  return {.state = RunState::kPending,
          .attempt = row.attempt + 1,
          .due = job.paused ? kNever : due,
          .def_version = keep_version ? row.def_version : job.version,
          .priority = NextPriority(row, job.priority),
          .record_attempt = true};
}

bool WaitsForRetry(const RunRow& row, WallTime now) {
  const bool backs_off = IsTime(row.due) || row.due == kNever;
  return row.state == RunState::kPending && row.attempt > 1 && row.due > now && backs_off;
}

RunChange Ended(const RunRow& row, RunState state, std::string_view why) {
  return {.state = state,
          .attempt = row.attempt,
          .def_version = row.def_version,
          .reason = std::string(why),
          .store_result = true};
}

RunChange Held(const RunRow& row, std::string_view why) {
  RunChange held = Ended(row, RunState::kHeld, why);
  held.store_result = false;
  return held;
}

bool MayReturn(const RunRow& row, const JobRow* job) {
  const bool wanted = !row.cancel_requested && job != nullptr && !job->deleted;
  return wanted && ReturnsOf(row) < kReturnsMax && !failpoint::Broken("run.given_back");
}

RunChange Returned(const RunRow& row, const JobRow& job, WallTime now) {
  RunChange change = NextAttempt(row, job, now + ReturnWait(row));
  change.given_back = true;
  return change;
}

enum class LostProcess { kDead, kUnknown };  // of a lost attempt's process

RunChange AfterLoss(const RunRow& row, const JobRow* job, std::string_view why, LostProcess fate,
                    WallTime now) {
  if (row.cancel_requested) {
    return fate == LostProcess::kDead ? Ended(row, RunState::kCancelled, why) : Held(row, why);
  }
  if (job == nullptr || job->deleted) return Ended(row, RunState::kLost, why);
  switch (job->retry.on_lost) {
    case OnLost::kHold: return Held(row, why);
    case OnLost::kFail: {
      RunChange failed = Ended(row, RunState::kFailed, why);
      failed.dead_letter = true;
      return failed;
    }
    case OnLost::kRetry: break;
  }
  // The retry has no back-off, because the host failed and not the job, and the run has usually
  // waited for the end of the lease already.
  if (HasRetryLeft(job->retry, TriesOf(row))) return NextAttempt(row, *job, now);
  RunChange lost = Ended(row, RunState::kLost, why);
  lost.dead_letter = true;
  return lost;
}

RunChange AfterFailure(const RunRow& row, const JobRow* job, const AttemptResult& result,
                       WallTime now) {
  RunChange ended = Ended(row, result.state, result.reason);
  if (row.cancel_requested || job == nullptr || job->deleted) return ended;
  if (HasRetryLeft(job->retry, TriesOf(row))) {
    if (job->retry.conditions.Allow(result) || failpoint::Broken("retry.conditions")) {
      const Duration wait = RetryDelay(job->retry, TriesOf(row), SeedOf(row.key));
      const Duration asked =
          failpoint::Broken("retry.after")
              ? Duration{}
              : std::min(result.retry_after.value_or(Duration{}), kRetryAfterMax);
      return NextAttempt(row, *job, now + std::max(wait, asked));
    }
    // Other failures are rarer, and their reason says more.
    if (RetryConditions::Names(result)) ended.reason = reason::kNotRetryable;
  }
  ended.dead_letter = true;
  return ended;
}

// Decides what follows the result of the current attempt of a RUNNING or HELD run.
RunChange AfterCurrent(const RunRow& row, const JobRow* job, const AttemptResult& result,
                       WallTime now) {
  if (NeverBegan(result) && MayReturn(row, job)) return Returned(row, *job, now);
  switch (result.state) {
    case RunState::kFailed:
    case RunState::kTimedOut: return AfterFailure(row, job, result, now);
    case RunState::kLost: return AfterLoss(row, job, result.reason, LostProcess::kDead, now);
    default: return Ended(row, result.state, result.reason);
  }
}

}  // namespace

std::string_view Name(ClaimReason reason) {
  switch (reason) {
    case ClaimReason::kNone: return "accepted";
    case ClaimReason::kGone: return "gone";
    case ClaimReason::kNotPending: return "not_pending";
    case ClaimReason::kAttemptMoved: return "attempt_moved";
    case ClaimReason::kVersionMoved: return "version_moved";
    case ClaimReason::kNotDue: return "not_due";
    case ClaimReason::kPaused: return "paused";
    case ClaimReason::kCancelled: return "cancelled";
    case ClaimReason::kExecutorDisabled: return "executor_disabled";
    case ClaimReason::kWrongExecutor: return "wrong_executor";
    case ClaimReason::kOverlap: return "overlap";
    case ClaimReason::kQueueFull: return "queue_full";
    case ClaimReason::kWaitsForSlot: return "queued";
    case ClaimReason::kForbidden: return "forbidden";
    case ClaimReason::kNoLease: return "no_lease";
    case ClaimReason::kNotOwner: return "not_owner";
    case ClaimReason::kClusterPaused: return "cluster_paused";
  }
  return "";
}

ClaimDecision DecideClaim(const RunRow* row, const ClaimRequest& request, const ClaimFacts& facts) {
  const auto refuse = [](ClaimReason why) { return ClaimDecision{ClaimVerdict::kRefused, why}; };
  if (row == nullptr) return refuse(ClaimReason::kGone);
  if (row->state == RunState::kRunning && row->attempt == request.attempt &&
      TokenMatches(*row, request.token)) {
    return {ClaimVerdict::kAcceptedAgain, ClaimReason::kNone};
  }
  if (row->state != RunState::kPending) return refuse(ClaimReason::kNotPending);
  if (row->attempt != request.attempt) return refuse(ClaimReason::kAttemptMoved);
  if (row->cancel_requested) return refuse(ClaimReason::kCancelled);
  if (row->job_no != request.job_no || row->def_version != request.def_version) {
    return refuse(ClaimReason::kVersionMoved);
  }
  // It was released after they had been read.
  if (request.rules && *request.rules != row->rules) return refuse(ClaimReason::kVersionMoved);
  if (row->due == kNever) return refuse(ClaimReason::kPaused);
  if (row->due == kQueued) return refuse(ClaimReason::kWaitsForSlot);
  if (row->due > facts.now) return refuse(ClaimReason::kNotDue);
  if (request.hold_back != ClaimReason::kNone) return refuse(request.hold_back);
  if (!facts.executor_enabled) return refuse(ClaimReason::kExecutorDisabled);
  // A workflow run begins without an executor, so none can be the wrong one. Its job may have been
  // of another type when a user chose the executor.
  const bool pinned = !row->pinned_executor.empty() && !request.executor.empty();
  if (pinned && row->pinned_executor != request.executor) {
    return refuse(ClaimReason::kWrongExecutor);
  }
  // A person who names an executor overrules the job. The begin of a fire, which binds its parts,
  // has only done what the job said then.
  const bool overruled = pinned && row->key.shard == 0;
  if (request.elsewhere && !overruled) return refuse(ClaimReason::kWrongExecutor);
  // Before the slots: it would wait for one in vain.
  if (!facts.refusal.empty()) return {ClaimVerdict::kSkipped, ClaimReason::kForbidden};
  constexpr ClaimDecision kEnqueued{ClaimVerdict::kEnqueued, ClaimReason::kWaitsForSlot};
  // A skip would be the end of a run that has ended otherwise already, and of which a person
  // wants more.
  const bool waits = IsQueuedWithoutSlot(row->kind) || !IsFirstTry(*row);
  switch (DecideSlot(request.overlap, facts.slots)) {
    case SlotVerdict::kSkip:
      if (waits) return kEnqueued;
      return {ClaimVerdict::kSkipped, ClaimReason::kOverlap};
    case SlotVerdict::kSkipFull:
      if (waits) return kEnqueued;
      return {ClaimVerdict::kSkipped, ClaimReason::kQueueFull};
    case SlotVerdict::kQueue: return kEnqueued;
    case SlotVerdict::kStart: break;
  }
  switch (DecideStartInGroup(facts.group)) {
    case GroupVerdict::kQueue:
      return {.verdict = ClaimVerdict::kEnqueued,
              .reason = ClaimReason::kWaitsForSlot,
              .for_group = true};
    case GroupVerdict::kTooEarly:
      return {.reason = ClaimReason::kNotDue, .not_before = facts.now + facts.group.warm};
    case GroupVerdict::kStart: break;
  }
  return {ClaimVerdict::kAccepted, ClaimReason::kNone};
}

std::string_view SkipReasonOf(const ClaimDecision& decision) {
  switch (decision.reason) {
    case ClaimReason::kForbidden: return reason::kForbidden;
    case ClaimReason::kQueueFull: return reason::kQueueFull;
    default: return reason::kOverlap;
  }
}

bool StartsLate(const RunRow& row, const ClaimRequest& request, WallTime now) {
  return request.late_after > Duration::zero() && IsFirstTry(row) &&
         MayBeLate(row.kind, row.flags) && now - row.due > request.late_after;
}

ResultDecision DecideResult(const RunRow* row, const JobRow* job, const ResultReport& report,
                            WallTime now) {
  if (row == nullptr) return {ResultVerdict::kUnknownRun, {}};
  ResultDecision recorded{ResultVerdict::kRecordedOnly, {}};
  // No attempt has the token zero: the run is a workflow's, or was blocked again since.
  if (report.token == ClaimToken{}) return recorded;
  if (!TokenMatches(*row, report.token)) return recorded;
  switch (row->state) {
    case RunState::kRunning:
    case RunState::kHeld:
      if (row->attempt != report.attempt) return recorded;
      if (row->state == RunState::kHeld && report.result.state == RunState::kLost &&
          !row->cancel_requested) {
        if (!row->may_still_run) return recorded;
        if (NeverBegan(report.result) && MayReturn(*row, job)) {
          return {ResultVerdict::kApplied, Returned(*row, *job, now)};
        }
        if (job != nullptr && job->cooperative && job->retry.on_lost == OnLost::kRetry) {
          return {ResultVerdict::kApplied, AfterCurrent(*row, job, report.result, now)};
        }
        return {ResultVerdict::kApplied, Held(*row, report.result.reason)};
      }
      return {ResultVerdict::kApplied, AfterCurrent(*row, job, report.result, now)};
    case RunState::kLost:
      if (row->attempt != report.attempt || report.result.state == RunState::kLost) {
        return recorded;
      }
      return {ResultVerdict::kApplied, Ended(*row, report.result.state, report.result.reason)};
    case RunState::kPending: {
      // The previous attempt was given up but has succeeded after all, and the next one was not
      // claimed yet: the work is done.
      if (row->attempt != report.attempt + 1 || report.result.state != RunState::kCompleted) {
        return recorded;
      }
      RunChange done = Ended(*row, RunState::kCompleted, report.result.reason);
      done.attempt = report.attempt;
      return {ResultVerdict::kApplied, done};
    }
    default: return recorded;
  }
}

std::optional<RunChange> DecideLost(const RunRow* row, const JobRow& job, const LostReport& report,
                                    WallTime now) {
  if (row == nullptr || row->state != RunState::kRunning || row->attempt != report.attempt ||
      row->claim_token != report.token || report.token == ClaimToken{}) {
    return std::nullopt;
  }
  JobRow policy = job;
  const auto rules = job.attempt_rules.value_or(LossRules{job.retry.on_lost, job.cooperative});
  const OnLost started_under =
      rules.cooperative && rules.on_lost == OnLost::kRetry ? OnLost::kHold : rules.on_lost;
  const bool killed = started_under == OnLost::kRetry || failpoint::Broken("outcome.unknown");
  const LostProcess fate = killed ? LostProcess::kDead : LostProcess::kUnknown;
  if (fate == LostProcess::kUnknown && policy.retry.on_lost == OnLost::kRetry) {
    policy.retry.on_lost = started_under;
  }
  RunChange change = AfterLoss(*row, &policy, reason::kExecutorLost, fate, now);
  const bool retries = rules.on_lost == OnLost::kRetry && job.retry.on_lost == OnLost::kRetry;
  if (change.state == RunState::kHeld && rules.cooperative && retries &&
      job.retry.presume_dead > Duration::zero()) {
    change.due = now + job.retry.presume_dead;
  }
  return change;
}

CancelEffect DecideCancel(const RunRow& row, CancelMode mode, Overlap overlap) {
  const CancelEffect asked =
      row.cancel_requested > mode ? CancelEffect::kAskedHarder : CancelEffect::kRequested;
  switch (row.state) {
    case RunState::kPending: return CancelEffect::kCancelledNow;
    case RunState::kHeld:
      return row.may_still_run && overlap == Overlap::kUnconfirmed ? asked
                                                                   : CancelEffect::kCancelledNow;
    case RunState::kRunning: return asked;
    default: return CancelEffect::kNothing;
  }
}

std::string CancelSentence(const UserCancel& word) {
  if (word.reason.empty() && word.actor.empty()) return {};
  // If no process was running, the sentence says "cancelled" even for CancelMode::kKill.
  const bool kills = word.effect == CancelEffect::kRequested && word.mode == CancelMode::kKill;
  const std::string who(word.actor.empty() ? "an unknown user" : word.actor);
  const std::string sentence = std::string(kills ? "killed" : "cancelled") + " by " + who;
  return word.reason.empty() ? sentence : sentence + ": " + std::string(word.reason);
}

std::string_view CancelReason(const RunRow& row) {
  return row.may_still_run ? reason::kOutcomeUnknown : reason::kCancelRequested;
}

Result<RunChange> DecideRetryByHand(const RunRow& row, const JobRow& job, Overlap overlap,
                                    WallTime now) {
  const std::string id = EncodeRunId(row.key);
  if (job.deleted) return {ErrorCode::kNotFound, "retry: the job of run " + id + " is deleted"};
  if (WaitsForRetry(row, now)) {
    return RunChange{.state = RunState::kPending,
                     .attempt = row.attempt,
                     .due = now,
                     .def_version = row.def_version,
                     .priority = row.priority};
  }
  if (row.state == RunState::kPending && row.due == kAwaiting) {
    return {ErrorCode::kConflict,
            "retry: run " + id + " waits for runs of other jobs; release it instead"};
  }
  switch (row.state) {
    case RunState::kFailed:
    case RunState::kTimedOut:
    case RunState::kLost:
    case RunState::kCancelled:
    case RunState::kHeld: break;
    default:
      return {ErrorCode::kConflict,
              "retry: run " + id + " is " + std::string(Name(row.state)) +
                  "; only FAILED, TIMED_OUT, LOST, CANCELLED and HELD runs, and PENDING runs that "
                  "wait for their next attempt, can be retried"};
  }
  if (row.may_still_run && overlap == Overlap::kUnconfirmed) {
    return Error{
        ErrorCode::kConflict,
        "retry: the outcome of run " + id +
            " is unknown and its process may still be running; set confirm_overlap to retry it",
        "/confirm_overlap"};
  }
  // Not given back, even if the run ended before anybody was called, as by a cancel or at the limit
  // of its wait: a first try may be skipped, which would be the end of what a person asked for.
  return RunChange{.state = RunState::kPending,
                   .attempt = row.attempt + 1,
                   .due = now,
                   .def_version = job.version,
                   .priority = NextPriority(row, job.priority),
                   .record_attempt = true};
}

PendingEffect DecidePendingEffect(const RunRow& row, JobChange change, bool schedule_kept,
                                  WallTime now) {
  // A manual run is due at once and never counts as planned ahead. Its fire is the next free
  // microsecond after its acceptance and may be slightly later than `now`.
  const bool planned_ahead = IsPlannedAhead(row.kind) && row.attempt == 1 && row.key.fire > now;
  // A resume would make an unreleased node due ahead of what it waits for. The step that releases
  // it asks whether the job is paused.
  const bool unreleased =
      row.due == kBlocked ||
      (row.due == kAwaiting && IsMovedByWorkflow(row.kind) && !failpoint::Broken("await.resume"));
  if (unreleased && change == JobChange::kPaused) return PendingEffect::kKeep;
  switch (change) {
    case JobChange::kEdited:
      return planned_ahead && !schedule_kept ? PendingEffect::kUnplan : PendingEffect::kKeep;
    case JobChange::kPaused:
      if (planned_ahead) return PendingEffect::kUnplan;
      return IsFirstTry(row) && IsSkippedByPause(row.kind) ? PendingEffect::kSkip
                                                           : PendingEffect::kHoldBack;
    case JobChange::kDeleted:
      if (planned_ahead) return PendingEffect::kUnplan;
      return IsFirstTry(row) ? PendingEffect::kSkip : PendingEffect::kCancel;
  }
  return PendingEffect::kKeep;
}

}  // namespace carillon
