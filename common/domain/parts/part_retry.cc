#include "common/domain/parts/part_retry.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/domain/parts/run_part.h"
#include "common/domain/run/returns.h"
#include "common/domain/run_id.h"
#include "common/domain/workflow/node_key.h"

namespace carillon {
namespace {

constexpr std::string_view kOverlapPrefix = "overlap: ";

Error CannotRetry(const RunRow& own, std::string_view why) {
  return {ErrorCode::kConflict, fmt::format("retry: run {} {}", EncodeRunId(own.key), why)};
}

bool HasFailed(const PartOfFire& part) {
  switch (part.row.state) {
    case RunState::kFailed:
    case RunState::kTimedOut:
    case RunState::kLost:
    case RunState::kCancelled:
    case RunState::kHeld: return true;
    case RunState::kSkipped:
      if (part.reason == reason::kNoExecutor) return false;
      return part.reason != reason::kHostDown || !IsFirstTry(part.row);
    default: return false;
  }
}

Status CheckState(const RunRow& own) {
  if (IsFinal(own.state)) return {};
  if (own.state != RunState::kRunning) {
    return CannotRetry(
        own, fmt::format("is {}; its shards can be retried once it is RUNNING", Name(own.state)));
  }
  if (own.cancel_requested) return CannotRetry(own, "is being cancelled");
  return {};
}

// The positions of the chosen parts, ascending.
Result<std::vector<size_t>> Chosen(const RunRow& own, const std::vector<PartOfFire>& parts,
                                   const PartChoice& choice) {
  std::vector<bool> chosen(parts.size(), choice.which == PartChoice::Which::kAll);
  if (choice.which == PartChoice::Which::kFailed) {
    for (size_t i = 0; i < parts.size(); ++i) chosen[i] = HasFailed(parts[i]);
  }
  if (choice.which == PartChoice::Which::kNamed || choice.which == PartChoice::Which::kItself) {
    for (size_t i = 0; i < choice.indexes.size(); ++i) {
      const auto part = std::ranges::find_if(parts, [&](const PartOfFire& one) {
        return IndexOfPart(one.row.key) == choice.indexes[i];
      });
      if (part == parts.end()) {
        return Error{ErrorCode::kInvalid,
                     fmt::format("run {} has no shard {}; it has {}, counted from 0",
                                 EncodeRunId(own.key), choice.indexes[i], parts.size()),
                     fmt::format("/shards/{}", i)};
      }
      chosen[static_cast<size_t>(part - parts.begin())] = true;
    }
  }
  std::vector<size_t> positions;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (chosen[i]) positions.push_back(i);
  }
  if (positions.empty()) {
    return CannotRetry(own, fmt::format("is {} and has no shard that has failed; to run shards "
                                        "again nevertheless, send \"shards\": \"all\" or a list of "
                                        "indexes",
                                        Name(own.state)));
  }
  return positions;
}

// A part that waits for its next attempt has one already, which is only made due.
bool WaitsForAttempt(const RunRow& row, WallTime now) {
  const bool waits = row.due > now && row.due != kQueued;
  return row.state == RunState::kPending && row.attempt > 1 && waits;
}

Result<RunChange> ChangeOf(const RunRow& own, const RunRow& row, const JobRow& job, WallTime now) {
  if (WaitsForAttempt(row, now)) {
    return RunChange{.state = RunState::kPending,
                     .attempt = row.attempt,
                     .due = now,
                     .def_version = row.def_version,
                     .priority = row.priority};
  }
  if (!IsFinal(row.state) && row.state != RunState::kHeld) {
    return CannotRetry(own, fmt::format("has shard {}, which is {}; choose shards that have ended",
                                        IndexOfPart(row.key), Name(row.state)));
  }
  // A skipped part has made no attempt. An executor may still ask for the one that it was offered,
  // so it gets another number, too.
  const bool ran = row.state != RunState::kSkipped;
  return RunChange{.state = RunState::kPending,
                   .attempt = row.attempt + 1,
                   .due = now,
                   .def_version = job.version,
                   .priority = NextPriority(row, job.priority),
                   .record_attempt = ran,
                   .clear_token = true};
}

}  // namespace

bool IsRetriedByParts(const RunRow& own) {
  return IsInParts(own) && own.state != RunState::kPending;
}

Result<std::vector<PartRetry>> PlanPartRetry(const RunRow& own,
                                             const std::vector<PartOfFire>& parts,
                                             const PartChoice& choice, const JobRow& job,
                                             Overlap overlap, WallTime now) {
  if (job.deleted) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("retry: the job of run {} is deleted", EncodeRunId(own.key))};
  }
  CARILLON_TRY(CheckState(own));
  CARILLON_ASSIGN_OR_RETURN(const std::vector<size_t> chosen, Chosen(own, parts, choice));
  // Of any part: the fire would run twice.
  const auto alive =
      std::ranges::find_if(parts, [](const PartOfFire& part) { return part.row.may_still_run; });
  if (alive != parts.end() && overlap == Overlap::kUnconfirmed) {
    Error error = CannotRetry(own, fmt::format("has shard {}, whose outcome is unknown and whose "
                                               "process may still be running; set confirm_overlap "
                                               "to retry",
                                               IndexOfPart(alive->row.key)));
    error.pointer = "/confirm_overlap";
    return error;
  }
  std::vector<PartRetry> plan;
  for (const size_t position : chosen) {
    const RunRow& row = parts[position].row;
    if (choice.which == PartChoice::Which::kItself && row.state == RunState::kCompleted) {
      return CannotRetry(own, fmt::format("has shard {}, which is COMPLETED; to run it again "
                                          "nevertheless, retry run {} and name it in shards",
                                          IndexOfPart(row.key), EncodeRunId(own.key)));
    }
    CARILLON_ASSIGN_OR_RETURN(RunChange change, ChangeOf(own, row, job, now));
    plan.push_back({.position = position, .change = std::move(change)});
  }
  return plan;
}

PartChoice ChoiceOf(const RunKey& key, const std::optional<PartChoice>& choice) {
  if (!IsPart(key)) return choice.value_or(PartChoice{});
  return {.which = PartChoice::Which::kItself, .indexes = {IndexOfPart(key)}};
}

Error NoPartsToRetry(const RunRow& own) {
  return CannotRetry(own, "has no shards that have begun");
}

Error RetriedByWorkflow(const RunKey& own) {
  return {ErrorCode::kConflict,
          fmt::format("retry: shards of run {} cannot be chosen, because it belongs to a workflow; "
                      "retry the workflow run from its node",
                      EncodeRunId(own))};
}

RunChange NextAttemptOfFire(const RunRow& own, const JobRow& job, WallTime now) {
  return {.state = RunState::kPending,
          .attempt = own.attempt + 1,
          .due = now,
          .def_version = job.version,
          .priority = NextPriority(own, job.priority),
          .record_attempt = true,
          .clear_token = true};
}

Error IsWorkflowNow(const RunRow& own) {
  return CannotRetry(own, "has shards, but its job is a workflow now; run the job instead");
}

Error ForbiddenForFire(const RunRow& own, std::string_view refusal) {
  return CannotRetry(own, fmt::format("cannot run again: {}", refusal));
}

Error NoSlotForFire(const RunRow& own, const RunKey& holder) {
  return {ErrorCode::kConflict,
          fmt::format("{}run {} cannot run again now, because run {} holds the slot of its job or "
                      "waits for it; retry when that has ended",
                      kOverlapPrefix, EncodeRunId(own.key), EncodeRunId(holder))};
}

bool NamesHolder(const Error& error) {
  return error.code == ErrorCode::kConflict && error.message.starts_with(kOverlapPrefix);
}

}  // namespace carillon
