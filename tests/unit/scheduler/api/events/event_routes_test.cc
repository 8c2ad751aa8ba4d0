// Events: sent, tested and listed, and the jobs that they start.
#include "tests/unit/scheduler/api/events/event_env.h"

namespace carillon::test {
namespace {

class EventRoutesTest : public EventEnv {};

TEST_F(EventRoutesTest, AnEventStartsARunOfTheJobThatListens) {
  const json job = Listen("bill", Trigger({{"source", "shop"},
                                           {"filter", "data.amount > 9"},
                                           {"parameters", {{"amount", "{{event.data.amount}}"}}}}));
  const json item = Sent(Paid("42", {{"data", {{"amount", 12.5}}}, {"subject", "o-7"}}));
  EXPECT_EQ(item["id"], "42");
  EXPECT_EQ(item["source"], "shop");
  EXPECT_EQ(item["status"], "started");
  ASSERT_EQ(item["starts"].size(), 1u);
  const json& start = item["starts"][0];
  EXPECT_EQ(start["job_id"], "bill");
  EXPECT_EQ(start["schedule_id"], job["schedules"][0]["schedule_id"]);
  EXPECT_EQ(start["gap"], nullptr);
  EXPECT_EQ(start["problem"], nullptr);
  const json run = Get("/api/runs/" + start["run_id"].get<std::string>()).body();
  EXPECT_EQ(run["kind"], "event");
  EXPECT_EQ(run["state"], "PENDING");
  EXPECT_EQ(run["parameters"], json({{"amount", 12.5}}));
  EXPECT_EQ(run["event"],
            json({{"id", "42"}, {"source", "shop"}, {"type", "order.paid"}, {"subject", "o-7"}}));
  EXPECT_EQ(Runs(), 1u);
  EXPECT_FALSE(Get("/api/runs/" + Execute("bill")).body().contains("event"));
}

TEST_F(EventRoutesTest, TheSameEventAgainStartsNothing) {
  Listen("bill");
  const json first = Sent(Paid("42"));
  EXPECT_EQ(first["status"], "started");
  const json again = Sent(Paid("42", {{"data", "other"}}));
  EXPECT_EQ(again["status"], "duplicate");
  EXPECT_EQ(again["starts"], first["starts"]);
  EXPECT_EQ(Sent(Paid("42", {{"source", "depot"}}))["status"], "started");
  const Answer twice = Post("/api/events", {Paid("43"), Paid("43"), Paid("42")});
  ASSERT_EQ(twice.status, 202) << twice.text;
  const json items = twice.body()["items"];
  EXPECT_EQ(items[0]["status"], "started");
  EXPECT_EQ(items[1]["status"], "duplicate");
  EXPECT_EQ(items[1]["starts"], items[0]["starts"]);
  EXPECT_EQ(items[2]["starts"], first["starts"]);
  EXPECT_EQ(Runs(), 3u);
}

TEST_F(EventRoutesTest, TheTypesThatLibrariesOfEventsSendAreJson) {
  Listen("bill");
  const auto status_of = [this](const json& body, const std::string& type) {
    return SendOn(client_, "POST", "/api/events", body.dump(), Authorized({{"Content-Type", type}}))
        .status;
  };
  EXPECT_EQ(status_of(Paid("1"), "application/cloudevents+json; charset=UTF-8"), 202);
  EXPECT_EQ(status_of(json::array({Paid("2")}), "application/cloudevents-batch+json"), 202);
  EXPECT_EQ(Runs(), 2u);
  EXPECT_EQ(status_of(Paid("3"), "application/cloudevents+xml"), 415);
}

TEST_F(EventRoutesTest, AnEventBelongsToItsNamespace) {
  Listen("bill");
  Listen("ship", Trigger(), {{"namespace", "depot"}});
  EXPECT_EQ(Sent(Paid("42"))["starts"][0]["job_id"], "bill");
  const Answer depot = SendTo("depot", Paid("42"));
  EXPECT_EQ(depot.body()["items"][0]["starts"][0]["job_id"], "ship");
  EXPECT_EQ(SendTo("empty", Paid("42")).body()["items"][0]["status"], "no_match");
  const Answer wrong = SendTo("No+Namespace", Paid("42"));
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.pointer(), "?namespace");
  EXPECT_EQ(Post("/api/events?space=depot", Paid("42")).status, 400);
}

TEST_F(EventRoutesTest, WhatMatchesNothingIsNotStored) {
  Listen("bill", Trigger({{"filter", "data.amount > 9"}}));
  EXPECT_EQ(Sent(Paid("1", {{"type", "stock.low"}}))["status"], "no_match");
  EXPECT_EQ(Sent(Paid("2", {{"data", {{"amount", 3}}}}))["status"], "no_match");
  EXPECT_EQ(Sent(Paid("3", {{"data", {{"amount", "12"}}}}))["status"], "no_match");
  EXPECT_EQ(Listed(), json::array());
}

TEST_F(EventRoutesTest, APausedJobLeavesAGap) {
  Listen("bill");
  ASSERT_EQ(Post("/api/jobs/bill/pause").status, 200);
  const json item = Sent(Paid("42"));
  EXPECT_EQ(item["status"], "gap");
  EXPECT_EQ(item["starts"][0]["gap"], "paused");
  EXPECT_EQ(item["starts"][0]["run_id"], nullptr);
  EXPECT_EQ(Get("/api/gaps?job_id=bill").body()["items"][0]["reason"], "paused");
  EXPECT_EQ(Sent(Paid("42"))["status"], "duplicate");
}

TEST_F(EventRoutesTest, AnEventWhoseValuesMakeNoParametersLeavesAGapThatSaysWhy) {
  Listen("bill", Trigger({{"parameters", {{"amount", "{{event.data.amount}}"}}}}),
         {{"parameter_rules", {{"amount", {{"type", "number"}}}}}});
  const json item = Sent(Paid("42", {{"data", {{"amount", "top secret"}}}}));
  EXPECT_EQ(item["status"], "gap");
  EXPECT_EQ(item["starts"][0]["gap"], "bad_event");
  const std::string problem = item["starts"][0]["problem"];
  EXPECT_EQ(problem.find("top secret"), std::string::npos) << problem;
  EXPECT_FALSE(problem.empty());
  EXPECT_EQ(Get("/api/gaps?reason=bad_event").body()["items"].size(), 1u);
}

TEST_F(EventRoutesTest, AllEventsAreCheckedBeforeOneIsStored) {
  Listen("bill");
  const json unnamed = {{"source", "shop"}, {"type", "order.paid"}};
  const Answer answer = Post("/api/events", {Paid("1"), unnamed, Paid("3", {{"data_base64", ""}})});
  EXPECT_EQ(answer.status, 400);
  const json errors = answer.body()["errors"];
  ASSERT_EQ(errors.size(), 2u) << answer.text;
  EXPECT_EQ(errors[0]["pointer"], "/1/id");
  EXPECT_EQ(errors[1]["pointer"], "/2/data_base64");
  EXPECT_EQ(Runs(), 0u);
  EXPECT_EQ(Post("/api/events", unnamed).pointer(), "/id");
  EXPECT_EQ(Post("/api/events", json("text")).status, 400);
  EXPECT_EQ(Send("POST", "/api/events", "{").status, 400);
  EXPECT_EQ(Send("POST", "/api/events", R"({"id":"1","id":"2"})").pointer(), "/id");
}

TEST_F(EventRoutesTest, ARequestHasOneToOneHundredEvents) {
  Listen("bill");
  json events = json::array();
  EXPECT_EQ(Post("/api/events", events).status, 400);
  for (size_t i = 0; i < kEventsPerCall; ++i) events.push_back(Paid(std::to_string(i)));
  const Answer most = Post("/api/events", events);
  ASSERT_EQ(most.status, 202) << most.text;
  EXPECT_EQ(most.body()["items"].size(), kEventsPerCall);
  events.push_back(Paid("more"));
  EXPECT_EQ(Post("/api/events", events).status, 400);
  EXPECT_EQ(Listed("?id=more"), json::array());
}

TEST_F(EventRoutesTest, AnEventThatMatchesTooManyTriggersIsNamed) {
  AddTriggers("many", 100, "order.*");
  JobDefinition job{.name = "any", .command = "true"};
  job.name_space = "many";
  for (size_t i = 0; i <= kMatchesPerEvent; ++i) {
    job.schedules.push_back({.kind = ScheduleKind::kEvent,
                             .event_type = "*",
                             .filter = "data.n != " + std::to_string(i)});
  }
  ASSERT_TRUE(stores_.jobs.CreateJobs({{JobId("any"), job}}, {.now = clock_.Wall()}).ok());
  const json wide = Paid("2", {{"data", {{"n", -1}}}});
  const Answer answer = SendTo("many", {Paid("1"), wide});
  EXPECT_EQ(answer.status, 422) << answer.text;
  EXPECT_EQ(answer.code(), "too_many_matches");
  EXPECT_EQ(answer.pointer(), "/1");
  EXPECT_EQ(SendTo("many", wide).pointer(), "");
  const Answer tested = Post("/api/events/test", {{"namespace", "many"}, {"event", wide}});
  EXPECT_EQ(tested.code(), "too_many_matches");
  EXPECT_EQ(tested.pointer(), "/event");
}

TEST_F(EventRoutesTest, OnlyTheScopeForEventsSendsThem) {
  Listen("bill");
  AddUser("anna", "user");
  const std::string anna = SignIn("anna").access_token;
  const Answer refused = As(anna, "POST", "/api/events", Paid("1").dump());
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.body()["permission"], "events:write");
  const Answer made = Post("/api/tokens", {{"name", "shop"}, {"scopes", {"events:write"}}});
  ASSERT_EQ(made.status, 201) << made.text;
  const std::string shop = made.body()["token"];
  EXPECT_EQ(As(shop, "POST", "/api/events", Paid("1").dump()).status, 202);
  EXPECT_EQ(As(shop, "GET", "/api/events").status, 403);
  EXPECT_EQ(As(shop, "GET", "/api/jobs").status, 403);
  EXPECT_EQ(As(shop, "POST", "/api/jobs/bill/execute", "{}").status, 403);
  EXPECT_EQ(As(anna, "POST", "/api/events/test", json{{"event", Paid("2")}}.dump()).status, 200);
  EXPECT_EQ(As(anna, "GET", "/api/events").status, 200);
  EXPECT_EQ(As("", "POST", "/api/events", Paid("1").dump()).status, 401);
}

TEST_F(EventRoutesTest, EventsAreNotAuditedOneByOne) {
  Listen("bill");
  const size_t before = Audited().size();
  Sent(Paid("42"));
  EXPECT_EQ(Audited().size(), before);
}

TEST_F(EventRoutesTest, AHeldStoreAcceptsNoEvents) {
  Listen("bill");
  SetStanding({.state = StoreState::kHeld, .reason = "another store"});
  EXPECT_EQ(Post("/api/events", Paid("42")).code(), "store_held");
  EXPECT_EQ(Post("/api/events/test", {{"event", Paid("42")}}).status, 200);
  EXPECT_EQ(Listed(), json::array());
}

TEST_F(EventRoutesTest, ALostAnswerOfTheStoreIsAskedForOnce) {
  Listen("bill");
  faults_.plan.Arm("Accept", Fault::kTimeoutAfter);
  const json item = Sent(Paid("42"));
  EXPECT_EQ(item["status"], "duplicate");
  EXPECT_EQ(item["starts"].size(), 1u);
  EXPECT_EQ(Runs(), 1u);
  faults_.plan.Arm("Accept", Fault::kTimeoutAfter, 2);
  const Answer unknown = Post("/api/events", Paid("43"));
  EXPECT_EQ(unknown.status, 504) << unknown.text;
  EXPECT_EQ(unknown.code(), "outcome_unknown");
  EXPECT_EQ(Sent(Paid("43"))["status"], "duplicate");
  EXPECT_EQ(Runs(), 2u);
  faults_.plan.Arm("Accept", Fault::kUnavailable);
  EXPECT_EQ(Post("/api/events", Paid("44")).code(), "unavailable");
}

TEST_F(EventRoutesTest, EachRunIsNudgedButManyOfOneJobTogether) {
  Listen("bill");
  Listen("ship", Trigger({{"type", "order.sent"}}));
  size_t before = nudges();
  Sent(Paid("a"));
  EXPECT_EQ(nudges() - before, 1u);
  json events = json::array();
  for (int i = 0; i < 10; ++i) events.push_back(Paid(std::to_string(i)));
  before = nudges();
  Post("/api/events", events);
  EXPECT_EQ(nudges() - before, 10u);
  for (int i = 0; i < 11; ++i) events.push_back(Paid("x" + std::to_string(i)));
  events.push_back(Paid("s", {{"type", "order.sent"}}));
  before = nudges();
  Post("/api/events", events);
  EXPECT_EQ(nudges() - before, 2u);
  before = nudges();
  Sent(Paid("none", {{"type", "stock.low"}}));
  EXPECT_EQ(nudges() - before, 0u);
}

TEST_F(EventRoutesTest, ADraftIsTestedWithoutBeingStored) {
  const json event = Paid("42", {{"data", {{"amount", 12}, {"path", "/in/x"}}}});
  const auto draft = [&](json changes) {
    return Test({{"event", event}, {"trigger", Trigger(std::move(changes))}}).at(0);
  };
  const json matched =
      draft({{"parameters", {{"path", "{{event.data.path}}"}, {"n", "{{event.data.amount}}"}}}});
  EXPECT_EQ(matched["result"], "matched");
  EXPECT_EQ(matched["parameters"], json({{"path", "/in/x"}, {"n", 12}}));
  EXPECT_EQ(matched["untrusted"], json({"path"}));
  EXPECT_EQ(matched["job_id"], nullptr);
  EXPECT_EQ(matched["schedule_id"], nullptr);
  EXPECT_EQ(draft({{"filter", "data.amount > 99"}})["result"], "no_match");
  EXPECT_EQ(draft({{"filter", "data.amount > 99"}})["sentence"],
            "Type and source match, but the filter is false.");
  EXPECT_EQ(draft({{"type", "stock.*"}, {"source", "depot"}})["sentence"],
            "The trigger is for events of type stock.* from depot.");
  EXPECT_EQ(draft({{"filter", "data.region == 'eu'"}})["result"], "not_computable");
  const json bad = draft({{"parameters", {{"region", "{{event.data.region}}"}}}});
  EXPECT_EQ(bad["result"], "bad_event");
  EXPECT_NE(bad["sentence"].get<std::string>().find("/parameters/region"), std::string::npos);
  EXPECT_EQ(Listed(), json::array());
  EXPECT_EQ(Get("/api/runs").body()["items"], json::array());
}

TEST_F(EventRoutesTest, ADraftOfAJobIsJudgedByItsRules) {
  Create({{"job_id", "bill"}, {"parameter_rules", {{"amount", {{"type", "integer"}}}}}});
  const json trigger = Trigger({{"parameters", {{"amount", "{{event.data.amount}}"}}}});
  const auto result = [&](const json& amount) {
    return Test({{"event", Paid("1", {{"data", {{"amount", amount}}}})},
                 {"trigger", trigger},
                 {"job_id", "bill"}})
        .at(0);
  };
  EXPECT_EQ(result(3)["result"], "matched");
  EXPECT_EQ(result(3)["job_id"], "bill");
  EXPECT_EQ(result("3")["result"], "bad_event");
  ASSERT_EQ(Post("/api/jobs/bill/pause").status, 200);
  EXPECT_NE(result(3)["sentence"].get<std::string>().find("paused"), std::string::npos);
  const Answer none =
      Post("/api/events/test", {{"event", Paid("1")}, {"trigger", trigger}, {"job_id", "none"}});
  EXPECT_EQ(none.status, 404);
}

TEST_F(EventRoutesTest, AMistakeInATestIsPointedOut) {
  const auto pointer = [&](const json& body) { return Post("/api/events/test", body).pointer(); };
  EXPECT_EQ(pointer(json::object()), "/event");
  EXPECT_EQ(pointer({{"event", {{"id", "1"}}}}), "/event/source");
  EXPECT_EQ(pointer({{"event", Paid("1")}, {"namespace", "No Namespace"}}), "/namespace");
  EXPECT_EQ(pointer({{"event", Paid("1")}, {"job_id", "No Job"}}), "/job_id");
  EXPECT_EQ(pointer({{"event", Paid("1")}, {"triggers", json::array()}}), "/triggers");
  EXPECT_EQ(pointer({{"event", Paid("1")}, {"trigger", {{"kind", "event"}}}}), "/trigger/type");
  EXPECT_EQ(pointer({{"event", Paid("1")}, {"trigger", Trigger({{"filter", "data.n >"}})}}),
            "/trigger/filter");
  EXPECT_EQ(pointer({{"event", Paid("1")},
                     {"trigger", Trigger({{"parameters", {{"p", "{{event.dat}}"}}}})}}),
            "/trigger/parameters/p");
  EXPECT_EQ(pointer({{"event", Paid("1")},
                     {"trigger", {{"kind", "once"}, {"at", "2026-03-01T00:00:00Z"}}}}),
            "/trigger/kind");
}

TEST_F(EventRoutesTest, AnEventIsTestedAgainstAllTriggersOrThoseOfAJob) {
  Listen("bill");
  Listen("ship", Trigger({{"type", "order.sent"}}));
  Listen("other", Trigger(), {{"namespace", "depot"}});
  const json all = Test({{"event", Paid("1")}});
  ASSERT_EQ(all.size(), 2u);
  std::map<std::string, std::string> results;
  for (const json& item : all) results[item["job_id"]] = item["result"];
  EXPECT_EQ(results["bill"], "matched");
  EXPECT_EQ(results["ship"], "no_match");
  EXPECT_EQ(Test({{"event", Paid("1")}, {"job_id", "ship"}}).size(), 1u);
  EXPECT_EQ(Test({{"event", Paid("1")}, {"namespace", "depot"}}).at(0)["job_id"], "other");
  EXPECT_EQ(Runs(), 0u);
}

TEST_F(EventRoutesTest, ThoseThatMatchedAreListedNewestFirst) {
  Listen("bill");
  Listen("ship", Trigger(), {{"namespace", "depot"}});
  const WallTime start = clock_.Wall();
  for (const char* id : {"1", "2", "3"}) {
    Sent(Paid(id, {{"subject", "s"}}));
    clock_.Advance(1s);
  }
  SendTo("depot", Paid("4", {{"type", "order.sent"}, {"source", "depot"}}));
  ASSERT_TRUE(stores_.events
                  .Refuse({.name_space = "depot",
                           .place = "orders/0/17",
                           .type = "order.paid",
                           .problem = "/id is missing"},
                          clock_.Wall() + 1s)
                  .ok());
  const json all = Listed();
  EXPECT_EQ(IdsOf(all), (std::vector<std::string>{"orders/0/17", "4", "3", "2", "1"}));
  EXPECT_EQ(all[0]["outcome"], "refused");
  EXPECT_EQ(all[0]["problem"], "/id is missing");
  EXPECT_EQ(all[0]["starts"], json::array());
  const json& last = all[4];
  EXPECT_EQ(last["namespace"], "default");
  EXPECT_EQ(last["type"], "order.paid");
  EXPECT_EQ(last["source"], "shop");
  EXPECT_EQ(last["subject"], "s");
  EXPECT_EQ(last["outcome"], "started");
  EXPECT_EQ(last["problem"], nullptr);
  EXPECT_EQ(last["accepted_at"], FormatRfc3339(start));
  EXPECT_EQ(last["starts"][0]["job_id"], "bill");

  EXPECT_EQ(Listed("?namespace=depot").size(), 2u);
  EXPECT_EQ(Listed("?namespace=depot&namespace=default").size(), 5u);
  EXPECT_EQ(Listed("?type=order.paid&outcome=started").size(), 3u);
  EXPECT_EQ(Listed("?type=order.*&outcome=started").size(), 4u);
  EXPECT_EQ(Listed("?source=shop").size(), 3u);
  EXPECT_EQ(IdsOf(Listed("?id=2")), std::vector<std::string>{"2"});
  EXPECT_EQ(IdsOf(Listed("?source=shop&since=" + FormatRfc3339(start + 1s) +
                         "&until=" + FormatRfc3339(start + 2s))),
            std::vector<std::string>{"2"});
}

TEST_F(EventRoutesTest, TheListHasPages) {
  Listen("bill");
  for (int i = 0; i < 5; ++i) {
    Sent(Paid(std::to_string(i)));
    if (i % 2 == 0) clock_.Advance(1s);
  }
  std::vector<std::string> ids;
  std::string token;
  do {
    const json page =
        Get("/api/events?page_size=2" + (token.empty() ? "" : "&page_token=" + token)).body();
    for (const std::string& id : IdsOf(page["items"])) ids.push_back(id);
    token = page["next_page_token"].is_string() ? page["next_page_token"] : "";
  } while (!token.empty() && ids.size() < 10);
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(ids, (std::vector<std::string>{"0", "1", "2", "3", "4"}));
  EXPECT_EQ(Get("/api/events?page_token=x").status, 400);
  EXPECT_EQ(Get("/api/events?outcome=lost").pointer(), "?outcome");
  EXPECT_EQ(Get("/api/events?namespace=No+Namespace").pointer(), "?namespace");
  EXPECT_EQ(Get("/api/events?since=yesterday").pointer(), "?since");
}

class EventGateTest : public ApiEnv {};

TEST_F(EventGateTest, NothingIsSentOrListenedToUntilTheUpgradeIsFinished) {
  const Answer sent = Post("/api/events", Paid("42"));
  EXPECT_EQ(sent.status, 409);
  EXPECT_EQ(sent.code(), "upgrade_unfinished");
  EXPECT_EQ(Post("/api/events/test", {{"event", Paid("42")}}).code(), "upgrade_unfinished");
  EXPECT_EQ(Get("/api/events").body()["items"], json::array());
  const json body = JobBody({{"cron_expression", nullptr}, {"schedules", {Trigger()}}});
  EXPECT_EQ(Post("/api/jobs", body).code(), "upgrade_unfinished");
  FinishUpgrade();
  EXPECT_EQ(Post("/api/events", Paid("42")).status, 202);
  EXPECT_EQ(Post("/api/jobs", body).status, 201);
}

}  // namespace
}  // namespace carillon::test
