// The field presume_dead_s of handler jobs and of tasks.
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class PresumeDeadTest : public ApiEnv {
 protected:
  static json Handler(json more) {
    json body = {{"job_id", "h"}, {"name", "h"}, {"type", "handler"}, {"handler", "shop/close"}};
    body.update(more);
    return body;
  }
  static std::string Pointer(const Answer& answer) {
    return answer.status == 400 ? answer.body()["errors"][0]["pointer"] : json(answer.text);
  }
};

TEST_F(PresumeDeadTest, WaitsForTheUpgradeAndIsReadBack) {
  const json body = Handler({{"presume_dead_s", 600}});
  EXPECT_EQ(Post("/api/jobs", body).body()["code"], "upgrade_unfinished");
  FinishUpgrade();
  const Answer created = Post("/api/jobs", body);
  ASSERT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.body()["presume_dead_s"], 600);
  const Answer read = Get("/api/jobs/h");
  EXPECT_EQ(read.body()["presume_dead_s"], 600);
  const Answer back = Send("PUT", "/api/jobs/h", read.text, {{"If-Match", read.header("etag")}});
  ASSERT_EQ(back.status, 200) << back.text;
  EXPECT_EQ(back.body()["presume_dead_s"], 600);
}

TEST_F(PresumeDeadTest, AnEditToZeroTakesItBackAndIsInTheHistory) {
  FinishUpgrade();
  ASSERT_EQ(Post("/api/jobs", Handler({{"presume_dead_s", 600}})).status, 201);
  const Answer patched =
      Send("PATCH", "/api/jobs/h", json({{"presume_dead_s", 0}}).dump(), {{"If-Match", "\"v1\""}});
  ASSERT_EQ(patched.status, 200) << patched.text;
  EXPECT_FALSE(patched.body().contains("presume_dead_s"));
  const json changes = Get("/api/jobs/h/versions/2").body()["changes"];
  ASSERT_EQ(changes.size(), 1u) << changes;
  EXPECT_EQ(changes[0]["field"], "presume_dead_s");
  EXPECT_EQ(changes[0]["before"], 600);
}

TEST_F(PresumeDeadTest, OtherJobsAreToldWhereItIsWrong) {
  FinishUpgrade();
  for (const json& wrong :
       {Handler({{"presume_dead_s", -1}}), Handler({{"presume_dead_s", 86'401}}),
        Handler({{"presume_dead_s", "1h"}}), Handler({{"presume_dead_s", 60}, {"on_lost", "hold"}}),
        JobBody({{"job_id", "s"}, {"presume_dead_s", 60}})}) {
    EXPECT_EQ(Pointer(Post("/api/jobs", wrong)), "/presume_dead_s") << wrong;
  }
}

TEST_F(PresumeDeadTest, ATaskHasItToo) {
  FinishUpgrade();
  const auto write = [&](json task) {
    return Post("/api/jobs", {{"job_id", "w"},
                              {"name", "w"},
                              {"type", "workflow"},
                              {"workflow", {{"nodes", {{{"id", "a"}, {"task", task}}}}}}});
  };
  EXPECT_EQ(Pointer(write({{"command", "true"}, {"presume_dead_s", 60}})),
            "/workflow/nodes/0/task/presume_dead_s");
  const Answer created =
      write({{"type", "handler"}, {"handler", "shop/close"}, {"presume_dead_s", 60}});
  ASSERT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.body()["workflow"]["nodes"][0]["task"]["presume_dead_s"], 60);
}

}  // namespace
}  // namespace carillon::test
