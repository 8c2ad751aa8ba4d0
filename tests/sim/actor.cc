#include "tests/sim/actor.h"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace carillon::sim {
namespace {

bool IsWorkflow(const StoredJob& job) { return job.definition.type == JobType::kWorkflow; }

bool IsDependent(const StoredJob& job) {
  return !job.schedules.empty() && job.schedules.front().spec.kind == ScheduleKind::kAfter;
}

}  // namespace

Actor::CallOutcome Actor::NextOutcome() {
  if (!p_.rng.Chance(profile_.failing_calls)) return CallOutcome::kAnswered;
  return p_.rng.Chance(0.5) ? CallOutcome::kNothingDone : CallOutcome::kAnswerLost;
}

void Actor::Believe(const StoredJob& job, WallTime now) {
  history_.Seen(job, now);
  p_.checker.JobAcknowledged(job);
  p_.nudge({job.job_no, job.segment});
}

void Actor::WriteJob(const JobId& id, const std::function<Result<StoredJob>(WallTime)>& write) {
  const WallTime now = p_.now();
  const CallOutcome outcome = NextOutcome();
  if (outcome == CallOutcome::kNothingDone) return;
  const Result<StoredJob> written = write(now);
  if (!written.ok()) return;
  if (outcome == CallOutcome::kAnswered) {
    Believe(*written, now);
    return;
  }
  const Result<StoredJob> read = p_.stores.jobs.GetJob(id);
  if (read.ok()) Believe(*read, now);
}

// ---- jobs --------------------------------------------------------------------------------------

std::string Actor::NewCommand() {
  int64_t ms = 10 + static_cast<int64_t>(p_.rng.Below(2000));
  if (profile_.long_runs && p_.rng.Chance(0.1)) {
    ms = 15'000 + static_cast<int64_t>(p_.rng.Below(45'000));
  }
  if (profile_.about_leases) ms = 40'000 + static_cast<int64_t>(p_.rng.Below(60'000));
  std::string command = fmt::format("ms={}", ms);
  if (profile_.failing_runs) {
    if (p_.rng.Chance(0.2)) command += fmt::format(" failures={}", 1 + p_.rng.Below(3));
    if (p_.rng.Chance(0.05)) command += " exit=3";
    const bool ignores = p_.rng.Chance(0.2);
    command += ignores ? " term=-1" : fmt::format(" term={}", p_.rng.Below(800));
  }
  return command;
}

ScheduleSpec Actor::NewSchedule() {
  const WallTime now = p_.now();
  switch (p_.rng.Below(4)) {
    case 0: {
      static const std::vector<int> kSeconds = {2, 3, 5, 10, 15, 20};
      return WithWindowAndJitter(
          {.kind = ScheduleKind::kCron, .cron_expression = EverySecondsCron(Pick(kSeconds))});
    }
    case 1: return {.kind = ScheduleKind::kOnce, .at = now + Duration(p_.rng.Below(40'000'000))};
    default: {
      const Duration every = 1500ms + 1ms * p_.rng.Below(12'000);
      const Duration ago = Duration(p_.rng.Below(3'600'000'000));
      return WithWindowAndJitter({.kind = ScheduleKind::kRate, .every = every, .start = now - ago});
    }
  }
}

ScheduleSpec Actor::NewDelay() {
  ScheduleSpec spec{.kind = ScheduleKind::kDelay, .every = 1ms * (500 + p_.rng.Below(6'000))};
  if (p_.rng.Chance(0.2)) spec.start = p_.now() + 1s * p_.rng.Below(20);
  return spec;
}

// Decided without a random draw, so that existing seeds draw the same numbers for all else.
ScheduleSpec Actor::WithWindowAndJitter(ScheduleSpec spec) const {
  if (made_ % 3 == 0) spec.end = p_.now() + 20s + made_ * 7s;
  if (made_ % 4 == 1) spec.jitter = 1s * (1 + made_ % 9);
  if (made_ % 5 == 2 && spec.kind == ScheduleKind::kCron) spec.start = p_.now() + 10s;
  if (profile_.calendars && made_ % 4 != 3) {
    (made_ % 2 == 0 ? spec.calendar : spec.blackout) = CalendarLog::kName;
  }
  return spec;
}

void Actor::ChooseOverlap(JobDefinition& job) {
  static const std::vector<OverlapPolicy> kPolicies = {
      OverlapPolicy::kAllow,          OverlapPolicy::kAllow,
      OverlapPolicy::kSkip,           OverlapPolicy::kQueueOne,
      OverlapPolicy::kQueueAll,       OverlapPolicy::kQueueAll,
      OverlapPolicy::kCancelPrevious, OverlapPolicy::kTerminatePrevious};
  job.overlap_policy = Pick(kPolicies);
  const bool limited = TakesSlots(job.overlap_policy) && !EndsPrevious(job.overlap_policy);
  if (limited && p_.rng.Chance(0.4)) job.max_running = 1 + static_cast<int64_t>(p_.rng.Below(3));
  job.queue_max = 1 + static_cast<int64_t>(p_.rng.Below(20));  // a longer one outlasts the world
}

// Decided without a random draw, as WithWindowAndJitter.
void Actor::ChooseGroup(JobDefinition& job) const {
  static constexpr std::array<const char*, 4> kChoices = {"", "g1", "g2", "g1"};
  if (profile_.groups)
    job.concurrency_group = kChoices.at((deeds_ + static_cast<size_t>(made_)) % 4);
}

JobDefinition Actor::NewDefinition() {
  JobDefinition job;
  job.name = fmt::format("job {}", made_);
  job.command = NewCommand();
  const uint64_t schedules = p_.rng.Below(3);
  for (uint64_t i = 0; i <= schedules; ++i) job.schedules.push_back(NewSchedule());
  job.priority = static_cast<int>(p_.rng.Below(101));
  if (p_.rng.Chance(0.1)) {
    job.type = JobType::kNoop;
    job.command.clear();
  }
  if (profile_.failing_runs) {
    job.retry_count = static_cast<int64_t>(p_.rng.Below(4));
    job.retry_interval_s = static_cast<int64_t>(p_.rng.Below(8));
    job.timeout_s = p_.rng.Chance(0.2) ? 1 + static_cast<int64_t>(p_.rng.Below(20)) : 120;
    job.kill_grace_s = static_cast<int64_t>(p_.rng.Below(6));
    static const std::vector<OnLost> kPolicies = {OnLost::kRetry, OnLost::kRetry, OnLost::kRetry,
                                                  OnLost::kFail, OnLost::kHold};
    job.on_lost = Pick(kPolicies);
    if (p_.rng.Chance(0.1)) job.queue_timeout_s = 5 + static_cast<int64_t>(p_.rng.Below(20));
  }
  ChooseOverlap(job);
  ChooseGroup(job);
  if (profile_.about_leases) {
    // The next attempt comes soon after a loss, so it would overlap an attempt that was not killed.
    job.type = JobType::kShell;
    job.command = NewCommand();
    job.schedules = {
        {.kind = ScheduleKind::kRate, .every = 5s + 1ms * p_.rng.Below(8'000), .start = p_.now()}};
    job.retry_count = 5;
    job.retry_interval_s = static_cast<int64_t>(p_.rng.Below(2));
    job.queue_timeout_s = 0;
    job.queue_max = 1 + job.queue_max % 3;  // the processes take long
    job.timeout_s = 600;
    if (p_.rng.Chance(0.8)) job.on_lost = OnLost::kRetry;
  }
  job.misfire_grace_s = 5 + static_cast<int64_t>(p_.rng.Below(60));
  static const std::vector<MisfirePolicy> kMisfires = {MisfirePolicy::kSkip, MisfirePolicy::kLatest,
                                                       MisfirePolicy::kAll};
  job.misfire_policy = Pick(kMisfires);
  job.catch_up_window_s = p_.rng.Chance(0.3) ? 20 : 3600;
  job.catch_up_max = p_.rng.Chance(0.3) ? 3 : 100;
  if (profile_.strict_misfire) {
    job.misfire_policy = MisfirePolicy::kAll;
    job.catch_up_window_s = 86'400;
    job.catch_up_max = 10'000;
    job.queue_timeout_s = 0;
    job.overlap_policy = OverlapPolicy::kAllow;
    job.max_running = 1;
  }
  if (profile_.delays) job.schedules.front() = NewDelay();
  // Not HELD from the start: it holds up its workflow until the world rests. With `fail`, a run
  // that is being cancelled may become HELD, too.
  if (profile_.workflows) job.on_lost = made_ % 2 == 0 ? OnLost::kFail : OnLost::kRetry;
  if (profile_.lost_nodes) job.on_lost = OnLost::kFail;
  if (profile_.scripts) BecomeScript(job);
  FanOut(job);
  FailInARow(job);
  return job;
}

// Decided without a random draw, as WithWindowAndJitter.
void Actor::BecomeScript(JobDefinition& job) const {
  if (made_ % 3 != 0) job.retry_on = {"exit:1"};
  if (made_ % 4 == 0) job.no_retry_on = {"timeout"};
  if (job.type != JobType::kShell) return;
  if (made_ % 2 != 0) {
    job.type = JobType::kHttp;
    std::string behaviour = std::exchange(job.command, {});
    std::replace(behaviour.begin(), behaviour.end(), ' ', '&');
    job.http = HttpDefinition{.url = "http://sim/" + behaviour};
    if (!job.retry_on.empty()) job.retry_on = {"http:5xx"};
    return;
  }
  job.type = JobType::kScript;
  job.script = {.interpreter = made_ % 4 == 0 ? Interpreter::kPython3 : Interpreter::kSh,
                .body = std::exchange(job.command, {}),
                .args = {}};
}

// Decided without a random draw. Jobs 2, 4, 6, … start after the one before them, and jobs 4, 8, …
// also after job 2, 6, …: a chain. Jobs 1, 5, … have two runs of each fire.
void Actor::StartAfterOthers(JobDefinition& job) const {
  if (!profile_.dependents) return;
  if (made_ % 4 == 1 && !job.schedules.empty()) {
    // Two runs of each fire, as for two tenants. Each starts runs of its own.
    job.schedules.push_back(job.schedules.front());
  }
  if (made_ % 2 != 0) return;
  static constexpr std::array kOutcomes = {AfterOutcome::kSuccess, AfterOutcome::kDone,
                                           AfterOutcome::kFailure};
  const auto after = [&](int made, int choice) {
    job.schedules.push_back({.kind = ScheduleKind::kAfter,
                             .upstream = fmt::format("job-{}", made),
                             .on = kOutcomes.at(static_cast<size_t>(choice) % kOutcomes.size())});
  };
  job.schedules.clear();
  after(made_ - 1, made_ / 2);
  if (made_ % 4 == 0) after(made_ - 2, made_ / 4);
}

void Actor::Create() {
  const JobId id(fmt::format("job-{}", ++made_));
  JobDefinition definition = NewDefinition();
  StartAfterOthers(definition);
  if (profile_.workflows) BecomeWorkflow(definition, Jobs());
  if (profile_.waits) WaitForOthers(definition, id);
  if (profile_.events) ListenToEvents(definition);
  WriteJob(id,
           [&](WallTime now) { return p_.stores.jobs.CreateJob(id, definition, {.now = now}); });
}

void Actor::Edit(const StoredJob& job) {
  JobDefinition edited = NewDefinition();
  // Most edits leave the schedules unchanged, because the fires of unchanged schedules
  // must not move.
  if (p_.rng.Chance(0.7)) {
    edited.schedules = job.definition.schedules;
    edited.overlap_policy = job.definition.overlap_policy;
    edited.max_running = job.definition.max_running;
    if (profile_.delays && !edited.schedules.empty() && p_.rng.Chance(0.3)) {
      ScheduleSpec& first = edited.schedules.front();  // it stays the same schedule
      if (HasTimes(first.kind)) first.every = NewDelay().every;
    }
  } else if (!job.definition.schedules.empty()) {
    edited.schedules.push_back(job.definition.schedules.front());
  }
  edited.enabled = p_.rng.Chance(0.85) ? job.definition.enabled : !job.definition.enabled;
  if (IsDependent(job)) {
    edited.schedules = job.definition.schedules;
    edited.enabled = true;
  }
  if (IsWorkflow(job)) {
    const bool enabled = edited.enabled;
    edited = job.definition;
    edited.enabled = enabled;
    edited.workflow->max_parallel = 1 + edited.workflow->max_parallel % 4;
  }
  if (profile_.waits) WaitForOthers(edited, job.job_id);
  if (profile_.events) ChangeListening(edited, job.definition);
  WriteJob(job.job_id, [&](WallTime now) {
    return p_.stores.jobs.ReplaceJob(job.job_id, job.version, edited, {.now = now});
  });
}

void Actor::Delete(const StoredJob& job) {
  if (IsDependent(job)) return;
  // A workflow whose node has no job any more could not be edited, so its schedules could not
  // be ended.
  if (profile_.workflows && !IsWorkflow(job)) return;
  const WallTime now = p_.now();
  if (NextOutcome() == CallOutcome::kNothingDone) return;
  // After a lost answer the caller reads the job again and sees that it was deleted.
  if (!p_.stores.jobs.DeleteJob(job.job_id, job.version, {.now = now, .force = true}).ok()) return;
  history_.Deleted(job.job_no, now);
  p_.checker.DeleteAcknowledged(job.job_no);
  p_.nudge({job.job_no, job.segment});
}

// ---- runs --------------------------------------------------------------------------------------

void Actor::Execute(const StoredJob& job) {
  ExecuteRequest request{.job_id = job.job_id};
  // A run that is pinned to a host without the interpreter of its script would wait for ever.
  // Parts are not for one host either.
  const bool anywhere = IsWorkflow(job) || profile_.scripts || FansOut(job.definition);
  if (p_.rng.Chance(0.2) && !anywhere) {
    request.executor = Pick(p_.executors);
  }
  const auto run = p_.stores.runs.ExecuteJob(request, {.now = p_.now()});
  if (run.ok()) p_.nudge({run->job_no, run->segment, run->key});
}

void Actor::CancelSomething(const StoredJob& job) {
  std::vector<RunRow> open;
  for (const auto& [key, row] : p_.checker.rows()) {
    if (row.job_no == job.job_no && !IsFinal(row.state)) open.push_back(row);
  }
  PreferFires(open);
  if (open.empty()) return;
  const RunRow row = Pick(open);
  const bool confirm = p_.rng.Chance(0.3);
  if (confirm) p_.checker.BeginByHand(row.key, Checker::ByHand::kConfirmed);
  // A second cancel is a kill, and so are some first cancels. No random draw decides this, so that
  // existing seeds replay the same worlds.
  const bool kill = row.cancel_requested || ToUnixMicros(row.key.fire) % 3 == 0;
  p_.checker.nodes().Begin({.key = row.key, .kills = kill});
  const auto cancelled = p_.stores.runs.CancelRun(
      row.key, {.now = p_.now(),
                .confirm_overlap = confirm,
                .cancel_mode = kill ? CancelMode::kKill : CancelMode::kGraceful});
  p_.checker.nodes().End();
  p_.checker.EndByHand();
  if (!cancelled.ok() || !*cancelled) return;
  p_.checker.CancelAcknowledged(row.key);
  p_.nudge({row.job_no, row.segment, row.key});
}

void Actor::RetrySomething() {
  std::vector<RunRow> ended;
  for (const auto& [key, row] : p_.checker.rows()) {
    const bool wanted = row.state == RunState::kFailed || row.state == RunState::kTimedOut ||
                        row.state == RunState::kLost || row.state == RunState::kCancelled ||
                        row.state == RunState::kHeld;
    if (wanted && row.attempt < 8) ended.push_back(row);
  }
  if (ended.empty()) return;
  const RunRow row = Pick(ended);
  const bool confirm = p_.rng.Chance(0.5);
  p_.checker.BeginByHand(row.key,
                         confirm ? Checker::ByHand::kConfirmed : Checker::ByHand::kUnconfirmed);
  RetryRequest request{.key = row.key};
  if (confirm) request.workflow.overlap = Overlap::kConfirmed;
  if (ToUnixMicros(row.key.fire) % 4 == 0) request.workflow.from = RetryFrom::kStart;
  ChooseParts(row, request);
  p_.checker.nodes().Begin({.key = row.key});
  const auto retried =
      p_.stores.runs.RetryRun(request, {.now = p_.now(), .confirm_overlap = confirm});
  p_.checker.nodes().End();
  p_.checker.EndByHand();
  if (retried.ok()) p_.nudge({row.job_no, row.segment, row.key});
}

void Actor::GiveUpHeld() {
  std::vector<RunRow> held;
  for (const auto& [key, row] : p_.checker.rows()) {
    if (row.state == RunState::kHeld) held.push_back(row);
  }
  for (const RunRow& row : held) {
    p_.checker.BeginByHand(row.key, Checker::ByHand::kConfirmed);
    p_.checker.nodes().Begin({.key = row.key});
    const auto cancelled =
        p_.stores.runs.CancelRun(row.key, {.now = p_.now(), .confirm_overlap = true});
    p_.checker.nodes().End();
    p_.checker.EndByHand();
    if (cancelled.ok()) p_.nudge({row.job_no, row.segment, row.key});
  }
}

void Actor::ToggleExecutor() {
  const ExecutorId& id = Pick(p_.executors);
  const auto record = p_.stores.executors.GetExecutor(id);
  if (!record.ok()) return;
  if (p_.rng.Chance(0.5)) {
    static_cast<void>(p_.stores.executors.SetExecutorEnabled(id, !record->enabled).ok());
  } else {
    static_cast<void>(p_.stores.executors.SetExecutorDraining(id, !record->draining).ok());
  }
}

std::vector<StoredJob> Actor::Jobs() {
  return p_.stores.jobs.ListJobs({.limit = 1000}).value_or({}).jobs;
}

// ---- calendars ---------------------------------------------------------------------------------

void Actor::PutCalendar() {
  const WallTime now = p_.now();
  const CalendarDefinition definition =
      CalendarLog::Draw(profile_.seed + calendars_.versions(), now);
  const auto written = p_.stores.calendars.PutCalendar(CalendarLog::kName, definition, now);
  if (written.ok()) calendars_.Put(definition, written->effective);
}

// ---- days --------------------------------------------------------------------------------------

void Actor::Begin() {
  if (profile_.groups) {
    SetLimit("g1", 1, TimeOfGroup());
    SetLimit("g2", 2, TimeOfGroup());
  }
  if (profile_.calendars) PutCalendar();
  for (int i = 0; i < profile_.jobs_max; ++i) Create();
}

void Actor::Act() {
  ++deeds_;
  // Few versions, so that the last one is in effect alone for a while.
  if (profile_.calendars && (deeds_ == 20 || deeds_ == 120)) PutCalendar();
  if (profile_.groups && deeds_ % 6 == 0) {
    const auto limit = static_cast<int64_t>(deeds_ / 12 % 4);
    return SetLimit(deeds_ % 12 == 0 ? "g1" : "g2", limit, TimeOfGroup());
  }
  if (profile_.workflows && deeds_ % 9 == 0) return SkipSomeNode();
  if (profile_.approvals && deeds_ % 3 == 0) return DecideSomething();
  if (profile_.waits && deeds_ % 16 == 0) return ReleaseSomething();
  if (profile_.events && deeds_ % 2 == 0) return SendEvents();
  const std::vector<StoredJob> jobs = Jobs();
  if (jobs.empty()) return Create();
  const StoredJob& job = Pick(jobs);
  const uint64_t dice = p_.rng.Below(100);
  if (dice < 15) return Execute(job);
  if (dice < 25) return CancelSomething(job);
  if (dice < 33) return RetrySomething();
  if (!profile_.edits) return;
  if (dice < 36) return ToggleExecutor();
  if (dice < 60) return Edit(job);
  if (dice < 90) {
    const bool pause = job.definition.enabled && p_.rng.Chance(0.4) && !IsDependent(job);
    return WriteJob(job.job_id, [&](WallTime now) {
      return pause ? p_.stores.jobs.PauseJob(job.job_id, "actor", {.now = now})
                   : p_.stores.jobs.ResumeJob(job.job_id, "actor", {.now = now});
    });
  }
  if (dice < 94) return Delete(job);
  if (static_cast<int>(jobs.size()) < profile_.jobs_max) return Create();
}

void Actor::Calm() {
  SendUnknownEvents();
  for (const ExecutorId& id : p_.executors) {
    static_cast<void>(p_.stores.executors.SetExecutorEnabled(id, true).ok());
    static_cast<void>(p_.stores.executors.SetExecutorDraining(id, false).ok());
  }
  for (const StoredJob& job : Jobs()) {
    const WallTime now = p_.now();
    const auto resumed = p_.stores.jobs.ResumeJob(job.job_id, "calm", {.now = now});
    if (resumed.ok()) Believe(*resumed, now);
  }
}

void Actor::EndSchedules() {
  for (const StoredJob& job : Jobs()) {
    JobDefinition edited = job.definition;
    // Dependents end with the jobs before them.
    std::erase_if(edited.schedules,
                  [](const ScheduleSpec& spec) { return spec.kind != ScheduleKind::kAfter; });
    edited.enabled = true;
    const WallTime now = p_.now();
    const auto written = p_.stores.jobs.ReplaceJob(job.job_id, job.version, edited, {.now = now});
    if (written.ok()) Believe(*written, now);
  }
}

}  // namespace carillon::sim
