// State machine of one attempt at its executor. Pure.
//
// Place    Steps 7 to 9 of docs/life-of-a-run.md.
//
//   queued -> claiming -> starting -> running -> reporting -> gone
//
// In-process attempts end without an observed kRunning.
#pragma once

#include <string_view>

namespace carillon::executor {

// Where an attempt is in its life.
enum class RunStage {
  kQueued,    // waits for a slot
  kClaiming,  // the owner was asked, once or more, always with the same token
  kStarting,  // the claim was accepted; the warden has not confirmed the start
  kRunning,
  kReporting,  // ended; the result is not applied yet
  kGone,
};
std::string_view Name(RunStage stage);

// An observation about an attempt.
enum class RunEvent {
  kSlotTaken,     // it was given a free slot
  kQueueExpired,  // it waited too long; its owner publishes it again
  kAccepted,      // the owner accepted, and the lease still allows a start
  kAcceptedLate,  // the owner accepted, but the answer came too late to start
  kRefused,       // final for its token
  kNoAnswer,      // no answer within the wait for it; the claim is sent again
  kGivenUp,       // no answer for so long that the owner has decided otherwise
  kStartDue,      // time to try again a start that the warden did not take
  kStarted,
  kEnded,
  kCancelAsked,
  kApplied,
};

enum class RunAction {
  kNone,
  kClaim,   // send the claim (again)
  kStart,   // pass it to the warden, or run it here
  kCancel,  // tell the warden
  kReport,  // send the result until it is applied
  kForget,  // the result's files may be deleted
  kDrop,    // nothing of it remains here
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
