// State machine of one attempt at its executor. Pure.
//
// Place    Steps 7 to 9 of docs/life-of-a-run.md.
//
//   queued -> claiming -> starting -> running -> reporting -> gone
//
// An in-process attempt goes from starting directly to reporting.
#pragma once

#include <string_view>

namespace carillon::executor {

// The stage of an attempt at its executor.
enum class RunStage {
  kQueued,    // waits for a slot
  kClaiming,  // the claim was sent, once or more, always with the same token
  kStarting,  // the claim was accepted; the warden has not confirmed the start
  kRunning,
  kReporting,  // ended; the result is not applied yet
  kGone,
};
std::string_view Name(RunStage stage);

// An observation about an attempt.
enum class RunEvent {
  kSlotTaken,     // the attempt was given a free slot
  kQueueExpired,  // the attempt waited too long; its owner publishes the task again
  kAccepted,      // the owner accepted, and the lease still allows a start
  kAcceptedLate,  // the owner accepted, but the answer came too late to start
  kRefused,       // the owner refused; final for this token
  kGivenUp,       // no answer until shortly before the lease would have ended
  kStarted,
  kEnded,
  kCancelAsked,
  kApplied,
};

enum class RunAction {
  kNone,
  kClaim,   // send the claim (again)
  kStart,   // pass the attempt to the warden, or run it here
  kCancel,  // pass the cancellation to the warden
  kReport,  // send the result until it is applied
  kForget,  // the stored result may be deleted
  kDrop,    // forget the attempt; there is nothing to report
};

// The next stage, and what the caller must do.
struct RunStep {
  RunStage stage;
  RunAction action;

  bool operator==(const RunStep&) const = default;
};

// The reaction of a stage to an event. An event that does not fit (late, repeated) changes nothing.
RunStep Next(RunStage stage, RunEvent event);

}  // namespace carillon::executor
