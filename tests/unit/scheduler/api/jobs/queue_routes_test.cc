// The queue of a job, its fields and their errors, and the wait that a queued run shows.
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

class QueueRoutesTest : public PeopleEnv {
 protected:
  // Claims a PENDING run as an executor would.
  ClaimVerdict Claim(const std::string& run_id) {
    const RunKey key = *DecodeRunId(run_id);
    const RunRow row = stores_.runs.GetRun(key)->row;
    const ClaimRequest claim{.key = key,
                             .segment = row.segment,
                             .job_no = row.job_no,
                             .attempt = row.attempt,
                             .def_version = row.def_version,
                             .token = {.high = 2, .low = ++claims_},
                             .executor = ExecutorId("executor-1"),
                             .incarnation = Incarnation("i1"),
                             .overlap = RulesOf(key)};
    const auto claimed = stores_.firing.Claim({claim}, FenceOf(row.segment), clock_.Wall());
    EXPECT_TRUE(claimed.ok());
    return claimed->at(0).verdict;
  }
  // A new run of the job that has been claimed; its id.
  std::string Claimed(const std::string& job_id, ClaimVerdict expected) {
    clock_.Advance(1s);
    const std::string run_id = Execute(job_id);
    EXPECT_EQ(Claim(run_id), expected);
    return run_id;
  }
  json Queue(const std::string& job_id, const std::string& query = "") {
    const Answer answer = Get("/api/jobs/" + job_id + "/queue" + query);
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.body();
  }
  json Waiting(const std::string& run_id) { return Get("/api/runs/" + run_id).body()["waiting"]; }
  static std::vector<std::string> Ids(const json& runs) {
    std::vector<std::string> ids;
    for (const json& run : runs) ids.push_back(run["run_id"]);
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

 private:
  OverlapRules RulesOf(const RunKey& key) {
    return OverlapRulesOf(stores_.jobs.GetJob(stores_.runs.GetRun(key)->job_id)->definition);
  }
  uint64_t claims_ = 0;
};

TEST_F(QueueRoutesTest, ShowsTheHoldersAndTheQueueInTheirOrder) {
  Create({{"job_id", "a"}, {"overlap_policy", "queue_all"}, {"max_running", 2}, {"queue_max", 3}});
  const json none = Queue("a");
  EXPECT_EQ(none["overlap_policy"], "queue_all");
  EXPECT_EQ(none["max_running"], 2);
  EXPECT_EQ(none["queue_max"], 3);
  EXPECT_EQ(none["length"], 0);
  EXPECT_TRUE(none["holders"].empty());
  EXPECT_TRUE(none["queued"].empty());

  std::vector<std::string> holders, queued;
  for (int i = 0; i < 2; ++i) holders.push_back(Claimed("a", ClaimVerdict::kAccepted));
  for (int i = 0; i < 3; ++i) queued.push_back(Claimed("a", ClaimVerdict::kEnqueued));
  const std::string refused = Claimed("a", ClaimVerdict::kSkipped);
  EXPECT_EQ(Get("/api/runs/" + refused).body()["reason"], "queue_full");
  const json full = Queue("a");
  EXPECT_EQ(full["length"], 3);
  EXPECT_EQ(Ids(full["holders"]), holders);
  EXPECT_EQ(Ids(full["queued"]), queued);
}

TEST_F(QueueRoutesTest, RunsLookAsInListsOfRuns) {
  Create({{"job_id", "a"}, {"overlap_policy", "queue_one"}});
  const std::string holder = Claimed("a", ClaimVerdict::kAccepted);
  const std::string queued = Claimed("a", ClaimVerdict::kEnqueued);
  const json queue = Queue("a");
  const json history = Get("/api/jobs/a/history").body()["items"];
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(queue["queued"][0], history[0]);
  EXPECT_EQ(queue["holders"][0], history[1]);
  EXPECT_EQ(queue["queued"][0]["state"], "PENDING");
  EXPECT_TRUE(queue["queued"][0]["due_at"].is_null());
  EXPECT_FALSE(queue["queued"][0]["planned_at"].is_null());
}

TEST_F(QueueRoutesTest, TheLimitAppliesToQueuedRunsOnly) {
  Create({{"job_id", "a"}, {"overlap_policy", "queue_all"}, {"max_running", 2}});
  for (int i = 0; i < 2; ++i) Claimed("a", ClaimVerdict::kAccepted);
  const std::string first = Claimed("a", ClaimVerdict::kEnqueued);
  Claimed("a", ClaimVerdict::kEnqueued);
  const json queue = Queue("a", "?limit=1");
  EXPECT_EQ(queue["holders"].size(), 2u);
  EXPECT_EQ(Ids(queue["queued"]), std::vector<std::string>{first});
  EXPECT_EQ(queue["length"], 2);
  for (const char* bad : {"0", "1001", "x"}) {
    EXPECT_EQ(Get(std::string("/api/jobs/a/queue?limit=") + bad).pointer(), "?limit") << bad;
  }
  EXPECT_EQ(Get("/api/jobs/a/queue?page_size=1").status, 400);
}

TEST_F(QueueRoutesTest, AnUnknownOrDeletedJobHasNone) {
  EXPECT_EQ(Get("/api/jobs/nobody/queue").code(), "not_found");
  Create({{"job_id", "a"}, {"overlap_policy", "queue_all"}});
  ASSERT_EQ(Send("DELETE", "/api/jobs/a", "", {{"If-Match", "*"}}).status, 204);
  EXPECT_EQ(Get("/api/jobs/a/queue").code(), "not_found");
}

TEST_F(QueueRoutesTest, WhoeverMayReadJobsSeesIt) {
  Create({{"job_id", "a"}, {"overlap_policy", "queue_all"}});
  AddUser("vera", "read_only");
  EXPECT_EQ(As(SignIn("vera").access_token, "GET", "/api/jobs/a/queue").status, 200);
  EXPECT_EQ(As("", "GET", "/api/jobs/a/queue").status, 401);
  const std::string starter = Post("/api/tokens", {{"name", "starter"}, {"scopes", {"jobs:run"}}})
                                  .body()
                                  .value("token", "");
  ASSERT_FALSE(starter.empty());
  EXPECT_EQ(As(starter, "GET", "/api/jobs/a/queue").status, 403);
}

TEST_F(QueueRoutesTest, AQueuedRunSaysItsPlace) {
  Create({{"job_id", "a"}, {"overlap_policy", "queue_all"}, {"max_running", 2}});
  Claimed("a", ClaimVerdict::kAccepted);
  const std::string holder = Claimed("a", ClaimVerdict::kAccepted);
  const std::string first = Claimed("a", ClaimVerdict::kEnqueued);
  const WallTime since = clock_.Wall();
  const std::string second = Claimed("a", ClaimVerdict::kEnqueued);
  json waiting = Waiting(first);
  EXPECT_EQ(waiting["code"], "slot");
  EXPECT_EQ(waiting["position"], 1);
  EXPECT_EQ(waiting["length"], 2);
  EXPECT_EQ(waiting["since"], FormatRfc3339(since));
  waiting = Waiting(second);
  EXPECT_EQ(waiting["position"], 2);
  EXPECT_EQ(waiting["detail"],
            "Waits for a slot, 2nd of 2 in the queue of its job; 2 of 2 slots are in use.");
  EXPECT_TRUE(Waiting(holder).is_null());
  ASSERT_EQ(Post("/api/runs/" + first + "/cancel").status, 202);
  EXPECT_TRUE(Waiting(first).is_null());
  EXPECT_EQ(Waiting(second)["position"], 1);
}

TEST_F(QueueRoutesTest, AnAdmittedRunHoldsASlotAndNoLongerWaitsForOne) {
  Create({{"job_id", "a"}, {"overlap_policy", "queue_one"}});
  AddExecutor("executor-1");
  const std::string running = Claimed("a", ClaimVerdict::kAccepted);
  const std::string next = Claimed("a", ClaimVerdict::kEnqueued);
  EXPECT_EQ(Waiting(next)["detail"],
            "Waits for a slot, 1st of 1 in the queue of its job; the only slot is in use.");
  const RunRow row = stores_.runs.GetRun(*DecodeRunId(running))->row;
  const auto ended = stores_.firing.ApplyResults({{.key = row.key,
                                                   .segment = row.segment,
                                                   .job_no = row.job_no,
                                                   .attempt = row.attempt,
                                                   .token = row.claim_token,
                                                   .executor = row.executor,
                                                   .result = {.state = RunState::kCompleted,
                                                              .started = clock_.Wall(),
                                                              .ended = clock_.Wall()}}},
                                                 FenceOf(row.segment), clock_.Wall());
  ASSERT_TRUE(ended.ok());
  ASSERT_TRUE(
      stores_.queues.Admit({row.job_no, row.segment}, FenceOf(row.segment), clock_.Wall()).ok());
  EXPECT_EQ(Waiting(next)["code"], "queued");
  const json queue = Queue("a");
  EXPECT_EQ(Ids(queue["holders"]), std::vector<std::string>{next});
  EXPECT_EQ(queue["length"], 0);
}

TEST_F(QueueRoutesTest, APolicyWithoutALimitHasNoSlots) {
  Create({{"job_id", "a"}, {"overlap_policy", "queue_all"}});
  Claimed("a", ClaimVerdict::kAccepted);
  const std::string queued = Claimed("a", ClaimVerdict::kEnqueued);
  ASSERT_EQ(
      Send("PATCH", "/api/jobs/a", R"({"overlap_policy": "allow"})", {{"If-Match", "*"}}).status,
      200);
  EXPECT_EQ(Waiting(queued)["detail"], "Waits for a slot, 1st of 1 in the queue of its job.");
  EXPECT_TRUE(Queue("a")["holders"].empty());
}

// ---- the fields --------------------------------------------------------------------------------

class OverlapFieldsTest : public ApiEnv {
 protected:
  Answer Try(const json& changes) { return Post("/api/jobs", JobBody(changes)); }
};

TEST_F(OverlapFieldsTest, HaveDefaults) {
  const json job = Create({{"job_id", "a"}});
  EXPECT_EQ(job["overlap_policy"], "allow");
  EXPECT_EQ(job["max_running"], 1);
  EXPECT_EQ(job["queue_max"], 100);
}

TEST_F(OverlapFieldsTest, EveryPolicyIsAccepted) {
  for (const char* policy :
       {"allow", "skip", "queue_one", "queue_all", "cancel_previous", "terminate_previous"}) {
    EXPECT_EQ(Create({{"overlap_policy", policy}})["overlap_policy"], policy);
  }
  const Answer unknown = Try({{"overlap_policy", "queue"}});
  EXPECT_EQ(unknown.status, 400);
  EXPECT_EQ(unknown.pointer(), "/overlap_policy");
}

TEST_F(OverlapFieldsTest, MaxRunningNeedsAPolicyThatLimits) {
  for (const char* policy : {"skip", "queue_one", "queue_all"}) {
    EXPECT_EQ(Create({{"overlap_policy", policy}, {"max_running", 1000}})["max_running"], 1000);
  }
  for (const char* policy : {"allow", "cancel_previous", "terminate_previous"}) {
    const Answer refused = Try({{"overlap_policy", policy}, {"max_running", 2}});
    EXPECT_EQ(refused.status, 400) << policy;
    EXPECT_EQ(refused.pointer(), "/max_running") << policy;
  }
}

TEST_F(OverlapFieldsTest, Bounds) {
  for (const json& bad : {json(0), json(1001), json("2"), json(1.5)}) {
    EXPECT_EQ(Try({{"overlap_policy", "skip"}, {"max_running", bad}}).pointer(), "/max_running");
  }
  for (const json& bad : {json(0), json(10'001), json("2")}) {
    EXPECT_EQ(Try({{"overlap_policy", "queue_all"}, {"queue_max", bad}}).pointer(), "/queue_max");
  }
}

}  // namespace
}  // namespace carillon::test
