#include "tests/histories/all_rows.h"

#include <utility>

namespace carillon::test {
namespace {

constexpr size_t kAll = 1'000;

// The calls are made for the comparison of their answers alone.
template <typename T>
void Read(const Result<T>& answer) {
  static_cast<void>(answer.ok());
}

std::vector<SegmentId> AllSegments(const Stores& stores) {
  std::vector<SegmentId> all;
  for (const SegmentRecord& record : stores.segments.ListSegments().value_or({})) {
    all.push_back(record.segment);
  }
  return all;
}

void ReadJobs(const Stores& stores) {
  for (const StoredJob& job : stores.jobs.ListJobs({.limit = kAll}).value_or({}).jobs) {
    Read(stores.jobs.GetJob(job.job_id));
    Read(stores.jobs.ListVersions(job.job_id, job.version + 1, kAll));
    Read(stores.jobs.ListDependencies(job.job_id));
    Read(stores.queues.ReadQueue(job.job_id, kAll));
  }
}

// As a look at runs that wait for runs of every job, and of every node.
void ReadUpstream(const Stores& stores, WallTime now) {
  std::vector<UpstreamTarget> targets;
  for (const StoredJob& job : stores.jobs.ListJobs({.limit = kAll}).value_or({}).jobs) {
    targets.push_back({.job = job.job_id});
    if (!job.definition.workflow) continue;
    for (const WorkflowNode& node : job.definition.workflow->nodes) {
      if (RunsNoJob(node)) continue;
      targets.push_back({.job = node.job, .in = job.job_id});
    }
  }
  std::vector<UpstreamSpan> spans;
  for (UpstreamSources& sources : stores.upstream.ReadSources(targets).value_or({})) {
    spans.push_back({.sources = std::move(sources), .from = now - 1h, .to = now + 1min});
  }
  Read(stores.upstream.ReadUpstreamRuns(spans));
}

void ReadEvents(const Stores& stores) {
  for (const std::string& name_space : stores.jobs.ListNamespaces("", kAll).value_or({})) {
    Read(stores.events.ReadTriggers(name_space));
  }
  EventListFilter filter{.limit = 100};
  do {
    const auto page = stores.events.ListEvents(filter);
    filter.before = page.ok() ? page->next : std::nullopt;
  } while (filter.before);
  Read(stores.events.CountOpenEventRuns(kOpenEventRunsMax));
}

void ReadRuns(const Stores& stores, WallTime now) {
  RunFilter filter{.states = {RunState::kPending, RunState::kRunning, RunState::kHeld,
                              RunState::kCompleted, RunState::kFailed, RunState::kTimedOut,
                              RunState::kCancelled, RunState::kLost, RunState::kSkipped},
                   .limit = 100};
  while (true) {
    const auto page = stores.runs.ListRuns(filter, now);
    if (!page.ok() || page->runs.empty()) return;
    for (const RunDetail& run : page->runs) {
      Read(stores.runs.GetRun(run.row.key));
      Read(stores.firing.LoadRunRequest(run.row.key));
      Read(stores.firing.LoadRunRules({run.row.key}));
      Read(stores.firing.LoadDefinitions({{run.row.job_no, run.row.def_version}}));
      if (run.job_type == JobType::kWorkflow) Read(stores.workflows.GetWorkflowRun(run.row.key));
    }
    filter.before = page->runs.back().row.key;
  }
}

void ReadWork(const Stores& stores, WallTime now) {
  const std::vector<SegmentId> all = AllSegments(stores);
  Read(stores.firing.ScanDue(all, kNever, kAll));
  Read(stores.firing.ScanPending(all, kNever, std::nullopt, kAll));
  Read(stores.firing.ScanRunning(all, std::nullopt, kAll));
  Read(stores.firing.ScanCancelRequests(all, std::nullopt, kAll));
  Read(stores.queues.ScanQueues(all, JobNo(), kAll));
  Read(stores.queues.ScanGroups(all, GroupNo(), kAll, now));
  Read(stores.queues.ScanUnusedSlots(all, now, kAll));
  Read(stores.completions.ScanCompletions(all, kAll));
  Read(stores.completions.ScanStuck(all, kAll));
  Read(stores.backfills.ScanBackfills(all, 0, kAll));
  Read(stores.workflows.ScanWakeUps(all, kAll));
  Read(stores.workflows.ScanOpen(all, 0, kAll));
  Read(stores.upstream.ScanAwaiting(all, kNever, std::nullopt, kAll));
  Read(stores.notices.ScanNotices(all, kAll));
  Read(stores.notices.ScanRecoveries(all, std::nullopt, now, kAll));
}

}  // namespace

void ReadAllRows(const Stores& stores, WallTime now) {
  ReadJobs(stores);
  ReadUpstream(stores, now);
  ReadRuns(stores, now);
  ReadWork(stores, now);
  ReadEvents(stores);
  Read(stores.runs.ListGaps({.limit = kAll}));
  Read(stores.runs.ListDeadLetters({.limit = kAll}));
  Read(stores.backfills.ListBackfills({.limit = kAll}));
  Read(stores.calendars.LoadCalendars());
  for (const Group& group : stores.groups.ListGroups(now).value_or({})) {
    Read(stores.groups.GetGroup(group.name, kAll, now));
  }
  for (const BulkAction& action : stores.bulk.ListBulk({.limit = kAll}).value_or({})) {
    Read(stores.bulk.ListBulkItems(action.order.bulk_id, {.limit = kAll}));
  }
  Read(stores.executors.ListExecutors());
  Read(stores.settings.ReadSettings());
  Read(stores.notices.ListDeliveries({.limit = kAll}));
  Read(stores.audit.ListAudit({.limit = kAll}));
  Read(stores.secrets.ListSecrets({.limit = kAll}));
  Read(stores.auth.ListUsers({.limit = kAll}));
}

}  // namespace carillon::test
