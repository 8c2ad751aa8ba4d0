#include "common/domain/upstream/upstream_wait.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "common/base/failpoint.h"
#include "common/domain/run/dependents.h"
#include "common/domain/template/fire_date.h"
#include "common/domain/workflow/node_rules.h"

namespace carillon {
namespace {

// Fires that belong together: a dependent whose key is taken has a fire slightly later than that of
// the run that started it (dependents.h).
struct FireGroup {
  WallTime fire;
  std::span<const UpstreamRun> runs = {};  // also those that do not count
};

WallTime EndOfGroup(WallTime fire) { return fire + Duration(kSameFireMax); }

class WaitJudge {
 public:
  WaitJudge(const UpstreamWait& wait, const FireWindow& window, const UpstreamSources& sources,
            const UpstreamRuns& runs)
      : wait_(wait), window_(window), sources_(sources), runs_(runs) {}

  WaitAnswer Judge() {
    const bool named_in = !wait_.in.empty();
    const bool gone = sources_.job_no == JobNo{} || (named_in && sources_.in_no == JobNo{});
    if (gone || sources_.deleted) return NotMet(WaitCause::kNoJob);
    if (sources_.not_a_node) return NotMet(WaitCause::kNotANode);
    if (sources_.too_many) return NotMet(WaitCause::kTooMany);
    if (failpoint::Broken("await.any_success")) return JudgeAnySuccess();
    if (const auto unplanned = FindUnplanned(window_.until)) return *unplanned;
    std::vector<FireGroup> groups = GroupsOf(window_.from, window_.until);
    if (failpoint::Broken("await.by_end")) DropUnended(groups);
    if (!IsKnown(groups)) return {.verdict = WaitVerdict::kUnknown};
    if (const auto backfill = FindBackfill(UnsureFrom(groups), window_.until)) return *backfill;
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

  bool IsOfJob(const UpstreamRun& run) const { return run.job_no == sources_.job_no; }
  bool IsOwn(const UpstreamRun& run) const {
    return IsOfJob(run) && (sources_.in_no == JobNo{} || run.workflow == sources_.in_no);
  }
  // The runs of the job outside that workflow make no fire of their own.
  bool MakesFire(const UpstreamRun& run) const { return !IsOfJob(run) || IsOwn(run); }

  // Looks only at the runs of the window.
  std::vector<FireGroup> GroupsOf(WallTime from, WallTime until) const {
    std::vector<FireGroup> groups;
    const std::vector<UpstreamRun>& runs = runs_.runs;
    const auto fire_of = [](const UpstreamRun& run) { return run.key.fire; };
    auto at = std::ranges::lower_bound(runs, from, {}, fire_of);
    while (at != runs.end() && at->key.fire <= until) {
      if (!MakesFire(*at)) {
        ++at;
        continue;
      }
      const auto first = at;
      // A run that came to its fire by another one belongs to it, also beyond the window.
      while (at != runs.end() && at->key.fire < EndOfGroup(first->key.fire)) ++at;
      groups.push_back({.fire = first->key.fire, .runs = {first, at}});
    }
    return groups;
  }

  // The earliest fire up to `until` of which nobody knows yet whether it will have runs.
  std::optional<WaitAnswer> FindUnplanned(WallTime until) const {
    if (failpoint::Broken("await.unplanned")) return std::nullopt;
    const auto by_next = [](const auto& a, const auto& b) { return a.next < b.next; };
    const auto& all = sources_.schedules;
    const auto first = std::min_element(all.begin(), all.end(), by_next);
    if (first == all.end() || first->next > until) return std::nullopt;
    if (const UpstreamRun* open = OpenRunBefore(*first)) {
      return WaitAnswer{.cause = WaitCause::kOpen, .fire = open->key.fire, .run = *open};
    }
    return NotMet(first->paused ? WaitCause::kPaused : WaitCause::kUnplanned, first->next);
  }

  // The first fire of the window that a backfill may still add to those that count.
  WallTime UnsureFrom(const std::vector<FireGroup>& groups) const {
    const bool newest_counts = wait_.which == WaitWhich::kLast && !groups.empty();
    return newest_counts ? groups.back().fire + 1us : window_.from;
  }

  // The open backfill that may still run a fire of [from, until].
  std::optional<WaitAnswer> FindBackfill(WallTime from, WallTime until) const {
    for (const SourceBackfill& backfill : sources_.backfills) {
      if (backfill.from > until || backfill.until <= from || from > until) continue;
      return NotMet(WaitCause::kBackfill, std::max(backfill.from, from));
    }
    return std::nullopt;
  }

  // The run of the job whose end gives its delay schedule the next fire; null: there is none.
  const UpstreamRun* OpenRunBefore(const SourceSchedule& schedule) const {
    const RunKey key{schedule.next - 1us, schedule.id, 0};
    const auto run = std::ranges::lower_bound(runs_.runs, key, {}, &UpstreamRun::key);
    if (run == runs_.runs.end() || run->key != key) return nullptr;
    return IsOwn(*run) && !IsFinal(run->state) ? &*run : nullptr;
  }

  // The newest runs are known, so the last fire is known if it is not the very first of them.
  bool IsKnown(const std::vector<FireGroup>& groups) const {
    if (runs_.known_from <= window_.from) return true;
    return wait_.which == WaitWhich::kLast && !groups.empty() &&
           groups.back().fire >= EndOfGroup(runs_.known_from);
  }

  WaitAnswer JudgeAhead() const {
    const std::vector<FireGroup> groups = GroupsOf(window_.until + 1us, window_.ahead_until);
    if (groups.empty()) return NotMet(WaitCause::kNoFire);
    // An earlier one may still be planned, or backfilled.
    const WallTime first = groups.front().fire;
    if (const auto unplanned = FindUnplanned(first)) return *unplanned;
    if (const auto backfill = FindBackfill(window_.until + 1us, first - 1us)) return *backfill;
    return JudgeGroup(groups.front());
  }

  WaitAnswer JudgeGroup(const FireGroup& group) const {
    WaitAnswer answer{.cause = WaitCause::kNotRun, .fire = group.fire};
    for (const UpstreamRun& run : group.runs) {
      if (!IsOwn(run)) continue;
      answer.run = run;
      answer.cause = CauseOf(run);
      if (answer.cause != WaitCause::kNone) return answer;
    }
    if (answer.cause == WaitCause::kNotRun) return OnlyBackfilled(group).value_or(answer);
    for (const UpstreamRun& run : group.runs) {
      if (!LeadsToMore(run)) continue;
      return {.cause = WaitCause::kMoreToCome, .fire = group.fire, .run = run};
    }
    answer.verdict = WaitVerdict::kMet;
    return answer;
  }

  // Of a group without a run of the job: a retry of any other run of it may lead to one, but not of
  // backfilled runs, since their ends start no other jobs.
  std::optional<WaitAnswer> OnlyBackfilled(const FireGroup& group) const {
    std::optional<WaitAnswer> answer;
    for (const UpstreamRun& run : group.runs) {
      if (IsOfJob(run)) continue;
      if (!EndsInBackfill(run) || run.end_pending) return std::nullopt;
      answer = {.cause = WaitCause::kNoneToCome, .fire = group.fire, .run = run};
    }
    return answer;
  }

  // True of a backfilled run of a job before it that is none of its workflows.
  bool EndsInBackfill(const UpstreamRun& run) const {
    return run.background && !std::ranges::binary_search(sources_.workflows, run.job_no);
  }

  // True of a run of a job before it that may still lead to another one of the job. The nodes of a
  // workflow have their runs once it has begun, so that it leads to no more.
  bool LeadsToMore(const UpstreamRun& run) const {
    if (IsOfJob(run)) return false;
    const bool open = !IsFinal(run.state);
    const bool by_end = std::ranges::binary_search(sources_.by_end, run.job_no);
    if (by_end && run.end_pending) return true;
    if (EndsInBackfill(run)) return false;
    return by_end && !run.background ? open : open && run.state != RunState::kRunning;
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
    for (const FireGroup& group : GroupsOf(window_.from, window_.ahead_until)) {
      const WaitAnswer answer = JudgeGroup(group);
      if (answer.verdict == WaitVerdict::kMet) return answer;
    }
    return NotMet(WaitCause::kNoFire);
  }

  void DropUnended(std::vector<FireGroup>& groups) const {
    std::erase_if(groups, [this](const FireGroup& group) {
      const auto is_own = [this](const UpstreamRun& run) { return IsOwn(run); };
      return std::ranges::none_of(group.runs, is_own) ||
             std::ranges::any_of(group.runs, [&](const UpstreamRun& run) {
               return is_own(run) && !IsFinal(run.state);
             });
    });
  }

  const UpstreamWait& wait_;
  const FireWindow& window_;
  const UpstreamSources& sources_;
  const UpstreamRuns& runs_;
};

std::string LocalText(WallTime time, std::string_view zone) {
  const auto text = FormatFireDate({.has_clock = true, .format = "%F %H:%M"}, time, zone);
  return text.ok() ? *text : FormatRfc3339(time);
}

// After "Waits for load-orders".
std::string TextOfCause(const UpstreamWait& wait, const WaitAnswer& answer, std::string_view zone) {
  const bool too_many = answer.cause == WaitCause::kTooManyRuns;
  if (too_many || answer.verdict == WaitVerdict::kUnknown) {
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
    case WaitCause::kBackfill:
      return fmt::format(" of {} or later, which a backfill may still run", fire);
    case WaitCause::kNoFire: return ", which has no fire in the window";
    case WaitCause::kNotRun: return fmt::format(" of {}, which has no run yet", fire);
    case WaitCause::kNoneToCome:
      return fmt::format(
          " of {} (no run of it will come: run {} was backfilled, which starts no other jobs; "
          "only a release ends this wait)",
          fire, EncodeRunId(answer.run->key));
    case WaitCause::kMoreToCome:
      return fmt::format(" of {}, which runs once more after run {} ({})", fire,
                         EncodeRunId(answer.run->key), Name(answer.run->state));
    case WaitCause::kTooManyRuns:
    case WaitCause::kOpen:
    case WaitCause::kEndedOtherwise: break;
  }
  if (!answer.run) return "";
  return fmt::format(" of {} (run {}, {})", fire, EncodeRunId(answer.run->key),
                     Name(answer.run->state));
}

}  // namespace

bool NeverRan(RunState state, std::string_view why) {
  return state == RunState::kSkipped &&
         std::ranges::find(kReasonsOfNoRun, why) != kReasonsOfNoRun.end();
}

WaitAnswer JudgeWait(const UpstreamWait& wait, const FireWindow& window,
                     const UpstreamSources& sources, const UpstreamRuns& runs) {
  return WaitJudge(wait, window, sources, runs).Judge();
}

std::string WaitSentence(const UpstreamWait& wait, const WaitAnswer& answer, WaitUntil until,
                         std::string_view zone) {
  const std::string in = wait.in.empty() || answer.cause == WaitCause::kNotANode
                             ? ""
                             : fmt::format(" in {}", wait.in.value());
  return fmt::format("Waits for {}{}{}, until {}{}.", wait.job.value(), in,
                     TextOfCause(wait, answer, zone), LocalText(until.limit, zone),
                     until.at_earliest ? " at the earliest" : "");
}

WaitUntil UntilSeenFrom(WallTime now, WallTime limit, bool cluster_paused) {
  return {.limit = limit, .at_earliest = cluster_paused || limit < now + kNoExpiryFor};
}

WallTime WaitLimit(WallTime fire, WallTime planned, int64_t wait_limit_s) {
  return std::max(fire, planned) + std::chrono::seconds(wait_limit_s);
}

}  // namespace carillon
