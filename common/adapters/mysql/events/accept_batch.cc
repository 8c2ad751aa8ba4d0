#include "common/adapters/mysql/events/accept_batch.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/events/event_rows.h"
#include "common/adapters/mysql/events/event_runs.h"
#include "common/adapters/mysql/events/trigger_rows.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/domain/event/event_parameters.h"

namespace carillon::mysql {
namespace {

// The server ends a transaction whose next statement does not come in time
// (kIdleTransactionTimeoutSeconds), and all parameters of a call may take long to be made.
constexpr size_t kParameterBytesPerStatement = 1u << 20;

using Triggers = std::vector<const EventTrigger*>;

// An event that is not known, with the triggers that it matches at the locked versions.
struct FreshEvent {
  size_t place = 0;
  Triggers triggers = {};
};

class AcceptBatch {
 public:
  AcceptBatch(Session& session, const std::string& name_space,
              const std::vector<MatchedEvent>& events, WallTime now)
      : session_(session), name_space_(name_space), events_(events), now_(now) {}

  Result<std::vector<EventEffect>> Run() {
    effects_.resize(events_.size());
    CARILLON_ASSIGN_OR_RETURN(const std::vector<size_t> unknown, AnswerKnown());
    if (unknown.empty()) return std::move(effects_);
    CARILLON_TRY(LockTheirJobs(unknown));
    std::vector<FreshEvent> fresh;
    for (const size_t place : unknown) fresh.push_back({place, PresentMatches(events_[place])});
    CARILLON_TRY(ReadFires(fresh));
    for (const FreshEvent& one : fresh) CARILLON_TRY(Answer(one));
    CARILLON_TRY(WriteRuns());
    CARILLON_TRY(InsertGaps(session_, Gaps()));
    CARILLON_TRY(InsertEvents(session_, std::move(records_)));
    return std::move(effects_);
  }

 private:
  // Returns the others.
  Result<std::vector<size_t>> AnswerKnown() {
    std::vector<const EventOrigin*> origins;
    for (const MatchedEvent& one : events_) origins.push_back(&one.event->origin);
    CARILLON_ASSIGN_OR_RETURN(KnownStarts known, ReadKnown(session_, name_space_, origins));
    std::vector<size_t> unknown;
    for (size_t i = 0; i < events_.size(); ++i) {
      effects_[i].not_computable = events_[i].matches.not_computable;
      if (!known[i]) {
        unknown.push_back(i);
        continue;
      }
      effects_[i].duplicate = true;
      effects_[i].starts = std::move(*known[i]);
    }
    return unknown;
  }

  // Reads the triggers of jobs that were edited since theirs were read.
  Status LockTheirJobs(const std::vector<size_t>& unknown) {
    std::map<JobNo, int64_t> matched;
    for (const size_t place : unknown) {
      for (const EventTrigger* trigger : events_[place].matches.matched) {
        matched[trigger->job_no] = trigger->job_version;
      }
    }
    std::vector<JobNo> numbers;
    for (const auto& [job_no, version] : matched) numbers.push_back(job_no);
    CARILLON_TRY(LockJobs(session_, std::move(numbers), &jobs_));
    std::vector<JobVersionKey> edited;
    for (const auto& [job_no, job] : jobs_) {
      if (job.deleted || job.version == matched.at(job_no)) continue;
      edited.push_back({job_no, job.version});
      edited_[job_no];
    }
    CARILLON_ASSIGN_OR_RETURN(std::vector<EventTrigger> triggers,
                              ReadTriggersOf(session_, name_space_, edited));
    for (EventTrigger& trigger : triggers) edited_[trigger.job_no].push_back(std::move(trigger));
    return {};
  }

  Triggers PresentMatches(const MatchedEvent& one) const {
    Triggers present;
    std::set<JobNo> asked;
    for (const EventTrigger* trigger : one.matches.matched) {
      const auto job = jobs_.find(trigger->job_no);
      if (job == jobs_.end() || job->second.deleted) continue;
      const auto edited = edited_.find(trigger->job_no);
      if (edited == edited_.end()) {
        present.push_back(trigger);
      } else if (asked.insert(trigger->job_no).second) {
        for (const EventTrigger& now : edited->second) {
          if (now.filter->Matches(*one.event) == Truth::kTrue) present.push_back(&now);
        }
      }
    }
    std::sort(present.begin(), present.end(),
              [](const EventTrigger* a, const EventTrigger* b) { return a->id < b->id; });
    return present;
  }

  Status ReadFires(const std::vector<FreshEvent>& fresh) {
    std::map<ScheduleId, JobNo> schedules;
    for (const FreshEvent& one : fresh) {
      for (const EventTrigger* trigger : one.triggers) {
        if (!jobs_.at(trigger->job_no).paused) schedules[trigger->id] = trigger->job_no;
      }
    }
    CARILLON_ASSIGN_OR_RETURN(fires_, FreeFires::Read(session_, schedules, now_));
    return {};
  }

  Status Answer(const FreshEvent& one) {
    const Event& event = *events_[one.place].event;
    EventEffect& effect = effects_[one.place];
    const auto key = std::pair(event.origin.source, event.origin.id);
    if (const auto first = accepted_.find(key); first != accepted_.end()) {
      effect.duplicate = true;
      effect.starts = effects_[first->second].starts;
      return {};
    }
    for (const EventTrigger* trigger : one.triggers) {
      CARILLON_ASSIGN_OR_RETURN(EventStart start, StartOf(event, *trigger));
      effect.starts.push_back(std::move(start));
      if (bytes_ > kParameterBytesPerStatement) CARILLON_TRY(WriteRuns());
    }
    if (effect.starts.empty()) return {};
    accepted_[key] = one.place;
    const bool started = std::any_of(effect.starts.begin(), effect.starts.end(),
                                     [](const EventStart& start) { return start.run.has_value(); });
    records_.push_back({.name_space = name_space_,
                        .origin = event.origin,
                        .accepted = now_,
                        .outcome = started ? EventOutcome::kStarted : EventOutcome::kGap,
                        .starts = effect.starts});
    return {};
  }

  Result<EventStart> StartOf(const Event& event, const EventTrigger& trigger) {
    const JobRow& job = jobs_.at(trigger.job_no);
    EventStart start{.schedule_id = trigger.id,
                     .job_id = trigger.job_id,
                     .job_no = trigger.job_no,
                     .segment = job.segment};
    if (job.paused) {
      start.gap = GapReason::kPaused;
    } else {
      CARILLON_ASSIGN_OR_RETURN(const WallTime fire, fires_.Next(trigger.id));
      auto given = RenderEventParameters(*trigger.job, trigger.spec(), event, fire);
      if (given.ok()) {
        start.run = RunKey{.fire = fire, .schedule_id = trigger.id};
        fires_.Take(trigger.id, fire);
        runs_.push_back(EventRunOf(*start.run, job, *given));
        bytes_ += runs_.back().parameters.size();
      } else {
        start.gap = GapReason::kBadEvent;
        start.problem = given.error().message;
      }
    }
    if (start.gap) ++gaps_[{trigger.id, trigger.job_no, *start.gap}];
    return start;
  }

  Status WriteRuns() {
    bytes_ = 0;
    return InsertEventRuns(session_, std::exchange(runs_, {}), now_);
  }

  std::vector<PlannedGap> Gaps() const {
    std::vector<PlannedGap> gaps;
    for (const auto& [gap, count] : gaps_) {
      const auto& [schedule_id, job_no, reason] = gap;
      gaps.push_back({.schedule_id = schedule_id,
                      .job_no = job_no,
                      .range = {.from = now_, .to = now_, .count = count, .reason = reason}});
    }
    return gaps;
  }

  Session& session_;
  const std::string& name_space_;
  const std::vector<MatchedEvent>& events_;
  const WallTime now_;

  LockedJobs jobs_;
  std::map<JobNo, std::vector<EventTrigger>> edited_;  // the present triggers of jobs that moved
  FreeFires fires_;
  std::map<std::pair<std::string, std::string>, size_t> accepted_;  // by source and id
  std::map<std::tuple<ScheduleId, JobNo, GapReason>, int64_t> gaps_;
  std::vector<EventRun> runs_;  // not written yet
  size_t bytes_ = 0;            // of their parameters
  std::vector<EventRecord> records_;
  std::vector<EventEffect> effects_;
};

}  // namespace

Result<std::vector<EventEffect>> AcceptMatched(Pool& pool, const std::string& name_space,
                                               const std::vector<MatchedEvent>& events,
                                               WallTime now) {
  return InTransaction(
      pool, {.operation = "accept events", .retry_duplicates = true},
      [&](Session& session) { return AcceptBatch(session, name_space, events, now).Run(); });
}

}  // namespace carillon::mysql
