// Jobs that start after other jobs, as the API shows and refuses them.
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

class DependencyRoutesTest : public PeopleEnv {
 protected:
  static json After(const std::string& upstream, const std::string& on = "success") {
    return json::array({{{"kind", "after"}, {"job", upstream}, {"on", on}}});
  }
  // With the schedules of `changes`, or none.
  static json Body(json changes = json::object()) {
    changes["cron_expression"] = nullptr;
    return JobBody(std::move(changes));
  }
  json Make(const std::string& id, json changes = json::object()) {
    changes["job_id"] = id;
    if (!changes.contains("name")) changes["name"] = id;
    const Answer created = Post("/api/jobs", Body(std::move(changes)));
    EXPECT_EQ(created.status, 201) << created.text;
    return created.body();
  }
  Answer Replace(const json& job, json changes) {
    changes["job_id"] = job["job_id"];
    return Send("PUT", "/api/jobs/" + job.value("job_id", ""), Body(std::move(changes)).dump(),
                {{"If-Match", "\"v" + std::to_string(job.value("version", 1)) + "\""}});
  }
  Answer Delete(const std::string& id, const std::string& query = "") {
    return Send("DELETE", "/api/jobs/" + id + query, "", {{"If-Match", "\"v1\""}});
  }
  void ExpectRefused(const Answer& answer, const std::string& code) {
    EXPECT_EQ(answer.status, 422) << answer.text;
    const json body = answer.body();
    EXPECT_EQ(body.value("code", ""), code);
    ASSERT_FALSE(body["errors"].empty());
    EXPECT_EQ(body["errors"][0].value("pointer", ""), "/schedules/0/job");
    EXPECT_EQ(body["errors"][0].value("code", ""), code);
  }
};

TEST_F(DependencyRoutesTest, ShowsBothSides) {
  Make("a", {{"name", "Nightly"}});
  const json b = Make("b", {{"name", "Report"}, {"schedules", After("a", "done")}});
  EXPECT_EQ(b["schedules"][0]["kind"], "after");
  EXPECT_EQ(b["schedules"][0]["job"], "a");
  EXPECT_EQ(b["schedules"][0]["on"], "done");
  EXPECT_TRUE(b["next_fire_time"].is_null());
  const json below = {{"job_id", "b"}, {"job_name", "Report"}, {"kind", "after"}, {"on", "done"}};
  EXPECT_EQ(Get("/api/jobs/a/dependencies").body(),
            json({{"upstream", json::array()}, {"downstream", {below}}, {"hidden", 0}}));
  const json above = {{"job_id", "a"}, {"job_name", "Nightly"}, {"kind", "after"}, {"on", "done"}};
  EXPECT_EQ(Get("/api/jobs/b/dependencies").body(),
            json({{"upstream", {above}}, {"downstream", json::array()}, {"hidden", 0}}));
  EXPECT_EQ(Get("/api/jobs/none/dependencies").status, 404);
  EXPECT_TRUE(Get("/api/jobs/b/next").body()["items"].empty());
}

TEST_F(DependencyRoutesTest, SuccessIsTheDefault) {
  Make("a");
  const json b = Make("b", {{"schedules", {{{"kind", "after"}, {"job", "a"}}}}});
  EXPECT_EQ(b["schedules"][0]["on"], "success");
}

TEST_F(DependencyRoutesTest, RefusesUnknownJobsAndCycles) {
  ExpectRefused(Post("/api/jobs", Body({{"schedules", After("none")}})), "unknown_job");
  const json a = Make("a", {{"name", "nightly"}});
  Make("b", {{"name", "report"}, {"schedules", After("a")}});
  const Answer cycle = Replace(a, {{"name", "nightly"}, {"schedules", After("b")}});
  ExpectRefused(cycle, "cycle");
  EXPECT_NE(cycle.text.find("nightly -> report -> nightly"), std::string::npos) << cycle.text;
  EXPECT_EQ(Post("/api/jobs", Body({{"schedules", {{{"kind", "after"}}}}})).status, 400);
}

TEST_F(DependencyRoutesTest, DeletesAnAwaitedJobOnlyByForce) {
  Make("a");
  Make("b", {{"name", "Report"}, {"schedules", After("a")}});
  const Answer refused = Delete("a");
  EXPECT_EQ(refused.status, 409) << refused.text;
  EXPECT_EQ(refused.body().value("code", ""), "has_dependents");
  EXPECT_EQ(refused.body()["details"], json({{"jobs", {"Report"}}}));
  EXPECT_EQ(Delete("a", "?force=true").status, 204);
  // The other job keeps what it names, and can be edited.
  const Answer edited = Replace({{"job_id", "b"}}, {{"name", "Edited"}, {"schedules", After("a")}});
  EXPECT_EQ(edited.status, 200) << edited.text;
  Make("c", {{"schedules", After("b")}});
  const json above = Get("/api/jobs/b/dependencies").body()["upstream"];
  ASSERT_EQ(above.size(), 1u);
  EXPECT_EQ(above[0]["deleted"], true);
}

TEST_F(DependencyRoutesTest, ApplyTakesAListInAnyOrder) {
  const auto apply = [&](const std::string& query) {
    const std::vector<json> list = {
        Body({{"job_id", "c"}, {"schedules", After("b")}}),
        Body({{"job_id", "b"}, {"schedules", After("a")}}),
        Body({{"job_id", "a"}}),
    };
    const Answer answer = Send("POST", "/api/apply" + query, json(list).dump());
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.body();
  };
  const json dry = apply("?dry_run=true");
  EXPECT_EQ(dry["counts"]["created"], 3) << dry.dump();
  const json made = apply("");
  EXPECT_EQ(made["counts"]["created"], 3) << made.dump();
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(made["items"][i]["index"], i);
  EXPECT_EQ(made["items"][0]["job_id"], "c");
  EXPECT_EQ(apply("")["counts"]["unchanged"], 3);
  EXPECT_EQ(Get("/api/jobs/b/dependencies").body()["downstream"][0]["job_id"], "c");
}

TEST_F(DependencyRoutesTest, PruneDeletesAChainFromItsEnd) {
  const auto prune = [&](const std::string& query) {
    const Answer answer =
        Send("POST", "/api/apply?prune=true&selector=team%3Dx" + query, json::array().dump());
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.body();
  };
  const json labels = {{"team", "x"}};
  Make("a", {{"labels", labels}});
  Make("b", {{"labels", labels}, {"schedules", After("a")}});
  Make("c", {{"labels", labels}, {"schedules", After("b")}});
  Make("kept");
  Make("d", {{"labels", labels}, {"schedules", After("kept")}});
  for (const std::string query : {"&dry_run=true", ""}) {
    const json pruned = prune(query);
    EXPECT_EQ(pruned["counts"]["pruned"], 4) << pruned.dump();
    EXPECT_EQ(pruned["prune_complete"], true);
    std::string order;
    for (const json& item : pruned["items"]) order += item.value("job_id", "");
    EXPECT_EQ(order, "cbad");
  }
}

TEST_F(DependencyRoutesTest, PruneLeavesWhatOtherJobsWaitFor) {
  const json labels = {{"team", "x"}};
  Make("a", {{"labels", labels}});
  const json b = Make("b", {{"schedules", After("a")}});
  Make("c", {{"labels", labels}});
  const auto prune = [&](const std::string& query, const json& list) {
    const Answer answer =
        Send("POST", "/api/apply?prune=true&selector=team%3Dx" + query, list.dump());
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.body();
  };
  const json untied = json::array({Body({{"job_id", "b"}, {"name", "b"}})});
  EXPECT_EQ(prune("&dry_run=true", untied)["counts"]["pruned"], 2);
  for (const std::string query : {"&dry_run=true", ""}) {
    const json pruned = prune(query, json::array());
    ASSERT_EQ(pruned["items"].size(), 2u) << pruned.dump();
    EXPECT_EQ(pruned["items"][0]["error"]["code"], "has_dependents");
    EXPECT_EQ(pruned["items"][1]["result"], "pruned");
    EXPECT_EQ(pruned["prune_complete"], false);
  }
  EXPECT_EQ(prune("", untied)["counts"]["pruned"], 1);
}

TEST_F(DependencyRoutesTest, RunShowsWhatStartedIt) {
  Make("a", {{"name", "Nightly"}});
  Make("b", {{"schedules", After("a")}});
  const std::string run_id = Execute("a");
  EXPECT_TRUE(Get("/api/runs/" + run_id).body()["trigger"].is_null());
  clock_.Advance(1ms);
  Finish(run_id, {.state = RunState::kCompleted});
  std::vector<SegmentId> all;
  const auto segments = stores_.segments.ListSegments();
  for (const SegmentRecord& record : *segments) all.push_back(record.segment);
  const auto open = stores_.completions.ScanCompletions(all, 10);
  ASSERT_EQ(open->size(), 1u);
  const auto taken =
      stores_.segments.Take({MemberId("scheduler-1"), Incarnation("m1"), Generation(1), all});
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  const auto effects = stores_.completions.Apply(*open, taken->fence, clock_.Wall());
  ASSERT_TRUE(effects.ok());
  ASSERT_EQ(effects->at(0).started.size(), 1u);
  const std::string started = EncodeRunId(effects->at(0).started[0].key);
  const json run = Get("/api/runs/" + started).body();
  EXPECT_EQ(run["kind"], "after");
  EXPECT_EQ(run["trigger"], json({{"run_id", run_id},
                                  {"job_id", "a"},
                                  {"job_name", "Nightly"},
                                  {"state", "COMPLETED"},
                                  {"fire_time", run["fire_time"]}}));
  EXPECT_EQ(Get("/api/runs?kind=after").body()["items"].size(), 1u);
}

TEST_F(DependencyRoutesTest, WhyNamesTheJobBefore) {
  Make("a");
  Make("b", {{"schedules", After("a")}});
  clock_.Advance(1h);
  const std::string at = FormatRfc3339(clock_.Wall() - 10min);
  const json why = Get("/api/jobs/b/why?at=" + at).body();
  EXPECT_EQ(why["outcome"], "not_due");
  EXPECT_EQ(why["explanation"],
            "Not started in that minute. The job starts after job a on success.");
}

}  // namespace
}  // namespace carillon::test
