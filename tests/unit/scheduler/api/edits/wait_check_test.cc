// Jobs whose runs wait for runs of other jobs, as the API shows, checks and refuses them.
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class WaitCheckTest : public ApiEnv {
 protected:
  WaitCheckTest() { FinishUpgrade(); }

  static json Entry(const std::string& job, json changes = json::object()) {
    json entry = {{"job", job}, {"window", {{"day", 0}}}};
    entry.update(changes);
    return entry;
  }
  static json Cron(const std::string& expression = "0 3 * * *") {
    return json::array({{{"kind", "cron"}, {"cron_expression", expression}}});
  }
  static json After(const std::string& job, const std::string& on = "success") {
    return json::array({{{"kind", "after"}, {"job", job}, {"on", on}}});
  }
  static json Body(const std::string& id, json schedules, json changes = json::object()) {
    json body = {{"job_id", id}, {"name", id}, {"command", "true"}};
    body["schedules"] = std::move(schedules);
    body.update(changes);
    return body;
  }
  static json Waits(json entries) {
    return {{"waits_for", std::move(entries)}, {"wait_limit_s", 3'600}};
  }
  static json Waiting(const std::string& id, json entry) {
    return Body(id, Cron(), Waits(json::array({std::move(entry)})));
  }
  static json Workflow(const std::string& id, json schedules, const std::string& node) {
    json body = Body(id, std::move(schedules), {{"type", "workflow"}});
    body.erase("command");
    body["workflow"] = {{"nodes", {{{"id", "n"}, {"job", node}}}}};
    return body;
  }
  void Make(const json& body) {
    const Answer created = Post("/api/jobs", body);
    EXPECT_EQ(created.status, 201) << created.text;
  }
  Answer Replace(const std::string& id, const json& body, int version = 1) {
    return Send("PUT", "/api/jobs/" + id, body.dump(),
                {{"If-Match", "\"v" + std::to_string(version) + "\""}});
  }
  Answer Delete(const std::string& id, const std::string& query = "") {
    return Send("DELETE", "/api/jobs/" + id + query, "", {{"If-Match", "\"v1\""}});
  }
  // "code pointer" of a refusal; "" = none.
  static std::string Refusal(const Answer& answer) {
    if (answer.status < 300) return "";
    const json body = answer.body();
    EXPECT_EQ(answer.status, 422) << answer.text;
    if (!body.contains("errors") || body["errors"].empty()) return answer.text;
    EXPECT_EQ(body.value("code", ""), body["errors"][0].value("code", ""));
    return body.value("code", "") + " " + body["errors"][0].value("pointer", "");
  }
  // Of a job with this entry, which is deleted again.
  std::string RefusalOf(json entry) {
    const std::string id = "probe-" + std::to_string(++probes_);
    const Answer answer = Post("/api/jobs", Waiting(id, std::move(entry)));
    const std::string refusal = Refusal(answer);
    if (refusal.empty()) {
      EXPECT_EQ(Delete(id).status, 204);
    }
    return refusal;
  }

  int probes_ = 0;
};

TEST_F(WaitCheckTest, ShowsWhatWasWrittenAndBothSides) {
  Make(Body("a", Cron(), {{"name", "Load"}}));
  const Answer created = Post("/api/jobs", Waiting("b", Entry("a", {{"on", "done"}})));
  ASSERT_EQ(created.status, 201) << created.text;
  const json shown = Get("/api/jobs/b").body();
  EXPECT_EQ(
      shown["waits_for"],
      json::array({{{"job", "a"}, {"on", "done"}, {"window", {{"day", 0}}}, {"which", "last"}}}));
  EXPECT_EQ(shown["wait_limit_s"], 3'600);
  EXPECT_FALSE(Get("/api/jobs/a").body().contains("waits_for"));
  const json above = {{"job_id", "a"}, {"job_name", "Load"}, {"kind", "waits"}, {"on", "done"}};
  EXPECT_EQ(Get("/api/jobs/b/dependencies").body()["upstream"], json::array({above}));
  const json below = {{"job_id", "b"}, {"job_name", "b"}, {"kind", "waits"}, {"on", "done"}};
  EXPECT_EQ(Get("/api/jobs/a/dependencies").body()["downstream"], json::array({below}));
}

TEST_F(WaitCheckTest, RefusesUnknownJobsAndCycles) {
  EXPECT_EQ(RefusalOf(Entry("none")), "unknown_job /waits_for/0/job");
  Make(Body("a", Cron()));
  Make(Workflow("flow", Cron(), "a"));
  EXPECT_EQ(RefusalOf(Entry("a", {{"in", "none"}})), "unknown_job /waits_for/0/in");
  EXPECT_EQ(Refusal(Post("/api/jobs", Waiting("self", Entry("self")))), "cycle /waits_for/0/job");
  Make(Waiting("b", Entry("a")));
  EXPECT_EQ(Refusal(Replace("a", Waiting("a", Entry("b")))), "cycle /waits_for/0/job");
  EXPECT_EQ(Refusal(Replace("a", Body("a", After("b")))), "cycle /schedules/0/job");
  const Answer both = Post(
      "/api/jobs", Body("c", Cron(), Waits(json::array({Entry("x"), Entry("a"), Entry("y")}))));
  ASSERT_EQ(both.status, 422) << both.text;
  EXPECT_EQ(both.body()["errors"].size(), 2u) << both.text;
  EXPECT_EQ(both.body()["errors"][1]["pointer"], "/waits_for/2/job");
}

// Its nodes lead to what it waits for, although nothing names the workflow itself.
TEST_F(WaitCheckTest, RefusesCirclesOfNewWorkflows) {
  Make(Body("node", Cron()));
  Make(Body("next", After("node")));
  json flow = Workflow("flow", Cron(), "node");
  flow.update(Waits(json::array({Entry("next")})));
  EXPECT_EQ(Refusal(Post("/api/jobs", flow)), "cycle /waits_for/0/job");
  flow.update(Waits(json::array({Entry("node")})));
  EXPECT_EQ(Refusal(Post("/api/jobs", flow)), "cycle /waits_for/0/job");
  EXPECT_EQ(Get("/api/jobs/flow").status, 404);
}

// A workflow ends after its nodes, so that none may wait for what comes after it.
TEST_F(WaitCheckTest, RefusesNodesThatWaitForTheEndOfTheirWorkflow) {
  for (const char* id : {"a", "b"}) Make(Body(id, json::array()));
  Make(Workflow("flow", Cron(), "a"));
  Make(Body("next", After("flow")));
  const json waiting = Body("a", json::array(), Waits(json::array({Entry("next")})));
  const Answer refused = Replace("a", waiting);
  EXPECT_EQ(Refusal(refused), "cycle /waits_for/0/job");
  EXPECT_NE(refused.text.find("flow"), std::string::npos) << refused.text;

  ASSERT_EQ(Replace("flow", Workflow("flow", Cron(), "b")).status, 200);
  ASSERT_EQ(Replace("a", waiting).status, 200);
  EXPECT_EQ(Refusal(Replace("flow", Workflow("flow", Cron(), "a"), 2)),
            "cycle /workflow/nodes/0/job");

  ASSERT_EQ(Replace("next", Body("next", Cron())).status, 200);
  ASSERT_EQ(Replace("flow", Workflow("flow", Cron(), "a"), 2).status, 200);
  EXPECT_EQ(Refusal(Replace("next", Body("next", After("flow")), 2)), "cycle /schedules/0/job");
  json both = After("flow");
  both.push_back(Cron()[0]);
  EXPECT_EQ(Refusal(Replace("next", Body("next", both), 2)), "") << "it has fires of its own";
}

TEST_F(WaitCheckTest, RefusesWhatNoScheduleLeadsTo) {
  Make(Body("manual", json::array()));
  EXPECT_EQ(RefusalOf(Entry("manual")), "never_met /waits_for/0/job");
  Make(Body("second", After("manual")));
  EXPECT_EQ(RefusalOf(Entry("second")), "never_met /waits_for/0/job");
  Make(Workflow("by-hand", json::array(), "manual"));
  EXPECT_EQ(RefusalOf(Entry("manual", {{"in", "by-hand"}})), "never_met /waits_for/0/in");
  EXPECT_EQ(RefusalOf(Entry("second", {{"in", "by-hand"}})), "never_met /waits_for/0/in");

  Make(Workflow("nightly", Cron(), "manual"));
  EXPECT_EQ(RefusalOf(Entry("manual")), "") << "the workflow has fires";
  EXPECT_EQ(RefusalOf(Entry("second")), "");
  EXPECT_EQ(RefusalOf(Entry("manual", {{"in", "nightly"}})), "");
  EXPECT_EQ(RefusalOf(Entry("second", {{"in", "nightly"}})), "never_met /waits_for/0/in");
}

// Such a run has a date: the moment at which the event was accepted.
TEST_F(WaitCheckTest, AJobThatEventsStartMayBeWaitedFor) {
  JobDefinition job;
  job.name = "By event";
  job.command = "true";
  job.schedules = {{.kind = ScheduleKind::kEvent, .event_type = "file.arrived"}};
  ASSERT_TRUE(stores_.jobs.CreateJob(JobId("by-event"), job, {.now = clock_.Wall()}).ok());
  EXPECT_EQ(RefusalOf(Entry("by-event")), "");
  EXPECT_EQ(RefusalOf(Entry("by-event", {{"which", "all"}})), "");
  Make(Body("second", After("by-event")));
  EXPECT_EQ(RefusalOf(Entry("second")), "");
}

TEST_F(WaitCheckTest, FailuresMakeFiresToo) {
  Make(Body("a", Cron()));
  Make(Body("repair", After("a", "failure")));
  EXPECT_EQ(RefusalOf(Entry("repair")), "");
}

TEST_F(WaitCheckTest, RefusesChainsThatAreTooLong) {
  Make(Body("c0", Cron()));
  for (int i = 1; i <= 21; ++i) {
    Make(Body("c" + std::to_string(i), After("c" + std::to_string(i - 1))));
  }
  EXPECT_EQ(RefusalOf(Entry("c20")), "");
  EXPECT_EQ(RefusalOf(Entry("c21")), "too_many_sources /waits_for/0/job");
}

TEST_F(WaitCheckTest, RefusesToWaitForAllOfTooManyFires) {
  Make(Body("a", Cron("* * * * *")));
  Make(Body("after", After("a")));
  const json all = {{"which", "all"}};
  EXPECT_EQ(RefusalOf(Entry("a", all)), "too_many_fires /waits_for/0/which");
  EXPECT_EQ(RefusalOf(Entry("after", all)), "too_many_fires /waits_for/0/which");
  EXPECT_EQ(RefusalOf(Entry("a")), "") << "the last one of them";
  const auto back = [&](int64_t seconds) {
    return Entry("a", {{"which", "all"}, {"window", {{"back_s", seconds}}}});
  };
  EXPECT_EQ(RefusalOf(back(59'940)), "") << "1,000 fires with both ends";
  EXPECT_EQ(RefusalOf(back(60'000)), "too_many_fires /waits_for/0/which");
  // It rests at the moment.
  Make(Body("mondays", Cron("*/10 * * * * 1")));
  EXPECT_EQ(RefusalOf(Entry("mondays", all)), "too_many_fires /waits_for/0/which");
}

// A job may have become one that is never met since.
TEST_F(WaitCheckTest, EntriesThatStayAreNotCheckedAgain) {
  Make(Body("z", Cron()));
  Make(Body("a", After("z")));
  Make(Waiting("b", Entry("a")));
  ASSERT_EQ(Replace("z", Body("z", json::array())).status, 200);
  json body = Waiting("b", Entry("a"));
  body["description"] = "x";
  EXPECT_EQ(Refusal(Replace("b", body)), "");
  body["waits_for"][0]["on"] = "done";
  EXPECT_EQ(Refusal(Replace("b", body, 2)), "never_met /waits_for/0/job");
}

TEST_F(WaitCheckTest, AnAwaitedJobKeepsASchedule) {
  Make(Body("a", Cron()));
  Make(Workflow("flow", Cron(), "a"));
  Make(Body("c", Cron()));
  Make(Waiting("b", Entry("c")));
  Make(Waiting("in-flow", Entry("a", {{"in", "flow"}})));
  for (const json& body : {Body("c", json::array()), Workflow("flow", json::array(), "a")}) {
    const Answer refused = Replace(body["job_id"], body);
    EXPECT_EQ(refused.status, 409) << refused.text;
    EXPECT_EQ(refused.code(), "in_use");
    EXPECT_EQ(refused.body()["errors"][0]["pointer"], "/schedules");
  }
  EXPECT_EQ(Replace("a", Body("a", json::array())).status, 200) << "its workflow has the fires";
  EXPECT_EQ(Replace("c", Body("c", Cron("0 4 * * *"))).status, 200);
  // A request that changes both, in any order of its list.
  const json list = json::array({Body("c", json::array()), Waiting("b", Entry("a"))});
  for (const std::string query : {"?dry_run=true", ""}) {
    const Answer applied = Send("POST", "/api/apply" + query, list.dump());
    EXPECT_EQ(applied.body()["counts"]["updated"], 2) << applied.text;
  }
}

TEST_F(WaitCheckTest, DeletesAnAwaitedJobOnlyByForce) {
  Make(Body("a", Cron()));
  Make(Waiting("b", Entry("a")));
  const Answer refused = Delete("a");
  EXPECT_EQ(refused.status, 409) << refused.text;
  EXPECT_EQ(refused.body().value("code", ""), "has_dependents");
  EXPECT_EQ(refused.body()["details"], json({{"jobs", {"b"}}}));
  EXPECT_EQ(Delete("a", "?force=true").status, 204);
  EXPECT_EQ(Get("/api/jobs/b/dependencies").body()["upstream"][0]["deleted"], true);
  // The other job keeps what it names, and can be edited.
  json body = Waiting("b", Entry("a"));
  body["description"] = "x";
  EXPECT_EQ(Refusal(Replace("b", body)), "");
  body["waits_for"][0]["which"] = "all";
  EXPECT_EQ(Refusal(Replace("b", body, 2)), "");
}

TEST_F(WaitCheckTest, ApplyTakesAListInAnyOrder) {
  const json list = json::array({Waiting("c", Entry("b", {{"in", "flow"}})),
                                 Workflow("flow", Cron(), "b"), Body("b", json::array())});
  for (const std::string query : {"?dry_run=true", ""}) {
    const Answer applied = Send("POST", "/api/apply" + query, list.dump());
    ASSERT_EQ(applied.status, 200) << applied.text;
    EXPECT_EQ(applied.body()["counts"]["created"], 3) << applied.text;
  }
  const Answer again = Send("POST", "/api/apply", list.dump());
  EXPECT_EQ(again.body()["counts"]["unchanged"], 3) << again.text;
}

// Neither names the other, so nothing else orders them; a store checks against stored jobs only.
TEST_F(WaitCheckTest, ApplyRefusesACircleOfNewWorkflows) {
  const auto flow = [](const std::string& id, const std::string& node, const std::string& awaited) {
    json body = Workflow(id, Cron(), node);
    body.update(Waits(json::array({Entry(awaited)})));
    return body;
  };
  const json list = json::array(
      {Body("a", Cron()), Body("b", Cron()), flow("one", "a", "b"), flow("two", "b", "a")});
  for (const std::string query : {"?dry_run=true", ""}) {
    const Answer applied = Send("POST", "/api/apply" + query, list.dump());
    ASSERT_EQ(applied.status, 200) << applied.text;
    const json items = applied.body()["items"];
    ASSERT_EQ(items.size(), 4u) << applied.text;
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(items[i]["result"], "created") << items[i];
    EXPECT_EQ(items[3]["error"].value("code", ""), "cycle") << items[3];
  }
  EXPECT_EQ(Get("/api/jobs/two").status, 404);
}

// The error of each item of an apply: "code pointer", or its result.
std::vector<std::string> ItemsOf(const json& answer) {
  std::vector<std::string> items;
  for (const json& item : answer["items"]) {
    const json error = item.value("error", json());
    items.push_back(error.is_null()
                        ? item["result"].get<std::string>()
                        : error.value("code", "") + " " + error["errors"][0].value("pointer", ""));
  }
  return items;
}

TEST_F(WaitCheckTest, ADryRunOfApplySaysWhatApplyWillRefuse) {
  using Items = std::vector<std::string>;
  const auto expect = [&](const json& list, const Items& expected) {
    for (const std::string query : {"?dry_run=true", ""}) {
      const Answer applied = Send("POST", "/api/apply" + query, list.dump());
      ASSERT_EQ(applied.status, 200) << applied.text;
      EXPECT_EQ(ItemsOf(applied.body()), expected) << query << applied.text;
    }
  };
  expect(json::array({Body("hand", json::array()), Waiting("w1", Entry("hand"))}),
         {"created", "never_met /1/waits_for/0/job"});
  expect(json::array({Workflow("flow", Cron(), "hand"), Body("other", Cron()),
                      Waiting("w2", Entry("hand", {{"in", "flow"}})),
                      Waiting("w3", Entry("other", {{"in", "flow"}}))}),
         {"created", "created", "created", "never_met /3/waits_for/0/in"});
  // The chain of what is there and what comes.
  expect(json::array({Body("second", After("hand")), Waiting("w4", Entry("second"))}),
         {"created", "created"});
  Make(Body("a", Cron()));
  Make(Waiting("b", Entry("a")));
  expect(json::array({Body("c", After("b")), Waiting("a", Entry("c"))}),
         {"created", "cycle /1/waits_for/0/job"});
  expect(json::array({Body("d", After("b")), Body("a", After("d"))}),
         {"created", "cycle /1/schedules/0/job"});
  // A node that waits for what comes after its workflow.
  expect(json::array({Body("n", json::array()), Workflow("around", Cron(), "n"),
                      Body("next", After("around"))}),
         {"created", "created", "created"});
  expect(json::array({Body("n", json::array(), Waits(json::array({Entry("next")})))}),
         {"cycle /0/waits_for/0/job"});
}

TEST_F(WaitCheckTest, PruneDeletesWhoWaitsFirst) {
  const json labels = {{"labels", {{"team", "x"}}}};
  Make(Body("a", Cron(), labels));
  json waiting = Waiting("b", Entry("a"));
  waiting.update(labels);
  Make(waiting);
  for (const std::string query : {"&dry_run=true", ""}) {
    const Answer pruned =
        Send("POST", "/api/apply?prune=true&selector=team%3Dx" + query, json::array().dump());
    ASSERT_EQ(pruned.status, 200) << pruned.text;
    EXPECT_EQ(pruned.body()["counts"]["pruned"], 2) << pruned.text;
    EXPECT_EQ(pruned.body()["items"][0]["job_id"], "b");
  }
}

class WaitsBeforeUpgradeTest : public ApiEnv {};

TEST_F(WaitsBeforeUpgradeTest, AreOffUntilItIsFinished) {
  Create({{"job_id", "a"}});
  const json waiting = {{"job_id", "b"},
                        {"name", "b"},
                        {"waits_for", {{{"job", "a"}, {"window", {{"day", 0}}}}}},
                        {"wait_limit_s", 60}};
  const Answer refused = Post("/api/jobs", JobBody(waiting));
  EXPECT_EQ(refused.status, 409) << refused.text;
  EXPECT_EQ(refused.code(), "upgrade_unfinished");
  FinishUpgrade();
  EXPECT_EQ(Post("/api/jobs", JobBody(waiting)).status, 201);
}

}  // namespace
}  // namespace carillon::test
