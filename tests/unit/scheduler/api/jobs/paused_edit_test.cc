// Edits of a paused job: all requests that replace its definition keep the pause and its reason.
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

using PausedEditTest = ApiEnv;

TEST_F(PausedEditTest, AReplacementResumesOnlyIfItSaysSo) {
  const std::string path = "/api/jobs/" + Create({{"job_id", "a"}}).value("job_id", "");
  const json paused = Post(path + "/pause", {{"reason", "INC-1"}}).body();
  ASSERT_EQ(paused["state"], "PAUSED");
  const auto expect = [&](const char* state, const json& reason, const std::string& door) {
    const json job = Get(path).body();
    EXPECT_EQ(job["state"], state) << door;
    EXPECT_EQ(job["pause_reason"], reason) << door;
  };
  const auto write = [&](const char* method, const json& body) {
    const Answer done = Send(method, path, body.dump(), {{"If-Match", Get(path).header("etag")}});
    ASSERT_EQ(done.status, 200) << method << " " << done.text;
  };
  write("PUT", JobBody({{"priority", 1}}));
  expect("PAUSED", "INC-1", "PUT without enabled");
  write("PATCH", {{"priority", 3}});
  expect("PAUSED", "INC-1", "PATCH");
  const json item = JobBody({{"job_id", "a"}, {"priority", 4}});
  ASSERT_EQ(Send("POST", "/api/apply", json::array({item}).dump()).status, 200);
  expect("PAUSED", "INC-1", "apply");
  const Answer reverted =
      Send("POST", path + "/revert", R"({"version": 1})", {{"If-Match", Get(path).header("etag")}});
  ASSERT_EQ(reverted.status, 200) << reverted.text;
  expect("PAUSED", "INC-1", "revert");
  write("PUT", JobBody({{"enabled", true}}));
  expect("ENABLED", nullptr, "PUT of true");
  write("PUT", JobBody({{"priority", 6}}));
  expect("ENABLED", nullptr, "PUT without enabled of an enabled job");
  write("PUT", JobBody({{"enabled", false}}));
  expect("PAUSED", nullptr, "PUT of false");
}

}  // namespace
}  // namespace carillon::test
