// Runs that wait for runs of other jobs, over HTTP: why they wait, which wait, and their release.
#include <algorithm>

#include "tests/unit/scheduler/api/workflows/workflow_env.h"

namespace carillon::test {
namespace {

class ReleaseRoutesTest : public WorkflowEnv {
 protected:
  // The runs of "late" wait for those of "up", which has the same fires.
  ReleaseRoutesTest() {
    FinishUpgrade();
    CreateJob("up", {});
    CreateJob("late", {{.job = JobId("up"), .window = {.day = 0}}});
  }
  void CreateJob(const std::string& id, std::vector<UpstreamWait> waits,
                 std::optional<Duration> every = 10s, const std::string& user = "") {
    JobDefinition job{.name = id, .type = JobType::kNoop, .user_id = user};
    if (every) {
      job.schedules = {{.kind = ScheduleKind::kRate, .every = *every, .start = clock_.Wall()}};
    }
    if (!waits.empty()) job.wait_limit_s = 3'600;
    job.waits_for = std::move(waits);
    const auto created = stores_.jobs.CreateJob(JobId(id), job, {.now = clock_.Wall()});
    ASSERT_TRUE(created.ok()) << created.error().message;
  }
  // Plans the next fire of each job, ten seconds later.
  void Plan() {
    std::vector<SegmentId> all;
    for (uint32_t n = 0; n < 64; ++n) all.push_back(SegmentId(n));
    PlanBatch batch;
    clock_.Advance(10s);
    const auto schedules = stores_.firing.ScanDue(all, clock_.Wall(), 1'000);
    for (const DueSchedule& due : *schedules) {
      const bool waits = (due.run_flags & run_flag::kWaits) != 0;
      batch.runs.push_back({.key = {due.next_fire, due.schedule_id, 0},
                            .job_no = due.job_no,
                            .segment = due.segment,
                            .kind = RunKind::kRate,
                            .due = waits ? kAwaiting : due.next_fire,
                            .def_version = due.job_version});
      batch.advances.push_back({.schedule_id = due.schedule_id,
                                .segment = due.segment,
                                .version = due.version,
                                .expected_next = due.next_fire,
                                .next_fire = due.next_fire + 10s,
                                .calendar_version = due.calendar_version});
    }
    const Fence fence = stores_.segments
                            .Take({.member = MemberId("scheduler-1"),
                                   .incarnation = Incarnation("m1"),
                                   .generation = Generation(1),
                                   .segments = all})
                            ->fence;
    ASSERT_TRUE(stores_.firing.Plan(batch, fence, clock_.Wall()).ok());
  }
  std::vector<std::string> Listed(const std::string& path) {
    const Answer answer = Get(path);
    EXPECT_EQ(answer.status, 200) << answer.text;
    const json page = answer.body();
    std::vector<std::string> ids;
    for (const json& item : page["items"]) ids.push_back(item["run_id"]);
    return ids;
  }
  std::string NewestOf(const std::string& job) {
    const auto runs = Listed("/api/jobs/" + job + "/history");
    return runs.empty() ? "" : runs.front();
  }
  json Shown(const std::string& run) { return Get("/api/runs/" + run).body(); }
  Answer Release(const std::string& run, const json& body = json::object()) {
    return Post("/api/runs/" + run + "/release", body);
  }
};

TEST_F(ReleaseRoutesTest, ARunIsReleasedOnce) {
  Plan();
  const std::string run = NewestOf("late");
  EXPECT_TRUE(Shown(run)["due_at"].is_null());
  EXPECT_EQ(Shown(run)["allowed_actions"], json({"cancel", "execute", "release"}));
  const size_t before = nudges();
  const Answer released = Release(run, {{"reason", "the data is there"}});
  ASSERT_EQ(released.status, 202) << released.text;
  EXPECT_EQ(released.header("location"), "/api/runs/" + run);
  EXPECT_EQ(released.body()["run_id"], run);
  EXPECT_EQ(released.body()["state"], "PENDING");
  EXPECT_EQ(released.body()["due_at"], FormatRfc3339(clock_.Wall()));
  EXPECT_EQ(nudges(), before + 1);
  EXPECT_EQ(Shown(run)["allowed_actions"], json({"cancel", "execute"}));
  const json audit = Get("/api/audit?action=run.release").body()["items"];
  ASSERT_EQ(audit.size(), 1u);
  EXPECT_EQ(audit[0]["object_id"], run);
  EXPECT_EQ(audit[0]["reason"], "the data is there");

  const Answer again = Release(run);
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.code(), "not_waiting");
  EXPECT_EQ(Release(NewestOf("up")).code(), "not_waiting");
  EXPECT_EQ(Release(run, {{"colour", 1}}).status, 400);
  const std::string none = EncodeRunId({.fire = clock_.Wall(), .schedule_id = {}});
  EXPECT_EQ(Release(none).status, 404);
}

TEST_F(ReleaseRoutesTest, ALostReplyIsReadBack) {
  Plan();
  const std::string run = NewestOf("late");
  faults_.plan.Arm("ReleaseRun", Fault::kTimeoutBefore);
  EXPECT_EQ(Release(run).code(), "outcome_unknown");
  faults_.plan.Arm("ReleaseRun", Fault::kTimeoutAfter);
  EXPECT_EQ(Release(run).status, 202);
}

TEST_F(ReleaseRoutesTest, ARetryNamesTheRelease) {
  Plan();
  const Answer retried = Post("/api/runs/" + NewestOf("late") + "/retry");
  EXPECT_EQ(retried.status, 409);
  EXPECT_NE(retried.text.find("waits for runs of other jobs; release it"), std::string::npos);
}

TEST_F(ReleaseRoutesTest, TheRunSaysForWhichItWaits) {
  Plan();
  const std::string run = NewestOf("late");
  const std::string up = NewestOf("up");
  const WallTime fire = DecodeRunId(run)->fire;
  const std::string minute =
      FormatRfc3339(fire).substr(0, 10) + " " + FormatRfc3339(fire).substr(11, 5);
  const std::string begin = "Waits for up of " + minute + " (run " + up + ", ";
  json waiting = Shown(run)["waiting"];
  EXPECT_EQ(waiting["code"], "upstream_run");
  EXPECT_EQ(waiting.value("detail", "").find(begin + "PENDING), until "), 0u) << waiting;
  const json why = Get("/api/jobs/late/why?at=" + FormatRfc3339(fire)).body();
  EXPECT_EQ(why["outcome"], "run");
  EXPECT_EQ(why.value("explanation", "").find("The run is waiting. " + begin), 0u) << why;

  Finish(up, {.state = RunState::kFailed, .exit_code = 1});
  waiting = Shown(run)["waiting"];
  EXPECT_EQ(waiting.value("detail", "").find(begin + "FAILED), until "), 0u) << waiting;

  Plan();  // its runs of today are more now: the newest one counts
  const std::string next = NewestOf("late");
  Finish(NewestOf("up"), {.state = RunState::kCompleted, .exit_code = 0});
  EXPECT_EQ(Shown(next)["waiting"]["detail"],
            "All that it waited for has come; it is about to go on.");
  EXPECT_EQ(Shown(next)["waiting"]["code"], "upstream_run");
}

TEST_F(ReleaseRoutesTest, EachEntryThatIsNotMetIsNamed) {
  CreateJob("never", {}, std::nullopt);
  CreateJob("both", {{.job = JobId("up"), .window = {.day = 0}},
                     {.job = JobId("never"), .window = {.day = -1}}});
  Plan();
  const std::string detail = Shown(NewestOf("both"))["waiting"].value("detail", "");
  EXPECT_EQ(detail.find("Waits for up of "), 0u) << detail;
  EXPECT_NE(detail.find(". Waits for never, which has no fire in the window, until "),
            std::string::npos)
      << detail;
}

TEST_F(ReleaseRoutesTest, TheListsFindThoseThatWait) {
  Plan();
  const std::string first = NewestOf("late");
  Plan();
  const std::string second = NewestOf("late");
  const std::vector<std::string> both = {second, first};
  EXPECT_EQ(Listed("/api/runs?waiting=upstream_run"), both);
  EXPECT_EQ(Listed("/api/jobs/late/history?waiting=upstream_run"), both);
  EXPECT_TRUE(Listed("/api/jobs/up/history?waiting=upstream_run").empty());
  ASSERT_EQ(Release(second).status, 202);
  EXPECT_EQ(Listed("/api/runs?waiting=upstream_run&job_id=late"), std::vector{first});
  EXPECT_EQ(Get("/api/runs?waiting=upstream_run").body()["total"], 1);
  EXPECT_EQ(Get("/api/runs?waiting=slot").pointer(), "?waiting");
}

TEST_F(ReleaseRoutesTest, ManyAreReleasedAtOnce) {
  Plan();
  Plan();
  const json body = {{"action", "release"}, {"filter", {{"waiting", "upstream_run"}}}};
  json dry = body;
  dry["dry_run"] = true;
  EXPECT_EQ(Post("/api/bulk", dry).body()["total"], 2);
  json done = body;
  done["reason"] = "the feed is late today";
  const json released = Post("/api/bulk", done).body();
  EXPECT_EQ(released["done"], 2) << released;
  EXPECT_EQ(released["kind"], "run");
  EXPECT_TRUE(Listed("/api/runs?waiting=upstream_run").empty());
  EXPECT_EQ(Get("/api/audit?action=run.release").body()["items"][0]["reason"],
            "the feed is late today");
  const json late = Post("/api/bulk", {{"action", "release"}, {"ids", {NewestOf("late")}}}).body();
  EXPECT_EQ(late["items"][0]["error"]["code"], "not_waiting");
}

TEST_F(ReleaseRoutesTest, ADryRunNamesThoseThatDoNotWait) {
  Plan();
  const std::string up = NewestOf("up");
  const std::string none = EncodeRunId({.fire = clock_.Wall(), .schedule_id = {}});
  const json body = {
      {"action", "release"}, {"ids", {NewestOf("late"), up, none, "x"}}, {"dry_run", true}};
  const json told = Post("/api/bulk", body).body();
  ASSERT_EQ(told["items"].size(), 4u) << told;
  EXPECT_TRUE(told["items"][0]["error"].is_null()) << told;
  EXPECT_EQ(told["items"][1]["error"].value("code", ""), "not_waiting") << told;
  for (size_t i = 2; i < 4; ++i) {
    EXPECT_EQ(told["items"][i]["error"].value("code", ""), "not_found") << told;
  }
  EXPECT_EQ(Shown(NewestOf("late"))["waiting"]["code"], "upstream_run") << "nothing was done";
}

// The look costs a read of the run alone, not the question why it waits.
TEST_F(ReleaseRoutesTest, ADryRunAsksNotWhyTheyWait) {
  Plan();
  const json body = {{"action", "release"}, {"ids", {NewestOf("late")}}, {"dry_run", true}};
  const int before = faults_.plan.calls("ReadUpstreamRuns");
  EXPECT_EQ(Post("/api/bulk", body).status, 200);
  EXPECT_EQ(faults_.plan.calls("ReadUpstreamRuns"), before);
}

TEST_F(ReleaseRoutesTest, ANodeWaitsForItsOtherNodesAfterwards) {
  CreateJob("gate", {{.job = JobId("up"), .window = {.day = 0}}}, std::nullopt);
  MakeJob("load");
  MakeWorkflow("sales", json::parse(R"([{"id": "load", "job": "load"},
                                        {"id": "gate", "job": "gate", "after": ["load"]}])"));
  const std::string run = Begin("sales");
  EXPECT_EQ(Node(run, "load")["awaiting"], false);
  const json gate = Node(run, "gate");
  EXPECT_EQ(gate["awaiting"], true);
  EXPECT_EQ(gate["blocked"], true);
  const auto allows = [](const json& shown, const char* action) {
    const json& actions = shown["allowed_actions"];
    return std::find(actions.begin(), actions.end(), action) != actions.end();
  };
  EXPECT_TRUE(allows(gate, "release"));
  EXPECT_FALSE(allows(Node(run, "load"), "release"));
  const std::string id = gate.value("run_id", "");
  EXPECT_TRUE(allows(Shown(id), "release"));
  EXPECT_EQ(Shown(id)["waiting"]["code"], "upstream_run");
  ASSERT_EQ(Release(id).status, 202);
  EXPECT_EQ(Node(run, "gate")["awaiting"], false);
  EXPECT_EQ(Node(run, "gate")["blocked"], true);
  EXPECT_EQ(Shown(id)["waiting"]["code"], "upstream");
  End(run, "load", RunState::kCompleted, 0);
  EXPECT_EQ(Node(run, "gate")["blocked"], false);
}

TEST_F(ReleaseRoutesTest, ANodeNeedsThePermissionForItsWorkflow) {
  for (const char* name : {"ann", "bob"}) AddUser(name, "user");
  CreateJob("gate", {{.job = JobId("up"), .window = {.day = 0}}}, std::nullopt, "user-ann");
  MakeWorkflow("sales", json::parse(R"([{"id": "gate", "job": "gate"}])"));
  const std::string id = Node(Begin("sales"), "gate").value("run_id", "");
  const auto release = [&](const char* name) {
    return As(SignIn(name).access_token, "POST", "/api/runs/" + id + "/release", "{}");
  };
  EXPECT_EQ(release("bob").status, 403);
  EXPECT_EQ(release("ann").code(), "not_owner");
  EXPECT_EQ(Shown(id)["waiting"]["code"], "upstream_run");
}

class OldReleaseRoutesTest : public ApiEnv {};

TEST_F(OldReleaseRoutesTest, ABulkReleaseComesWithTheUpgrade) {
  const Answer early =
      Post("/api/bulk", {{"action", "release"}, {"filter", {{"waiting", "upstream_run"}}}});
  EXPECT_EQ(early.status, 409);
  EXPECT_EQ(early.code(), "upgrade_unfinished");
}

}  // namespace
}  // namespace carillon::test
