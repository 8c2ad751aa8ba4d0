// Bulk actions that outlive their request, over the API and by the routes' own handlers.
#include "scheduler/api/bulk_doer.h"
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

using scheduler::AuditNote;
using scheduler::BulkWorker;
using scheduler::Call;
using scheduler::Caller;
using scheduler::Grant;
using scheduler::ItemOutcome;
using scheduler::RouteDoer;
using scheduler::Tried;

class BulkBackgroundTest : public PeopleEnv {
 protected:
  static json Ids(const std::string& prefix, int count) {
    json ids = json::array();
    for (int i = 0; i < count; ++i) ids.push_back(prefix + std::to_string(i));
    return ids;
  }
  void CreateJobs(int count, const std::string& user = "") {
    JobDefinition definition{.name = "n", .type = JobType::kNoop, .user_id = user};
    for (int i = 0; i < count; ++i) {
      const JobId id("j" + std::to_string(i));
      ASSERT_TRUE(store_.CreateJob(id, definition, {.now = clock_.Wall()}).ok());
    }
  }
  Answer Start(json body, HttpHeaders headers = {}) {
    body["background"] = true;
    return Post("/api/bulk", body, std::move(headers));
  }
  std::string Started(json body) {
    const Answer answer = Start(std::move(body));
    EXPECT_EQ(answer.status, 202) << answer.text;
    return answer.body().value("bulk_id", "");
  }
  // The answer once its last item has a result; each look is a request, so this does not spin.
  json Ended(const std::string& id) {
    const auto deadline = server_clock_.Steady() + 60s;
    while (server_clock_.Steady() < deadline) {
      const json action = Get("/api/bulk/" + id).body();
      if (!action["end_time"].is_null()) return action;
    }
    ADD_FAILURE() << "it does not end";
    return {};
  }
  json Items(const std::string& id, const std::string& query = "") {
    return Get("/api/bulk/" + id + "/items" + query).body()["items"];
  }
  size_t Runs() { return store_.ListRuns({.limit = 1000}, clock_.Wall() + 1h)->runs.size(); }
  std::map<std::string, int> AuditCounts(const std::string& action) {
    std::map<std::string, int> counts;
    const auto records = *store_.ListAudit({.limit = 1000});
    for (const AuditRecord& record : records) {
      if (record.action == action) ++counts[record.object_id];
    }
    return counts;
  }
};

TEST_F(BulkBackgroundTest, GoesOnWithoutItsRequest) {
  CreateJobs(60);
  const Answer started =
      Start({{"action", "pause"}, {"filter", {{"status", "ENABLED"}}}, {"reason", "moving"}});
  ASSERT_EQ(started.status, 202) << started.text;
  const json made = started.body();
  const std::string id = made["bulk_id"];
  EXPECT_EQ(started.header("location"), "/api/bulk/" + id);
  EXPECT_EQ(made["state"], "RUNNING");
  EXPECT_EQ(made["total"], 60);
  EXPECT_EQ(made["allowed_actions"], json({"cancel"}));
  const json ended = Ended(id);
  EXPECT_EQ(ended["state"], "DONE");
  EXPECT_EQ(ended["done"], 60);
  EXPECT_EQ(ended["actor"], "token/admin");
  EXPECT_EQ(ended["allowed_actions"], json::array());
  EXPECT_EQ(Get("/api/jobs/j59").body()["pause_reason"], "moving");
  EXPECT_EQ(AuditCounts("job.pause").size(), 60u);
  EXPECT_EQ(AuditCounts("bulk")[id], 1);
  EXPECT_EQ(Get("/api/audit?object_id=j3").body()["items"][0]["reason"], "moving");
  const json page = Get("/api/bulk/" + id + "/items?page_size=25").body();
  EXPECT_EQ(page["items"].size(), 25u);
  const json rest =
      Items(id, "?page_size=25&page_token=" + page["next_page_token"].get<std::string>());
  EXPECT_EQ(rest[0]["position"], 25);
  EXPECT_EQ(rest[0]["result"], "done");
  EXPECT_EQ(Get("/api/bulk?state=DONE").body()["items"][0]["bulk_id"], id);
  EXPECT_EQ(Get("/api/bulk?state=RUNNING").body()["items"].size(), 0u);
  EXPECT_EQ(Get("/api/bulk?user_id=nobody").body()["items"].size(), 0u);
  const Answer late = Post("/api/bulk/" + id + "/cancel");
  EXPECT_EQ(late.status, 202);
  EXPECT_EQ(late.body()["state"], "DONE");
}

TEST_F(BulkBackgroundTest, EachItemHasItsOwnError) {
  CreateJobs(2);
  const std::string id = Started({{"action", "run"}, {"ids", {"j0", "none", "j1"}}});
  const json ended = Ended(id);
  EXPECT_EQ(ended["done"], 2);
  EXPECT_EQ(ended["failed"], 1);
  const json items = Items(id);
  EXPECT_EQ(Get("/api/runs/" + items[0]["run_id"].get<std::string>()).body()["job_id"], "j0");
  EXPECT_TRUE(items[0]["error"].is_null());
  EXPECT_EQ(items[1]["error"]["code"], "not_found");
  EXPECT_EQ(items[1]["error"]["instance"], "/api/jobs/none");
  EXPECT_EQ(Items(id, "?result=error").size(), 1u);
  EXPECT_EQ(Runs(), 2u);
}

TEST_F(BulkBackgroundTest, RefusesWhatItCannotDo) {
  CreateJobs(1);
  EXPECT_EQ(Start({{"action", "pause"}, {"ids", {"j0"}}, {"dry_run", true}}).pointer(),
            "/background");
  EXPECT_EQ(Start({{"action", "pause"}, {"ids", Ids("j", 20'001)}}).pointer(), "/ids");
  EXPECT_EQ(Post("/api/bulk", {{"action", "pause"}, {"ids", Ids("j", 1001)}}).pointer(), "/ids");
  EXPECT_EQ(Get("/api/bulk?state=ASLEEP").pointer(), "?state");
  EXPECT_EQ(Get("/api/bulk?page_token=x").code(), "invalid");
  EXPECT_EQ(Get("/api/bulk/none").status, 404);
  EXPECT_EQ(Get("/api/bulk/none/items").status, 404);
  EXPECT_EQ(Post("/api/bulk/none/cancel").status, 404);
  EXPECT_EQ(Get("/api/bulk").body()["items"].size(), 0u);
  faults_.plan.Arm("CreateBulk", Fault::kTimeoutBefore);
  EXPECT_EQ(Start({{"action", "pause"}, {"ids", {"j0"}}}).code(), "outcome_unknown");
}

TEST_F(BulkBackgroundTest, AKeyMakesOne) {
  CreateJobs(3);
  const json body = {{"action", "run"}, {"ids", Ids("j", 3)}};
  const HttpHeaders key = {{"Idempotency-Key", "k"}};
  const std::string id = Start(body, key).body()["bulk_id"];
  const Answer again = Start(body, key);
  EXPECT_EQ(again.status, 202);
  EXPECT_EQ(again.header("idempotent-replayed"), "true");
  EXPECT_EQ(again.header("location"), "/api/bulk/" + id);
  Ended(id);
  EXPECT_EQ(Get("/api/bulk").body()["items"].size(), 1u);
  EXPECT_EQ(Runs(), 3u);
}

TEST_F(BulkBackgroundTest, OnlyItsOwnerAndAdministratorsCancel) {
  AddUser("ann", "user");
  AddUser("bob", "user");
  const SignedIn ann = SignIn("ann");
  const SignedIn bob = SignIn("bob");
  CreateJobs(60, ann.user_id);
  Hang hang(faults_.plan, "PauseJob");  // of the first item
  json body = {{"action", "pause"}, {"ids", Ids("j", 60)}, {"background", true}};
  const std::string id = As(ann.access_token, "POST", "/api/bulk", body.dump()).body()["bulk_id"];
  ASSERT_TRUE(hang.Await(1));
  const std::string path = "/api/bulk/" + id;
  const auto allowed = [&](const SignedIn& who) {
    return As(who.access_token, "GET", path).body()["allowed_actions"].size();
  };
  EXPECT_EQ(allowed(ann), 1u);
  EXPECT_EQ(allowed(bob), 0u);
  EXPECT_EQ(As(bob.access_token, "POST", path + "/cancel").code(), "not_owner");
  EXPECT_EQ(Get(path).body()["state"], "RUNNING");
  const Answer cancelled = As(ann.access_token, "POST", path + "/cancel");
  EXPECT_EQ(cancelled.status, 202) << cancelled.text;
  EXPECT_EQ(cancelled.body()["state"], "CANCELLED");
  EXPECT_EQ(cancelled.body()["skipped"], 10);  // a piece of 50 is begun
  hang.Release();
  const json ended = Ended(id);
  EXPECT_EQ(ended["state"], "CANCELLED");
  EXPECT_EQ(ended["done"], 50);
  EXPECT_EQ(ended["skipped"], 10);
  EXPECT_EQ(Get("/api/jobs/j49").body()["state"], "PAUSED");
  EXPECT_EQ(Get("/api/jobs/j50").body()["state"], "ENABLED");
}

TEST_F(BulkBackgroundTest, AnAdministratorCancelsThatOfAnother) {
  AddUser("ann", "user");
  const SignedIn ann = SignIn("ann");
  CreateJobs(2, ann.user_id);
  Hang hang(faults_.plan, "PauseJob");
  json body = {{"action", "pause"}, {"ids", Ids("j", 2)}, {"background", true}};
  const std::string id = As(ann.access_token, "POST", "/api/bulk", body.dump()).body()["bulk_id"];
  ASSERT_TRUE(hang.Await(1));
  EXPECT_EQ(Post("/api/bulk/" + id + "/cancel").body()["state"], "CANCELLED");
}

TEST_F(BulkBackgroundTest, SoManyAtOnce) {
  for (int64_t i = 0; i < kBulkOpenMax; ++i) {
    BulkOrder order{.bulk_id = "b" + std::to_string(i), .action = "run", .kind = "job"};
    order.user_id = "admin";
    order.created = clock_.Wall();
    ASSERT_TRUE(store_.CreateBulk(order, {"j"}, {}).ok());
    ASSERT_TRUE(store_.TakeBulk(clock_.Wall(), clock_.Wall() + 1h)->has_value());
  }
  EXPECT_EQ(Start({{"action", "run"}, {"ids", {"j"}}}).code(), "too_many_open");
}

// By hand, without a server: turn by turn, and with members that die.
class BulkByHandTest : public BulkBackgroundTest {
 protected:
  BulkByHandTest() { server_.reset(); }

  Call MakeCall(const HttpRequest& request, const Caller& caller, std::string_view trace_id,
                AuditNote& note) {
    return {.api = context_,
            .identifiers = identifiers_,
            .store = watch_,
            .streams = streams_,
            .changes = changes_,
            .authenticator = authenticator_,
            .sign_in = sign_in_,
            .nudge_bulk = nudge_,
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
        .cluster_now = [this] { return store_.Now(); },
        .store_trusted = [] { return true; },
        .resume = [this](const Grant& grant) { return authenticator_.Resume(grant); },
        .doer = doer_,
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
    ASSERT_TRUE(store_.CreateBulk(who, ids.get<std::vector<std::string>>(), {}).ok());
  }
  void Turns(BulkWorker& worker, const std::function<bool()>& done) {
    for (int turns = 0; turns < 5000; ++turns) {
      if (done()) return;
      const SteadyTime next = worker.Step(clock_.Steady());
      if (next > clock_.Steady()) clock_.Advance(next - clock_.Steady());
    }
    FAIL() << "it does not get there";
  }
  // The first item of the action.
  ItemOutcome Do(Tried tried) {
    const BulkOrder order = store_.GetBulk("b")->order;
    const auto resumed = authenticator_.Resume(
        {.user_id = order.user_id, .token_id = order.token_id, .role = order.role});
    return doer_.Do(order, *resumed->caller, store_.ListBulkItems("b", {})->front(), tried);
  }
  BulkAction ToEnd(BulkWorker& worker) {
    Turns(worker, [this] { return HasEnded(*store_.GetBulk("b")); });
    return *store_.GetBulk("b");
  }
  // A member that dies after so many items, none of them recorded; then another one does the rest.
  BulkAction WithADeathAfter(size_t items, const std::function<size_t()>& done) {
    auto dead = Worker();
    Turns(*dead, [&] { return done() >= items; });
    dead.reset();
    EXPECT_EQ(store_.GetBulk("b")->done, 0);
    return ToEnd(*Worker());
  }

  const scheduler::ApiContext context_ = Context("");
  scheduler::Identifiers identifiers_{7};
  scheduler::Aside aside_{server_clock_};
  scheduler::Authenticator authenticator_{store_, server_clock_, aside_, 1min,
                                          [this] { return store_.Now(); }};
  scheduler::SignIn sign_in_{server_clock_};
  scheduler::StoreWatch watch_{context_};
  scheduler::ChangeWatch changes_{context_, "e"};
  scheduler::StreamHub streams_{server_clock_};
  const std::function<void()> nudge_ = [] {};
  RouteDoer doer_{[this](const HttpRequest& request, const Caller& caller,
                         std::string_view trace_id,
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
  const auto items = *store_.ListBulkItems("b", {});
  for (const BulkItem& item : items) {
    EXPECT_EQ(store_.GetRun(*DecodeRunId(item.run_id))->job_id.value(), item.id);
  }
}

TEST_F(BulkByHandTest, DyingBetweenTheRunAndItsAuditTellsItStill) {
  CreateJobs(3);
  CreateAction("run", "job", Ids("j", 3));
  faults_.plan.Arm("RecordAudit", Fault::kUnavailable);  // as if it had died there
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
  ASSERT_TRUE(store_
                  .RecordAudit({.at = clock_.Wall() - 1s,
                                .actor = "token/admin",
                                .action = "job.execute",
                                .object_id = "j0",
                                .trace_id = store_.GetBulk("b")->order.trace_id})
                  .ok());
  EXPECT_EQ(Do(Tried::kPerhaps).verdict, ItemOutcome::Verdict::kDone);
  EXPECT_EQ(AuditCounts("job.execute")["j0"], 2);
  EXPECT_EQ(Do(Tried::kPerhaps).verdict, ItemOutcome::Verdict::kDone);
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
  faults_.plan.Arm("ExecuteJob", Fault::kTimeoutBefore);  // the key is in flight, no run is made
  faults_.plan.OnCall([&](const std::string& name) {
    if (name == "RecordBulkItems") faults_.plan.Arm("RecordBulkItems", Fault::kUnavailable);
  });
  Turns(*dead, [&] { return store_.ListBulkItems("b", {})->front().begun; });
  dead->Step(clock_.Steady());
  dead.reset();
  faults_.plan.OnCall(nullptr);
  faults_.plan.Arm("RecordBulkItems", Fault::kUnavailable, 0);
  EXPECT_EQ(Runs(), 0u);
  const auto next = Worker();
  Turns(*next, [&] { return Runs() > 0; });  // no minute goes by
  EXPECT_EQ(ToEnd(*next).done, 2);
  EXPECT_EQ(Runs(), 2u);
}

TEST_F(BulkByHandTest, WhatASlowMemberHasDoneMeanwhileIsDone) {
  CreateJobs(1);
  CreateAction("run", "job", {"j0"});
  std::string run_id;  // of the slow one, which comes to its end inside the other's try
  faults_.plan.OnCall([&](const std::string& name) {
    if (name != "ExecuteJob" || !run_id.empty()) return;
    const auto made = store_.ExecuteJob(
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
  const auto outcome = Do(Tried::kPerhaps);
  faults_.plan.OnCall(nullptr);
  EXPECT_EQ(outcome.verdict, ItemOutcome::Verdict::kDone) << outcome.error_json;
  EXPECT_FALSE(run_id.empty());
  EXPECT_EQ(outcome.run_id, run_id);
  EXPECT_EQ(Runs(), 1u);
}

TEST_F(BulkByHandTest, AConflictOfItsOwnStaysOne) {
  CreateJobs(1);
  const auto made = store_.ExecuteJob({.job_id = JobId("j0")}, {.now = clock_.Wall()});
  CreateAction("retry", "run", {EncodeRunId(made->key)});  // it has not ended
  const auto outcome = Do(Tried::kPerhaps);
  EXPECT_EQ(outcome.verdict, ItemOutcome::Verdict::kFailed);
  EXPECT_NE(outcome.error_json.find("\"conflict\""), std::string::npos) << outcome.error_json;
}

TEST_F(BulkByHandTest, ARunIsRetriedOnceThoughItsMemberDies) {
  CreateJobs(5);
  json runs = json::array();
  for (int i = 0; i < 5; ++i) {
    const auto made = store_.ExecuteJob({.job_id = JobId("j" + std::to_string(i))},
                                        {.now = clock_.Wall() + i * 1us});
    runs.push_back(EncodeRunId(made->key));
    ASSERT_TRUE(*store_.CancelRun(made->key, {.now = clock_.Wall()}));
  }
  CreateAction("retry", "run", runs);
  const auto first = *DecodeRunId(runs[0].get<std::string>());
  auto dead = Worker();
  Turns(*dead, [&] { return store_.GetRun(first)->row.attempt == 2; });
  dead.reset();
  // Meanwhile it ends, and could be retried again.
  ASSERT_TRUE(*store_.CancelRun(first, {.now = clock_.Wall()}));
  EXPECT_EQ(ToEnd(*Worker()).done, 5);
  for (const json& run : runs) {
    EXPECT_EQ(store_.GetRun(*DecodeRunId(run.get<std::string>()))->row.attempt, 2);
  }
  EXPECT_EQ(AuditCounts("run.retry").size(), 5u);
}

TEST_F(BulkByHandTest, WhatItHasDeletedItselfIsDone) {
  CreateJobs(6);
  CreateAction("delete", "job", {"j0", "none", "j1", "j2", "j3", "j4", "j5"});
  const auto gone = [this] { return 6 - store_.ListJobs({})->size(); };
  const BulkAction ended = WithADeathAfter(3, gone);
  EXPECT_EQ(ended.done, 6);
  EXPECT_EQ(ended.failed, 1);
  EXPECT_EQ(store_.ListBulkItems("b", {.result = BulkResult::kError})->front().id, "none");
  const auto audit = AuditCounts("job.delete");
  EXPECT_EQ(audit.size(), 6u);
  for (const auto& [id, count] : audit) EXPECT_EQ(count, 1) << id;
}

TEST_F(BulkByHandTest, AHandlerThatThrowsIsTheItemsErrorAlone) {
  CreateJobs(2);
  CreateAction("delete", "job", Ids("j", 2));
  std::set<std::string> thrown;  // at a look beforehand and at an act, once each
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
  EXPECT_EQ(store_.GetJob(JobId("j0"))->pause_reason, "why");
  EXPECT_EQ(AuditCounts("job.pause")["j0"], 1);
}

TEST_F(BulkByHandTest, RightsAreThoseOfNow) {
  AddUser("ann", "admin");
  AddUser("boss", "admin");
  CreateJobs(60);
  CreateAction("pause", "job", Ids("j", 60), {.user_id = "user-ann", .role = "admin"});
  const auto worker = Worker();
  Turns(*worker, [this] { return AuditCounts("job.pause").size() == 20; });  // of the first piece
  UserRecord ann = *store_.GetUser("user-ann");
  ann.role = "user";
  ASSERT_TRUE(store_.UpdateUser(ann, clock_.Wall()).ok());
  const BulkAction ended = ToEnd(*worker);
  EXPECT_EQ(ended.done, 50);
  EXPECT_EQ(ended.failed, 10);
  const auto items = *store_.ListBulkItems("b", {.result = BulkResult::kError});
  EXPECT_NE(items[0].error_json.find("not_owner"), std::string::npos) << items[0].error_json;
  EXPECT_EQ(store_.ListAudit({.limit = 1})->front().actor, "ann");
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
  UserRecord ann = *store_.GetUser("user-ann");
  ann.disabled = true;
  ASSERT_TRUE(store_.UpdateUser(ann, clock_.Wall()).ok());
  const BulkAction stopped = ToEnd(*Worker());
  EXPECT_EQ(stopped.state, BulkState::kStopped);
  EXPECT_EQ(stopped.skipped, 2);
  EXPECT_EQ(stopped.error, "The user who asked for it was disabled.");
}

TEST_F(BulkByHandTest, AGrantEndsWithItsTokenOrUser) {
  const std::string id = scheduler::TokenIdOf(scheduler::HashToken(token_));
  const auto resume = [&](const Grant& grant) { return *authenticator_.Resume(grant); };
  EXPECT_EQ(resume({.token_id = id, .role = "admin"}).caller->Actor(), "token/admin");
  EXPECT_EQ(resume({.token_id = id, .role = "user"}).caller->role, "user");
  EXPECT_EQ(resume({.user_id = "user-none", .role = "user"}).ended,
            "The user who asked for it was deleted.");
  AddUser("ann", "user");
  TokenRecord token = scheduler::DescribeToken(scheduler::NewToken(), clock_.Wall());
  token.name = "ci";
  token.role = "admin";
  token.user_id = "user-ann";
  token.expires = clock_.Wall() + 1h;
  ASSERT_TRUE(store_.CreateToken(token).ok());
  const Grant grant{.user_id = "user-ann", .token_id = token.token_id, .role = "admin"};
  EXPECT_EQ(resume(grant).caller->Actor(), "ann/ci");
  EXPECT_EQ(resume(grant).caller->role, "user");
  clock_.Advance(2h);
  EXPECT_EQ(resume(grant).ended, "The API token it was asked with has expired.");
  ASSERT_TRUE(store_.DeleteToken(token.token_id).ok());
  EXPECT_EQ(resume(grant).ended, "The API token it was asked with was deleted.");
}

}  // namespace
}  // namespace carillon::test
