// The base of all contract suites of the store ports: the driver, and the handle on a store.
//
// To run the suites against an adapter, write one test file like
// tests/contract/memory/store_test.cc, which defines StoreFactory, and link it with
// carillon_store_contract. A new suite is a *_contract.h that store_contracts.cc includes.
//
// All calls pass their own `now`, so the store's clock matters only to SegmentStore::Now.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/ports/events/event_store.h"
#include "common/ports/store/audit_store.h"
#include "common/ports/store/auth_store.h"
#include "common/ports/store/backfill_store.h"
#include "common/ports/store/bulk_store.h"
#include "common/ports/store/calendar_store.h"
#include "common/ports/store/checkpoint_store.h"
#include "common/ports/store/completion_store.h"
#include "common/ports/store/executor_store.h"
#include "common/ports/store/firing_store.h"
#include "common/ports/store/group_store.h"
#include "common/ports/store/housekeeping.h"
#include "common/ports/store/idempotency_store.h"
#include "common/ports/store/identity_store.h"
#include "common/ports/store/job_store.h"
#include "common/ports/store/letter_store.h"
#include "common/ports/store/log_store.h"
#include "common/ports/store/notice_store.h"
#include "common/ports/store/queue_store.h"
#include "common/ports/store/run_store.h"
#include "common/ports/store/schema_store.h"
#include "common/ports/store/secret_store.h"
#include "common/ports/store/segment_store.h"
#include "common/ports/store/settings_store.h"
#include "common/ports/store/streak_store.h"
#include "common/ports/store/upstream_store.h"
#include "common/ports/store/workflow_store.h"

namespace carillon::test {

inline constexpr uint32_t kSegments = 4;
inline constexpr WallTime kT0 = FromUnixMicros(1'772'323'200'000'000);  // 2026-03-01T00:00:00Z

class StoreHandle {
 public:
  virtual ~StoreHandle() = default;
  virtual IdentityStore& identity() = 0;
  virtual SchemaStore& schema() = 0;
  virtual SegmentStore& segments() = 0;
  virtual FiringStore& firing() = 0;
  virtual QueueStore& queues() = 0;
  virtual GroupStore& groups() = 0;
  virtual JobStore& jobs() = 0;
  virtual RunStore& runs() = 0;
  virtual LogStore& logs() = 0;
  virtual NoticeStore& notices() = 0;
  virtual ExecutorStore& executors() = 0;
  virtual IdempotencyStore& idempotency() = 0;
  virtual SettingsStore& settings() = 0;
  virtual AuditStore& audit() = 0;
  virtual Housekeeping& housekeeping() = 0;
  virtual AuthStore& auth() = 0;
  virtual SecretStore& secrets() = 0;
  virtual BulkStore& bulk() = 0;
  virtual CompletionStore& completions() = 0;
  virtual BackfillStore& backfills() = 0;
  virtual CalendarStore& calendars() = 0;
  virtual WorkflowStore& workflows() = 0;
  virtual CheckpointStore& checkpoints() = 0;
  virtual StreakStore& streaks() = 0;
  virtual LetterStore& letters() = 0;
  virtual UpstreamStore& upstream() = 0;
  virtual EventStore& events() = 0;
  // Damages a stored row so that it cannot be decoded, or repairs it. Bypasses the store.
  virtual void DamageDefinition(const StoredJob& job, bool damaged) = 0;
  virtual void DamageSchedule(ScheduleId id, bool damaged) = 0;
  // Makes the store look like one whose newest migration is `applied`, at the level `finished`.
  virtual void SetSchema(int applied, int finished) = 0;
};

#define ASSERT_OK(expr)                                                   \
  do {                                                                    \
    const auto& contract_result = (expr);                                 \
    ASSERT_TRUE(contract_result.ok()) << contract_result.error().message; \
  } while (false)
#define EXPECT_OK(expr)                                                   \
  do {                                                                    \
    const auto& contract_result = (expr);                                 \
    EXPECT_TRUE(contract_result.ok()) << contract_result.error().message; \
  } while (false)
#define EXPECT_CODE(expr, expected)                                           \
  do {                                                                        \
    const auto& contract_result = (expr);                                     \
    ASSERT_FALSE(contract_result.ok());                                       \
    EXPECT_EQ(ErrorCodeName(contract_result.code()), ErrorCodeName(expected)) \
        << contract_result.error().message;                                   \
  } while (false)

// Shorthand for the store's calls. `v()` aborts the test on an error.
class StoreDriver {
 public:
  explicit StoreDriver(StoreHandle& store)
      : identity(store.identity()),
        schema(store.schema()),
        segments(store.segments()),
        firing(store.firing()),
        queues(store.queues()),
        groups(store.groups()),
        jobs(store.jobs()),
        runs(store.runs()),
        logs(store.logs()),
        notices(store.notices()),
        executors(store.executors()),
        idempotency(store.idempotency()),
        settings(store.settings()),
        audit(store.audit()),
        housekeeping(store.housekeeping()),
        auth(store.auth()),
        secrets(store.secrets()),
        bulk(store.bulk()),
        completions(store.completions()),
        backfills(store.backfills()),
        calendars(store.calendars()),
        workflows(store.workflows()),
        checkpoints(store.checkpoints()),
        streaks(store.streaks()),
        letters(store.letters()),
        upstream(store.upstream()),
        events(store.events()) {}

  IdentityStore& identity;
  SchemaStore& schema;
  SegmentStore& segments;
  FiringStore& firing;
  QueueStore& queues;
  GroupStore& groups;
  JobStore& jobs;
  RunStore& runs;
  LogStore& logs;
  NoticeStore& notices;
  ExecutorStore& executors;
  IdempotencyStore& idempotency;
  SettingsStore& settings;
  AuditStore& audit;
  Housekeeping& housekeeping;
  AuthStore& auth;
  SecretStore& secrets;
  BulkStore& bulk;
  CompletionStore& completions;
  BackfillStore& backfills;
  CalendarStore& calendars;
  WorkflowStore& workflows;
  CheckpointStore& checkpoints;
  StreakStore& streaks;
  LetterStore& letters;
  UpstreamStore& upstream;
  EventStore& events;

  template <typename T>
  static T v(Result<T> result) {
    EXPECT_TRUE(result.ok()) << (result.ok() ? std::string() : result.error().message);
    return std::move(result).value();
  }

  static std::vector<SegmentId> All() {
    std::vector<SegmentId> all;
    for (uint32_t i = 0; i < kSegments; ++i) all.push_back(SegmentId(i));
    return all;
  }
  Fence Take(uint64_t generation = 1, const std::string& member = "m1",
             const std::string& incarnation = "i1") {
    return v(segments.Take(
                 {MemberId(member), Incarnation(incarnation), Generation(generation), All()}))
        .fence;
  }

  // A shell job that fires at kT0 + n * every. If it is created at kT0, it first fires at
  // kT0 + every.
  static JobDefinition Every(Duration every) {
    JobDefinition job;
    job.name = "job";
    job.command = "true";
    job.schedules = {{.kind = ScheduleKind::kRate, .every = every, .start = kT0}};
    return job;
  }
  static JobDefinition Manual() {
    JobDefinition job;
    job.name = "job";
    job.command = "true";
    return job;
  }
  StoredJob Create(const std::string& id, const JobDefinition& definition, WallTime now = kT0) {
    return v(jobs.CreateJob(JobId(id), definition, {.now = now}));
  }
  StoredJob Replace(const StoredJob& job, const JobDefinition& definition, WallTime now) {
    return v(jobs.ReplaceJob(job.job_id, job.version, definition, {.now = now}));
  }
  StoredJob Pause(const StoredJob& job, WallTime now) {
    return v(jobs.PauseJob(job.job_id, "test", {.now = now}));
  }
  StoredJob Resume(const StoredJob& job, WallTime now) {
    return v(jobs.ResumeJob(job.job_id, "test", {.now = now}));
  }

  // The batch that the planner writes in one call for all schedules due at or before `until`.
  PlanBatch BatchOf(WallTime until, WallTime now) {
    PlanBatch batch;
    for (const DueSchedule& due : v(firing.ScanDue(All(), until, kBatchRowsMax))) {
      const Schedule schedule = v(Schedule::Compile(due.spec, due.dst_gap, due.dst_repeat));
      const DueTimes due_times(schedule, due.schedule_id);
      const FirePlan plan =
          PlanFires(schedule, due.next_fire, now, until, due.misfire, 100, due_times);
      const bool waits = due.spec.kind == ScheduleKind::kDelay;
      const bool awaits = (due.run_flags & run_flag::kWaits) != 0;
      for (const WallTime fire : plan.fires) {
        batch.runs.push_back(
            {.key = {fire, due.schedule_id, 0},
             .job_no = due.job_no,
             .segment = due.segment,
             .kind = waits ? RunKind::kDelay : RunKind::kCron,
             .due = awaits ? kAwaiting : due_times.Of(fire),
             .priority = due.priority,
             .def_version = due.job_version,
             .flags = (due.run_flags & ~run_flag::kWaits) | (waits ? run_flag::kDelay : 0)});
      }
      for (const GapRange& gap : plan.gaps) {
        batch.gaps.push_back({due.schedule_id, due.job_no, gap});
      }
      batch.advances.push_back(
          {.schedule_id = due.schedule_id,
           .segment = due.segment,
           .version = due.version,
           .expected_next = due.next_fire,
           .next_fire = plan.next.value_or(kNever),
           .awaited = waits && !plan.fires.empty() ? plan.fires.front() : WallTime{}});
    }
    return batch;
  }
  void Plan(WallTime until, const Fence& fence, WallTime now = kT0) {
    EXPECT_OK(firing.Plan(BatchOf(until, now), fence, now));
  }
  std::vector<RunRow> Pending(WallTime until) {
    return v(firing.ScanPending(All(), until, std::nullopt, kBatchRowsMax)).runs;
  }
  // The only PENDING run due by `until`.
  RunRow OnlyPending(WallTime until) {
    const std::vector<RunRow> rows = Pending(until);
    EXPECT_EQ(rows.size(), 1u);
    return rows.empty() ? RunRow{} : rows.front();
  }
  RunRow Execute(const StoredJob& job, WallTime now) {
    const CreatedRun run = v(runs.ExecuteJob({.job_id = job.job_id}, {.now = now}));
    return Get(run.key).row;
  }
  RunDetail Get(const RunKey& key) { return v(runs.GetRun(key)); }

  static ClaimToken Token(uint64_t n) { return {.high = 7, .low = n}; }
  static ClaimRequest ClaimOf(const RunRow& row, uint64_t token,
                              OverlapPolicy overlap = OverlapPolicy::kAllow) {
    return {.key = row.key,
            .segment = row.segment,
            .job_no = row.job_no,
            .attempt = row.attempt,
            .def_version = row.def_version,
            .token = Token(token),
            .executor = ExecutorId("e1"),
            .incarnation = Incarnation("x1"),
            .overlap = {.policy = overlap}};
  }
  ClaimReply Claim(const ClaimRequest& request, const Fence& fence, WallTime now) {
    const std::vector<ClaimReply> replies = v(firing.Claim({request}, fence, now));
    EXPECT_EQ(replies.size(), 1u);
    return replies.empty() ? ClaimReply{} : replies.front();
  }
  // Claims the run, expects success, and returns the stored row.
  RunRow Start(const RunRow& row, uint64_t token, const Fence& fence, WallTime now) {
    const ClaimReply reply = Claim(ClaimOf(row, token), fence, now);
    EXPECT_EQ(reply.verdict, ClaimVerdict::kAccepted) << Name(reply.reason);
    return Get(row.key).row;
  }
  static ResultReport ReportOf(const RunRow& row, RunState state, WallTime ended = kT0 + 9s) {
    ResultReport report{.key = row.key,
                        .segment = row.segment,
                        .job_no = row.job_no,
                        .attempt = row.attempt,
                        .token = row.claim_token,
                        .executor = row.executor};
    report.result = {.state = state, .started = row.claimed, .ended = ended};
    if (state == RunState::kCompleted) report.result.exit_code = 0;
    if (state == RunState::kFailed) {
      report.result.exit_code = 3;
      report.result.reason = reason::kExitCode;
    }
    if (state == RunState::kTimedOut) report.result.reason = reason::kTimeout;
    if (state == RunState::kCancelled) report.result.reason = reason::kCancelRequested;
    return report;
  }
  RunEffect Apply(const ResultReport& report, const Fence& fence, WallTime now) {
    const std::vector<RunEffect> effects = v(firing.ApplyResults({report}, fence, now));
    EXPECT_EQ(effects.size(), 1u);
    return effects.empty() ? RunEffect{} : effects.front();
  }
  std::vector<RunEffect> Lose(const RunRow& row, const Fence& fence, WallTime now) {
    return v(firing.MarkLost({LostOf(row)}, fence, now));
  }
  static LostReport LostOf(const RunRow& row) {
    return {.key = row.key,
            .segment = row.segment,
            .job_no = row.job_no,
            .attempt = row.attempt,
            .token = row.claim_token};
  }
  std::vector<GapRecord> Gaps(const StoredJob& job) {
    return v(runs.ListGaps({.job_id = job.job_id})).gaps;
  }
};

template <typename Factory>
class StoreContract : public ::testing::Test {
 protected:
  StoreDriver driver() { return StoreDriver(*handle_); }
  StoreHandle& handle() { return *handle_; }
  // Opens the store again, like a restart after the process was killed.
  void Reopen() {
    handle_.reset();
    handle_ = factory_.Open();
  }
  // Opens a second handle on the same data, like a second process.
  std::unique_ptr<StoreHandle> OpenSecond() { return factory_.Open(); }

 private:
  Factory factory_;
  std::unique_ptr<StoreHandle> handle_ = factory_.Open();
};

}  // namespace carillon::test
