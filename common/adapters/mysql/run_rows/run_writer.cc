#include "common/adapters/mysql/run_rows/run_writer.h"

#include <fmt/core.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/result_columns.h"
#include "common/adapters/mysql/run_rows/completion_rows.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/notice_rows.h"
#include "common/adapters/mysql/run_rows/queue_statements.h"
#include "common/adapters/mysql/run_rows/run_statements.h"
#include "common/base/failpoint.h"
#include "common/domain/queue/slot_start.h"
#include "common/domain/run/returns.h"
#include "common/domain/run/skip.h"
#include "common/domain/workflow/node_key.h"
#include "common/wire/json/outputs_json.h"

namespace carillon::mysql {
namespace {

Status CheckOutput(const RunKey& key, const AttemptResult& result) {
  if (result.output.size() <= kOutputBytesMax) return {};
  return {ErrorCode::kInvalid,
          fmt::format("run {}: {} bytes of output, at most {} are kept", EncodeRunId(key),
                      result.output.size(), kOutputBytesMax)};
}

}  // namespace

RunWriter::RunWriter(Session& session, Reopener by)
    : session_(session), by_(by), bytes_max_(session.packet_bytes_max() / 4) {}

Status RunWriter::BeginRun(const RunKey& key) {
  // A reason of 1,000 characters is written with each part of a fire.
  const bool full = written_.size() >= kKeysPerStatement || explained_.bytes() >= bytes_max_;
  if (!full && written_.insert(key).second) return {};
  CARILLON_TRY(Flush());
  written_.insert(key);
  return {};
}

Status RunWriter::Claim(StoredRun& run, std::optional<int64_t> slot, WallTime now) {
  CARILLON_TRY(BeginRun(run.row.key));
  run.row.state = RunState::kRunning;
  run.row.may_still_run = false;
  run.row.claimed = now;
  if (slot) TakeSlot(run, *slot);
  claims_.Begin()
      .Add(run.row.key)
      .Add(run.row.attempt)
      .Add(run.incarnation_no)
      .Add(run.row.claim_token.high)
      .Add(run.row.claim_token.low)
      .Add(now)
      .Add(run.slot_taken ? kSlotTaken : kActiveNoSlot)
      .Add(run.row.group.value())
      .Add(run.group_slot);
  return {};
}

Status RunWriter::Queue(StoredRun& run, const QueueWrite& place, WallTime now) {
  CARILLON_TRY(BeginRun(run.row.key));
  run.row.due = kQueued;
  const bool for_group = place.group != GroupNo{};
  if (!for_group) Free(run);
  if (place.slot) TakeSlot(run, *place.slot);
  FreeGroupSlot(run);
  queued_.Begin()
      .Add(run.row.key)
      .Add(run.row.attempt)
      .Add(run.row.due)
      .Add(SlotColumn(run))
      .Add(run.row.job_no.value())
      .Add(run.row.segment.value())
      .Add(now)
      .Add(place.expires)
      .Add(place.group.value())
      .Add(for_group ? PlaceInGroup(run.row).rank : int64_t{0});
  return {};
}

Status RunWriter::Grant(StoredRun& run, GroupNo group, uint32_t slot, WallTime due) {
  CARILLON_TRY(BeginRun(run.row.key));
  Unqueue(run);
  run.row.due = due;
  run.row.group = group;
  run.group_slot = slot;
  granted_.Begin().Add(run.row.key).Add(kQueued).Add(due).Add(group.value()).Add(slot);
  group_slots_taken_.Begin().Add(run.row.key).Add(group.value()).Add(slot).Add(due).Add(0);
  return {};
}

void RunWriter::TakeGroupSlot(StoredRun& run, GroupNo group, uint32_t slot, WallTime now) {
  run.row.group = group;
  run.group_slot = slot;
  group_slots_taken_.Begin().Add(run.row.key).Add(group.value()).Add(slot).Add(0).Add(now);
}

void RunWriter::FreeGroupSlot(StoredRun& run, WallTime started) {
  if (run.group_slot != 0) {
    group_slots_freed_.Begin()
        .Add(run.row.key)
        .Add(run.row.group.value())
        .Add(run.group_slot)
        .Add(started);
  }
  run.row.group = {};
  run.group_slot = 0;
}

Status RunWriter::Admit(StoredRun& run, std::optional<int64_t> slot, WallTime now) {
  CARILLON_TRY(BeginRun(run.row.key));
  Unqueue(run);
  run.row.due = now;
  admitted_.Begin().Add(run.row.key).Add(kQueued).Add(now).Add(slot.has_value());
  if (slot) TakeSlot(run, *slot);
  return {};
}

Status RunWriter::Release(StoredRun& run, WallTime due, WallTime now) {
  CARILLON_TRY(BeginRun(run.row.key));
  run.row.due = due;
  admitted_.Begin().Add(run.row.key).Add(kAwaiting).Add(due).Add(false);
  if (due == kBlocked) AddWakeUp(run.row, now, completions_);
  return {};
}

void RunWriter::TakeSlot(StoredRun& run, int64_t slot) {
  run.slot_taken = true;
  slots_taken_.Begin().Add(run.row.key).Add(run.row.job_no.value()).Add(slot);
}

void RunWriter::Free(StoredRun& run) {
  if (run.slot_taken) slots_freed_.Begin().Add(run.row.key).Add(run.row.job_no.value());
  run.slot_taken = false;
  run.active = false;
}

void RunWriter::Unqueue(const StoredRun& run) {
  if (failpoint::Broken("wait.delete")) return;
  if (run.row.state == RunState::kPending && run.row.due == kQueued) {
    waits_over_.Begin().Add(run.row.key);
  }
}

Status RunWriter::AddFinal(const StoredRun& run, const Before& before, const AttemptResult& result,
                           std::string_view reason) {
  AddCompletion(run.row, result.ended, completions_);
  const bool with_output =
      !result.output.empty() || !result.error.empty() || !result.outputs.empty();
  const bool no_error_yet = before.state == RunState::kRunning && !before.cancel_requested;
  JsonRows& rows = with_output ? finals_with_output_ : no_error_yet ? finals_ : finals_with_error_;
  rows.Begin()
      .Add(run.row.key)
      .Add(NumberOf(before.state))
      .Add(NumberOf(run.row.state))
      .Add(run.row.attempt)
      .Add(result.started)
      .Add(result.ended);
  AddOptional(rows, result.exit_code);
  rows.Add(reason).Add(result.output_truncated);
  AddDetail(rows, result);
  if (!with_output) return {};
  AddBlob(rows, result.error);
  AddBlob(rows, result.output);
  AddBlob(rows, result.outputs.empty() ? "" : OutputsToJson(result.outputs));
  return FlushIfLarge(kFinalWithOutput, rows, true);
}

Status RunWriter::Change(StoredRun& run, const RunChange& change, const AttemptResult& result,
                         WallTime now) {
  CARILLON_TRY(CheckReopening(run.row, change.state, by_));
  CARILLON_TRY(BeginRun(run.row.key));
  CARILLON_TRY(CheckOutput(run.row.key, result));
  const Before before(run.row);
  const RunState from = before.state;
  const WallTime started = StartInSlot(from, result, now);
  RunRow& row = run.row;
  Unqueue(run);
  // The run was final and is reopened or gets another end, so the dead letter of its old end no
  // longer holds.
  if (IsFinal(from)) dead_letters_gone_.Begin().Add(row.key);
  if (change.record_attempt) {
    CARILLON_TRY(RecordAttempt(row.key, {.attempt = row.attempt,
                                         .state = result.state,
                                         .executor = row.executor,
                                         .claimed = row.claimed,
                                         .result = result}));
  }
  if (change.dead_letter && LeavesDeadLetter(row)) {
    dead_letters_.Begin()
        .Add(row.key)
        .Add(row.job_no.value())
        .Add(Name(change.state))
        .Add(row.attempt)
        .Add(change.reason)
        .Add(now);
  }
  row.state = change.state;
  if (change.dead_letter && TellsFailure(row.kind)) {
    AddNotice(NoticeKind::kFailed, row, change.reason, now);
  }
  row.may_still_run = MayStillRun(change.state, change.reason);
  row.attempt = change.attempt;
  run.ended_by_loss = result.state == RunState::kLost;
  if (row.cancel_requested && change.state != RunState::kHeld) {
    cancels_done_.Begin().Add(row.key).Add(row.segment.value());
    row.cancel_requested.reset();
  }
  // The time at which a lost attempt is taken for dead is of that attempt.
  if (!IsFinal(change.state)) row.flags &= ~run_flag::kPresume;
  if (change.state == RunState::kPending) {
    if (!failpoint::Broken("group.free_on_retry")) FreeGroupSlot(run, started);
    row.due = change.due;
    row.def_version = change.def_version;
    row.priority = change.priority;
    if (change.given_back) CountReturn(row);
    // A run that begins anew waits for its slot anew.
    if (change.clear_token) {
      row.claim_token = {};
      Free(run);
    }
    pendings_.Begin()
        .Add(row.key)
        .Add(NumberOf(from))
        .Add(row.attempt)
        .Add(row.due)
        .Add(row.def_version)
        .Add(change.reason)
        .Add(row.priority)
        .Add(row.flags)
        .Add(change.clear_token);
    return {};
  }
  if (change.state == RunState::kHeld) {
    if (change.due != kNever) {
      row.due = change.due;
      row.flags |= run_flag::kPresume;
    }
    helds_.Begin().Add(row.key).Add(NumberOf(from)).Add(change.reason).Add(row.due).Add(row.flags);
    return {};
  }
  if (from != RunState::kRunning) attempts_back_.Begin().Add(row.key).Add(row.attempt);
  Free(run);
  FreeGroupSlot(run, started);
  return AddFinal(run, before, result, change.reason);
}

Status RunWriter::End(StoredRun& run, RunState state, std::string_view reason, WallTime now,
                      const std::string& error) {
  CARILLON_TRY(BeginRun(run.row.key));
  const Before before(run.row);
  Unqueue(run);
  run.row.state = state;
  run.row.may_still_run = MayStillRun(state, reason);
  if (run.row.cancel_requested) {
    cancels_done_.Begin().Add(run.row.key).Add(run.row.segment.value());
    run.row.cancel_requested.reset();
  }
  if (SkipIsFailure(run.row) && TellsFailure(run.row.kind)) {
    if (LeavesDeadLetter(run.row)) {
      dead_letters_.Begin()
          .Add(run.row.key)
          .Add(run.row.job_no.value())
          .Add(Name(state))
          .Add(run.row.attempt - 1)
          .Add(reason)
          .Add(now);
    }
    AddNotice(NoticeKind::kFailed, run.row, reason, now);
  }
  Free(run);
  FreeGroupSlot(run);
  ++ended_[state];
  return AddFinal(run, before, {.error = error, .started = run.started, .ended = now}, reason);
}

void RunWriter::AddNotice(NoticeKind kind, const RunRow& row, std::string_view reason,
                          WallTime now) {
  notices_.Begin()
      .Add(row.key)
      .Add(row.segment.value())
      .Add(Name(kind))
      .Add(row.job_no.value())
      .Add(row.attempt)
      .Add(Name(row.state))
      .Add(reason)
      .Add(now);
}

void RunWriter::NoteLate(const RunRow& row, WallTime now) {
  AddNotice(NoticeKind::kLate, row, "", now);
}

void RunWriter::NoteApproval(const RunRow& node, JobNo workflow, WallTime now) {
  RunRow told = node;
  told.job_no = workflow;
  AddNotice(NoticeKind::kApproval, told, "", now);
}

void RunWriter::Explain(const RunKey& key, std::string_view sentence) {
  if (!sentence.empty()) explained_.Begin().Add(key).AddBytes(sentence);
}

Status RunWriter::RecordAttempt(const RunKey& key, const RunAttempt& attempt) {
  const AttemptResult& result = attempt.result;
  CARILLON_TRY(CheckOutput(key, result));
  attempts_.Begin()
      .Add(key)
      .Add(attempt.attempt)
      .Add(NumberOf(attempt.state))
      .Add(attempt.executor.value())
      .Add(attempt.claimed)
      .Add(result.started)
      .Add(result.ended);
  AddOptional(attempts_, result.exit_code);
  attempts_.Add(result.reason).Add(result.output_truncated);
  AddDetail(attempts_, result);
  AddBlob(attempts_, result.error);
  AddBlob(attempts_, result.output);
  return FlushIfLarge(kAttempt, attempts_, false);
}

Status RunWriter::RequestCancel(StoredRun& run, CancelMode mode) {
  CARILLON_TRY(BeginRun(run.row.key));
  if (run.row.cancel_requested >= mode) return {};
  cancels_.Begin().Add(run.row.key).Add(run.row.segment.value()).Add(mode == CancelMode::kKill);
  run.row.cancel_requested = mode;
  return {};
}

void RunWriter::GiveUp(const RunRow& run) {
  given_up_.Begin().Add(run.key).Add(run.segment.value()).Add(run.attempt);
}

Status RunWriter::FlushIfLarge(const std::string& statement, JsonRows& rows, bool counted) {
  if (rows.bytes() < bytes_max_) return {};
  return counted ? Update(statement, rows) : Insert(statement, rows);
}

Status RunWriter::Update(const std::string& statement, JsonRows& rows) {
  if (rows.empty()) return {};
  const auto expected = static_cast<int64_t>(rows.size());
  return UpdateAll(statement, rows.Take(), expected);
}

Status RunWriter::UpdateAll(const std::string& statement, const std::string& rows,
                            int64_t expected) {
  CARILLON_ASSIGN_OR_RETURN(const int64_t matched, session_.Execute(statement, {rows}));
  if (matched == expected) return {};
  return {ErrorCode::kConflict, fmt::format("{} of {} runs were not in the state that was read",
                                            expected - matched, expected)};
}

Status RunWriter::Insert(const std::string& statement, JsonRows& rows) {
  if (rows.empty()) return {};
  CARILLON_TRY(session_.Execute(statement, {rows.Take()}));
  return {};
}

Status RunWriter::Flush() {
  written_.clear();
  if (!cancels_.empty()) {
    // Writes the flag of each run and its row for the owner's scan, from the same list.
    const std::string runs = cancels_.Take();
    CARILLON_TRY(session_.Execute(kCancelFlag, {runs}));
    CARILLON_TRY(session_.Execute(kCancels, {runs}));
  }
  std::string queued;
  if (!queued_.empty()) {
    const auto expected = static_cast<int64_t>(queued_.size());
    queued = queued_.Take();
    CARILLON_TRY(UpdateAll(kQueuedRuns, queued, expected));
  }
  CARILLON_TRY(Update(kClaim, claims_));
  CARILLON_TRY(Update(kAdmitted, admitted_));
  CARILLON_TRY(Update(kGranted, granted_));
  CARILLON_TRY(Update(kFinal, finals_));
  CARILLON_TRY(Update(kFinalWithError, finals_with_error_));
  CARILLON_TRY(Update(kFinalWithOutput, finals_with_output_));
  CARILLON_TRY(Update(kPending, pendings_));
  CARILLON_TRY(Update(kHeld, helds_));
  // Slots are freed first: another run of the batch may have taken a number that is freed here.
  CARILLON_TRY(Insert(kSlotsFreed, slots_freed_));
  CARILLON_TRY(Insert(kSlotsTaken, slots_taken_));
  CARILLON_TRY(Insert(kGroupSlotsFreed, group_slots_freed_));
  CARILLON_TRY(Update(kGroupSlotsTaken, group_slots_taken_));
  if (!queued.empty()) CARILLON_TRY(session_.Execute(kWaits, {queued}));
  CARILLON_TRY(Insert(kWaitsOver, waits_over_));
  CARILLON_TRY(Insert(kAttempt, attempts_));
  CARILLON_TRY(Insert(kAttemptsBack, attempts_back_));
  CARILLON_TRY(Insert(kCancelsDone, cancels_done_));
  CARILLON_TRY(Insert(kGivenUp, given_up_));
  CARILLON_TRY(Insert(kExplained, explained_));
  CARILLON_TRY(Insert(kInsertCompletions, completions_));
  // Dead letters of an old end are deleted before those of a new end are inserted.
  CARILLON_TRY(Insert(kDeadLettersGone, dead_letters_gone_));
  CARILLON_TRY(Insert(kDeadLetters, dead_letters_));
  return Insert(kInsertNotices, notices_);
}

}  // namespace carillon::mysql
