#include "scheduler/explain/upstream_answers.h"

#include <algorithm>
#include <utility>

#include "common/domain/job/fire_zone.h"

namespace carillon::scheduler {
namespace {

constexpr std::string_view kWaitsForOthers = "Waits for runs of other jobs.";

// The last key before `key`.
RunKey KeyBefore(const RunKey& key) {
  if (key.shard > 0) return {key.fire, key.schedule_id, key.shard - 1};
  return {key.fire, ScheduleId(key.schedule_id.value() - 1), UINT32_MAX};
}

// nullopt: it waits no longer.
Result<std::optional<AwaitingRun>> ReadAwaiting(UpstreamStore& store, const RunRow& row) {
  CARILLON_ASSIGN_OR_RETURN(AwaitingPage page,
                            store.ScanAwaiting({row.segment}, row.key.fire, KeyBefore(row.key), 1));
  if (page.empty() || page.runs.front().row.key != row.key) return std::optional<AwaitingRun>();
  return std::optional(std::move(page.runs.front()));
}

// The zone in which a run of this schedule tells its date.
const std::string& ZoneOf(const JobVersionRecord& record, ScheduleId schedule) {
  const auto found = std::ranges::find(record.schedule_ids, schedule);
  const auto at = static_cast<size_t>(found - record.schedule_ids.begin());
  const auto& specs = record.definition.schedules;
  return FireZone(record.definition, at < specs.size() ? &specs[at] : nullptr);
}

}  // namespace

Result<std::vector<AnsweredWait>> AnswerWaits(UpstreamStore& store,
                                              const std::vector<UpstreamWait>& waits, WallTime fire,
                                              std::string_view zone) {
  std::vector<AnsweredWait> answered;
  std::vector<UpstreamTarget> targets;
  for (const UpstreamWait& wait : waits) {
    const auto window = WindowOf(wait.window, fire, zone);
    answered.push_back({.wait = wait, .window = {}, .answer = {.cause = WaitCause::kNoFire}});
    if (!window.ok()) continue;
    answered.back().window = *window;
    targets.push_back({.job = wait.job, .in = wait.in});
  }
  // The order matters (upstream_store.h).
  CARILLON_ASSIGN_OR_RETURN(auto sources, store.ReadSources(targets));
  std::vector<UpstreamSpan> spans;
  for (const AnsweredWait& one : answered) {
    if (!one.window) continue;
    spans.push_back({.sources = std::move(sources.at(spans.size())),
                     .from = one.window->from,
                     .to = one.window->ahead_until});
  }
  CARILLON_ASSIGN_OR_RETURN(const auto runs, store.ReadUpstreamRuns(spans));
  size_t next = 0;
  for (AnsweredWait& one : answered) {
    if (!one.window) continue;
    one.answer = JudgeWait(one.wait, *one.window, spans.at(next).sources, runs.at(next));
    ++next;
  }
  return answered;
}

Result<std::string> ExplainAwaiting(UpstreamStore& upstream, FiringStore& firing, const RunRow& row,
                                    AskedNow asked) {
  CARILLON_ASSIGN_OR_RETURN(const auto run, ReadAwaiting(upstream, row));
  CARILLON_ASSIGN_OR_RETURN(const auto records,
                            firing.LoadDefinitions({{row.job_no, row.def_version}}));
  if (!run || records.empty() || !records.front().readable) return std::string(kWaitsForOthers);
  const JobDefinition& job = records.front().definition;
  const std::string& zone =
      run->kept_zone.empty() ? ZoneOf(records.front(), row.key.schedule_id) : run->kept_zone;
  CARILLON_ASSIGN_OR_RETURN(const auto answers,
                            AnswerWaits(upstream, job.waits_for, row.key.fire, zone));
  const WallTime limit = WaitLimit(row.key.fire, run->planned, job.wait_limit_s);
  const WaitUntil until = UntilSeenFrom(asked.now, limit, asked.cluster_paused);
  std::string text;
  for (const AnsweredWait& one : answers) {
    if (one.answer.verdict == WaitVerdict::kMet) continue;
    if (!text.empty()) text += ' ';
    text += WaitSentence(one.wait, one.answer, until, zone);
  }
  if (text.empty()) return std::string("All that it waited for has come; it is about to go on.");
  return text;
}

}  // namespace carillon::scheduler
