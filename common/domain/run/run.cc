#include "common/domain/run/run.h"

#include <fmt/format.h>

#include <array>

#include "common/base/failpoint.h"

namespace carillon {
namespace {

constexpr std::array kRunStates = {RunState::kPending,   RunState::kRunning, RunState::kHeld,
                                   RunState::kCompleted, RunState::kFailed,  RunState::kTimedOut,
                                   RunState::kCancelled, RunState::kLost,    RunState::kSkipped};
constexpr std::array kCancelModes = {CancelMode::kGraceful, CancelMode::kKill};

}  // namespace

std::string_view Name(RunState state) {
  switch (state) {
    case RunState::kPending: return "PENDING";
    case RunState::kRunning: return "RUNNING";
    case RunState::kHeld: return "HELD";
    case RunState::kCompleted: return "COMPLETED";
    case RunState::kFailed: return "FAILED";
    case RunState::kTimedOut: return "TIMED_OUT";
    case RunState::kCancelled: return "CANCELLED";
    case RunState::kLost: return "LOST";
    case RunState::kSkipped: return "SKIPPED";
  }
  return "";
}

Result<RunState> ParseRunState(std::string_view text) {
  std::string known;
  for (const RunState state : kRunStates) {
    if (Name(state) == text) return state;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", Name(state));
  }
  return {ErrorCode::kInvalid, fmt::format("'{}' is not one of {}", text.substr(0, 64), known)};
}

std::string_view Name(RunKind kind) {
  switch (kind) {
    case RunKind::kCron: return "cron";
    case RunKind::kRate: return "rate";
    case RunKind::kOnce: return "once";
    case RunKind::kManual: return "manual";
    case RunKind::kDelay: return "delay";
    case RunKind::kBackfill: return "backfill";
    case RunKind::kAfter: return "after";
    case RunKind::kWorkflow: return "workflow";
    case RunKind::kShard: return "shard";
    case RunKind::kEvent: return "event";
  }
  return "";
}

Result<RunKind> ParseRunKind(std::string_view text) {
  for (const RunKind kind : kRunKinds) {
    if (Name(kind) == text) return kind;
  }
  return {ErrorCode::kInvalid, "not a kind of run: '" + std::string(text) + "'"};
}

std::string_view Name(CancelMode mode) {
  switch (mode) {
    case CancelMode::kGraceful: return "graceful";
    case CancelMode::kKill: return "kill";
  }
  return "";
}

Result<CancelMode> ParseCancelMode(std::string_view text) {
  for (const CancelMode mode : kCancelModes) {
    if (Name(mode) == text) return mode;
  }
  return {ErrorCode::kInvalid, "not a way to cancel: '" + std::string(text) + "'"};
}

bool MayStillRun(RunState state, std::string_view reason) {
  if (failpoint::Broken("outcome.unknown")) return false;
  if (state == RunState::kCancelled) return reason == reason::kOutcomeUnknown;
  const bool given_up = state == RunState::kHeld || state == RunState::kFailed;
  return given_up && reason == reason::kExecutorLost;
}

}  // namespace carillon
