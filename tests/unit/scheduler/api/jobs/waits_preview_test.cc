// The preview of the runs of other jobs for which a run would wait.
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class WaitsPreviewTest : public ApiEnv {
 protected:
  static json Entry(const std::string& job, json window) {
    return {{"job", job}, {"window", std::move(window)}};
  }
  json Preview(json entries, json changes = json::object()) {
    json body = {{"waits_for", std::move(entries)}};
    body.update(changes);
    const Answer answer = Post("/api/waits/preview", body);
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.body();
  }
};

TEST_F(WaitsPreviewTest, NamesTheWindowAndWhatIsMissing) {
  Create({{"job_id", "load"}, {"cron_expression", "0 3 * * *"}});
  const std::string fire = "2000-03-01T09:00:00.000000Z";
  const json shown = Preview(json::array({Entry("load", {{"day", -1}})}),
                             {{"fire_time", fire}, {"time_zone", "Europe/Paris"}});
  EXPECT_EQ(shown["valid"], true) << shown.dump();
  EXPECT_EQ(shown["fire_time"], fire);
  EXPECT_EQ(shown["items"], json::array({{{"job", "load"},
                                          {"in", nullptr},
                                          {"from", "2000-02-28T23:00:00.000000Z"},
                                          {"until", "2000-02-29T22:59:59.999999Z"},
                                          {"ahead_until", nullptr},
                                          {"fire_time", nullptr},
                                          {"run_id", nullptr},
                                          {"state", nullptr},
                                          {"met", false},
                                          {"detail",
                                           "Waits for load, which has no fire in the "
                                           "window."}}}));
}

TEST_F(WaitsPreviewTest, AFireThatIsNotPlannedYetIsNamed) {
  Create({{"job_id", "load"}, {"cron_expression", "0 3 * * *"}});
  const std::string fire = FormatRfc3339(clock_.Wall() + 48h);
  const json shown = Preview(json::array({Entry("load", {{"back_s", 86'400}, {"ahead_s", 60}})}),
                             {{"fire_time", fire}});
  const json& item = shown["items"][0];
  EXPECT_FALSE(item["fire_time"].is_null()) << item.dump();
  EXPECT_EQ(item["ahead_until"], FormatRfc3339(clock_.Wall() + 48h + 60s));
  EXPECT_NE(item.value("detail", "").find("which is not planned yet."), std::string::npos)
      << item.dump();
}

TEST_F(WaitsPreviewTest, SaysWhatAJobWouldBeRefusedFor) {
  Create({{"job_id", "manual"}, {"cron_expression", nullptr}});
  const json shown =
      Preview(json::array({Entry("none", {{"day", 0}}), Entry("manual", {{"day", 0}})}));
  EXPECT_EQ(shown["valid"], false);
  ASSERT_EQ(shown["errors"].size(), 2u) << shown.dump();
  EXPECT_EQ(shown["errors"][0]["code"], "unknown_job");
  EXPECT_EQ(shown["errors"][1]["code"], "never_met");
  EXPECT_EQ(shown["errors"][1]["pointer"], "/waits_for/1/job");
  EXPECT_EQ(shown["items"].size(), 2u);
  EXPECT_EQ(shown["items"][0]["detail"], "Waits for none, which does not exist.");
}

TEST_F(WaitsPreviewTest, WhatCannotBeReadHasNoItems) {
  const auto pointer = [&](json entries, json changes = json::object()) {
    const json shown = Preview(std::move(entries), std::move(changes));
    EXPECT_EQ(shown["valid"], false);
    EXPECT_TRUE(shown["items"].empty());
    return shown["errors"].empty() ? "" : shown["errors"][0].value("pointer", "");
  };
  EXPECT_EQ(pointer(json::array()), "/waits_for");
  EXPECT_EQ(pointer("load"), "/waits_for");
  EXPECT_EQ(pointer(json::array({Entry("load", {{"day", 1}})})), "/waits_for/0/window/day");
  const json entries = json::array({Entry("load", {{"day", 0}})});
  EXPECT_EQ(pointer(entries, {{"time_zone", "Mars/Base"}}), "/time_zone");
  EXPECT_EQ(Post("/api/waits/preview", {{"waits_for", entries}, {"fire_time", "noon"}}).status,
            400);
  EXPECT_EQ(Post("/api/waits/preview", json::object()).status, 400);
}

}  // namespace
}  // namespace carillon::test
