#include "common/domain/upstream/upstream_wait.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "common/base/failpoint.h"
#include "common/domain/run/dependents.h"
#include "common/domain/template/fire_date.h"
#include "common/domain/workflow/node_key.h"
#include "common/domain/workflow/node_rules.h"

namespace carillon {
namespace {

using RunPtr = const UpstreamRun*;

// Fires that belong together: a dependent whose key is taken has a fire slightly later than that of
// the run that started it (dependents.h).
struct FireGroup {
  WallTime fire;
  std::vector<RunPtr> runs = {};
};

WallTime EndOfGroup(WallTime fire) { return fire + Duration(kSameFireMax); }

bool IsIn(const UpstreamSources& sources, RunPtr run) {
  return sources.in_no == JobNo{} || run->workflow == sources.in_no;
}

std::vector<FireGroup> GroupsOf(const std::vector<RunPtr>& runs, WallTime from, WallTime until) {
  std::vector<FireGroup> groups;
  for (const RunPtr run : runs) {
    const WallTime fire = run->key.fire;
    // A run that came to its fire by another one belongs to it, also beyond the window.
    if (!groups.empty() && fire < EndOfGroup(groups.back().fire)) {
      groups.back().runs.push_back(run);
    } else if (fire >= from && fire <= until) {
      groups.push_back({.fire = fire, .runs = {run}});
    }
  }
  return groups;
}

class WaitJudge {
 public:
  WaitJudge(const UpstreamWait& wait, const FireWindow& window, const UpstreamSources& sources,
            const UpstreamRuns& runs)
      : wait_(wait), window_(window), sources_(sources), known_from_(runs.known_from) {
    for (const UpstreamRun& run : runs.runs) {
      // The runs of the job that do not count make no fire of their own.
      if (run.job_no != sources.job_no || IsIn(sources, &run)) runs_.push_back(&run);
    }
  }

  WaitAnswer Judge() {
    const bool named_in = !wait_.in.empty();
    const bool gone = sources_.job_no == JobNo{} || (named_in && sources_.in_no == JobNo{});
    if (gone || sources_.deleted) return NotMet(WaitCause::kNoJob);
    if (sources_.not_a_node) return NotMet(WaitCause::kNotANode);
    if (sources_.too_many) return NotMet(WaitCause::kTooMany);
    if (failpoint::Broken("await.any_success")) return JudgeAnySuccess();
    if (const auto unplanned = FindUnplanned(window_.until)) return *unplanned;
    std::vector<FireGroup> groups = GroupsOf(runs_, window_.from, window_.until);
    if (failpoint::Broken("await.by_end")) DropUnended(groups);
    if (!IsKnown(groups)) return {.verdict = WaitVerdict::kUnknown};
    if (groups.empty()) return JudgeAhead();
    if (wait_.which == WaitWhich::kLast) groups.erase(groups.begin(), groups.end() - 1);
    WaitAnswer answer;
    for (const FireGroup& group : groups) {
      answer = JudgeGroup(group);
      if (answer.verdict != WaitVerdict::kMet) break;
    }
    return answer;
  }

 private:
  static WaitAnswer NotMet(WaitCause cause, WallTime fire = {}) {
    return {.verdict = WaitVerdict::kNotMet, .cause = cause, .fire = fire};
  }

  // The earliest fire up to `until` of which nobody knows yet whether it will have runs.
  std::optional<WaitAnswer> FindUnplanned(WallTime until) const {
    if (failpoint::Broken("await.unplanned")) return std::nullopt;
    const auto by_next = [](const auto& a, const auto& b) { return a.next < b.next; };
    const auto& all = sources_.schedules;
    const auto first = std::min_element(all.begin(), all.end(), by_next);
    if (first == all.end() || first->next > until) return std::nullopt;
    return NotMet(first->paused ? WaitCause::kPaused : WaitCause::kUnplanned, first->next);
  }

  // The newest runs are known, so the last fire is known if it is not the very first of them.
  bool IsKnown(const std::vector<FireGroup>& groups) const {
    if (known_from_ <= window_.from) return true;
    return wait_.which == WaitWhich::kLast && !groups.empty() &&
           groups.back().fire >= EndOfGroup(known_from_);
  }

  WaitAnswer JudgeAhead() const {
    const std::vector<FireGroup> groups = GroupsOf(runs_, window_.until + 1us, window_.ahead_until);
    if (groups.empty()) return NotMet(WaitCause::kNoFire);
    // An earlier one may still be planned.
    if (const auto unplanned = FindUnplanned(groups.front().fire)) return *unplanned;
    return JudgeGroup(groups.front());
  }

  WaitAnswer JudgeGroup(const FireGroup& group) const {
    const std::vector<RunPtr> own = RunsOfJob(group);
    if (own.empty()) return NotMet(WaitCause::kNotRun, group.fire);
    WaitAnswer answer{.verdict = WaitVerdict::kMet, .fire = group.fire};
    for (const RunPtr run : own) {
      answer.run = *run;
      answer.cause = CauseOf(*run);
      if (answer.cause == WaitCause::kNone) continue;
      answer.verdict = WaitVerdict::kNotMet;
      break;
    }
    return answer;
  }

  // A workflow run that began anew has left its nodes' runs of before at the same fire: of the runs
  // of a workflow's nodes, those of its newest workflow run count.
  std::vector<RunPtr> RunsOfJob(const FireGroup& group) const {
    std::map<JobNo, uint64_t> newest;
    for (const RunPtr run : group.runs) {
      if (run->job_no != sources_.job_no) continue;
      uint64_t& known = newest[run->workflow];
      known = std::max(known, WorkflowRunOf(*run));
    }
    std::vector<RunPtr> own;
    for (const RunPtr run : group.runs) {
      const bool of_job = run->job_no == sources_.job_no;
      if (of_job && WorkflowRunOf(*run) == newest[run->workflow]) own.push_back(run);
    }
    return own;
  }

  static uint64_t WorkflowRunOf(const UpstreamRun& run) {
    const auto place = NodePlaceOf(run.key);
    return place ? place->workflow_run_no : 0;
  }

  WaitCause CauseOf(const UpstreamRun& run) const {
    if (!IsFinal(run.state)) return WaitCause::kOpen;
    if (wait_.on == AfterOutcome::kDone || run.state == RunState::kCompleted) {
      return WaitCause::kNone;
    }
    const bool by_hand = run.state == RunState::kSkipped && run.reason == reason::kSkippedByHand;
    return by_hand ? WaitCause::kNone : WaitCause::kEndedOtherwise;
  }

  // ---- broken on purpose ----

  WaitAnswer JudgeAnySuccess() const {
    for (const FireGroup& group : GroupsOf(runs_, window_.from, window_.ahead_until)) {
      const WaitAnswer answer = JudgeGroup(group);
      if (answer.verdict == WaitVerdict::kMet) return answer;
    }
    return NotMet(WaitCause::kNoFire);
  }

  void DropUnended(std::vector<FireGroup>& groups) const {
    std::erase_if(groups, [this](const FireGroup& group) {
      const std::vector<RunPtr> own = RunsOfJob(group);
      const auto ended = [](RunPtr run) { return IsFinal(run->state); };
      return own.empty() || !std::all_of(own.begin(), own.end(), ended);
    });
  }

  const UpstreamWait& wait_;
  const FireWindow& window_;
  const UpstreamSources& sources_;
  const WallTime known_from_;
  std::vector<RunPtr> runs_;
};

std::string LocalText(WallTime time, std::string_view zone) {
  const auto text = FormatFireDate({.has_clock = true, .format = "%F %H:%M"}, time, zone);
  return text.ok() ? *text : FormatRfc3339(time);
}

// After "Waits for load-orders".
std::string TextOfCause(const UpstreamWait& wait, const WaitAnswer& answer, std::string_view zone) {
  if (answer.verdict == WaitVerdict::kUnknown) {
    return fmt::format(", which has more than {} runs in the window", kUpstreamRunsMax);
  }
  const std::string fire = LocalText(answer.fire, zone);
  switch (answer.cause) {
    case WaitCause::kNone: break;
    case WaitCause::kNoJob: return ", which does not exist";
    case WaitCause::kNotANode: return fmt::format(", which is no node of {}", wait.in.value());
    case WaitCause::kTooMany:
      return fmt::format(": more than {} jobs are before it", kSourceJobsMax);
    case WaitCause::kPaused:
      return fmt::format(" of {}, which is not planned because of a pause", fire);
    case WaitCause::kUnplanned: return fmt::format(" of {}, which is not planned yet", fire);
    case WaitCause::kNoFire: return ", which has no fire in the window";
    case WaitCause::kNotRun: return fmt::format(" of {}, which has no run yet", fire);
    case WaitCause::kOpen:
    case WaitCause::kEndedOtherwise: break;
  }
  if (!answer.run) return "";
  return fmt::format(" of {} (run {}, {})", fire, EncodeRunId(answer.run->key),
                     Name(answer.run->state));
}

}  // namespace

bool NeverRan(RunState state, std::string_view why) {
  constexpr std::array kReasons = {reason::kOverlap,   reason::kMisfire,  reason::kPaused,
                                   reason::kQueueFull, reason::kReplaced, reason::kShed};
  return state == RunState::kSkipped && std::ranges::find(kReasons, why) != kReasons.end();
}

WaitAnswer JudgeWait(const UpstreamWait& wait, const FireWindow& window,
                     const UpstreamSources& sources, const UpstreamRuns& runs) {
  return WaitJudge(wait, window, sources, runs).Judge();
}

std::string WaitSentence(const UpstreamWait& wait, const WaitAnswer& answer, WallTime until,
                         std::string_view zone) {
  const std::string in = wait.in.empty() || answer.cause == WaitCause::kNotANode
                             ? ""
                             : fmt::format(" in {}", wait.in.value());
  return fmt::format("Waits for {}{}{}, until {}.", wait.job.value(), in,
                     TextOfCause(wait, answer, zone), LocalText(until, zone));
}

WallTime WaitLimit(WallTime fire, WallTime planned, int64_t wait_limit_s) {
  return std::max(fire, planned) + std::chrono::seconds(wait_limit_s);
}

}  // namespace carillon
