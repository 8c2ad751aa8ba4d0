#include "executor/runs/run_machine.h"

namespace carillon::executor {
namespace {

RunStep FromClaiming(RunEvent event) {
  switch (event) {
    case RunEvent::kAccepted: return {RunStage::kStarting, RunAction::kStart};
    // The claim is repeated, because only a new answer, with a fresh lease, allows the start.
    case RunEvent::kAcceptedLate: return {RunStage::kClaiming, RunAction::kClaim};
    case RunEvent::kRefused:
    case RunEvent::kGivenUp: return {RunStage::kGone, RunAction::kDrop};
    default: return {RunStage::kClaiming, RunAction::kNone};
  }
}

RunStep FromStarting(RunEvent event) {
  switch (event) {
    case RunEvent::kStarted: return {RunStage::kRunning, RunAction::kNone};
    case RunEvent::kEnded: return {RunStage::kReporting, RunAction::kReport};
    case RunEvent::kCancelAsked: return {RunStage::kStarting, RunAction::kCancel};
    default: return {RunStage::kStarting, RunAction::kNone};
  }
}

}  // namespace

std::string_view Name(RunStage stage) {
  switch (stage) {
    case RunStage::kQueued: return "queued";
    case RunStage::kClaiming: return "claiming";
    case RunStage::kStarting: return "starting";
    case RunStage::kRunning: return "running";
    case RunStage::kReporting: return "reporting";
    case RunStage::kGone: return "gone";
  }
  return "unknown";
}

RunStep Next(RunStage stage, RunEvent event) {
  switch (stage) {
    case RunStage::kQueued:
      if (event == RunEvent::kSlotTaken) return {RunStage::kClaiming, RunAction::kClaim};
      if (event == RunEvent::kQueueExpired) return {RunStage::kGone, RunAction::kDrop};
      break;
    case RunStage::kClaiming: return FromClaiming(event);
    case RunStage::kStarting: return FromStarting(event);
    case RunStage::kRunning:
      if (event == RunEvent::kEnded) return {RunStage::kReporting, RunAction::kReport};
      if (event == RunEvent::kCancelAsked) return {RunStage::kRunning, RunAction::kCancel};
      break;
    case RunStage::kReporting:
      if (event == RunEvent::kApplied) return {RunStage::kGone, RunAction::kForget};
      break;
    case RunStage::kGone: break;
  }
  return {stage, RunAction::kNone};
}

}  // namespace carillon::executor
