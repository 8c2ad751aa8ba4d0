// Background bulk actions executed by the routes' handlers, with members that are killed.
#include "scheduler/api/bulk/route_item_runner.h"
#include "scheduler/api/logs/log_reads.h"
#include "scheduler/api/server/route_table.h"
#include "scheduler/events/open_runs.h"
#include "tests/unit/scheduler/api/bulk/bulk_env.h"

namespace carillon::test {
namespace {

using scheduler::AuditNote;
using scheduler::BulkWorker;
using scheduler::Call;
using scheduler::Caller;
using scheduler::EarlierAttempt;
using scheduler::Grant;
using scheduler::ItemOutcome;
using scheduler::RouteItemRunner;

// There is no server: the test steps the workers itself, and lets members die.
class BulkByHandTest : public BulkEnv {
 protected:
  BulkByHandTest() { server_.reset(); }

  Call MakeCall(const HttpRequest& request, const Caller& caller, std::string_view trace_id,
                AuditNote& note) {
    return {.stores = context_.stores,
            .api = context_,
            .services = services_,
            .request = request,
            .caller = caller,
            .arguments = {},
            .trace_id = trace_id,
            .note = note};
  }
  std::unique_ptr<BulkWorker> Worker() {
    return std::make_unique<BulkWorker>(BulkWorker::Ports{
        .clock = clock_,
        .store = faults_.bulk,
        .cluster_now = [this] { return stores_.segments.Now(); },
        .store_trusted = [] { return true; },
        .resume = [this](const Grant& grant) { return authenticator_.Resume(grant); },
        .runner = runner_,
        .metrics = metrics_});
  }
  void CreateAction(const std::string& action, const std::string& kind, const json& ids,
                    BulkOrder who = {}) {
    who.bulk_id = "b";
    who.action = action;
    who.kind = kind;
    who.reason = "why";
    who.trace_id = "0123456789abcdef0123456789abcdef";
    who.created = clock_.Wall();
    if (who.user_id.empty()) who.token_id = scheduler::TokenIdOf(scheduler::HashToken(token_));
    if (who.role.empty()) who.role = "admin";
    ASSERT_TRUE(stores_.bulk.CreateBulk(who, ids.get<std::vector<std::string>>(), {}).ok());
  }
  void Turns(BulkWorker& worker, const std::function<bool()>& done) {
    for (int turns = 0; turns < 5000; ++turns) {
      if (done()) return;
      const SteadyTime next = worker.Step(clock_.Steady());
      if (next > clock_.Steady()) clock_.Advance(next - clock_.Steady());
    }
    FAIL() << "it does not get there";
  }
  // Executes the first item of the action.
  ItemOutcome Do(EarlierAttempt tried) {
    const BulkOrder order = stores_.bulk.GetBulk("b")->order;
    const auto resumed = authenticator_.Resume(
        {.user_id = order.user_id, .token_id = order.token_id, .role = order.role});
    return runner_.Do(order, *resumed->caller, stores_.bulk.ListBulkItems("b", {})->front(), tried);
  }
  BulkAction ToEnd(BulkWorker& worker) {
    Turns(worker, [this] { return HasEnded(*stores_.bulk.GetBulk("b")); });
    return *stores_.bulk.GetBulk("b");
  }
  // A member dies after it has executed `items` items and recorded none. Another member then
  // executes the rest.
  BulkAction WithADeathAfter(size_t items, const std::function<size_t()>& done) {
    auto dead = Worker();
    Turns(*dead, [&] { return done() >= items; });
    dead.reset();
    EXPECT_EQ(stores_.bulk.GetBulk("b")->done, 0);
    return ToEnd(*Worker());
  }

  // Runs that wait for runs of another job, as ids.
  json CreateAwaitingRuns(int count) {
    JobDefinition definition{.name = "n", .type = JobType::kNoop};
    EXPECT_TRUE(stores_.jobs.CreateJob(JobId("up"), definition, {.now = clock_.Wall()}).ok());
    definition.waits_for = {{.job = JobId("up"), .window = {.day = 0}}};
    definition.wait_limit_s = 3'600;
    const auto late = stores_.jobs.CreateJob(JobId("late"), definition, {.now = clock_.Wall()});
    PlanBatch batch;
    json ids = json::array();
    for (int i = 0; i < count; ++i) {
      const RunKey key{clock_.Wall() - 1s + Duration(i), ScheduleId(7), 0};
      ids.push_back(EncodeRunId(key));
      batch.runs.push_back({.key = key,
                            .job_no = late->job_no,
                            .segment = late->segment,
                            .kind = RunKind::kCron,
                            .due = kAwaiting,
                            .def_version = late->version});
    }
    EXPECT_TRUE(stores_.firing.Plan(batch, FenceOf(late->segment), clock_.Wall()).ok());
    return ids;
  }
  Fence FenceOf(SegmentId segment) {
    return stores_.segments
        .Take({.member = MemberId("scheduler-1"),
               .incarnation = Incarnation("m1"),
               .generation = Generation(1),
               .segments = {segment}})
        ->fence;
  }
  RunRow RowOf(const json& id) {
    return stores_.runs.GetRun(*DecodeRunId(id.get<std::string>()))->row;
  }

  const scheduler::ApiContext context_ = Context("");
  scheduler::Identifiers identifiers_{7};
  BoundedCall aside_{server_clock_};
  scheduler::Authenticator authenticator_{stores_.auth, server_clock_, aside_, 1min,
                                          [this] { return stores_.segments.Now(); }};
  scheduler::SignIn sign_in_{server_clock_};
  scheduler::StoreProbe watch_{WatchPorts(context_), context_.store_patience};
  scheduler::ChangeWatch changes_{ChangePorts(context_), "e"};
  scheduler::StreamHub streams_{server_clock_};
  scheduler::LogReads log_reads_{1};
  scheduler::OpenEventRuns open_event_runs_{stores_.events, server_clock_};
  const std::function<void()> nudge_ = [] {};
  const scheduler::Services services_{.routes = scheduler::RouteTable(),
                                      .identifiers = identifiers_,
                                      .probe = watch_,
                                      .streams = streams_,
                                      .log_reads = log_reads_,
                                      .open_event_runs = open_event_runs_,
                                      .changes = changes_,
                                      .authenticator = authenticator_,
                                      .sign_in = sign_in_,
                                      .nudge_bulk = nudge_};
  RouteItemRunner runner_{
      [this](const HttpRequest& request, const Caller& caller, std::string_view trace_id,
             AuditNote& note) { return MakeCall(request, caller, trace_id, note); }};
};

TEST_F(BulkByHandTest, AJobIsRunOnceThoughItsMemberDies) {
  CreateJobs(20);
  CreateAction("run", "job", Ids("j", 20));
  const BulkAction ended = WithADeathAfter(7, [this] { return Runs(); });
  EXPECT_EQ(ended.done, 20);
  EXPECT_EQ(Runs(), 20u);
  const auto audit = AuditCounts("job.execute");
  EXPECT_EQ(audit.size(), 20u);
  for (const auto& [id, count] : audit) EXPECT_EQ(count, 1) << id;
  const auto items = *stores_.bulk.ListBulkItems("b", {});
  for (const BulkItem& item : items) {
    EXPECT_EQ(stores_.runs.GetRun(*DecodeRunId(item.run_id))->job_id.value(), item.id);
  }
}

TEST_F(BulkByHandTest, DyingBetweenTheRunAndItsAuditTellsItStill) {
  CreateJobs(3);
  CreateAction("run", "job", Ids("j", 3));
  faults_.plan.Arm("RecordAudit", Fault::kUnavailable);  // as if the member had died here
  EXPECT_EQ(WithADeathAfter(1, [this] { return Runs(); }).done, 3);
  EXPECT_EQ(Runs(), 3u);
  EXPECT_EQ(AuditCounts("job.execute"),
            (std::map<std::string, int>{{"j0", 1}, {"j1", 1}, {"j2", 1}}));
}

TEST_F(BulkByHandTest, AStoreAwayAfterTheActLosesNoRecord) {
  CreateJobs(3);
  CreateAction("run", "job", Ids("j", 3));
  faults_.plan.Arm("RecordAudit", Fault::kUnavailable, 2);
  EXPECT_EQ(ToEnd(*Worker()).done, 3);
  EXPECT_EQ(Runs(), 3u);
  EXPECT_EQ(AuditCounts("job.execute"),
            (std::map<std::string, int>{{"j0", 1}, {"j1", 1}, {"j2", 1}}));
}

TEST_F(BulkByHandTest, ARecordOfUnknownOutcomeIsLookedFor) {
  CreateJobs(2);
  CreateAction("pause", "job", Ids("j", 2));
  faults_.plan.Arm("RecordAudit", Fault::kTimeoutAfter);
  faults_.plan.Arm("ListAudit", Fault::kUnavailable);
  EXPECT_EQ(ToEnd(*Worker()).done, 2);
  EXPECT_EQ(AuditCounts("job.pause"), (std::map<std::string, int>{{"j0", 1}, {"j1", 1}}));
}

TEST_F(BulkByHandTest, AnEarlierActionUnderTheSameTraceIsAnother) {
  CreateJobs(1);
  CreateAction("run", "job", {"j0"});
  ASSERT_TRUE(stores_.audit
                  .RecordAudit({.at = clock_.Wall() - 1s,
                                .actor = "token/admin",
                                .action = "job.execute",
                                .object_id = "j0",
                                .trace_id = stores_.bulk.GetBulk("b")->order.trace_id})
                  .ok());
  EXPECT_EQ(Do(EarlierAttempt::kPossibly).verdict, ItemOutcome::Verdict::kDone);
  EXPECT_EQ(AuditCounts("job.execute")["j0"], 2);
  EXPECT_EQ(Do(EarlierAttempt::kPossibly).verdict, ItemOutcome::Verdict::kDone);
  EXPECT_EQ(AuditCounts("job.execute")["j0"], 2);
}

TEST_F(BulkByHandTest, AnUnknownOutcomeIsAskedForAgain) {
  CreateJobs(4);
  CreateAction("run", "job", Ids("j", 4));
  faults_.plan.Arm("ExecuteJob", Fault::kTimeoutAfter);
  EXPECT_EQ(ToEnd(*Worker()).done, 4);
  EXPECT_EQ(Runs(), 4u);
  EXPECT_EQ(AuditCounts("job.execute")["j0"], 1);
}

TEST_F(BulkByHandTest, AKeyThatADeadMemberHeldIsTakenOver) {
  CreateJobs(2);
  CreateAction("run", "job", Ids("j", 2));
  auto dead = Worker();
  faults_.plan.Arm("ExecuteJob", Fault::kTimeoutBefore);  // the key is in use, but there is no run
  faults_.plan.OnCall([&](const std::string& name) {
    if (name == "RecordBulkItems") faults_.plan.Arm("RecordBulkItems", Fault::kUnavailable);
  });
  Turns(*dead, [&] { return stores_.bulk.ListBulkItems("b", {})->front().begun; });
  dead->Step(clock_.Steady());
  dead.reset();
  faults_.plan.OnCall(nullptr);
  faults_.plan.Disarm("RecordBulkItems");
  EXPECT_EQ(Runs(), 0u);
  const auto next = Worker();
  Turns(*next, [&] { return Runs() > 0; });  // does not wait a minute until the key is free
  EXPECT_EQ(ToEnd(*next).done, 2);
  EXPECT_EQ(Runs(), 2u);
}

TEST_F(BulkByHandTest, WhatASlowMemberHasDoneMeanwhileIsDone) {
  CreateJobs(1);
  CreateAction("run", "job", {"j0"});
  std::string run_id;  // created by the slow member while the other member works
  faults_.plan.OnCall([&](const std::string& name) {
    if (name != "ExecuteJob" || !run_id.empty()) return;
    const auto made = stores_.runs.ExecuteJob(
        {.job_id = JobId("j0"),
         .keyed =
             KeyedAnswer<CreatedRun>{.scope = "bulk b",
                                     .key = "0",
                                     .answer =
                                         [](const CreatedRun& run) {
                                           const json body = {{"run_id", EncodeRunId(run.key)}};
                                           return StoredAnswer{202, body.dump()};
                                         }}},
        {.now = clock_.Wall()});
    ASSERT_TRUE(made.ok());
    run_id = EncodeRunId(made->key);
  });
  const auto outcome = Do(EarlierAttempt::kPossibly);
  faults_.plan.OnCall(nullptr);
  EXPECT_EQ(outcome.verdict, ItemOutcome::Verdict::kDone) << outcome.error_json;
  EXPECT_FALSE(run_id.empty());
  EXPECT_EQ(outcome.run_id, run_id);
  EXPECT_EQ(Runs(), 1u);
}

TEST_F(BulkByHandTest, AConflictOfItsOwnStaysOne) {
  CreateJobs(1);
  const auto made = stores_.runs.ExecuteJob({.job_id = JobId("j0")}, {.now = clock_.Wall()});
  CreateAction("retry", "run", {EncodeRunId(made->key)});  // its run has not ended
  const auto outcome = Do(EarlierAttempt::kPossibly);
  EXPECT_EQ(outcome.verdict, ItemOutcome::Verdict::kFailed);
  EXPECT_NE(outcome.error_json.find("\"conflict\""), std::string::npos) << outcome.error_json;
}

TEST_F(BulkByHandTest, ARunIsRetriedOnceThoughItsMemberDies) {
  CreateJobs(5);
  json runs = json::array();
  for (int i = 0; i < 5; ++i) {
    const auto made = stores_.runs.ExecuteJob({.job_id = JobId("j" + std::to_string(i))},
                                              {.now = clock_.Wall() + i * 1us});
    runs.push_back(EncodeRunId(made->key));
    ASSERT_TRUE(*stores_.runs.CancelRun(made->key, {.now = clock_.Wall()}));
  }
  CreateAction("retry", "run", runs);
  const auto first = *DecodeRunId(runs[0].get<std::string>());
  auto dead = Worker();
  Turns(*dead, [&] { return stores_.runs.GetRun(first)->row.attempt == 2; });
  dead.reset();
  // The run has ended in the meantime, so a second retry would be possible.
  ASSERT_TRUE(*stores_.runs.CancelRun(first, {.now = clock_.Wall()}));
  EXPECT_EQ(ToEnd(*Worker()).done, 5);
  for (const json& run : runs) {
    EXPECT_EQ(stores_.runs.GetRun(*DecodeRunId(run.get<std::string>()))->row.attempt, 2);
  }
  EXPECT_EQ(AuditCounts("run.retry").size(), 5u);
}

TEST_F(BulkByHandTest, WhatItHasDeletedItselfIsDone) {
  CreateJobs(6);
  CreateAction("delete", "job", {"j0", "none", "j1", "j2", "j3", "j4", "j5"});
  const auto gone = [this] { return 6 - stores_.jobs.ListJobs({})->jobs.size(); };
  const BulkAction ended = WithADeathAfter(3, gone);
  EXPECT_EQ(ended.done, 6);
  EXPECT_EQ(ended.failed, 1);
  EXPECT_EQ(stores_.bulk.ListBulkItems("b", {.result = BulkResult::kError})->front().id, "none");
  const auto audit = AuditCounts("job.delete");
  EXPECT_EQ(audit.size(), 6u);
  for (const auto& [id, count] : audit) EXPECT_EQ(count, 1) << id;
}

TEST_F(BulkByHandTest, AHandlerThatThrowsIsTheItemsErrorAlone) {
  CreateJobs(2);
  CreateAction("delete", "job", Ids("j", 2));
  std::set<std::string> thrown;  // one throw in the precheck and one in the execution
  faults_.plan.OnCall([&](const std::string& name) {
    const bool bad = name == "GetJob" || name == "DeleteJob";
    if (bad && thrown.insert(name).second) throw std::runtime_error("a bug");
  });
  const BulkAction ended = ToEnd(*Worker());
  faults_.plan.OnCall(nullptr);
  EXPECT_EQ(thrown.size(), 2u);
  EXPECT_EQ(ended.done, 1);
  EXPECT_EQ(ended.failed, 1);
}

TEST_F(BulkByHandTest, PausingAndCancellingTwiceIsNoError) {
  CreateJobs(4);
  CreateAction("pause", "job", Ids("j", 4));
  EXPECT_EQ(WithADeathAfter(2, [this] { return AuditCounts("job.pause").size(); }).done, 4);
  EXPECT_EQ(stores_.jobs.GetJob(JobId("j0"))->pause_reason, "why");
  EXPECT_EQ(AuditCounts("job.pause")["j0"], 1);
}

TEST_F(BulkByHandTest, ARunIsReleasedOnceThoughItsMemberDies) {
  const json runs = CreateAwaitingRuns(4);
  CreateAction("release", "run", runs);
  const auto released = [&] {
    size_t count = 0;
    for (const json& run : runs) count += RowOf(run).due == kAwaiting ? 0 : 1;
    return count;
  };
  EXPECT_EQ(WithADeathAfter(2, released).done, 4);
  const auto audit = AuditCounts("run.release");
  EXPECT_EQ(audit.size(), 4u);
  for (const auto& [id, count] : audit) EXPECT_EQ(count, 1) << id;
}

// A run that waits no longer tells by its end if an earlier attempt has released it.
TEST_F(BulkByHandTest, ARunThatEndedInsteadWasNotReleased) {
  const json runs = CreateAwaitingRuns(1);
  const RunKey key = RowOf(runs[0]).key;
  CreateAction("release", "run", runs);
  ASSERT_TRUE(*stores_.runs.CancelRun(key, {.now = clock_.Wall()}));
  const auto cancelled = Do(EarlierAttempt::kPossibly);
  EXPECT_EQ(cancelled.verdict, ItemOutcome::Verdict::kFailed);
  EXPECT_NE(cancelled.error_json.find("\"not_waiting\""), std::string::npos)
      << cancelled.error_json;
  EXPECT_EQ(AuditCounts("run.release").size(), 0u);
}

TEST_F(BulkByHandTest, ARunWhoseWaitCameToNothingWasNotReleased) {
  const json runs = CreateAwaitingRuns(1);
  const RunRow row = RowOf(runs[0]);
  CreateAction("release", "run", runs);
  const WaitItem over{.key = row.key,
                      .segment = row.segment,
                      .job_no = row.job_no,
                      .def_version = row.def_version,
                      .expired = true};
  const auto ended = stores_.upstream.EndWaits({over}, FenceOf(row.segment), clock_.Wall());
  ASSERT_TRUE(ended.ok() && ended->at(0).failed);
  EXPECT_EQ(Do(EarlierAttempt::kPossibly).verdict, ItemOutcome::Verdict::kFailed);
}

TEST_F(BulkByHandTest, ARunThatWasReleasedAndHasEndedIsDone) {
  const json runs = CreateAwaitingRuns(1);
  CreateAction("release", "run", runs);
  clock_.Advance(1s);
  const RunRow waiting = RowOf(runs[0]);
  ASSERT_TRUE(stores_.upstream.ReleaseRun(waiting.key, {.now = clock_.Wall()}).ok());
  const RunRow row = RowOf(runs[0]);
  EXPECT_EQ(Do(EarlierAttempt::kNo).verdict, ItemOutcome::Verdict::kFailed)
      << "somebody else released it";
  faults_.plan.Arm("GetRun", Fault::kUnavailable, 2);
  EXPECT_EQ(Do(EarlierAttempt::kPossibly).verdict, ItemOutcome::Verdict::kAgain);
  faults_.plan.Recover();
  const Fence fence = FenceOf(row.segment);
  const std::vector<ClaimRequest> claims = {{.key = row.key,
                                             .segment = row.segment,
                                             .job_no = row.job_no,
                                             .attempt = row.attempt,
                                             .def_version = row.def_version,
                                             .token = {1, 1},
                                             .executor = ExecutorId("x1"),
                                             .incarnation = Incarnation("e1")}};
  ASSERT_EQ(stores_.firing.Claim(claims, fence, clock_.Wall())->at(0).verdict,
            ClaimVerdict::kAccepted);
  ResultReport report{.key = row.key,
                      .segment = row.segment,
                      .job_no = row.job_no,
                      .attempt = row.attempt,
                      .token = {1, 1},
                      .executor = ExecutorId("x1")};
  report.result = {.state = RunState::kFailed, .reason = "exit_code", .ended = clock_.Wall()};
  ASSERT_TRUE(stores_.firing.ApplyResults({report}, fence, clock_.Wall()).ok());
  EXPECT_EQ(RowOf(runs[0]).state, RunState::kFailed);
  EXPECT_EQ(Do(EarlierAttempt::kPossibly).verdict, ItemOutcome::Verdict::kDone);
}

TEST_F(BulkByHandTest, RightsAreThoseOfNow) {
  AddUser("ann", "admin");
  AddUser("boss", "admin");
  CreateJobs(60);
  CreateAction("pause", "job", Ids("j", 60), {.user_id = "user-ann", .role = "admin"});
  const auto worker = Worker();
  Turns(*worker, [this] { return AuditCounts("job.pause").size() == 20; });  // in the first piece
  UserRecord ann = *stores_.auth.GetUser("user-ann");
  ann.role = "user";
  ASSERT_TRUE(stores_.auth.UpdateUser(ann, clock_.Wall()).ok());
  const BulkAction ended = ToEnd(*worker);
  EXPECT_EQ(ended.done, 50);
  EXPECT_EQ(ended.failed, 10);
  const auto items = *stores_.bulk.ListBulkItems("b", {.result = BulkResult::kError});
  EXPECT_NE(items[0].error_json.find("not_owner"), std::string::npos) << items[0].error_json;
  EXPECT_EQ(stores_.audit.ListAudit({.limit = 1})->front().actor, "ann");
}

TEST_F(BulkByHandTest, MoreRightsThanThenAreNotTaken) {
  AddUser("ann", "admin");
  CreateJobs(1, "user-bob");
  CreateAction("pause", "job", {"j0"}, {.user_id = "user-ann", .role = "user"});
  EXPECT_EQ(ToEnd(*Worker()).failed, 1);
}

TEST_F(BulkByHandTest, StopsForWhoIsNotThereAnyMore) {
  AddUser("ann", "admin");
  AddUser("boss", "admin");
  CreateJobs(2);
  CreateAction("pause", "job", Ids("j", 2), {.user_id = "user-ann", .role = "admin"});
  UserRecord ann = *stores_.auth.GetUser("user-ann");
  ann.disabled = true;
  ASSERT_TRUE(stores_.auth.UpdateUser(ann, clock_.Wall()).ok());
  const BulkAction stopped = ToEnd(*Worker());
  EXPECT_EQ(stopped.state, BulkState::kStopped);
  EXPECT_EQ(stopped.skipped, 2);
  EXPECT_EQ(stopped.error, "The user who started it was disabled.");
}

TEST_F(BulkByHandTest, AGrantEndsWithItsTokenOrUser) {
  const std::string id = scheduler::TokenIdOf(scheduler::HashToken(token_));
  const auto resume = [&](const Grant& grant) { return *authenticator_.Resume(grant); };
  EXPECT_EQ(resume({.token_id = id, .role = "admin"}).caller->Actor(), "token/admin");
  EXPECT_EQ(resume({.token_id = id, .role = "user"}).caller->role, "user");
  EXPECT_EQ(resume({.user_id = "user-none", .role = "user"}).ended,
            "The user who started it was deleted.");
  AddUser("ann", "user");
  TokenRecord token = scheduler::DescribeToken(scheduler::NewToken(), clock_.Wall());
  token.name = "ci";
  token.role = "admin";
  token.user_id = "user-ann";
  token.expires = clock_.Wall() + 1h;
  ASSERT_TRUE(stores_.auth.CreateToken(token).ok());
  const Grant grant{.user_id = "user-ann", .token_id = token.token_id, .role = "admin"};
  EXPECT_EQ(resume(grant).caller->Actor(), "ann/ci");
  EXPECT_EQ(resume(grant).caller->role, "user");
  clock_.Advance(2h);
  EXPECT_EQ(resume(grant).ended, "The API token that started it has expired.");
  ASSERT_TRUE(stores_.auth.DeleteToken(token.token_id).ok());
  EXPECT_EQ(resume(grant).ended, "The API token that started it was deleted.");
}

}  // namespace
}  // namespace carillon::test
