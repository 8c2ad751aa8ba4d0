// Only administrators write jobs that run as another user.
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

const HttpHeaders kAnyVersion = {{"If-Match", "*"}};

class RunAsTest : public PeopleEnv {
 protected:
  RunAsTest() {
    AddUser("anna", "user");
    anna_ = SignIn("anna");
  }
  Answer CreateAs(const SignedIn& who, const json& job) {
    return As(who.access_token, "POST", "/api/jobs", job.dump());
  }
  Answer Patch(const std::string& id, const json& changes) {
    return As(anna_.access_token, "PATCH", "/api/jobs/" + id, changes.dump(), kAnyVersion);
  }
  static json Job() { return {{"name", "n"}, {"command", "id"}, {"run_as", "alice"}}; }

  SignedIn anna_;
};

TEST_F(RunAsTest, AUserCannotCreateSuchAJob) {
  const Answer refused = CreateAs(anna_, Job());
  EXPECT_EQ(refused.status, 403) << refused.text;
  EXPECT_EQ(refused.code(), "run_as_forbidden");
  EXPECT_EQ(refused.body()["errors"][0]["pointer"], "/run_as");
  json plain = Job();
  plain.erase("run_as");
  const Answer created = CreateAs(anna_, plain);
  ASSERT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(Patch(created.body()["job_id"], {{"run_as", "alice"}}).code(), "run_as_forbidden");
}

TEST_F(RunAsTest, NorChangeOneThatAnAdministratorHasGivenThem) {
  const std::string id =
      Create({{"command", "id"}, {"run_as", "alice"}, {"user_id", anna_.user_id}})
          .value("job_id", "");
  ASSERT_NE(id, "");
  EXPECT_EQ(Patch(id, {{"command", "cat /home/alice/.ssh/id"}}).code(), "run_as_forbidden");
  EXPECT_EQ(Patch(id, {{"run_as", nullptr}}).code(), "run_as_forbidden");
  EXPECT_EQ(As(anna_.access_token, "POST", "/api/jobs/" + id + "/pause", "{}").status, 200);
  EXPECT_EQ(As(anna_.access_token, "POST", "/api/jobs/" + id + "/execute", "{}").status, 202);
}

}  // namespace
}  // namespace carillon::test
