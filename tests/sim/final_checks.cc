#include "tests/sim/final_checks.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace carillon::sim {
namespace {

using Gaps = std::map<ScheduleId, std::vector<GapRange>>;

Gaps AllGaps(RunStore& runs) {
  Gaps gaps;
  const Result<GapPage> page = runs.ListGaps({.limit = 1'000'000});
  for (const GapRecord& gap : page->gaps) gaps[gap.schedule_id].push_back(gap.range);
  return gaps;
}

std::string NameOf(const ScheduleLife& life, WallTime fire) {
  return fmt::format("{} schedule {} fire {}", life.job_id.value(), life.id.value(),
                     FormatRfc3339(fire));
}

// The fires of a schedule that have a run.
struct FiresRun {
  const std::set<WallTime>& planned;
  const std::set<WallTime>& backfilled;
};

void CheckLife(const FinalPorts& ports, const ScheduleLife& life, const FiresRun& run,
               const std::vector<GapRange>& gaps) {
  const std::set<WallTime>& planned = run.planned;
  const std::vector<WallTime> fires = History::Fires(life, WallTime{}, ports.now);
  for (const WallTime fire : fires) {
    const auto covering = std::count_if(gaps.begin(), gaps.end(), [fire](const GapRange& gap) {
      return gap.from <= fire && fire <= gap.to;
    });
    const bool ran = planned.contains(fire);
    if (!ran && !ports.calendars.MustAllow(life.spec, fire)) continue;
    if (!ran && covering == 0 && !run.backfilled.contains(fire)) {
      ports.checker.Fail("P1 no silent miss", "neither run nor gap: " + NameOf(life, fire));
    }
    if (covering + (ran ? 1 : 0) > 1) {
      ports.checker.Fail("P1 no silent miss",
                         fmt::format("{} fates ({} gaps): {}", covering + (ran ? 1 : 0), covering,
                                     NameOf(life, fire)));
    }
  }
  for (const WallTime fire : planned) {
    // A run stays although its schedule is gone if, before it was due, a user cancelled it or a
    // pause skipped it.
    const RunKey key{fire, life.id, 0};
    const bool stays =
        ports.checker.WasCancelled(key) || ports.checker.rows().at(key).state == RunState::kSkipped;
    if (fire > life.until && stays) continue;
    if (!std::binary_search(fires.begin(), fires.end(), fire)) {
      ports.checker.Fail("P1 no silent miss", "a run that was never due: " + NameOf(life, fire));
    }
  }
  for (const GapRange& gap : gaps) {
    const std::vector<WallTime> covered = History::Fires(life, gap.from, gap.to);
    const auto inside = std::count_if(covered.begin(), covered.end(), [&](WallTime fire) {
      return ports.calendars.MayAllow(life.spec, fire);
    });
    const auto least = std::count_if(covered.begin(), covered.end(), [&](WallTime fire) {
      return ports.calendars.MustAllow(life.spec, fire);
    });
    if (gap.count < least || gap.count > inside) {
      ports.checker.Fail("P1 no silent miss",
                         fmt::format("a gap ({}) counts {} fires, {} were due: {}",
                                     Name(gap.reason), gap.count, inside, NameOf(life, gap.from)));
    }
  }
}

// The ends of attempts of `run` that are in the store, by attempt.
std::map<int, AttemptResult> ToldEnds(const RunDetail& run) {
  std::map<int, AttemptResult> told;
  for (const RunAttempt& attempt : run.attempts) told[attempt.attempt] = attempt.result;
  const bool over = IsFinal(run.row.state) || run.row.state == RunState::kHeld;
  if (over && !told.contains(run.row.attempt)) told[run.row.attempt] = run.result;
  return told;
}

}  // namespace

void CheckCalendarsAreObeyed(const FinalPorts& ports) {
  for (const auto& [key, row] : ports.checker.rows()) {
    const auto life = ports.history.lives().find(key.schedule_id);
    if (life == ports.history.lives().end()) continue;
    if (ports.calendars.MayAllow(life->second.spec, key.fire)) continue;
    ports.checker.Fail("calendars", "a run at an excluded time: " + NameOf(life->second, key.fire));
  }
}

void CheckEveryFireHasOneFate(const FinalPorts& ports) {
  // A backfill may have made the run, even of a fire in a gap or before its schedule was there; or
  // a planned run has become one of the backfill.
  std::map<ScheduleId, std::set<WallTime>> planned;
  std::map<ScheduleId, std::set<WallTime>> backfilled;
  for (const auto& [key, row] : ports.checker.rows()) {
    if (IsPart(key)) continue;
    if (row.kind == RunKind::kBackfill) {
      backfilled[key.schedule_id].insert(key.fire);
    } else if (row.kind != RunKind::kManual && row.kind != RunKind::kDelay &&
               row.kind != RunKind::kAfter && row.kind != RunKind::kWorkflow &&
               row.kind != RunKind::kEvent) {
      planned[key.schedule_id].insert(key.fire);
    }
  }
  Gaps gaps = AllGaps(ports.stores.runs);
  for (const auto& [id, life] : ports.history.lives()) {
    if (life.spec.kind == ScheduleKind::kDelay) continue;  // checked as its runs are planned
    if (life.spec.kind == ScheduleKind::kAfter) continue;  // dependents_check.h
    if (life.spec.kind == ScheduleKind::kEvent) continue;  // events_check.h
    CheckLife(ports, life, {planned[id], backfilled[id]}, gaps[id]);
    planned.erase(id);
  }
  for (const auto& [id, fires] : planned) {
    ports.checker.Fail("P1 no silent miss", fmt::format("{} runs of schedule {}, which nobody made",
                                                        fires.size(), id.value()));
  }
}

void CheckNoResultIsLost(const FinalPorts& ports) {
  for (const auto& [name, truth] : ports.checker.attempts()) {
    if (!truth.end || ports.checker.parts().HasRemoved(name.first, name.second)) continue;
    const std::string what = fmt::format("run {} attempt {} ended {}", EncodeRunId(name.first),
                                         name.second, Name(truth.end->state));
    const Result<RunDetail> run = ports.stores.runs.GetRun(name.first);
    if (!run.ok()) {
      ports.checker.Fail("P6 no lost result", "its run is gone: " + what);
      continue;
    }
    const std::map<int, AttemptResult> told = ToldEnds(*run);
    const auto found = told.find(name.second);
    if (found == told.end()) {
      ports.checker.Fail("P6 no lost result", "nothing is recorded: " + what);
      continue;
    }
    // The scheduler records LOST when it has no report; the host's report replaces it.
    const AttemptResult& result = found->second;
    const bool same = result.state == truth.end->state &&
                      result.exit_code == truth.end->exit_code && result.ended == truth.end->ended;
    if (!same && truth.end->state != RunState::kLost) {
      ports.checker.Fail("P6 no lost result",
                         fmt::format("{}, recorded as {}", what, Name(result.state)));
    }
  }
}

void CheckFailuresAreToBeTold(const FinalPorts& ports) {
  std::vector<SegmentId> segments;
  const auto records = ports.stores.segments.ListSegments();
  for (const SegmentRecord& record : *records) segments.push_back(record.segment);
  const auto open = ports.stores.notices.ScanNotices(segments, SIZE_MAX);
  std::set<std::pair<RunKey, int>> told;
  for (const OpenNotice& one : *open) {
    const Notice& notice = one.notice;
    if (notice.kind != NoticeKind::kFailed) continue;
    if (!told.insert({notice.key, notice.attempt}).second) {
      ports.checker.Fail("notices", "told twice: run " + EncodeRunId(notice.key));
    }
    // The state of the run is not checked: after it failed permanently, a user may have retried it,
    // or a late result may have changed it.
    if (notice.attempt > ports.checker.rows().at(notice.key).attempt) {
      ports.checker.Fail("notices", "of an attempt that never was: " + EncodeRunId(notice.key));
    }
  }
  const auto letters = ports.stores.runs.ListDeadLetters({.limit = SIZE_MAX});
  for (const DeadLetter& letter : *letters) {
    // For a skipped run, `attempts` counts the attempts before the skipped one.
    const int attempt = letter.attempts + (letter.state == RunState::kSkipped ? 1 : 0);
    if (told.contains({letter.key, attempt})) continue;
    ports.checker.Fail(
        "notices", fmt::format("nobody is told of run {} attempt {}: {}", EncodeRunId(letter.key),
                               attempt, Name(letter.state)));
  }
}

void CheckQueuedRunsAreNoMisfires(const FinalPorts& ports) {
  for (const auto& [key, row] : ports.checker.rows()) {
    const auto admitted = ports.checker.AdmittedAt(key);
    if (!admitted || row.state != RunState::kSkipped) continue;
    const Result<RunDetail> run = ports.stores.runs.GetRun(key);
    const auto job = ports.checker.jobs().find(row.job_no);
    const auto definition = job->second.definitions.find(row.def_version);
    if (!run.ok() || definition == job->second.definitions.end()) continue;
    const Duration in_time = MisfireRulesOf(definition->second).in_time();
    if (run->result.reason == reason::kMisfire && run->result.ended - *admitted <= in_time) {
      ports.checker.Fail("queues", "a misfire because it was queued: run " + EncodeRunId(key));
    }
  }
}

void CheckNothingIsLeftOver(const FinalPorts& ports) {
  for (const auto& [key, row] : ports.checker.rows()) {
    if (!ports.checker.Rests(row)) {
      ports.checker.Fail("P1 no silent miss",
                         fmt::format("run {} attempt {} is still {}, due {}, pinned to '{}'",
                                     EncodeRunId(key), row.attempt, Name(row.state),
                                     FormatRfc3339(row.due), row.pinned_executor.value()));
    }
  }
}

void CheckDependentsRan(const FinalPorts& ports) {
  const auto wrong = ports.checker.dependents().AtRest();
  if (wrong) ports.checker.Fail("dependents", *wrong);
}

void CheckWorkflowsEnded(const FinalPorts& ports) {
  const auto wrong = ports.checker.workflows().AtRest();
  if (wrong) ports.checker.Fail("workflows", *wrong);
}

void CheckPartsEnded(const FinalPorts& ports) {
  const auto wrong = ports.checker.parts().AtRest();
  if (wrong) ports.checker.Fail("parts", *wrong);
}

void CheckNoMisfireGap(const FinalPorts& ports) {
  for (const auto& [id, gaps] : AllGaps(ports.stores.runs)) {
    for (const GapRange& gap : gaps) {
      if (gap.reason != GapReason::kMisfire && gap.reason != GapReason::kCatchUpLimit) continue;
      ports.checker.Fail(
          "P1 no silent miss",
          fmt::format("schedule {} skipped {} fires although it runs all", id.value(), gap.count));
    }
  }
}

}  // namespace carillon::sim
