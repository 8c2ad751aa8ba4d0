// Requests about runs, backfills and checkpoints.
#include <algorithm>

#include <fmt/format.h>

#include "tests/histories/explorer.h"

namespace carillon::test {
namespace {

const std::vector<RunState> kStates = {
    RunState::kPending,   RunState::kRunning, RunState::kHeld,
    RunState::kCompleted, RunState::kFailed,  RunState::kTimedOut,
    RunState::kCancelled, RunState::kLost,    RunState::kSkipped};

}  // namespace

std::vector<RunDetail> Explorer::Runs() {
  RunFilter filter{.limit = 20};
  if (Chance(0.7)) filter.states = Some(kStates, 0.4);
  return s_.runs.ListRuns(filter, now_).value_or({}).runs;
}

void Explorer::Execute() {
  const auto job = AnyJob();
  if (!job) return;
  ExecuteRequest request{.job_id = job->job_id};
  if (Chance(0.3)) request.parameters_json = R"({"city":"chur","count":4})";
  if (Chance(0.05)) request.parameters_json = R"({"count":"many"})";
  if (Chance(0.1)) request.executor = ExecutorId("e1");
  if (Chance(0.2)) request.priority = static_cast<int>(Below(101));
  if (Chance(0.2)) request.trace_id = "0af7651916cd43dd8448eb211c80319c";
  const std::string key = fmt::format("key-{}", ++made_);
  if (Chance(0.3)) {
    static_cast<void>(s_.idempotency.BeginRequest("anna", key, "body", now_).ok());
    request.keyed =
        KeyedAnswer<CreatedRun>{"anna", key, [](const CreatedRun& run) {
                                  return StoredAnswer{201, EncodeRunId(run.key), "", ""};
                                }};
  }
  const auto run = s_.runs.ExecuteJob(request, Context());
  if (request.keyed) {
    if (!run.ok()) static_cast<void>(s_.idempotency.AbandonRequest("anna", key).ok());
    static_cast<void>(s_.idempotency.BeginRequest("anna", key, "body", now_).ok());
  }
  if (run.ok()) (*nudge_)({run->job_no, run->segment, run->key});
}

void Explorer::Cancel() {
  const std::vector<RunDetail> runs = Runs();
  if (runs.empty()) return;
  EndedRuns ended;
  WriteContext context = Context();
  context.ended = &ended;
  const RunRow& row = Pick(runs).row;
  if (s_.runs.CancelRun(row.key, context).ok()) (*nudge_)({row.job_no, row.segment, row.key});
}

void Explorer::CancelJob() {
  const auto job = AnyJob();
  if (!job) return;
  if (s_.runs.CancelJobRuns(job->job_id, Context()).ok()) Changed(*job);
}

void Explorer::Retry() {
  const std::vector<RunDetail> runs = Runs();
  if (runs.empty()) return;
  const RunRow& row = Pick(runs).row;
  if (s_.runs.RetryRun({.key = row.key}, Context()).ok()) {
    (*nudge_)({row.job_no, row.segment, row.key});
  }
}

void Explorer::Release() {
  std::vector<SegmentId> segments;
  for (const SegmentRecord& record : s_.segments.ListSegments().value_or({})) {
    segments.push_back(record.segment);
  }
  const auto page = s_.upstream.ScanAwaiting(segments, kNever, std::nullopt, 20);
  if (!page.ok() || page->runs.empty()) return;
  const RunRow& row = Pick(page->runs).row;
  if (s_.upstream.ReleaseRun(row.key, Context()).ok()) {
    (*nudge_)({row.job_no, row.segment, row.key});
  }
}

void Explorer::RetryWorkflow() {
  const auto page = s_.runs.ListRuns({.limit = 40}, now_);
  if (!page.ok()) return;
  std::vector<RunKey> keys;
  for (const RunDetail& run : page->runs) {
    if (run.job_type == JobType::kWorkflow && IsFinal(run.row.state)) keys.push_back(run.row.key);
  }
  if (keys.empty()) return;
  const RunKey& key = Pick(keys);
  const auto view = s_.workflows.GetWorkflowRun(key);
  if (!view.ok()) return;
  WorkflowRetry retry;
  std::vector<std::string> failed;
  std::vector<std::string> all;
  for (size_t i = 0; i < view->nodes.size(); ++i) {
    all.push_back(view->definition.nodes[i].id);
    const RunState state = view->nodes[i].detail.row.state;
    if (state != RunState::kCompleted && state != RunState::kSkipped) failed.push_back(all.back());
  }
  if (Chance(0.3)) retry.from = Chance(0.5) ? RetryFrom::kStart : RetryFrom::kNodes;
  if (retry.from == RetryFrom::kNodes) retry.nodes = Some(all, 0.5);
  if (Chance(0.6)) retry.skip = Chance(0.6) ? failed : Some(all, 0.4);
  if (Chance(0.6)) retry.overlap = Overlap::kConfirmed;
  static_cast<void>(s_.workflows.PreviewRetry(key, retry).ok());
  const auto retried = s_.runs.RetryRun({.key = key, .workflow = retry}, Context());
  if (retried.ok()) (*nudge_)({view->own.row.job_no, view->own.row.segment, key});
}

void Explorer::SkipNode() {
  const auto page = s_.runs.ListRuns({.states = {RunState::kRunning}, .limit = 40}, now_);
  if (!page.ok()) return;
  for (const RunDetail& run : page->runs) {
    if (run.job_type != JobType::kWorkflow) continue;
    const auto view = s_.workflows.GetWorkflowRun(run.row.key);
    if (!view.ok()) continue;
    const auto skipped = s_.workflows.SkipNode(
        {.key = run.row.key, .node = Pick(view->definition.nodes).id}, Context());
    if (skipped.ok()) (*nudge_)({run.row.job_no, run.row.segment, run.row.key});
    return;
  }
}

void Explorer::DeadLetters() {
  DeadLetterFilter filter{.limit = 5};
  const auto letters = s_.runs.ListDeadLetters(filter);
  static_cast<void>(s_.runs.CountDeadLetters(filter).ok());
  static_cast<void>(s_.runs.ListDeadLetterJobs({.limit = 3}).ok());
  if (!letters.ok() || letters->empty()) return;
  const DeadLetter& letter = Pick(*letters);
  static_cast<void>(s_.runs.GetDeadLetter(letter.id).ok());
  filter.before_id = letter.id;
  filter.job_id = letter.job_id;
  static_cast<void>(s_.runs.ListDeadLetters(filter).ok());
  if (Chance(0.4)) static_cast<void>(s_.runs.DiscardDeadLetter(letter.id).ok());
}

void Explorer::ReadRuns() {
  RunFilter filter{.limit = 1 + Below(10)};
  if (Chance(0.4)) filter.states = Some(kStates, 0.4);
  if (Chance(0.3))
    filter.kinds = Some(std::vector<RunKind>(kRunKinds.begin(), kRunKinds.end()), 0.4);
  if (Chance(0.2)) filter.executor = ExecutorId("e1");
  if (Chance(0.2)) filter.namespaces = {"north", "default"};
  if (Chance(0.1)) filter.user_id = "bert";
  if (Chance(0.1)) filter.name_contains = "explored";
  if (Chance(0.1)) filter.labels = {{"team", {"red"}}};
  if (Chance(0.2)) filter.since = now_ - 1s * Below(20);
  if (Chance(0.2)) filter.until = now_ - 1s * Below(5);
  filter.oldest_first = Chance(0.3);
  if (const auto job = AnyJob(); job && Chance(0.3)) filter.job_id = job->job_id;
  static_cast<void>(s_.runs.CountRuns(filter, now_).ok());
  for (int pages = 0; pages < 3; ++pages) {
    const auto page = s_.runs.ListRuns(filter, now_);
    if (!page.ok() || page->runs.empty()) return;
    filter.before = page->runs.back().row.key;
  }
}

void Explorer::ReadMoreRuns() {
  const std::vector<RunDetail> runs = Runs();
  if (!runs.empty()) {
    const RunKey key = Pick(runs).row.key;
    static_cast<void>(s_.runs.GetRun(key).ok());
    static_cast<void>(s_.queues.PlaceOf(key).ok());
    static_cast<void>(s_.workflows.GetWorkflowRun(key).ok());
    static_cast<void>(s_.checkpoints.ReadCheckpoint(key).ok());
  }
  RecentFilter recent{.job_ids = {}, .runs_max = 3, .until = now_};
  for (const StoredJob& job : Some(Jobs(), 0.3)) recent.job_ids.push_back(job.job_id);
  static_cast<void>(s_.runs.ListRecentRuns(recent).ok());
  GapFilter gaps{.limit = 3};
  if (const auto job = AnyJob()) {
    static_cast<void>(s_.queues.ReadQueue(job->job_id, 3).ok());
    if (Chance(0.3)) gaps.job_id = job->job_id;
  }
  if (Chance(0.3)) gaps.since = now_ - 10s;
  const auto page = s_.runs.ListGaps(gaps);
  static_cast<void>(s_.runs.CountGaps(gaps).ok());
  if (page.ok() && page->next) {
    gaps.before_id = *page->next;
    static_cast<void>(s_.runs.ListGaps(gaps).ok());
  }
  static_cast<void>(s_.runs.CountOpenRuns().ok());
  static_cast<void>(s_.queues.CountQueued().ok());
}

void Explorer::StartBackfill() {
  const auto job = AnyJob();
  if (!job || job->schedules.empty()) return;
  // The API refuses backfills of schedules without times.
  const StoredSchedule& schedule = Pick(job->schedules);
  if (!HasTimes(schedule.spec.kind)) return;
  BackfillTerms terms{.job_id = job->job_id,
                      .schedule_id = schedule.schedule_id,
                      .from = now_ - 1s * (2 + Below(40)),
                      .to = now_};
  if (Chance(0.5)) terms.order = BackfillOrder::kDescending;
  static const std::vector<BackfillRerun> kReruns = {BackfillRerun::kNone, BackfillRerun::kFailed,
                                                     BackfillRerun::kAll};
  terms.rerun = Pick(kReruns);
  terms.concurrency = 1 + static_cast<int64_t>(Below(4));
  if (Chance(0.3)) terms.priority = 7;
  if (Chance(0.4)) terms.parameters_json = R"({"city":"olten"})";
  static_cast<void>(s_.backfills.PreviewBackfill(terms).ok());
  const auto made = s_.backfills.CreateBackfill(terms, {}, Context());
  if (made.ok()) (*nudge_)({made->job_no, made->segment});
}

void Explorer::ControlBackfill() {
  BackfillFilter filter{.limit = 5};
  if (Chance(0.3)) filter.state = BackfillState::kRunning;
  const auto found = s_.backfills.ListBackfills(filter);
  static_cast<void>(s_.backfills.CountBackfills(filter).ok());
  if (!found.ok() || found->empty()) return;
  const Backfill& backfill = Pick(*found);
  static_cast<void>(s_.backfills.GetBackfill(backfill.number).ok());
  const uint64_t deed = Below(4);
  const WriteContext context = Context();
  const auto changed = deed == 0   ? s_.backfills.CancelBackfill(backfill.number, context)
                       : deed == 1 ? s_.backfills.PauseBackfill(backfill.number, context)
                                   : s_.backfills.ResumeBackfill(backfill.number, context);
  if (changed.ok()) (*nudge_)({changed->job_no, changed->segment});
}

// The owner of a running attempt does this when its process has saved something.
void Explorer::Save() {
  const auto page = s_.runs.ListRuns({.states = {RunState::kRunning}, .limit = 10}, now_);
  if (!page.ok() || page->runs.empty()) return;
  const RunRow& row = Pick(page->runs).row;
  const auto epochs = s_.segments.ReadEpochs({row.segment});
  if (!epochs.ok() || epochs->empty()) return;
  RunSave save{.key = row.key,
               .segment = row.segment,
               .job_no = row.job_no,
               .attempt = row.attempt,
               .token = row.claim_token,
               .seq = 1 + Below(3)};
  if (Chance(0.7))
    save.progress = RunProgress{.percent = static_cast<int>(Below(101)), .text = "on"};
  if (Chance(0.7)) save.checkpoint = "state " + std::to_string(made_);
  if (Chance(0.1)) ++save.attempt;
  const Fence fence = {{row.segment, epochs->front().epoch}};
  static_cast<void>(s_.checkpoints.Save({save}, fence, now_).ok());
  static_cast<void>(s_.checkpoints.WithCheckpoint({row.key}).ok());
}

}  // namespace carillon::test
