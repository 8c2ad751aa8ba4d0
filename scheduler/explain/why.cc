#include "scheduler/explain/why.h"

#include <fmt/core.h>

#include "common/domain/run/streak.h"
#include "common/domain/schedule/explain.h"

namespace carillon::scheduler {
namespace {

std::string SkipSentence(std::string_view why, std::string_view error) {
  if (why == reason::kOverlap) {
    return "Skipped: the job already had as many active runs as max_running allows, and its "
           "overlap_policy did not let this one wait.";
  }
  if (why == reason::kQueueFull) {
    return "Skipped: queue_max runs of the job were already waiting in its queue.";
  }
  if (why == reason::kReplaced) {
    return "Skipped: a newer run of the job took its place, as its overlap_policy says.";
  }
  if (why == reason::kPaused) return "Skipped: the job was paused before the run could start.";
  if (why == reason::kQueueTimeout) {
    return "Skipped: the run got no slot, or no executor took it, within its queue_timeout.";
  }
  if (why == reason::kEdited) {
    return "Skipped: an edit removed the schedule before the run could start.";
  }
  if (why == reason::kMisfire) {
    return "Skipped: no executor could take the run in time, and misfire_policy does not start one "
           "that is so late or that a later fire has overtaken.";
  }
  if (why == reason::kShed) {
    return "Skipped: due runs waited too long for executors, so fires of this priority whose "
           "schedule fires again within the hour were shed (overload.levels).";
  }
  if (why == reason::kHostDown) {
    return "Skipped: no executor to which the broadcast is bound could take the run in time.";
  }
  return error.empty() ? fmt::format("Skipped ({}).", why)
                       : fmt::format("Skipped ({}): {}", why, error);
}

std::string RunSentence(const RunDetail& run, const std::string& waits_for) {
  const std::string when = ReadableTime(run.row.key.fire);
  switch (run.row.state) {
    case RunState::kPending: return "The run is waiting. " + waits_for;
    case RunState::kRunning: return "The run is active.";
    case RunState::kHeld: return "The run is held: its executor was lost. Retry or cancel it.";
    case RunState::kCompleted: return fmt::format("The run of {} completed.", when);
    case RunState::kCancelled: return "The run was cancelled.";
    case RunState::kSkipped: return SkipSentence(run.result.reason, run.result.error);
    case RunState::kFailed:
    case RunState::kTimedOut:
    case RunState::kLost:
      return fmt::format("The run of {} ended as {} ({}).", when, Name(run.row.state),
                         run.result.reason);
  }
  return {};
}

std::string PauseSentence(const PastPause& pause) {
  return fmt::format("The cluster was paused from {} to {} ({}: {}). ", ReadableTime(pause.since),
                     ReadableTime(pause.until), pause.by, pause.reason);
}

std::string GapSentence(GapReason why, bool paused) {
  switch (why) {
    case GapReason::kMisfire:
      if (paused) {
        return "Did not run: misfire_policy does not catch up a fire that old or overtaken.";
      }
      return "Did not run: no scheduler could plan it in time, and misfire_policy does not catch "
             "up "
             "a fire that old or overtaken by a later one.";
    case GapReason::kPaused: return "Did not run: the job was paused.";
    case GapReason::kCatchUpLimit:
      return "Did not run: more fires were missed than catch_up_max or catch_up_window allow.";
    case GapReason::kEdited: return "Did not run: an edit removed the schedule.";
    case GapReason::kDeleted: return "Did not run: the job was deleted.";
    case GapReason::kBadEvent: return "Did not run: no parameters could be made from the event.";
  }
  return {};
}

std::string ExcludedSentence(const ExcludedFire& excluded) {
  return fmt::format(
      "Not scheduled: {} calendar {} excludes {}.{}",
      excluded.blackout ? "the blackout" : "the schedule fires only in its calendar, and",
      excluded.calendar, ReadableTime(excluded.time),
      excluded.moved_to ? fmt::format(" It fires at {} instead.", ReadableTime(*excluded.moved_to))
                        : "");
}

// "after job nightly on success", "on each event of type order.paid"; empty if the schedule starts
// runs by the time alone.
std::string StarterOf(const ScheduleSpec& spec) {
  if (spec.kind == ScheduleKind::kAfter) {
    return fmt::format("after job {} on {}", spec.upstream, Name(spec.on));
  }
  if (spec.kind != ScheduleKind::kEvent) return {};
  std::string text = ExplainEvent(spec.event_type, spec.event_source, !spec.filter.empty());
  text.front() = 'o';
  return text;
}

// "starts after job nightly on success"; empty without a schedule that starts runs by something
// else than the time.
std::string StartersSentence(const JobDefinition& definition) {
  std::string text;
  for (const ScheduleSpec& spec : definition.schedules) {
    const std::string starter = StarterOf(spec);
    if (!starter.empty()) text += (text.empty() ? "starts " : " and ") + starter;
  }
  return text;
}

// " Event 42 of shop started it."; empty for a run that no event started.
std::string EventSentence(const std::optional<EventOrigin>& event) {
  if (!event) return {};
  return fmt::format(" Event {} of {} started it.", event->id, event->source);
}

}  // namespace

FireAnswer ExplainFire(const FireEvidence& evidence) {
  if (evidence.run) {
    const bool skipped = evidence.run->row.state == RunState::kSkipped;
    return {skipped ? "skipped" : "run",
            RunSentence(*evidence.run, evidence.run_waits_for) + EventSentence(evidence.event)};
  }
  if (evidence.gap) {
    const bool paused = evidence.past_pause.has_value();
    return {"gap", (paused ? PauseSentence(*evidence.past_pause) : "") +
                       GapSentence(evidence.gap->range.reason, paused)};
  }
  if (evidence.at + kWhyWindow <= evidence.created) {
    return {"not_created", fmt::format("The job did not exist yet; it was created at {}.",
                                       ReadableTime(evidence.created))};
  }
  if (!evidence.definition) {
    return {"not_kept",
            "The definition of the job at that time is no longer stored, or cannot be read."};
  }
  if (!evidence.definition->enabled && evidence.paused_by_failures) {
    return {"paused", fmt::format("Not scheduled: the job was paused, because {}.",
                                  StreakSentence(evidence.definition->pause_after_failures))};
  }
  if (!evidence.definition->enabled) return {"paused", "Not scheduled: the job was paused."};
  if (evidence.definition->schedules.empty()) {
    return {"manual", "Not scheduled: the job had no schedule and was run by hand only."};
  }
  if (!evidence.due && !evidence.problem.empty()) return {"not_planned", evidence.problem};
  const std::string starters = StartersSentence(*evidence.definition);
  if (!evidence.due && evidence.excluded) {
    return {"excluded", ExcludedSentence(*evidence.excluded)};
  }
  if (!evidence.due && evidence.definition->schedules.size() == 1 && !starters.empty()) {
    return {"not_due", fmt::format("Not started in that minute. The job {}.", starters)};
  }
  if (!evidence.due && !starters.empty()) {
    return {"not_due", fmt::format("Not scheduled for that minute. The job also {}.", starters)};
  }
  if (!evidence.due) return {"not_due", "Not scheduled for that minute."};
  if (*evidence.due > evidence.now) {
    return {"future", fmt::format("Scheduled for {}.", ReadableTime(*evidence.due))};
  }
  if (evidence.paused_since && *evidence.due >= *evidence.paused_since) {
    return {"cluster_paused",
            fmt::format(
                "The cluster has been paused since {}. On resume, the misfire_policy of the job "
                "applies.",
                ReadableTime(*evidence.paused_since))};
  }
  return {"no_record",
          "Due, but neither a run nor a gap is on record: the fire is older than retention_days "
          "and not among the last runs of the job (keep_last_runs), or was due only just now. "
          "Anything else is a defect."};
}

}  // namespace carillon::scheduler
