// The checkpoint and the progress of a run over the API.
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class CheckpointRoutesTest : public ApiEnv {
 protected:
  // Claims the run, and saves `checkpoint` under the claim.
  void Save(const std::string& id, const std::string& checkpoint) {
    const RunRow row = stores_.runs.GetRun(*DecodeRunId(id))->row;
    const Fence fence = stores_.segments
                            .Take({.member = MemberId("scheduler-1"),
                                   .incarnation = Incarnation("m1"),
                                   .generation = Generation(1),
                                   .segments = {row.segment}})
                            ->fence;
    const ClaimToken token{.high = 1, .low = 1};
    ASSERT_TRUE(stores_.firing
                    .Claim({{.key = row.key,
                             .segment = row.segment,
                             .job_no = row.job_no,
                             .def_version = row.def_version,
                             .token = token,
                             .executor = ExecutorId("executor-1"),
                             .incarnation = Incarnation("i1")}},
                           fence, clock_.Wall())
                    .ok());
    const RunSave save{.key = row.key,
                       .segment = row.segment,
                       .job_no = row.job_no,
                       .token = token,
                       .seq = 1,
                       .progress = RunProgress{42, "half"},
                       .checkpoint = checkpoint};
    const auto verdicts = stores_.checkpoints.Save({save}, fence, clock_.Wall());
    ASSERT_TRUE(verdicts.ok());
    EXPECT_EQ(verdicts->at(0), SaveVerdict::kKept);
  }
};

TEST_F(CheckpointRoutesTest, BytesComeAsTheyAreAndAreNotShown) {
  const std::string id = Execute(Create().value("job_id", ""));
  const std::string path = "/api/runs/" + id + "/checkpoint";
  EXPECT_EQ(Get(path).status, 404);
  const std::string bytes("<b>\0\n", 5);
  Save(id, bytes);
  const Answer got = Get(path);
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.text, bytes);
  EXPECT_EQ(got.header("content-type"), "application/octet-stream");
  EXPECT_EQ(got.header("x-content-type-options"), "nosniff");
  EXPECT_EQ(got.header("content-disposition"), "attachment; filename=\"checkpoint\"");
  const json run = Get("/api/runs/" + id).body();
  EXPECT_EQ(run["progress"]["percent"], 42);
  EXPECT_EQ(run["checkpoint"]["size"], 5);
  EXPECT_EQ(run["checkpoint"]["attempt"], 1);
}

TEST_F(CheckpointRoutesTest, UnknownRunsAndParametersAreRefused) {
  const std::string id = Execute(Create().value("job_id", ""));
  EXPECT_EQ(Get("/api/runs/nothing/checkpoint").status, 400);
  EXPECT_EQ(Get("/api/runs/" + id + "/checkpoint?attempt=1").status, 400);
}

}  // namespace
}  // namespace carillon::test
