#include "cli/jobs/flags/event_flags.h"

#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

json Schedules(const std::vector<std::string>& entries) {
  json schedules = json::array();
  const Status added = AddEventSchedules({.events = entries}, schedules);
  return added.ok() ? schedules : json(added.error().message);
}

TEST(EventFlagsTest, AnEntryIsASchedule) {
  EXPECT_EQ(Schedules({}), json::array());
  EXPECT_EQ(Schedules({"order.*", "file,source=sftp"}),
            (json{{{"kind", "event"}, {"type", "order.*"}},
                  {{"kind", "event"}, {"type", "file"}, {"source", "sftp"}}}));
}

TEST(EventFlagsTest, TheFilterIsTheRestAndTheSourceMayHaveCommas) {
  EXPECT_EQ(Schedules({"a,filter=data.n in (1, 2) and data.t == ',source=x'"})[0],
            (json{{"kind", "event"},
                  {"type", "a"},
                  {"filter", "data.n in (1, 2) and data.t == ',source=x'"}}));
  EXPECT_EQ(
      Schedules({"a,source=/x,y=1,filter=data.n > 9"})[0],
      (json{{"kind", "event"}, {"type", "a"}, {"source", "/x,y=1"}, {"filter", "data.n > 9"}}));
}

TEST(EventFlagsTest, MistakesNameTheEntry) {
  const std::string type = "must begin with a type of events, e.g. order.paid or order.*";
  const std::string order = "only ,source=SOURCE and then ,filter=FILTER may follow the type";
  for (const auto& [wrong, why] : std::vector<std::pair<std::string, std::string>>{
           {"", type},
           {",source=a", type},
           {"source=a", type},
           {"filter=data.n > 9", type},
           {"a,", order},
           {"a,b", order},
           {"a,sources=b", order},
           {"a,source=", "source has no value"},
           {"a,source=,filter=x", "source has no value"},
           {"a,filter=", "filter has no value"},
           {"a,source=b,filter=", "filter has no value"}}) {
    EXPECT_EQ(Schedules({"good", wrong}), "--on-event " + wrong + ": " + why);
  }
}

class OnEventTest : public CliTest {};

TEST_F(OnEventTest, AJobIsCreatedWithIt) {
  Answer("POST /api/jobs", JobShown("a"), 201);
  ASSERT_EQ(Run({"job", "create", "--name", "A", "--command", "true", "--on-event",
                 "order.*,source=shop", "--cron", "0 3 * * *"}),
            0)
      << err();
  EXPECT_EQ(SentBody(0)["schedules"],
            (json{{{"kind", "cron"}, {"cron_expression", "0 3 * * *"}},
                  {{"kind", "event"}, {"type", "order.*"}, {"source", "shop"}}}));
  EXPECT_EQ(Run({"job", "create", "--name", "A", "--command", "true", "--on-event", "a,b"}), 2);
  EXPECT_EQ(Run({"job", "create", "--name", "A", "--manual", "--on-event", "a"}), 2);
  EXPECT_EQ(server_.requests.size(), 1u);
}

TEST_F(OnEventTest, AListShowsWhatStartsTheJob) {
  json job = JobShown("a");
  job["schedules"] = {{{"kind", "event"}, {"type", "order.*"}, {"source", nullptr}}};
  json other = JobShown("b");
  other["schedules"] = {{{"kind", "event"}, {"type", "file"}, {"source", "sftp"}}, {}};
  Answer("GET /api/jobs?page_size=50", {{"items", {job, other}}, {"next_page_token", nullptr}});
  ASSERT_EQ(Run({"job", "list"}), 0) << err();
  EXPECT_NE(out().find("on event order.* "), std::string::npos) << out();
  EXPECT_NE(out().find("on event file from sftp +1"), std::string::npos) << out();
}

}  // namespace
}  // namespace carillon::cli
