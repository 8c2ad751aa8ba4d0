#include "tests/sim/upstream_check.h"

#include <algorithm>

#include <fmt/format.h>

namespace carillon::sim {
namespace {

constexpr Duration kSameFire = 10ms;       // runs of one fire, of a job that starts after others
constexpr Duration kReadBefore = 60s;      // a member stops for so long between a read and a write
constexpr Duration kClocksDiffer = 100ms;  // that of a member and the world's
constexpr size_t kJobsBeforeMax = 20;
constexpr Duration kDay = 24h;

bool Waits(const RunRow& row) { return row.state == RunState::kPending && row.due == kAwaiting; }

std::string TextOf(const RunRow& row) {
  return fmt::format("run {} (job {}, fire {}) {} attempt {} version {}", EncodeRunId(row.key),
                     row.job_no.value(), FormatRfc3339(row.key.fire), Name(row.state), row.attempt,
                     row.def_version);
}

bool IsMadeByItself(const RunRow& row) {
  switch (row.kind) {
    case RunKind::kManual:
    case RunKind::kBackfill:
    case RunKind::kShard: return false;
    default: return true;
  }
}

// Skipped because another run does its work, or nobody wanted it.
bool WasLetGo(const memory::RunEntry& run) {
  static const std::set<std::string_view> kReasons = {"overlap", "misfire", "queue_full",
                                                      "replaced", "shed"};
  return run.row.state == RunState::kSkipped && kReasons.contains(run.result.reason);
}

bool HasTimes(const memory::JobEntry& job) {
  return !job.deleted && std::ranges::any_of(job.definition.schedules, [](const auto& spec) {
    return spec.kind != ScheduleKind::kAfter && spec.kind != ScheduleKind::kEvent;
  });
}

bool HasNode(const memory::JobEntry& workflow, const JobId& job) {
  return workflow.definition.workflow &&
         std::ranges::any_of(workflow.definition.workflow->nodes,
                             [&](const WorkflowNode& node) { return node.job == job; });
}

WallTime BeginOfUtcDay(WallTime time) {
  return time - Duration(ToUnixMicros(time) % ToUnixMicros(WallTime{} + kDay));
}

}  // namespace

const JobDefinition* UpstreamCheck::DefinitionOf(const RunRow& row) const {
  const memory::JobEntry* job = tables_.FindJob(row.job_no);
  if (job == nullptr) return nullptr;
  const auto found = job->versions.find(row.def_version);
  return found == job->versions.end() ? nullptr : &found->second;
}

bool UpstreamCheck::IsAskedToWait(const RunRow& row) const {
  const JobDefinition* definition = DefinitionOf(row);
  return definition != nullptr && !definition->waits_for.empty();
}

WallTime UpstreamCheck::LimitOf(const RunRow& row) const {
  const JobDefinition* definition = DefinitionOf(row);
  const memory::RunEntry* run = tables_.FindRun(row.key);
  if (definition == nullptr || run == nullptr) return kNever;
  return std::max(row.key.fire, run->planned) + 1s * definition->wait_limit_s;
}

// ---- writes ------------------------------------------------------------------------------------

std::optional<std::string> UpstreamCheck::RunWritten(const RunRow* before, const RunRow* after) {
  const RunKey& key = after != nullptr ? after->key : before->key;
  if (after == nullptr || !Waits(*after)) awaiting_.erase(key);
  if (after == nullptr) return std::nullopt;
  if (Waits(*after)) {
    awaiting_.insert(key);
    if (key.shard != 0) return "a part waits: " + TextOf(*after);
  }
  if (before == nullptr) return Made(*after);
  if (Waits(*before) && !Waits(*after)) return Left(*before, *after);
  const bool again = IsFinal(before->state) && after->state == RunState::kPending;
  const bool waits_on = again && after->kind == RunKind::kWorkflow && before->due == kAwaiting &&
                        before->state != RunState::kFailed;
  if (waits_on && !Waits(*after)) return "has not waited to the end: " + TextOf(*after);
  return std::nullopt;
}

std::optional<std::string> UpstreamCheck::Made(const RunRow& row) const {
  if (row.state != RunState::kPending || !IsMadeByItself(row)) return std::nullopt;
  if (IsAskedToWait(row) == Waits(row)) return std::nullopt;
  return (Waits(row) ? "waits for nothing: " : "does not wait: ") + TextOf(row);
}

std::optional<std::string> UpstreamCheck::Left(const RunRow& before, const RunRow& after) {
  switch (after.state) {
    case RunState::kSkipped:
    case RunState::kCancelled: return std::nullopt;
    case RunState::kPending: return Released(after);
    case RunState::kFailed: break;
    default: return "still waits, and is then " + TextOf(after);
  }
  ++expired_;
  const std::string& reason = tables_.FindRun(after.key)->result.reason;
  if (reason != "upstream_timeout") return "fails for " + reason + ": " + TextOf(after);
  if (now_() + kClocksDiffer >= LimitOf(before)) return std::nullopt;
  return "fails before its limit: " + TextOf(after);
}

std::optional<std::string> UpstreamCheck::Released(const RunRow& after) {
  const bool of_workflow = after.kind == RunKind::kWorkflow;
  if (of_workflow != (after.due == kBlocked) || after.due == kQueued) {
    return "goes on in a wrong way: " + TextOf(after);
  }
  if (by_hand_ == after.key || !IsAskedToWait(after)) return std::nullopt;
  // An edit lets the runs go before it gives them the new version.
  if (tables_.FindJob(after.job_no)->definition.waits_for.empty()) return std::nullopt;
  const Why why = WhyNot(after);
  const auto read = met_.find(after.key);
  const bool was_met = read != met_.end() && read->second.version == after.def_version &&
                       now_() - read->second.at <= kReadBefore;
  if (!why.empty() && !was_met) return fmt::format("goes on although {}: {}", why, TextOf(after));
  ++met_count_;
  return std::nullopt;
}

void UpstreamCheck::NoteMet() {
  MutexLock lock(tables_.mu);
  const WallTime now = now_();
  for (const RunKey& key : awaiting_) {
    const RunRow& row = tables_.FindRun(key)->row;
    if (key.fire <= now && WhyNot(row).empty()) met_[key] = {now, row.def_version};
  }
}

std::optional<std::string> UpstreamCheck::Look(WallTime settled) {
  MutexLock lock(tables_.mu);
  const WallTime now = now_();
  std::map<RunKey, WallTime> met;
  for (const RunKey& key : awaiting_) {
    const RunRow& row = tables_.FindRun(key)->row;
    if (key.fire > now) continue;
    const Why why = WhyNot(row);
    if (why.empty()) {
      const auto before = met_since_.find(key);
      met[key] = before == met_since_.end() ? now : before->second;
      if (now - met[key] > kReleasedWithin) return "waits although all has come: " + TextOf(row);
    } else if (now > std::max(LimitOf(row), settled + kNoneInVainFor) + kReleasedWithin) {
      return fmt::format("waits beyond its limit, because {}: {}", why, TextOf(row));
    }
  }
  met_since_ = std::move(met);
  return std::nullopt;
}

// ---- questions ---------------------------------------------------------------------------------

UpstreamCheck::Why UpstreamCheck::WhyNot(const RunRow& row) const {
  const JobDefinition* definition = DefinitionOf(row);
  if (definition == nullptr) return "it has no definition";
  for (const UpstreamWait& wait : definition->waits_for) {
    Why why = WhyNot(wait, row.key.fire);
    if (!why.empty()) return why;
  }
  return "";
}

UpstreamCheck::Why UpstreamCheck::WhyNot(const UpstreamWait& wait, WallTime fire) const {
  const memory::JobEntry* job = tables_.FindJob(wait.job);
  const memory::JobEntry* in = wait.in.empty() ? nullptr : tables_.FindJob(wait.in);
  if (job == nullptr || job->deleted) return wait.job.value() + " is gone";
  if (!wait.in.empty() && (in == nullptr || in->deleted || !HasNode(*in, wait.job))) {
    return wait.job.value() + " is no node of " + wait.in.value();
  }
  const Chain chain = ChainTo(in == nullptr ? job->job_no : in->job_no);
  const std::set<JobNo>& jobs = chain.jobs;
  if (jobs.size() > kJobsBeforeMax + 1) return "too many jobs are before " + wait.job.value();
  WallTime from = fire - 1s * wait.window.back_s;
  WallTime until = fire;
  if (wait.window.day) {
    const WallTime day = BeginOfUtcDay(fire) + *wait.window.day * kDay;
    from = day;
    if (*wait.window.day != 0) until = day + kDay - 1us;
  }
  const WallTime unplanned = FirstUnplanned(jobs);
  if (unplanned <= until) return "fire " + FormatRfc3339(unplanned) + " is not planned";
  const auto counts = [&](const memory::RunEntry& run) REQUIRES(tables_.mu) {
    const bool of_job = run.row.job_no == job->job_no;
    if (!of_job && !jobs.contains(run.row.job_no)) return false;
    if (run.row.key.shard != 0 || WasLetGo(run) || IsByHand(run) || IsHistory(run)) return false;
    return !of_job || in == nullptr || WorkflowOf(run) == in->job_no;
  };
  std::vector<Fire> fires = FiresIn(from, until, counts);
  const bool newest = wait.which == WaitWhich::kLast && !fires.empty();
  if (MayBeBackfilled(jobs, newest ? fires.back().at + 1us : from, until)) {
    return "a backfill may run a fire of the window";
  }
  if (fires.empty()) {
    fires = FiresIn(until + 1us, until + 1s * wait.window.ahead_s, counts);
    if (fires.empty()) return wait.job.value() + " has no fire in the window";
    if (unplanned <= fires.front().at) return "an earlier fire may be planned";
    if (MayBeBackfilled(jobs, until + 1us, fires.front().at - 1us)) {
      return "an earlier fire may be backfilled";
    }
    return WhyNot(wait, job->job_no, chain, fires.front());
  }
  if (wait.which == WaitWhich::kLast) return WhyNot(wait, job->job_no, chain, fires.back());
  for (const Fire& one : fires) {
    Why why = WhyNot(wait, job->job_no, chain, one);
    if (!why.empty()) return why;
  }
  return "";
}

// All runs of the job at this fire, also those to which the others of the fire will lead.
UpstreamCheck::Why UpstreamCheck::WhyNot(const UpstreamWait& wait, JobNo job, const Chain& chain,
                                         const Fire& fire) const {
  bool has_run = false;
  for (const memory::RunEntry* run : fire.runs) {
    if (run->row.job_no != job) {
      if (!MayLeadToMore(*run, chain)) continue;
      return fmt::format("run {} ({}) may lead to one of {}", EncodeRunId(run->row.key),
                         Name(run->row.state), wait.job.value());
    }
    has_run = true;
    const bool done = IsFinal(run->row.state) && wait.on == AfterOutcome::kDone;
    const bool skipped =
        run->row.state == RunState::kSkipped && run->result.reason == "skipped_by_hand";
    if (done || skipped || run->row.state == RunState::kCompleted) continue;
    return fmt::format("run {} of {} is {}", EncodeRunId(run->row.key), wait.job.value(),
                       Name(run->row.state));
  }
  if (has_run) return "";
  return fmt::format("{} has no run of {}", wait.job.value(), FormatRfc3339(fire.at));
}

// A job starts after an end, once somebody has acted upon it, but not after a backfilled run; nodes
// are there once their workflow has begun.
bool UpstreamCheck::MayLeadToMore(const memory::RunEntry& run, const Chain& chain) const {
  const bool open = !IsFinal(run.row.state);
  const bool before_begin = open && run.row.state != RunState::kRunning;
  if (!chain.ends.contains(run.row.job_no)) {
    return before_begin && (!IsBackfilled(run) || chain.workflows.contains(run.row.job_no));
  }
  const auto is_end = [&](const auto& one) {
    return one.second.key == run.row.key && one.second.target == CompletionTarget::kDependents;
  };
  if (std::ranges::any_of(tables_.completions, is_end)) return true;
  if (!IsBackfilled(run)) return open;
  return before_begin && chain.workflows.contains(run.row.job_no);
}

bool UpstreamCheck::IsBackfilled(const memory::RunEntry& run) const {
  if (run.row.kind == RunKind::kBackfill) return true;
  const memory::WorkflowEntry* workflow = tables_.WorkflowOfNode(run.row.key);
  const memory::RunEntry* own = workflow == nullptr ? nullptr : tables_.FindRun(workflow->own);
  return own != nullptr && IsBackfilled(*own);
}

bool UpstreamCheck::MayBeBackfilled(const std::set<JobNo>& jobs, WallTime from,
                                    WallTime until) const {
  return std::ranges::any_of(tables_.backfills, [&](const auto& one) REQUIRES(tables_.mu) {
    const Backfill& backfill = one.second;
    const BackfillTerms& terms = backfill.terms;
    const bool ended =
        backfill.state != BackfillState::kRunning && backfill.state != BackfillState::kPaused;
    if (ended || !jobs.contains(backfill.job_no)) return false;
    if (tables_.FindJob(backfill.job_no)->deleted) return false;
    const bool up = terms.order == BackfillOrder::kAscending;
    const WallTime first = std::max(from, up ? std::max(terms.from, backfill.cursor) : terms.from);
    const WallTime end = up ? terms.to : std::min(terms.to, backfill.cursor);
    return first < end && first <= until;
  });
}

// The job and those whose runs lead to its own, up to jobs with times of their own.
UpstreamCheck::Chain UpstreamCheck::ChainTo(JobNo job) const {
  Chain chain{.jobs = {job}, .ends = {}, .workflows = {job}};
  std::vector<JobNo> open{job};
  std::map<JobNo, std::set<JobNo>> around;
  while (!open.empty()) {
    const memory::JobEntry& one = *tables_.FindJob(open.back());
    open.pop_back();
    if (HasTimes(one)) continue;
    std::set<JobNo> before;
    for (const ScheduleSpec& spec : one.definition.schedules) {
      if (one.deleted || spec.kind != ScheduleKind::kAfter) continue;
      if (spec.on == AfterOutcome::kFailure) continue;
      before.insert(tables_.FindJob(JobId(spec.upstream))->job_no);
    }
    chain.ends.insert(before.begin(), before.end());
    for (const auto& [job_no, other] : tables_.jobs()) {
      if (other.deleted || !HasNode(other, one.id)) continue;
      before.insert(job_no);
      around[one.job_no].insert(job_no);
    }
    for (const JobNo job_no : before) {
      if (chain.jobs.insert(job_no).second) open.push_back(job_no);
    }
  }
  for (size_t before = 0; before != chain.workflows.size();) {
    before = chain.workflows.size();
    for (const JobNo one : std::set(chain.workflows)) {
      chain.workflows.insert(around[one].begin(), around[one].end());
    }
  }
  return chain;
}

// A delay schedule has its next fire some time after the end of the last one.
WallTime UpstreamCheck::FirstUnplanned(const std::set<JobNo>& jobs) const {
  WallTime first = kNever;
  for (const JobNo job_no : jobs) {
    const memory::JobEntry& job = *tables_.FindJob(job_no);
    if (job.deleted) continue;
    for (const ScheduleId id : job.schedules) {
      const memory::ScheduleEntry& schedule = *tables_.FindSchedule(id);
      if (schedule.spec.kind == ScheduleKind::kAfter) continue;
      const bool waits = schedule.awaited != WallTime{};
      first = std::min(first, waits ? schedule.awaited + 1us : schedule.next_fire);
    }
  }
  return first;
}

// A node of a workflow run that has begun anew, or that is within one.
bool UpstreamCheck::IsHistory(const memory::RunEntry& run) const {
  const auto& all = tables_.workflow_runs;
  const memory::WorkflowEntry* workflow = tables_.WorkflowOfNode(run.row.key);
  for (; workflow != nullptr; workflow = tables_.WorkflowOfNode(workflow->own)) {
    for (auto later = all.upper_bound(workflow->run.no); later != all.end(); ++later) {
      if (later->second.own == workflow->own) return true;
    }
  }
  return false;
}

bool UpstreamCheck::IsByHand(const memory::RunEntry& run) const {
  if (run.row.kind == RunKind::kManual) return true;
  const memory::WorkflowEntry* workflow = tables_.WorkflowOfNode(run.row.key);
  const memory::RunEntry* by = workflow != nullptr ? tables_.FindRun(workflow->own)
                               : run.trigger       ? tables_.FindRun(run.trigger->run)
                                                   : nullptr;
  return by != nullptr && IsByHand(*by);
}

JobNo UpstreamCheck::WorkflowOf(const memory::RunEntry& run) const {
  const memory::WorkflowEntry* workflow = tables_.WorkflowOfNode(run.row.key);
  return workflow == nullptr ? JobNo{} : workflow->job_no;
}

std::vector<UpstreamCheck::Fire> UpstreamCheck::FiresIn(
    WallTime from, WallTime until,
    const std::function<bool(const memory::RunEntry&)>& counts) const {
  std::vector<Fire> fires;
  for (auto at = tables_.runs().lower_bound(RunKey{.fire = from}); at != tables_.runs().end();
       ++at) {
    const WallTime fire = at->first.fire;
    if (fire > until + kSameFire) break;
    if (!counts(at->second)) continue;
    const bool same = !fires.empty() && fire < fires.back().at + kSameFire;
    if (!same && fire > until) break;
    if (!same) fires.push_back({.at = fire, .runs = {}});
    fires.back().runs.push_back(&at->second);
  }
  return fires;
}

}  // namespace carillon::sim
