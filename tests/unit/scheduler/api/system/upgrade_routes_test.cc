// An upgrade as the API shows and finishes it, and the fields of a job that are off until then.
#include <array>

#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

constexpr const char* kUpgradePath = "/api/system/upgrade";
constexpr const char* kFinish = "/api/system/upgrade/finish";

constexpr std::array kMadeUp = {
    scheduler::NewField{"command", kFirstSchema,
                        [](const JobDefinition& job) { return !job.command.empty(); }},
    scheduler::NewField{"labels", 2, [](const JobDefinition& job) { return !job.labels.empty(); }}};

// The store of a cluster in which another member was upgraded.
class UpgradeRoutesTest : public ApiEnv {
 protected:
  UpgradeRoutesTest() {
    new_fields_ = kMadeUp;
    Serve("");
    Store({.known = 2, .applied = 2, .finished = 1});
    status_.others = {{.id = MemberId("scheduler-2"), .version = "0.2.0", .schema = 2}};
  }
  void Store(const SchemaLevels& levels) {
    MutexLock lock(stores_.tables.mu);
    stores_.tables.schema = levels;
  }
  void Join(const char* id, int schema) {
    EXPECT_TRUE(
        coordinator_->Join({.id = MemberId(id), .incarnation = Incarnation("i1"), .schema = schema})
            .ok());
  }
  void Look(Duration passed = scheduler::UpgradeWatch::kLookEvery) {
    clock_.Advance(passed);
    upgrade_.Step(clock_.Steady());
  }
  Answer Patch(const json& changes) {
    return Send("PATCH", "/api/jobs/a", changes.dump(), {{"If-Match", "*"}});
  }
};

TEST_F(UpgradeRoutesTest, MembersAreShownWithTheirSchemaAndWhatIsOff) {
  EXPECT_EQ(Get(kUpgradePath).body()["schema"], json(nullptr)) << "before the store has answered";
  Look();
  const json upgrade = Get(kUpgradePath).body();
  EXPECT_EQ(upgrade["schema"], 2);
  EXPECT_EQ(upgrade["finished_schema"], 1);
  EXPECT_EQ(upgrade["finished"], false);
  EXPECT_EQ(upgrade["members"][0]["schema"], 1);
  EXPECT_EQ(upgrade["members"][0]["upgraded"], false);
  EXPECT_EQ(upgrade["members"][1]["upgraded"], true);
  EXPECT_EQ(upgrade["off_until_finish"], json::parse(R"([{"field": "labels", "schema": 2}])"));
}

TEST_F(UpgradeRoutesTest, MemberOfThePreviousVersionStopsTheFinish) {
  Join("scheduler-1", 1);
  Look();
  const Answer started = Post(kFinish, {{"reason", "all are new"}});
  EXPECT_EQ(started.status, 202);
  EXPECT_EQ(started.body()["finishing"], true);
  Look();
  const json failed = Get(kUpgradePath).body();
  EXPECT_EQ(failed["finishing"], false);
  EXPECT_NE(failed["problem"].get<std::string>().find("scheduler-1"), std::string::npos);
  Store({.known = 2, .applied = 2, .finished = 2});  // by another member
  Look();
  EXPECT_EQ(Get(kUpgradePath).body()["problem"], json(nullptr));
}

TEST_F(UpgradeRoutesTest, NewFieldIsRefusedUntilTheFinish) {
  Join("scheduler-1", 2);
  Look();
  Create({{"job_id", "a"}});
  const json labels = {{"labels", {{"team", "x"}}}};
  const Answer refused = Patch(labels);
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.code(), "upgrade_unfinished");
  EXPECT_EQ(refused.pointer(), "/labels");
  EXPECT_NE(refused.body()["detail"].get<std::string>().find("carillon system upgrade finish"),
            std::string::npos);
  EXPECT_EQ(Post("/api/jobs", JobBody(labels)).code(), "upgrade_unfinished");
  const json applied = Post("/api/apply", json::array({JobBody(labels)})).body();
  EXPECT_EQ(applied["items"][0]["error"]["code"], "upgrade_unfinished");

  EXPECT_EQ(Post(kFinish).status, 202);
  Look();
  EXPECT_EQ(Patch(labels).code(), "upgrade_unfinished") << "the members are looked at once more";
  Look(scheduler::UpgradeWatch::kSecondLook);
  EXPECT_EQ(Patch(labels).status, 200);
  EXPECT_EQ(Get(kUpgradePath).body()["off_until_finish"], json::array());
}

TEST_F(UpgradeRoutesTest, FinishedUpgradeIsNotFinishedAgain) {
  Store({.known = 2, .applied = 2, .finished = 2});
  Look();
  const Answer answer = Post(kFinish);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body()["finished"], true);
}

}  // namespace
}  // namespace carillon::test
