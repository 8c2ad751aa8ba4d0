// The parts of a run that fans out: its counts, /shards, lists with parts, and the retry of parts.
#include "common/domain/parts/fan_out_places.h"
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class ShardRoutesTest : public ApiEnv {
 protected:
  ShardRoutesTest() {
    AddExecutor("executor-1");
    FinishUpgrade();
  }

  Fence FenceOf(SegmentId segment) {
    return stores_.segments
        .Take({.member = MemberId("scheduler-1"),
               .incarnation = Incarnation("m1"),
               .generation = Generation(1),
               .segments = {segment}})
        ->fence;
  }
  void Begin(const std::string& run_id, std::optional<Places> rendered = {}) {
    const RunRow row = stores_.runs.GetRun(*DecodeRunId(run_id))->row;
    const auto begun = stores_.workflows.BeginParts({{.key = row.key,
                                                      .segment = row.segment,
                                                      .job_no = row.job_no,
                                                      .attempt = row.attempt,
                                                      .def_version = row.def_version},
                                                     std::move(rendered)},
                                                    FenceOf(row.segment), clock_.Wall());
    EXPECT_TRUE(begun.ok() && begun->verdict == ClaimVerdict::kAccepted);
  }
  // The run of a job with three shards, which has begun.
  std::string Begun(json changes = json::object()) {
    changes["shards"] = {{"total", 3}};
    std::string run_id = Execute(Create(changes).value("job_id", ""));
    Begin(run_id);
    return run_id;
  }
  json Shards(const std::string& run_id) { return Get("/api/runs/" + run_id + "/shards").body(); }
  std::string Part(const std::string& run_id, size_t index) {
    return Shards(run_id)["shards"][index].value("run_id", "");
  }
  void EndFire(const std::string& run_id) {
    const RunRow row = stores_.runs.GetRun(*DecodeRunId(run_id))->row;
    const auto ended = stores_.completions.EndFires(
        {{.own = row.key, .segment = row.segment, .job_no = row.job_no}}, FenceOf(row.segment),
        clock_.Wall());
    ASSERT_TRUE(ended.ok()) << ended.error().message;
  }
  // Part 1 fails and the others succeed.
  void Fail(const std::string& run_id) {
    Finish(Part(run_id, 0), {.exit_code = 0});
    Finish(Part(run_id, 1), {.state = RunState::kFailed, .exit_code = 3});
    Finish(Part(run_id, 2), {.exit_code = 0});
    EndFire(run_id);
  }
};

TEST_F(ShardRoutesTest, TheLogIsThatOfTheParts) {
  const std::string run_id = Begun();
  Finish(Part(run_id, 1), {.state = RunState::kFailed, .output = "of part 1"});
  const Answer own = Get("/api/runs/" + run_id + "/logs");
  EXPECT_EQ(own.status, 200);
  EXPECT_EQ(own.text, "");
  EXPECT_EQ(own.header("x-log-in"), "shards");
  const Answer part = Get("/api/runs/" + Part(run_id, 1) + "/logs");
  EXPECT_EQ(part.text, "of part 1");
  EXPECT_EQ(part.header("x-log-in"), "");
  EXPECT_EQ(Get("/api/runs/" + Part(run_id, 0) + "/logs").header("x-log-in"), "");
}

TEST_F(ShardRoutesTest, ARunSaysHowManyOfItsPartsAreInWhichState) {
  const std::string run_id = Begun();
  Finish(Part(run_id, 1), {.state = RunState::kFailed, .exit_code = 3});
  const json run = Get("/api/runs/" + run_id).body();
  EXPECT_EQ(run["state"], "RUNNING");
  EXPECT_EQ(run["shard_total"], 3);
  EXPECT_EQ(run["shards"], (json{{"FAILED", 1}, {"PENDING", 2}}));
  EXPECT_FALSE(run.contains("shard_index"));
  EXPECT_EQ(Get("/api/runs").body()["items"][0]["shards"], run["shards"]);
  const json part = Get("/api/runs/" + Part(run_id, 1)).body();
  EXPECT_EQ(part["kind"], "shard");
  EXPECT_EQ(part["shard_index"], 1);
  EXPECT_EQ(part["shard_total"], 3);
  EXPECT_EQ(part["fan_out_run_id"], run_id);
  EXPECT_FALSE(part.contains("shards"));
}

TEST_F(ShardRoutesTest, ListsByExecutorAndOfPartsShowParts) {
  const std::string run_id = Begun();
  Finish(Part(run_id, 1), {.exit_code = 0});
  EXPECT_EQ(Get("/api/runs?executor_id=executor-1").body()["items"].size(), 1u);
  EXPECT_EQ(Get("/api/runs?kind=shard").body()["items"].size(), 3u);
  EXPECT_EQ(Get("/api/runs").body()["items"].size(), 1u);
}

TEST_F(ShardRoutesTest, AFireOfPartsIsNotGivenToOneExecutor) {
  json changes = json::object();
  changes["shards"] = {{"total", 3}};
  const std::string job_id = Create(changes).value("job_id", "");
  const Answer answer = Post("/api/jobs/" + job_id + "/execute", {{"executor_id", "executor-1"}});
  EXPECT_EQ(answer.status, 400) << answer.text;
}

TEST_F(ShardRoutesTest, ThePartsAreListedByIndex) {
  const std::string run_id = Begun();
  Finish(Part(run_id, 1), {.state = RunState::kFailed, .reason = "exit_code", .exit_code = 3});
  const Answer answer = Get("/api/runs/" + run_id + "/shards");
  ASSERT_EQ(answer.status, 200) << answer.text;
  const json shown = answer.body();
  EXPECT_EQ(shown["run_id"], run_id);
  EXPECT_EQ(shown["state"], "RUNNING");
  EXPECT_EQ(shown["shard_total"], 3);
  ASSERT_EQ(shown["shards"].size(), 3u);
  const json& failed = shown["shards"][1];
  EXPECT_EQ(failed["index"], 1);
  EXPECT_EQ(failed["state"], "FAILED");
  EXPECT_EQ(failed["executor_id"], "executor-1");
  EXPECT_FALSE(failed["ended_at"].is_null());
  EXPECT_EQ(shown["shards"][2]["state"], "PENDING");
  EXPECT_TRUE(shown["shards"][2]["started_at"].is_null());
}

TEST_F(ShardRoutesTest, ARunWithoutPartsHasNoShards) {
  const std::string plain = Execute(Create().value("job_id", ""));
  const std::string part = Part(Begun(), 0);
  for (const std::string& run_id : {plain, part}) {
    const Answer answer = Get("/api/runs/" + run_id + "/shards");
    EXPECT_EQ(answer.status, 422);
    EXPECT_EQ(answer.body()["code"], "no_shards");
  }
  EXPECT_FALSE(Get("/api/runs/" + plain).body().contains("shard_total"));
  const std::string none = EncodeRunId({.fire = clock_.Wall(), .schedule_id = {}});
  EXPECT_EQ(Get("/api/runs/" + none + "/shards").status, 404);
}

TEST_F(ShardRoutesTest, ARunThatEndedBeforeItBeganSaysWhy) {
  json changes = json::object();
  changes["shards"] = {{"total", "{{params.n}}"}};
  changes["parameters"] = {{"n", 3}};
  const std::string job_id = Create(changes).value("job_id", "");
  const std::string zero = Execute(job_id);
  Begin(zero, RenderedPlaces("0", 1'000));
  const Answer none = Get("/api/runs/" + zero + "/shards");
  ASSERT_EQ(none.status, 200) << none.text;
  EXPECT_EQ(none.body()["state"], "COMPLETED");
  EXPECT_EQ(none.body()["shard_total"], 0);
  EXPECT_EQ(none.body()["shards"], json::array());

  clock_.Advance(1s);
  const std::string many = Execute(job_id);
  Begin(many, RenderedPlaces("many", 1'000));
  const Answer bad = Get("/api/runs/" + many + "/shards");
  EXPECT_EQ(bad.status, 422);
  EXPECT_NE(bad.body().value("detail", "").find("it was FAILED before it began, bad_shard_total"),
            std::string::npos)
      << bad.text;
}

// Its job has lost its shards, and its workflow has run it again.
TEST_F(ShardRoutesTest, ARunAtAnExecutorHasNoShardsAnyMore) {
  const std::string run_id = Begun();
  Fail(run_id);
  {
    MutexLock lock(stores_.tables.mu);
    memory::RunEntry own = *stores_.tables.FindRun(*DecodeRunId(run_id));
    own.row.executor = ExecutorId("executor-1");
    own.row.state = RunState::kRunning;
    stores_.tables.PutRun(std::move(own));
  }
  const json run = Get("/api/runs/" + run_id).body();
  EXPECT_EQ(run["executor_id"], "executor-1");
  EXPECT_FALSE(run.contains("shards"));
  EXPECT_FALSE(run.contains("shard_total"));
  EXPECT_FALSE(Get("/api/runs").body()["items"][0].contains("shards"));
  EXPECT_EQ(Get("/api/runs/" + run_id + "/shards").status, 422);
}

TEST_F(ShardRoutesTest, ListsCountThePartsOfOpenRunsAlone) {
  const std::string ended = Begun();
  Fail(ended);
  EXPECT_FALSE(Get("/api/runs").body()["items"][0].contains("shards"));
  EXPECT_EQ(faults_.plan.calls("CountParts"), 0);
  EXPECT_EQ(Get("/api/runs/" + ended).body()["shards"], (json{{"COMPLETED", 2}, {"FAILED", 1}}));
  clock_.Advance(1s);
  Begun();
  clock_.Advance(1s);
  Begun();
  const int before = faults_.plan.calls("CountParts");
  const json items = Get("/api/runs").body()["items"];
  ASSERT_EQ(items.size(), 3u);
  EXPECT_TRUE(items[0].contains("shards"));
  EXPECT_TRUE(items[1].contains("shards"));
  EXPECT_FALSE(items[2].contains("shards"));
  EXPECT_EQ(faults_.plan.calls("CountParts"), before + 1);
}

TEST_F(ShardRoutesTest, ListsHavePartsOnRequest) {
  const std::string run_id = Begun();
  const auto listed = [&](const std::string& query) {
    return Get("/api/runs?" + query).body()["items"].size();
  };
  EXPECT_EQ(listed(""), 1u);
  EXPECT_EQ(listed("parts=true"), 4u);
  EXPECT_EQ(listed("parts=true&kind=shard"), 3u);
  EXPECT_EQ(Get("/api/runs?parts=some").status, 400);
  const std::string job = Get("/api/runs/" + run_id).body().value("job_id", "");
  EXPECT_EQ(Get("/api/jobs/" + job + "/history?parts=true").body()["items"].size(), 4u);
}

TEST_F(ShardRoutesTest, FailedPartsAreRetried) {
  const std::string run_id = Begun();
  Fail(run_id);
  json run = Get("/api/runs/" + run_id).body();
  EXPECT_EQ(run["state"], "FAILED");
  EXPECT_EQ(run["reason"], "shard_failed");
  EXPECT_EQ(run["allowed_actions"], json({"execute", "retry"}));
  const Answer answer = Post("/api/runs/" + run_id + "/retry", {{"shards", "failed"}});
  ASSERT_EQ(answer.status, 202) << answer.text;
  EXPECT_EQ(answer.body()["state"], "RUNNING");
  run = Get("/api/runs/" + run_id).body();
  EXPECT_EQ(run["shards"], (json{{"COMPLETED", 2}, {"PENDING", 1}}));
  EXPECT_EQ(Shards(run_id)["shards"][1]["attempt"], 2);
}

TEST_F(ShardRoutesTest, ChosenPartsAreRetriedAndTheChoiceIsChecked) {
  const std::string run_id = Begun();
  Fail(run_id);
  const std::string path = "/api/runs/" + run_id + "/retry";
  EXPECT_EQ(Post(path, {{"shards", "some"}}).pointer(), "/shards");
  EXPECT_EQ(Post(path, {{"shards", json::array()}}).pointer(), "/shards");
  EXPECT_EQ(Post(path, {{"shards", {0, -1}}}).pointer(), "/shards/1");
  EXPECT_EQ(Post(path, {{"shards", {3}}}).pointer(), "/shards/0");
  for (const json& wrong : {json({0, 1000}), json({0, "1"}), json({0, 1.5}), json({0, nullptr})}) {
    EXPECT_EQ(Post(path, {{"shards", wrong}}).pointer(), "/shards/1") << wrong;
  }
  for (const json& wrong : {json(1), json(true), json::object(), json(std::vector<int>(1001))}) {
    EXPECT_EQ(Post(path, {{"shards", wrong}}).pointer(), "/shards") << wrong.type_name();
  }
  const Answer twice = Post(path, {{"shards", {1, 2, 1}}});
  EXPECT_EQ(twice.status, 400) << twice.text;
  EXPECT_EQ(twice.body()["errors"][0]["code"], "repeated");
  EXPECT_EQ(twice.pointer(), "/shards/2");
  ASSERT_EQ(Post(path, {{"shards", {0, 2}}}).status, 202);
  EXPECT_EQ(Get("/api/runs/" + run_id).body()["shards"], (json{{"FAILED", 1}, {"PENDING", 2}}));
  const std::string plain = Execute(Create().value("job_id", ""));
  Finish(plain, {.state = RunState::kFailed, .exit_code = 1});
  EXPECT_EQ(Post("/api/runs/" + plain + "/retry", {{"shards", "all"}}).status, 409);
}

TEST_F(ShardRoutesTest, ARunThatHadNoShardsSaysThatNoRetryHelps) {
  json changes = json::object();
  changes["shards"] = {{"total", "{{params.n}}"}};
  changes["parameters"] = {{"n", 3}};
  const std::string zero = Execute(Create(changes).value("job_id", ""));
  Begin(zero, RenderedPlaces("0", 1'000));
  for (const json& body :
       {json::object(), json{{"shards", "all"}}, json{{"shards", json::array({0})}}}) {
    const Answer answer = Post("/api/runs/" + zero + "/retry", body);
    EXPECT_EQ(answer.status, 409) << body;
    EXPECT_EQ(answer.code(), "conflict");
    EXPECT_NE(answer.text.find("had no shards when it began"), std::string::npos) << answer.text;
  }
}

TEST_F(ShardRoutesTest, APreviewIsOfNodesAlone) {
  const std::string run_id = Begun();
  const Answer answer =
      Post("/api/runs/" + run_id + "/retry", {{"shards", "all"}, {"dry_run", true}});
  EXPECT_EQ(answer.status, 422) << answer.text;
  EXPECT_EQ(answer.code(), "no_nodes");
  EXPECT_NE(answer.text.find("is not of a workflow: "), std::string::npos) << answer.text;
  EXPECT_NE(answer.text.find("/shards lists its parts"), std::string::npos) << answer.text;
}

TEST_F(ShardRoutesTest, ARunThatHasSucceededRunsNamedPartsAgain) {
  const std::string run_id = Begun();
  for (size_t i = 0; i < 3; ++i) Finish(Part(run_id, i), {.exit_code = 0});
  EndFire(run_id);
  const json run = Get("/api/runs/" + run_id).body();
  EXPECT_EQ(run["state"], "COMPLETED");
  EXPECT_EQ(run["allowed_actions"], json({"execute", "retry"}));
  const std::string path = "/api/runs/" + run_id + "/retry";
  const Answer none = Post(path);
  EXPECT_EQ(none.status, 409) << none.text;
  EXPECT_NE(none.body().value("detail", "").find("send \"shards\": \"all\""), std::string::npos);
  const std::string part = "/api/runs/" + Part(run_id, 0) + "/retry";
  EXPECT_EQ(Post(part).status, 409);
  EXPECT_EQ(Post(part, {{"shards", {1}}}).pointer(), "/shards") << "it is a part itself";
  ASSERT_EQ(Post(path, {{"shards", {1}}}).status, 202);
  EXPECT_EQ(Get("/api/runs/" + run_id).body()["shards"], (json{{"COMPLETED", 2}, {"PENDING", 1}}));
}

TEST_F(ShardRoutesTest, NoRetryIsOfferedForAPartOfAFireThatIsBeingCancelled) {
  const std::string run_id = Begun();
  Finish(Part(run_id, 1), {.state = RunState::kFailed, .exit_code = 3});
  const std::string part = "/api/runs/" + Part(run_id, 1);
  EXPECT_EQ(Get(part).body()["allowed_actions"], json({"execute", "retry"}));
  {
    MutexLock lock(stores_.tables.mu);
    memory::RunEntry own = *stores_.tables.FindRun(*DecodeRunId(run_id));
    own.row.cancel_requested = CancelMode::kGraceful;
    stores_.tables.PutRun(std::move(own));
  }
  EXPECT_EQ(Get(part).body()["allowed_actions"], json({"execute"}));
  EXPECT_EQ(Post(part + "/retry").status, 409);
}

TEST_F(ShardRoutesTest, ARetryNamesTheRunInItsWayAndChangesNothing) {
  const std::string run_id = Begun({{"overlap_policy", "skip"}});
  Fail(run_id);
  const std::string job = Get("/api/runs/" + run_id).body().value("job_id", "");
  clock_.Advance(1s);
  const std::string later = Execute(job);
  const RunRow row = stores_.runs.GetRun(*DecodeRunId(later))->row;
  ASSERT_TRUE(stores_.workflows
                  .BeginParts({{.key = row.key,
                                .segment = row.segment,
                                .job_no = row.job_no,
                                .attempt = row.attempt,
                                .def_version = row.def_version}},
                              FenceOf(row.segment), clock_.Wall())
                  .ok());
  const Answer answer = Post("/api/runs/" + run_id + "/retry", {{"shards", "failed"}});
  ASSERT_EQ(answer.status, 409) << answer.text;
  EXPECT_EQ(answer.body()["code"], "overlap");
  EXPECT_NE(answer.text.find(later), std::string::npos);
  EXPECT_EQ(Get("/api/runs/" + run_id).body()["state"], "FAILED");
}

}  // namespace
}  // namespace carillon::test
