// The life of one attempt at its executor, decided in one place. Pure.
//
// Place    Steps 7 to 9 of docs/life-of-a-run.md.
//
//   queued -> claiming -> starting -> running -> reporting -> gone
//
// In-process attempts end without having been seen running.
#pragma once

#include <string_view>

namespace carillon::executor {

enum class RunStage {
  kQueued,    // waits for a slot
  kClaiming,  // asked its owner, once or more, always with the same token
  kStarting,  // the claim was accepted; the warden has not said that it acts
  kRunning,
  kReporting,  // ended; the result is not yet applied
  kGone,
};
std::string_view Name(RunStage stage);

enum class RunEvent {
  kSlotTaken,     // a slot is free for it
  kQueueExpired,  // waited too long: its owner publishes it elsewhere
  kAccepted,      // by its owner, and its lease still allows a start
  kAcceptedLate,  // by its owner, but the answer came too late to start
  kRefused,       // final for its token
  kNoAnswer,      // for as long as an answer may take
  kGivenUp,       // no answer for so long that the owner has decided otherwise
  kStartDue,      // the warden could not be reached before
  kStarted,
  kEnded,
  kCancelAsked,
  kApplied,
};

enum class RunAction {
  kNone,
  kClaim,   // send the claim (again)
  kStart,   // hand it to the warden, or run it here
  kCancel,  // tell the warden
  kReport,  // the result goes out until it is applied
  kForget,  // the result's files may go
  kDrop,    // nothing of it is left here
};

struct RunStep {
  RunStage stage;
  RunAction action;

  bool operator==(const RunStep&) const = default;
};

// What a stage makes of an event; an event that does not fit (late, repeated) changes nothing.
RunStep Next(RunStage stage, RunEvent event);

}  // namespace carillon::executor
