#include "tests/twins/memory_event_store.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "common/base/failpoint.h"
#include "common/domain/event/event_parameters.h"
#include "common/domain/run/dependents.h"
#include "common/wire/json/job/given_parameters.h"
#include "tests/twins/memory_event_key.h"
#include "tests/twins/memory_run_writes.h"

namespace carillon::memory {
namespace {

EventOutcome OutcomeOf(const std::vector<EventStart>& starts) {
  const bool started =
      std::any_of(starts.begin(), starts.end(), [](const auto& start) { return start.run; });
  return started ? EventOutcome::kStarted : EventOutcome::kGap;
}

bool IsOfType(std::string_view type, std::string_view wanted) {
  if (!wanted.ends_with('*')) return type == wanted;
  return type.starts_with(wanted.substr(0, wanted.size() - 1));
}

bool IsWanted(const EventRecord& record, const EventListFilter& filter) {
  const auto& namespaces = filter.namespaces;
  const bool within = namespaces.empty() || std::find(namespaces.begin(), namespaces.end(),
                                                      record.name_space) != namespaces.end();
  return within && (filter.type.empty() || IsOfType(record.origin.type, filter.type)) &&
         (filter.source.empty() || record.origin.source == filter.source) &&
         (filter.id.empty() || record.origin.id == filter.id) &&
         (!filter.outcome || record.outcome == *filter.outcome) &&
         (!filter.since || record.accepted >= *filter.since) &&
         (!filter.until || record.accepted < *filter.until);
}

Result<std::vector<EventMatches>> MatchAll(const TriggerSet& triggers,
                                           const std::vector<Event>& events) {
  std::vector<EventMatches> matches;
  for (const Event& event : events) {
    auto found = MatchEvent(triggers, event);
    if (!found.ok()) {
      return Error{found.code(), found.error().message, fmt::format("/{}", matches.size())};
    }
    matches.push_back(std::move(*found));
  }
  return matches;
}

// Rules that a test breaks.
template <typename Key, typename Value>
const Value* Stale(std::string_view rule, const std::map<Key, Value>& before, Key key) {
  const auto found = before.find(key);
  return failpoint::Broken(rule) && found != before.end() ? &found->second : nullptr;
}

}  // namespace

std::vector<EventTrigger> MemoryEventStore::TriggersIn(const std::string& name_space) {
  std::vector<EventTrigger> triggers;
  for (const auto& [job_no, job] : tables_.jobs()) {
    const bool here = job.definition.name_space == name_space;
    if (!here || job.deleted || !IsReadable(job)) continue;
    const JobVersionRecord record{.job_no = job_no,
                                  .version = job.version,
                                  .job_id = job.id,
                                  .definition = job.definition,
                                  .schedule_ids = job.schedules};
    for (EventTrigger& trigger : TriggersOf(record)) {
      if (tables_.FindSchedule(trigger.id)->readable) triggers.push_back(std::move(trigger));
    }
  }
  return triggers;
}

void MemoryEventStore::Look(const std::vector<EventTrigger>& triggers) {
  before_ = std::exchange(latest_, {});
  for (const auto& [job_no, job] : tables_.jobs()) {
    latest_.paused[job_no] = !job.definition.enabled;
  }
  for (const EventTrigger& trigger : triggers) latest_.triggers[trigger.id] = trigger;
}

EventStart MemoryEventStore::Start(const EventTrigger& trigger, const Event& event, WallTime now,
                                   Gaps& gaps) {
  const JobEntry& job = *tables_.FindJob(trigger.job_no);
  EventStart start{.schedule_id = trigger.id,
                   .job_id = trigger.job_id,
                   .job_no = trigger.job_no,
                   .segment = job.segment};
  const auto leave_gap = [&](GapReason reason) {
    start.gap = reason;
    auto& [job_no, count] = gaps[{trigger.id, reason}];
    job_no = trigger.job_no;
    ++count;
  };
  const bool* was_paused = Stale("event.paused", before_.paused, job.job_no);
  if (was_paused != nullptr ? *was_paused : !job.definition.enabled) {
    leave_gap(GapReason::kPaused);
    return start;
  }
  RunKey key{.fire = now, .schedule_id = trigger.id};
  while (tables_.FindRun(key) != nullptr) key.fire += 1us;
  const EventTrigger* old = Stale("event.trigger_version", before_.triggers, trigger.id);
  const EventTrigger& used = old != nullptr ? *old : trigger;
  auto rendered = RenderEventParameters(*used.job, used.spec(), event, key.fire);
  if (!rendered.ok()) {
    leave_gap(GapReason::kBadEvent);
    start.problem = rendered.error().message;
    return start;
  }
  if (failpoint::Broken("event.trusted")) rendered->untrusted.clear();
  const JobRow row = ToJobRow(job);
  tables_.PutRun(
      {.row = {.key = key,
               .job_no = job.job_no,
               .segment = job.segment,
               .kind = RunKind::kEvent,
               .due = row.waits ? kAwaiting : key.fire,
               .priority = row.priority,
               .def_version = row.version,
               .flags = run_flag::kHasRequest | EndFlags(RunKind::kEvent, 0, row.has_dependents)},
       .planned = now,
       .parameters_json = GivenToText(*rendered)});
  start.run = key;
  return start;
}

void MemoryEventStore::EndTransaction(Writing& writing, WallTime now) {
  for (const auto& [place, gap] : writing.gaps) {
    const GapRange range{.from = now, .to = now, .count = gap.second, .reason = place.second};
    AddGap(tables_, place.first, gap.first, range);
  }
  writing.gaps.clear();
  writing.starts = 0;
}

EventEffect MemoryEventStore::AcceptOne(const std::string& name_space, const Event& event,
                                        const EventMatches& matches, WallTime now,
                                        Writing& writing) {
  EventEffect effect{.not_computable = matches.not_computable};
  if (matches.matched.empty()) return effect;
  const std::string key = EventKeyOf(name_space, event.origin.source, event.origin.id);
  for (const auto* events : {&writing.events, &tables_.events}) {
    const auto known = events->find(key);
    if (known == events->end() || failpoint::Broken("event.key")) continue;
    effect.duplicate = true;
    effect.starts = known->second.starts;
    return effect;
  }
  writing.starts += matches.matched.size();
  if (writing.starts > kEventRunsPerWrite) {
    EndTransaction(writing, now);
    writing.starts = matches.matched.size();
  }
  for (const EventTrigger* trigger : matches.matched) {
    effect.starts.push_back(Start(*trigger, event, now, writing.gaps));
  }
  writing.events.insert({key, EventRecord{.name_space = name_space,
                                          .origin = event.origin,
                                          .accepted = now,
                                          .outcome = OutcomeOf(effect.starts),
                                          .starts = effect.starts}});
  return effect;
}

Result<std::vector<EventEffect>> MemoryEventStore::Accept(const NewEvents& batch, WallTime now) {
  if (batch.events.size() > kEventsPerCall) {
    return {ErrorCode::kExhausted, "events: more than kEventsPerCall in a call"};
  }
  MutexLock lock(tables_.mu);
  const TriggerSet triggers(TriggersIn(batch.name_space));
  Look(triggers.all());
  CARILLON_ASSIGN_OR_RETURN(const std::vector<EventMatches> matches,
                            MatchAll(triggers, batch.events));
  Writing writing;
  std::vector<EventEffect> effects;
  for (size_t i = 0; i < batch.events.size(); ++i) {
    effects.push_back(AcceptOne(batch.name_space, batch.events[i], matches[i], now, writing));
  }
  EndTransaction(writing, now);
  // Without the rule, the runs are written and the events, which come in a transaction of their
  // own, are not.
  const bool fails = !writing.events.empty() && ++calls_ % 3 == 0;
  if (fails && failpoint::Broken("event.split")) {
    return {ErrorCode::kUnavailable, "events: the store is away"};
  }
  tables_.events.merge(writing.events);
  return effects;
}

Status MemoryEventStore::Refuse(const RefusedEvent& event, WallTime now) {
  MutexLock lock(tables_.mu);
  tables_.events.insert({EventKeyOf(event.name_space, "", event.place),
                         {.name_space = event.name_space,
                          .origin = {.id = event.place, .source = "", .type = event.type},
                          .accepted = now,
                          .outcome = EventOutcome::kRefused,
                          .problem = event.problem}});
  return {};
}

Result<std::shared_ptr<const TriggerSet>> MemoryEventStore::ReadTriggers(
    const std::string& name_space) {
  MutexLock lock(tables_.mu);
  return std::make_shared<const TriggerSet>(TriggersIn(name_space));
}

Result<EventPage> MemoryEventStore::ListEvents(const EventListFilter& filter) {
  MutexLock lock(tables_.mu);
  std::map<std::pair<WallTime, std::string>, const EventRecord*> found;
  for (const auto& [tie, record] : tables_.events) {
    if (IsWanted(record, filter)) found[{record.accepted, tie}] = &record;
  }
  auto it = filter.before ? found.lower_bound({filter.before->accepted, filter.before->tie})
                          : found.end();
  EventPage page;
  while (it != found.begin()) {
    --it;
    if (page.events.size() == filter.limit) {
      ++it;
      page.next = EventCursor{.accepted = it->first.first, .tie = it->first.second};
      break;
    }
    page.events.push_back(*it->second);
  }
  return page;
}

Result<int64_t> MemoryEventStore::CountOpenEventRuns(int64_t limit) {
  MutexLock lock(tables_.mu);
  static const std::set<RunKind> kCounted = {RunKind::kEvent};
  int64_t count = 0;
  for (const auto& [job_no, job] : tables_.jobs()) {
    for (const RunKey& key : job.open) {
      const RunRow& row = tables_.FindRun(key)->row;
      const bool counts = row.state == RunState::kPending && kCounted.contains(row.kind);
      if (counts && count < limit) ++count;
    }
  }
  return count;
}

Result<WallTime> MemoryEventStore::BeginTopic(const std::string& topic, WallTime now) {
  MutexLock lock(tables_.mu);
  return tables_.event_topics.insert({topic, now}).first->second;
}

}  // namespace carillon::memory
