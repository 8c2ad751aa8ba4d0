// Requests about jobs, their groups and their calendars.
#include <array>

#include <fmt/format.h>

#include "tests/histories/explorer.h"

namespace carillon::test {
namespace {

const std::vector<std::string> kNamespaces = {"default", "default", "north", "south"};
const std::vector<std::string> kGroups = {"", "", "x1", "x2"};
const std::vector<std::string> kCalendars = {"c1", "c2"};

}  // namespace

ScheduleSpec Explorer::NewSchedule() {
  if (Chance(0.2)) return NewTrigger();
  ScheduleSpec spec{
      .kind = ScheduleKind::kRate, .every = 1ms * (1'000 + Below(9'000)), .start = now_};
  switch (Below(6)) {
    case 0: spec = {.kind = ScheduleKind::kCron, .cron_expression = "*/3 * * * * *"}; break;
    case 1: spec = {.kind = ScheduleKind::kOnce, .at = now_ + 1ms * Below(8'000)}; break;
    case 2: spec = {.kind = ScheduleKind::kDelay, .every = 1ms * (500 + Below(3'000))}; break;
    case 3: {
      const auto upstream = AnyJob();
      if (!upstream) break;
      spec = {.kind = ScheduleKind::kAfter, .upstream = upstream->job_id.value()};
      spec.on = Chance(0.5) ? AfterOutcome::kDone : AfterOutcome::kFailure;
      break;
    }
    default: break;
  }
  const bool repeats = spec.kind == ScheduleKind::kCron || spec.kind == ScheduleKind::kRate;
  if (repeats && Chance(0.2)) spec.end = now_ + 1s * (2 + Below(20));
  if (repeats && Chance(0.2)) spec.jitter = 1s * (1 + Below(3));
  if (repeats && Chance(0.2)) spec.calendar = Pick(kCalendars);
  if (repeats && Chance(0.1)) spec.blackout = Pick(kCalendars);
  if (Chance(0.2)) spec.parameters = {{"city", "bern"}};
  return spec;
}

// Often of a job that leads back to the one that waits: such circles are refused.
UpstreamWait Explorer::NewWait(const std::vector<StoredJob>& jobs) {
  UpstreamWait wait{.job = Pick(jobs).job_id};
  const StoredJob& other = Pick(jobs);
  if (other.definition.workflow && Chance(0.7)) {
    const WorkflowNode& node = Pick(other.definition.workflow->nodes);
    if (!RunsNoJob(node)) {
      wait.job = node.job;
      wait.in = other.job_id;
    }
  }
  if (Chance(0.5)) wait.on = AfterOutcome::kDone;
  if (Chance(0.3)) wait.which = WaitWhich::kAll;
  if (Chance(0.3)) {
    wait.window.day = 0;
  } else {
    wait.window.back_s = 1 + static_cast<int64_t>(Below(30));
    if (Chance(0.5)) wait.window.ahead_s = 1 + static_cast<int64_t>(Below(10));
  }
  return wait;
}

JobDefinition Explorer::NewDefinition() {
  JobDefinition job;
  job.name = Chance(0.2) ? "twin" : fmt::format("Explored {}", made_);
  job.command = fmt::format("ms={} term={}", 5 + Below(800), Below(100));
  if (Chance(0.4)) job.command += " exit=3";
  if (Chance(0.2)) job.command += " failures=1";
  const std::vector<StoredJob> jobs = Jobs();
  if (!jobs.empty() && Chance(0.35)) {
    job.type = JobType::kWorkflow;
    job.command.clear();
    job.workflow = NewWorkflow(jobs);
    job.timeout_s = 5 + static_cast<int64_t>(Below(60));
  } else if (Chance(0.2)) {
    job.type = JobType::kNoop;
    job.command.clear();
  }
  for (uint64_t left = Below(3); left > 0; --left) job.schedules.push_back(NewSchedule());
  if (!jobs.empty() && Chance(0.25)) {
    for (uint64_t left = 1 + Below(2); left > 0; --left) job.waits_for.push_back(NewWait(jobs));
    job.wait_limit_s = 60;
  }
  if (job.type != JobType::kWorkflow) {
    job.retry_count = static_cast<int64_t>(Below(3));
    job.retry_interval_s = static_cast<int64_t>(Below(3));
    job.concurrency_group = Pick(kGroups);
    static const std::vector<OnLost> kOnLost = {OnLost::kRetry, OnLost::kFail, OnLost::kHold};
    job.on_lost = Pick(kOnLost);
  }
  static const std::vector<OverlapPolicy> kPolicies = {
      OverlapPolicy::kAllow,          OverlapPolicy::kAllow,
      OverlapPolicy::kSkip,           OverlapPolicy::kQueueOne,
      OverlapPolicy::kQueueAll,       OverlapPolicy::kQueueAll,
      OverlapPolicy::kCancelPrevious, OverlapPolicy::kTerminatePrevious};
  job.overlap_policy = Pick(kPolicies);
  const bool limited = TakesSlots(job.overlap_policy) && !EndsPrevious(job.overlap_policy);
  if (limited && Chance(0.5)) job.max_running = 1 + static_cast<int64_t>(Below(3));
  job.queue_max = 1 + static_cast<int64_t>(Below(5));
  if (Chance(0.2)) job.queue_timeout_s = 1 + static_cast<int64_t>(Below(5));
  job.priority = static_cast<int>(Below(101));
  job.name_space = Pick(kNamespaces);
  static const std::vector<std::string> kOwners = {"", "anna", "bert"};
  job.user_id = Pick(kOwners);
  if (Chance(0.3)) job.labels = {{"team", Chance(0.5) ? "red" : "blue"}};
  if (Chance(0.3)) job.parameters = {{"city", "basel"}, {"count", int64_t{3}}};
  if (job.workflow && Chance(0.9)) job.parameters["list"] = "[1,\"two\"]";
  if (Chance(0.1)) job.parameter_rules = {{"count", {.type = ParameterType::kInteger}}};
  if (Chance(0.1)) job.enabled = false;
  if (Chance(0.2)) job.retention_days = 1;
  if (Chance(0.3)) job.notify.late_after_s = 1;
  if (Chance(0.3)) job.misfire_policy = MisfirePolicy::kAll;
  return job;
}

void Explorer::Create() {
  ++made_;
  const JobDefinition job = NewDefinition();
  if (!ValidateJob(job).ok()) return;
  // An id that is taken, now and then.
  const JobId id(fmt::format("x-{}", Chance(0.05) ? made_ / 2 : made_));
  const auto created = s_.jobs.CreateJob(id, job, Context());
  if (created.ok()) Changed(*created);
}

void Explorer::Import() {
  NewJobs jobs;
  for (uint64_t left = 1 + Below(3); left > 0; --left) {
    ++made_;
    const JobId id(fmt::format("x-{}", Chance(0.1) ? 1 : made_));
    const JobDefinition job = NewDefinition();
    if (ValidateJob(job).ok()) jobs.push_back({id, job});
  }
  const auto created = s_.jobs.CreateJobs(jobs, Context());
  if (!created.ok()) return;
  for (const StoredJob& job : *created) Changed(job);
}

void Explorer::Edit() {
  const auto job = AnyJob();
  if (!job) return;
  JobDefinition next = job->definition;
  const JobDefinition other = NewDefinition();
  switch (Below(7)) {
    case 0: next.schedules = other.schedules; break;
    case 1: next.overlap_policy = other.overlap_policy, next.max_running = other.max_running; break;
    case 2: next.priority = other.priority, next.parameters = other.parameters; break;
    case 3:
      if (next.type != JobType::kWorkflow) next.concurrency_group = Pick(kGroups);
      break;
    case 4: next.enabled = !next.enabled; break;
    case 5: next.waits_for = other.waits_for, next.wait_limit_s = other.wait_limit_s; break;
    default: next = other; break;
  }
  if (!ValidateJob(next).ok()) return;
  const int64_t version = Chance(0.1) ? job->version - 1 : job->version;
  const auto written = s_.jobs.ReplaceJob(job->job_id, version, next, Context());
  if (written.ok()) Changed(*written);
}

void Explorer::PauseOrResume() {
  const auto job = AnyJob();
  if (!job) return;
  const std::string why = Chance(0.5) ? "maintenance" : "";
  const bool pause = job->definition.enabled ? Chance(0.6) : Chance(0.2);
  const auto written = pause ? s_.jobs.PauseJob(job->job_id, why, Context())
                             : s_.jobs.ResumeJob(job->job_id, why, Context());
  if (written.ok()) Changed(*written);
}

void Explorer::Delete() {
  const auto job = AnyJob();
  if (!job) return;
  if (s_.jobs.DeleteJob(job->job_id, job->version, Context()).ok()) Changed(*job);
}

void Explorer::ReadJobs() {
  JobFilter filter{.limit = 1 + Below(8)};
  static const std::vector<JobOrder> kOrders = {JobOrder::kJobId, JobOrder::kName,
                                                JobOrder::kCreated, JobOrder::kUpdated};
  filter.order = Pick(kOrders);
  filter.descending = Chance(0.5);
  if (Chance(0.3)) filter.enabled = Chance(0.5);
  if (Chance(0.2)) filter.user_id = "anna";
  if (Chance(0.4)) filter.namespaces = Some(kNamespaces, 0.4);
  if (Chance(0.1)) filter.name = "twin";
  if (Chance(0.2)) filter.name_contains = "EXPLORED 1";
  if (Chance(0.3)) filter.type = Chance(0.5) ? JobType::kWorkflow : JobType::kShell;
  static_cast<void>(s_.jobs.CountJobs(filter).ok());
  for (int pages = 0; pages < 3; ++pages) {
    const auto page = s_.jobs.ListJobs(filter);
    if (!page.ok()) return;
    filter.after = PlaceAfter(*page, filter);
    if (!filter.after) break;
  }
  const auto job = AnyJob();
  if (!job) return;
  static_cast<void>(s_.jobs.GetJobHead(job->job_id).ok());
  static_cast<void>(s_.jobs.ListVersions(job->job_id, job->version + 1, 2).ok());
  static_cast<void>(s_.jobs.CountVersions(job->job_id).ok());
  static_cast<void>(s_.jobs.ListDependencies(job->job_id).ok());
  static_cast<void>(s_.jobs.ListNamespaces("", 10).ok());
  static_cast<void>(s_.jobs.CountNamespaces().ok());
  static_cast<void>(s_.jobs
                        .FindJobs({.ids = {job->job_id, JobId("nobody")},
                                   .names = {{job->definition.name_space, "twin"}}})
                        .ok());
}

void Explorer::ChangeGroup() {
  const std::string& name = Chance(0.5) ? "x1" : "x2";
  if (Chance(0.2)) {
    static_cast<void>(s_.groups.DeleteGroup(name).ok());
  } else {
    static_cast<void>(
        s_.groups.PutGroup(name, {.limit = static_cast<int64_t>(Below(4))}, now_).ok());
  }
  static_cast<void>(s_.groups.GetGroup(name, 5, now_).ok());
  static_cast<void>(s_.groups.ListGroups(now_).ok());
}

void Explorer::ChangeCalendar() {
  const std::string& name = Pick(kCalendars);
  if (Chance(0.2)) {
    static_cast<void>(s_.calendars.DeleteCalendar(name, now_).ok());
  } else {
    CalendarDefinition calendar;
    const auto minute = static_cast<int>(Below(3));
    calendar.intervals = {{.from = minute, .to = minute + 1 + static_cast<int>(Below(600))}};
    static_cast<void>(s_.calendars.PutCalendar(name, calendar, now_).ok());
  }
  static_cast<void>(s_.calendars.LoadCalendars().ok());
  static_cast<void>(s_.calendars.CountCalendarJobs().ok());
}

}  // namespace carillon::test
