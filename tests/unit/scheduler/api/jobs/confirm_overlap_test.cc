// Runs whose process may still be alive: cancel and manual retry require a confirmation.
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class ConfirmOverlapTest : public ApiEnv {
 protected:
  // A run with on_lost hold that was claimed and then lost.
  std::string Held() {
    const std::string id = Execute(Create({{"on_lost", "hold"}}).value("job_id", ""));
    const RunKey key = *DecodeRunId(id);
    RunRow row = stores_.runs.GetRun(key)->row;
    const Fence fence = stores_.segments
                            .Take({.member = MemberId("scheduler-1"),
                                   .incarnation = Incarnation("m1"),
                                   .generation = Generation(1),
                                   .segments = {row.segment}})
                            ->fence;
    const ClaimRequest claim{.key = key,
                             .segment = row.segment,
                             .job_no = row.job_no,
                             .def_version = row.def_version,
                             .token = {.high = 1, .low = 1},
                             .executor = ExecutorId("executor-1"),
                             .incarnation = Incarnation("i1")};
    EXPECT_TRUE(stores_.firing.Claim({claim}, fence, clock_.Wall()).ok());
    row = stores_.runs.GetRun(key)->row;
    const LostReport lost{key, row.segment, row.job_no, row.attempt, row.claim_token};
    EXPECT_TRUE(stores_.firing.MarkLost({lost}, fence, clock_.Wall()).ok());
    EXPECT_EQ(Get("/api/runs/" + id).body()["state"], "HELD");
    return id;
  }
};

TEST_F(ConfirmOverlapTest, RetryNeedsIt) {
  const std::string path = "/api/runs/" + Held();
  const Answer refused = Post(path + "/retry");
  EXPECT_EQ(refused.code(), "conflict");
  // Only this conflict names it, so that a client asks the user only then.
  EXPECT_EQ(refused.pointer(), "/confirm_overlap");
  EXPECT_EQ(Post(path + "/retry", {{"confirm_overlap", false}}).code(), "conflict");
  EXPECT_EQ(Post(path + "/retry", {{"confirm_overlap", "yes"}}).pointer(), "/confirm_overlap");
  const Answer retried = Post(path + "/retry", {{"confirm_overlap", true}});
  ASSERT_EQ(retried.status, 202) << retried.text;
  EXPECT_EQ(retried.body()["attempt"], 2);
  const Answer waits = Post(path + "/retry");
  EXPECT_EQ(waits.code(), "conflict");
  EXPECT_EQ(waits.pointer(), "none");
}

TEST_F(ConfirmOverlapTest, CancelAsksTheHostUnlessItIsConfirmed) {
  const std::string path = "/api/runs/" + Held();
  EXPECT_EQ(Post(path + "/cancel").body()["cancelled"], 1);
  EXPECT_EQ(Get(path).body()["state"], "HELD");
  EXPECT_EQ(Post(path + "/cancel", {{"confirm_overlap", true}}).body()["cancelled"], 1);
  EXPECT_EQ(Get(path).body()["state"], "CANCELLED");
  EXPECT_EQ(Get(path).body()["reason"], "outcome_unknown");
}

TEST_F(ConfirmOverlapTest, CancelOfAJobTakesItToo) {
  const std::string id = Held();
  const std::string job_id = Get("/api/runs/" + id).body().value("job_id", "");
  EXPECT_EQ(Post("/api/jobs/" + job_id + "/cancel").body()["cancelled"], 1);
  EXPECT_EQ(Get("/api/runs/" + id).body()["state"], "HELD");
  Post("/api/jobs/" + job_id + "/cancel", {{"confirm_overlap", true}});
  EXPECT_EQ(Get("/api/runs/" + id).body()["state"], "CANCELLED");
}

}  // namespace
}  // namespace carillon::test
