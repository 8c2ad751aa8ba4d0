// Jobs with triggers: written, edited, applied, reverted and previewed.
#include "tests/unit/scheduler/api/events/event_env.h"

namespace carillon::test {
namespace {

class TriggerEditsTest : public EventEnv {};

TEST_F(TriggerEditsTest, ANamespaceHasRoomForSoManyTriggers) {
  AddTriggers("full", kTriggersPerNamespace - 1, "order.*");
  const json place = {{"namespace", "full"}};
  Listen("last", Trigger(), place);
  const json more = {{"name", "more"},
                     {"command", "true"},
                     {"namespace", "full"},
                     {"schedules", {{{"kind", "cron"}, {"cron_expression", "@daily"}}, Trigger()}}};
  const Answer refused = Post("/api/jobs", more);
  EXPECT_EQ(refused.status, 422) << refused.text;
  EXPECT_EQ(refused.code(), "too_many_triggers");
  EXPECT_EQ(refused.pointer(), "/schedules/1");
  const Answer edited =
      Send("PATCH", "/api/jobs/last", R"({"description":"x"})", {{"If-Match", "*"}});
  EXPECT_EQ(edited.status, 200) << edited.text;
  const json two = {{"schedules", {Trigger(), Trigger({{"type", "stock.*"}})}}};
  EXPECT_EQ(Send("PATCH", "/api/jobs/last", two.dump(), {{"If-Match", "*"}}).code(),
            "too_many_triggers");
  Listen("elsewhere");
  EXPECT_EQ(Send("PATCH", "/api/jobs/elsewhere", place.dump(), {{"If-Match", "*"}}).code(),
            "too_many_triggers");
}

TEST_F(TriggerEditsTest, JobsOfOneListShareTheRoom) {
  AddTriggers("full", kTriggersPerNamespace - 1, "order.*");
  json list = json::array();
  for (const char* id : {"a", "b"}) {
    list.push_back({{"job_id", id},
                    {"name", id},
                    {"command", "true"},
                    {"namespace", "full"},
                    {"schedules", {Trigger()}}});
  }
  for (const char* query : {"?dry_run=true", ""}) {
    const json items = Post(std::string("/api/apply") + query, list).body()["items"];
    EXPECT_EQ(items[0]["result"], "created") << query;
    EXPECT_EQ(items[1]["result"], "error") << query;
    EXPECT_EQ(items[1]["error"]["code"], "too_many_triggers") << query;
  }
}

TEST_F(TriggerEditsTest, ATriggerIsWrittenEditedAndReverted) {
  const json trigger = Trigger({{"source", "shop"}, {"filter", "data.n > 1"}});
  const json made = Listen("bill", trigger);
  json shown = made["schedules"][0];
  shown.erase("schedule_id");
  EXPECT_EQ(shown, trigger);
  EXPECT_EQ(made["next_fire_time"], nullptr);
  EXPECT_FALSE(made.contains("warnings")) << made;
  const json edit = {{"schedules", {Trigger({{"filter", "data.n > 2"}})}}};
  ASSERT_EQ(Send("PATCH", "/api/jobs/bill", edit.dump(), {{"If-Match", "*"}}).status, 200);
  EXPECT_EQ(Sent(Paid("1", {{"data", {{"n", 2}}}}))["status"], "no_match");
  const Answer reverted =
      Send("POST", "/api/jobs/bill/revert", R"({"version":1})", {{"If-Match", "*"}});
  ASSERT_EQ(reverted.status, 200) << reverted.text;
  EXPECT_EQ(Sent(Paid("2", {{"data", {{"n", 2}}}}))["status"], "started");
  const json bad = {{"schedules", {Trigger({{"filter", "data.n >"}})}}};
  const Answer refused = Send("PATCH", "/api/jobs/bill", bad.dump(), {{"If-Match", "*"}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.pointer(), "/schedules/0/filter");
}

TEST_F(TriggerEditsTest, TextOfAnEventIsRefusedInACommand) {
  const json body =
      JobBody({{"cron_expression", nullptr},
               {"command", "echo {{params.who}}"},
               {"schedules", {Trigger({{"parameters", {{"who", "{{event.data.who}}"}}}})}}});
  const Answer refused = Post("/api/jobs", body);
  EXPECT_EQ(refused.status, 400) << refused.text;
  EXPECT_EQ(refused.pointer(), "/schedules/0/parameters/who");
}

TEST_F(TriggerEditsTest, APreviewSaysWhatATriggerWaitsFor) {
  const json preview =
      Post("/api/schedules/preview", {{"schedules", {Trigger({{"source", "shop"}})}}}).body();
  EXPECT_EQ(preview["valid"], true) << preview;
  EXPECT_EQ(preview["items"], json::array());
  EXPECT_EQ(preview["warnings"], json::array());
  EXPECT_EQ(preview["cron_expressions"], json({nullptr}));
  ASSERT_EQ(preview["explanations"].size(), 1u);
  EXPECT_NE(preview["explanations"].dump().find("begins with order. from shop"), std::string::npos)
      << preview;
}

}  // namespace
}  // namespace carillon::test
