#include "common/domain/parts/fire_end.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/domain/nodes/mapped_items.h"
#include "common/domain/parts/run_part.h"
#include "common/domain/run/run_kind.h"

namespace carillon {
namespace {

constexpr size_t kPartsNamed = 10;

enum class PartFate { kNothing, kDone, kSkipped, kCancelled, kLost, kTimedOut, kFailed };

PartFate FateOf(const PartEnd& part) {
  switch (part.state) {
    case RunState::kFailed: return PartFate::kFailed;
    case RunState::kTimedOut: return PartFate::kTimedOut;
    case RunState::kLost: return PartFate::kLost;
    case RunState::kCancelled: return PartFate::kCancelled;
    case RunState::kSkipped: break;
    default: return PartFate::kDone;
  }
  if (part.reason == reason::kDeleted) return PartFate::kCancelled;
  // Whatever had failed there, its host does not belong to the job any more.
  if (part.reason == reason::kNoExecutor) return PartFate::kNothing;
  if (part.reason != reason::kHostDown) return PartFate::kSkipped;
  return part.first_try ? PartFate::kNothing : PartFate::kFailed;
}

bool IsFailure(PartFate fate) {
  return fate == PartFate::kFailed || fate == PartFate::kTimedOut || fate == PartFate::kLost ||
         fate == PartFate::kSkipped;
}

bool AnyFailed(const std::vector<PartEnd>& parts) {
  return std::ranges::any_of(parts, [](const PartEnd& part) { return IsFailure(FateOf(part)); });
}

// As of a run without parts, nothing has begun: there was no time for it.
bool AllTooOld(const std::vector<PartEnd>& parts) {
  return !parts.empty() && std::ranges::all_of(parts, [](const PartEnd& part) {
    return part.state == RunState::kSkipped && part.first_try &&
           part.reason == reason::kQueueTimeout;
  });
}

RunState StateOf(const std::vector<PartEnd>& parts, bool cancel_requested) {
  const auto any = [&](PartFate fate) {
    return std::ranges::any_of(parts, [&](const PartEnd& part) { return FateOf(part) == fate; });
  };
  if (parts.empty()) return RunState::kFailed;
  // A caller who cancels wants no reactions to a failure, even if a part had failed before.
  if (cancel_requested) return RunState::kCancelled;
  if (AllTooOld(parts)) return RunState::kSkipped;
  if (any(PartFate::kFailed)) return RunState::kFailed;
  if (any(PartFate::kTimedOut)) return RunState::kTimedOut;
  if (any(PartFate::kLost)) return RunState::kLost;
  if (any(PartFate::kCancelled)) return RunState::kCancelled;
  if (any(PartFate::kSkipped)) return RunState::kFailed;
  return any(PartFate::kDone) ? RunState::kCompleted : RunState::kSkipped;
}

std::string_view ReasonOfSkip(const std::vector<PartEnd>& parts) {
  if (AllTooOld(parts)) return reason::kQueueTimeout;
  const bool down = std::ranges::any_of(
      parts, [](const PartEnd& part) { return part.reason == reason::kHostDown; });
  return down ? reason::kHostDown : reason::kNoExecutor;
}

std::string_view ReasonOfCancel(const std::vector<PartEnd>& parts, bool cancel_requested) {
  const bool cancelled = std::ranges::any_of(parts, [](const PartEnd& part) {
    return part.state == RunState::kCancelled && part.reason != reason::kDeleted;
  });
  return cancel_requested || cancelled ? reason::kCancelRequested : reason::kDeleted;
}

// "2 of 8 shards have failed: 3 (FAILED exit_code), 5 (LOST executor_lost)"
std::string FailuresOf(const std::vector<PartEnd>& parts) {
  if (parts.empty()) return "its shards are gone";
  std::string names;
  size_t failed = 0;
  for (const PartEnd& part : parts) {
    if (!IsFailure(FateOf(part)) || ++failed > kPartsNamed) continue;
    if (!names.empty()) names += ", ";
    names += fmt::format("{} ({}", part.shard - 1, Name(part.state));
    names += part.reason.empty() ? ")" : fmt::format(" {})", part.reason);
  }
  if (failed > kPartsNamed) names += fmt::format(" and {} more", failed - kPartsNamed);
  return fmt::format("{} of {} shards {} failed: {}", failed, parts.size(),
                     failed == 1 ? "has" : "have", names);
}

RunState StateOfRefusal(std::string_view why) {
  if (why == reason::kNoExecutor) return RunState::kSkipped;
  return why == reason::kZeroShards ? RunState::kCompleted : RunState::kFailed;
}

std::string ErrorOfRefusal(const Places& places) {
  if (places.refusal == reason::kNoExecutor) {
    return "no executor that was heard in the last hour matches the job";
  }
  if (places.refusal == reason::kTooManyHosts) {
    return "more executors match the job than a fire may have parts";
  }
  return places.error;
}

}  // namespace

uint32_t FlagsOfPart(const RunRow& own) {
  uint32_t flags = run_flag::kPart |
                   (own.flags & (run_flag::kBackground | run_flag::kOnBehalf | run_flag::kRules));
  if (HasRequest(own.kind, own.flags)) flags |= run_flag::kHasRequest;
  return flags;
}

RunChange BeginPartAgain(const RunRow& part, const RunRow& own, WallTime now) {
  // An executor may still ask for the attempt that it was offered before the part was skipped, with
  // the old parameters. So that gets another number, too, and does not count as a try.
  const bool was_tried = part.state != RunState::kSkipped;
  return {.state = RunState::kPending,
          .attempt = part.attempt + 1,
          .due = now,
          .def_version = own.def_version,
          .priority = own.priority,
          .record_attempt = was_tried,
          .clear_token = true,
          .given_back = !was_tried};
}

NoParts EndOfNoParts(const RunRow& own, const Places& places, WallTime now) {
  const RunState state = StateOfRefusal(places.refusal);
  AttemptResult result{.state = state,
                       .reason = std::string(places.refusal),
                       .error = ErrorOfRefusal(places),
                       .ended = now};
  if (state == RunState::kCompleted) result.started = now;
  return {.change = {.state = state,
                     .attempt = own.attempt,
                     .def_version = own.def_version,
                     .reason = result.reason,
                     .store_result = true,
                     .dead_letter = state == RunState::kFailed},
          .result = std::move(result)};
}

std::optional<FireEnd> EndOf(const std::vector<PartEnd>& parts, const RunRow& own) {
  const bool cancel_requested = own.cancel_requested.has_value();
  FireEnd end{.state = StateOf(parts, cancel_requested)};
  bool may_still_run = false;
  for (const PartEnd& part : parts) {
    if (!IsFinal(part.state)) return std::nullopt;
    may_still_run = may_still_run || part.may_still_run;
    end.ended = std::max(end.ended, part.ended);
    if (part.started == WallTime{} || part.claimed < own.claimed) continue;
    end.started = end.started == WallTime{} ? part.started : std::min(end.started, part.started);
  }
  switch (end.state) {
    case RunState::kFailed:
    case RunState::kTimedOut:
    case RunState::kLost:
      // Only of these states does it say that a process may still run.
      if (may_still_run) end.state = RunState::kFailed;
      end.reason = may_still_run ? reason::kExecutorLost : reason::kShardFailed;
      end.error = FailuresOf(parts);
      break;
    case RunState::kCancelled:
      end.reason =
          may_still_run ? reason::kOutcomeUnknown : ReasonOfCancel(parts, cancel_requested);
      if (AnyFailed(parts)) end.error = FailuresOf(parts);
      break;
    case RunState::kSkipped:
      end.reason = ReasonOfSkip(parts);
      if (end.reason == reason::kNoExecutor) {
        end.error = "none of the executors of its parts matches the job any more";
      }
      break;
    default: break;
  }
  return end;
}

AttemptResult ResultOf(const FireEnd& end, WallTime now) {
  return {.state = end.state,
          .reason = std::string(end.reason),
          .error = end.error,
          .started = end.started,
          .ended = end.ended == WallTime{} ? now : std::min(end.ended, now)};
}

bool HasBegunParts(const RunRow& own) { return own.state == RunState::kRunning && IsInParts(own); }

std::optional<RunChange> DecideFireEnd(const RunRow& own, bool job_deleted, const FireEnd& end) {
  const bool lost = own.state == RunState::kLost && IsInParts(own);
  if (!HasBegunParts(own) && !(lost && end.state != RunState::kLost)) return std::nullopt;
  const bool failed = end.state == RunState::kFailed || end.state == RunState::kTimedOut ||
                      end.state == RunState::kLost;
  return RunChange{.state = end.state,
                   .attempt = own.attempt,
                   .def_version = own.def_version,
                   .reason = std::string(end.reason),
                   .store_result = true,
                   .dead_letter = failed && !job_deleted && !own.cancel_requested};
}

void AddCollected(const std::string& name, const std::vector<std::optional<std::string>>& outputs,
                  RunChange& change, AttemptResult& result) {
  if (change.state == RunState::kSkipped) return;
  auto list = CollectedOf(outputs);
  if (list.ok()) {
    result.outputs[name] = *std::move(list);
  } else if (change.state == RunState::kCompleted) {
    result.state = change.state = RunState::kFailed;
    result.reason = change.reason = reason::kBadOutputs;
    result.error = list.error().message;
    change.dead_letter = true;
  }
}

}  // namespace carillon
