// If-Match: * at every route that takes it: another write in between is no reason to refuse.
#include <utility>

#include "scheduler/api/http/request_parts.h"
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

class AnyVersionTest : public PeopleEnv {
 protected:
  AnyVersionTest() {
    AddExecutor("executor-1");
    Create({{"job_id", "a"}});
    EXPECT_EQ(Patch("/api/jobs/a", {{"priority", 1}}, "*").status, 200);
    EXPECT_EQ(Post("/api/secrets", {{"name", "db"}, {"value", "a long enough value"}}).status, 201);
    AddUser("anna", "user");
  }

  Answer Patch(const std::string& path, const json& changes, const std::string& tag) {
    return Send("PATCH", path, changes.dump(), {{"If-Match", tag}});
  }

  // The operation of the store, and the request that calls it.
  struct Case {
    const char* operation;
    const char* method;
    std::string path;
    json body;
  };
  std::vector<Case> Cases() {
    return {
        {"ReplaceJob", "PATCH", "/api/jobs/a", {{"priority", 7}}},
        {"ReplaceJob", "PUT", "/api/jobs/a", JobBody({{"priority", 8}})},
        {"ReplaceJob", "POST", "/api/jobs/a/revert", {{"version", 1}}},
        {"SetExecutorLabels", "PATCH", "/api/executors/executor-1", {{"labels", {{"zone", "a"}}}}},
        {"UpdateSecret", "PUT", "/api/secrets/db", {{"description", "of the ledger"}}},
        {"UpdateUser", "PATCH", "/api/users/user-anna", {{"display_name", "Anna"}}},
        {"WriteSettings", "PUT", "/api/system/config", {{"settings", {{"retention_days", "31"}}}}},
        {"DeleteUser", "DELETE", "/api/users/user-anna", nullptr},
        {"DeleteSecret", "DELETE", "/api/secrets/db", nullptr},
        {"DeleteJob", "DELETE", "/api/jobs/a", nullptr}};
  }
  Answer Try(const Case& one, const std::string& tag) {
    return Send(one.method, one.path, one.body.is_null() ? "" : one.body.dump(),
                {{"If-Match", tag}});
  }
};

TEST_F(AnyVersionTest, AWriteInBetweenIsNoReasonToRefuse) {
  for (const Case& one : Cases()) {
    SCOPED_TRACE(std::string(one.method) + " " + one.path);
    const std::string tag =
        Get(one.path == "/api/jobs/a/revert" ? "/api/jobs/a" : one.path).header("etag");
    ASSERT_FALSE(tag.empty());
    faults_.plan.Arm(one.operation, ErrorCode::kConflict);
    EXPECT_EQ(Try(one, tag).status, 412) << "that version is gone";
    faults_.plan.Arm(one.operation, ErrorCode::kConflict, scheduler::kAnyVersionTries - 1);
    const Answer done = Try(one, "*");
    EXPECT_EQ(done.status, std::string(one.method) == "DELETE" ? 204 : 200) << done.text;
  }
}

TEST_F(AnyVersionTest, TriesEnd) {
  faults_.plan.Arm("ReplaceJob", ErrorCode::kConflict, scheduler::kAnyVersionTries);
  EXPECT_EQ(Patch("/api/jobs/a", {{"priority", 7}}, "*").status, 412);
  EXPECT_EQ(Patch("/api/jobs/a", {{"priority", 7}}, "*").status, 200);
}

// A patch is applied to what the other request has left.
TEST_F(AnyVersionTest, NoPatchUndoesAnother) {
  bool once = true;
  faults_.plan.OnCall([&](const std::string& operation) {
    if (operation != "ReplaceJob" || !std::exchange(once, false)) return;
    const StoredJob job = *stores_.jobs.GetJob(JobId("a"));
    JobDefinition changed = job.definition;
    changed.description = "by another";
    EXPECT_TRUE(
        stores_.jobs.ReplaceJob(job.job_id, job.version, changed, {.now = clock_.Wall()}).ok());
  });
  EXPECT_EQ(Patch("/api/jobs/a", {{"priority", 7}}, "*").status, 200);
  faults_.plan.OnCall(nullptr);
  const json job = Get("/api/jobs/a").body();
  EXPECT_EQ(job["priority"], 7);
  EXPECT_EQ(job["description"], "by another");
}

}  // namespace
}  // namespace carillon::test
