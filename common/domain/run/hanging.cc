#include "common/domain/run/hanging.h"

#include "common/base/failpoint.h"

namespace carillon {
namespace {

RunChange GivenUp(const RunRow& row) {
  return {.state = RunState::kCancelled,
          .attempt = row.attempt,
          .def_version = row.def_version,
          .reason = std::string(reason::kOutcomeUnknown),
          .store_result = true};
}

// No time in `due`: from now on a person decides, or the host.
RunChange StaysHeld(const RunRow& row) {
  return {.state = RunState::kHeld,
          .attempt = row.attempt,
          .def_version = row.def_version,
          .reason = std::string(reason::kExecutorLost)};
}

bool IsAttempt(const RunRow* row, const LostReport& report) {
  return row != nullptr && row->attempt == report.attempt && row->claim_token == report.token &&
         report.token != ClaimToken{};
}

}  // namespace

bool MayGiveUp(const RunRow& row, bool cooperative) {
  return row.state == RunState::kRunning && cooperative && row.cancel_requested.has_value();
}

Status CheckGiveUp(const RunRow& row, bool cooperative, Overlap overlap) {
  const std::string id = EncodeRunId(row.key);
  const auto refuse = [](std::string why) {
    return Error{ErrorCode::kConflict, std::move(why), "/give_up"};
  };
  if (row.state != RunState::kRunning) {
    return refuse("give up: run " + id + " is " + std::string(Name(row.state)) +
                  "; only a RUNNING run can be given up");
  }
  if (!cooperative) {
    return refuse("give up: run " + id +
                  " is not of a handler; a cancel with mode kill ends its process");
  }
  if (!row.cancel_requested) {
    return refuse("give up: nobody has asked run " + id +
                  " to stop; cancel it first, and give it up if its function does not return");
  }
  if (overlap == Overlap::kConfirmed) return {};
  return Error{ErrorCode::kConflict,
               "give up: the function of run " + id +
                   " may go on, also beside a later run; set confirm_overlap to give it up",
               "/confirm_overlap"};
}

std::string GiveUpSentence(std::string_view actor, std::string_view reason) {
  if (reason.empty()) return {};
  return "given up by " + std::string(actor.empty() ? "an unknown user" : actor) + ": " +
         std::string(reason);
}

std::optional<RunChange> DecideGivenUp(const RunRow* row, const LostReport& report) {
  if (!IsAttempt(row, report) || !row->cancel_requested) return std::nullopt;
  const bool open = row->state == RunState::kRunning || row->state == RunState::kHeld;
  return open ? std::optional(GivenUp(*row)) : std::nullopt;
}

std::optional<WallTime> PresumedDeadAt(const RunRow& row) {
  const bool presumed = row.state == RunState::kHeld && (row.flags & run_flag::kPresume) != 0;
  return presumed ? std::optional(row.due) : std::nullopt;
}

std::optional<RunChange> DecidePresumed(const RunRow* row, const JobRow& job,
                                        const LostReport& report, WallTime now) {
  if (!IsAttempt(row, report)) return std::nullopt;
  const std::optional<WallTime> dead_at = PresumedDeadAt(*row);
  if (!dead_at || (*dead_at > now && !failpoint::Broken("presume.early"))) return std::nullopt;
  if (row->cancel_requested) return GivenUp(*row);
  const bool presumes = job.cooperative && job.retry.on_lost == OnLost::kRetry &&
                        job.retry.presume_dead > Duration::zero();
  if (!presumes) return StaysHeld(*row);
  // As if its host had reported that the function is dead.
  const ResultReport dead{
      .key = report.key,
      .segment = report.segment,
      .job_no = report.job_no,
      .attempt = report.attempt,
      .token = report.token,
      .executor = row->executor,
      .result = {
          .state = RunState::kLost, .reason = std::string(reason::kExecutorLost), .ended = now}};
  const ResultDecision decision = DecideResult(row, &job, dead, now);
  if (decision.verdict != ResultVerdict::kApplied) return std::nullopt;
  return decision.change;
}

}  // namespace carillon
