#include "scheduler/api/why.h"

#include <fmt/core.h>

namespace carillon::scheduler {
namespace {

std::string SkipSentence(std::string_view why) {
  if (why == reason::kOverlap) {
    return "It was skipped: an earlier run had not ended, and overlap_policy is skip.";
  }
  if (why == reason::kPaused) return "It was skipped: the job was paused before it could start.";
  if (why == reason::kQueueTimeout) {
    return "It was skipped: no executor took it within its queue_timeout.";
  }
  if (why == reason::kEdited) {
    return "It was skipped: an edit took its schedule away before it could start.";
  }
  return fmt::format("It was skipped ({}).", why);
}

std::string RunSentence(const RunDetail& run, const std::string& waits_for) {
  const std::string when = FormatRfc3339(run.row.key.fire);
  switch (run.row.state) {
    case RunState::kPending: return "Its run waits. " + waits_for;
    case RunState::kRunning: return "It fired: its run is being executed.";
    case RunState::kHeld:
      return "It fired; whether its run has ended is not known, and a person has to say.";
    case RunState::kCompleted: return fmt::format("It fired ({}) and ended well.", when);
    case RunState::kCancelled: return "It was planned, and somebody cancelled its run.";
    case RunState::kSkipped: return SkipSentence(run.result.reason);
    case RunState::kFailed:
    case RunState::kTimedOut:
    case RunState::kLost:
      return fmt::format("It fired ({}); its run ended as {} ({}).", when, Name(run.row.state),
                         run.result.reason);
  }
  return {};
}

std::string PauseSentence(const PastPause& pause) {
  return fmt::format("The whole cluster was paused from {} to {} ({}: {}). ",
                     FormatRfc3339(pause.since), FormatRfc3339(pause.until), pause.by,
                     pause.reason);
}

std::string GapSentence(GapReason why, bool paused) {
  switch (why) {
    case GapReason::kMisfire:
      if (paused) {
        return "It was not made up for: misfire_policy does not bring back a fire that old.";
      }
      return "It was not made up for: no scheduler ran then, and misfire_policy does not bring "
             "back a fire that old.";
    case GapReason::kPaused: return "The job was paused then.";
    case GapReason::kCatchUpLimit:
      return "It was one of more missed fires than catch_up_max or catch_up_window allow.";
    case GapReason::kEdited: return "An edit took its schedule away before it was planned.";
    case GapReason::kDeleted: return "The job was deleted before it was planned.";
  }
  return {};
}

}  // namespace

FireAnswer WhyDidItFire(const FireEvidence& evidence) {
  if (evidence.run) {
    const bool skipped = evidence.run->row.state == RunState::kSkipped;
    return {skipped ? "skipped" : "run", RunSentence(*evidence.run, evidence.run_waits_for)};
  }
  if (evidence.gap) {
    const bool paused = evidence.past_pause.has_value();
    return {"gap", (paused ? PauseSentence(*evidence.past_pause) : "") +
                       GapSentence(evidence.gap->range.reason, paused)};
  }
  if (evidence.at + kWhyWindow <= evidence.created) {
    return {"not_created",
            fmt::format("The job was made later, at {}.", FormatRfc3339(evidence.created))};
  }
  if (!evidence.definition) {
    return {"not_kept", "What the job was then is not kept any more, or cannot be read."};
  }
  if (!evidence.definition->enabled) return {"paused", "The job is or was paused then."};
  if (evidence.definition->schedules.empty()) {
    return {"manual", "The job had no schedule then: it ran only when told to."};
  }
  if (!evidence.due) return {"not_due", "Its schedules had no fire in that minute."};
  if (*evidence.due > evidence.now) {
    return {"future", fmt::format("It is going to, at {}.", FormatRfc3339(*evidence.due))};
  }
  if (evidence.paused_since && *evidence.due >= *evidence.paused_since) {
    return {"cluster_paused",
            fmt::format("The whole cluster is paused, since {}: it is planned by the job's "
                        "misfire_policy when that is over.",
                        FormatRfc3339(*evidence.paused_since))};
  }
  return {"no_record",
          "It was due then, and neither a run nor a gap is on record: it is older than what is "
          "kept (retention_days), or was due only just now. Anything else is a defect."};
}

}  // namespace carillon::scheduler
