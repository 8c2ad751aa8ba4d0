// Actions that a share allows a user, and those that it does not.
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

const HttpHeaders kAny = {{"If-Match", "*"}};

class SharesTest : public PeopleEnv {
 protected:
  SharesTest() {
    for (const char* name : {"anna", "bert"}) AddUser(name, "user");
    anna_ = SignIn("anna");
    bert_ = SignIn("bert");
  }

  Answer Share(const SignedIn& who, const json& shares) {
    return Send("PATCH", "/api/users/" + who.user_id, json{{"shares", shares}}.dump(), kAny);
  }
  // Creates a job of anna's in a namespace that she may use.
  std::string Make(json changes = json::object()) {
    changes["user_id"] = anna_.user_id;
    return Create(std::move(changes)).value("job_id", "");
  }
  Answer Patch(const SignedIn& who, const std::string& id, const json& changes) {
    return As(who.access_token, "PATCH", "/api/jobs/" + id, changes.dump(), kAny);
  }
  Answer Do(const SignedIn& who, const std::string& id, const std::string& verb) {
    return As(who.access_token, "POST", "/api/jobs/" + id + "/" + verb, "{}");
  }
  static json OfPayroll() { return {{{"namespace", "payroll"}}}; }
  static json OfEtl() { return {{{"namespace", "default"}, {"selector", "team = etl"}}}; }

  SignedIn anna_, bert_;
};

TEST_F(SharesTest, AreSetByAdministratorsOnlyAndShown) {
  const json shares = {{{"namespace", "payroll"}}, {{"namespace", "*"}, {"selector", "a = b"}}};
  const Answer set = Share(bert_, shares);
  EXPECT_EQ(set.status, 200) << set.text;
  EXPECT_EQ(set.body()["shares"], shares);
  EXPECT_EQ(Get("/api/users/" + bert_.user_id).body()["shares"], shares);
  EXPECT_EQ(As(bert_.access_token, "GET", "/api/auth/me").body()["shares"], shares);
  EXPECT_EQ(As(anna_.access_token, "GET", "/api/auth/me").body()["shares"], json::array());
  EXPECT_EQ(Get("/api/auth/me").body()["shares"], json::array());  // a token without an owner
  const std::string ci =
      As(bert_.access_token, "POST", "/api/tokens", R"({"name": "ci"})").body().value("token", "");
  EXPECT_EQ(As(ci, "GET", "/api/auth/me").body()["shares"], shares);
  EXPECT_EQ(As(bert_.access_token, "PATCH", "/api/users/" + bert_.user_id,
               json{{"shares", json::array()}}.dump(), kAny)
                .status,
            403);
  const json audited = Audited()[0];
  EXPECT_EQ(audited["action"], "token.create");
  const json change = Audited()[1]["changes"];
  EXPECT_EQ(change, (json{{{"path", "/shares"}, {"from", json::array()}, {"to", shares}}}));
}

TEST_F(SharesTest, AreToldWithPermissionsAndPreferencesWhereASessionBeginsOrGoesOn) {
  ASSERT_EQ(Share(bert_, OfPayroll()).status, 200);
  ASSERT_EQ(As(bert_.access_token, "PATCH", "/api/auth/me", R"({"preferences": {"theme": "dark"}})")
                .status,
            200);
  const Answer begun = Login("bert", kPassword);
  const json me = As(Session(begun).access_token, "GET", "/api/auth/me").body();
  EXPECT_EQ(me["shares"], OfPayroll());
  EXPECT_EQ(me["preferences"]["theme"], "dark");
  EXPECT_EQ(begun.body()["user"], me);
  EXPECT_EQ(Refresh(Session(begun).cookie).body()["user"], me);
}

TEST_F(SharesTest, ThoseThatAreWrongAreRefusedWithTheirPlace) {
  const auto refused = [&](const json& shares) {
    const Answer answer = Share(bert_, shares);
    EXPECT_EQ(answer.status, 400) << answer.text;
    return answer.pointer();
  };
  EXPECT_EQ(refused({{{"namespace", "*"}}}), "/shares/0/selector");
  EXPECT_EQ(refused({{{"namespace", "No"}}}), "/shares/0/namespace");
  EXPECT_EQ(refused({{{"namespace", "a"}, {"selector", "="}}}), "/shares/0/selector");
  EXPECT_EQ(refused("a"), "/shares");
  EXPECT_EQ(refused(nullptr), "/shares");
  EXPECT_EQ(refused(std::vector<json>(33, {{"namespace", "a"}})), "/shares");
  const json body = {{"name", "carl"}, {"password", kPassword}, {"shares", OfPayroll()}};
  const Answer made = Post("/api/users", body);
  EXPECT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.body()["shares"], OfPayroll());
}

TEST_F(SharesTest, CountFromTheNextRequestOnAndNoLongerThanTheyAreThere) {
  const std::string id = Make({{"namespace", "payroll"}});
  EXPECT_EQ(Do(bert_, id, "execute").status, 403);
  Share(bert_, OfPayroll());
  EXPECT_EQ(Do(bert_, id, "execute").status, 202);
  EXPECT_EQ(Patch(bert_, id, {{"command", "false"}}).status, 200);
  Share(bert_, json::array());
  const Answer gone = Do(bert_, id, "execute");
  EXPECT_EQ(gone.status, 403);
  EXPECT_EQ(gone.code(), "not_owner");
  EXPECT_EQ(Patch(bert_, id, {{"command", "true"}}).status, 403);
}

TEST_F(SharesTest, AreJudgedByTheJobAsItIsNow) {
  Share(bert_, OfEtl());
  const std::string id = Make({{"labels", {{"team", "web"}}}});
  EXPECT_EQ(Do(bert_, id, "pause").status, 403);
  EXPECT_EQ(Patch(anna_, id, {{"labels", {{"team", "etl"}}}}).status, 200);
  EXPECT_EQ(Do(bert_, id, "pause").status, 200);
  EXPECT_EQ(Patch(anna_, id, {{"labels", {{"team", "web"}}}}).status, 200);
  EXPECT_EQ(Do(bert_, id, "resume").status, 403);
}

TEST_F(SharesTest, GiveNothingToLesserRoles) {
  const std::string id = Make({{"namespace", "payroll"}});
  Share(bert_, OfPayroll());
  const std::string reader =
      As(bert_.access_token, "POST", "/api/tokens", R"({"name": "r", "role": "read_only"})")
          .body()
          .value("token", "");
  EXPECT_EQ(As(reader, "POST", "/api/jobs/" + id + "/execute", "{}").code(), "forbidden");
  EXPECT_EQ(As(reader, "GET", "/api/jobs/" + id).body()["allowed_actions"], json::array());
  const std::string own =
      As(bert_.access_token, "POST", "/api/tokens", R"({"name": "w"})").body().value("token", "");
  EXPECT_EQ(As(own, "POST", "/api/jobs/" + id + "/execute", "{}").status, 202);
}

TEST_F(SharesTest, TheOwnerStaysWhoHeIs) {
  const std::string id = Make({{"namespace", "payroll"}});
  Share(bert_, OfPayroll());
  for (const std::string& taker : {bert_.user_id, std::string("somebody")}) {
    const Answer refused = Patch(bert_, id, {{"user_id", taker}});
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(refused.code(), "not_owner");
    EXPECT_EQ(refused.pointer(), "/user_id");
  }
  EXPECT_EQ(Patch(bert_, id, {{"user_id", nullptr}}).status, 403);
  EXPECT_EQ(Patch(bert_, id, {{"user_id", anna_.user_id}, {"name", "new"}}).status, 200);
  const Answer put = As(bert_.access_token, "PUT", "/api/jobs/" + id, JobBody().dump(), kAny);
  EXPECT_EQ(put.status, 200) << put.text;
  EXPECT_EQ(put.body()["user_id"], anna_.user_id);
  EXPECT_EQ(put.body()["namespace"], "payroll");  // not in the request, so it does not change
  EXPECT_EQ(Send("PATCH", "/api/jobs/" + id, json{{"user_id", bert_.user_id}}.dump(), kAny).status,
            200);
}

TEST_F(SharesTest, NobodyLocksHimselfOut) {
  Share(bert_, OfEtl());
  const std::string id = Make({{"labels", {{"team", "etl"}}}});
  const Answer relabelled = Patch(bert_, id, {{"labels", {{"team", "web"}}}});
  EXPECT_EQ(relabelled.status, 403);
  EXPECT_EQ(relabelled.code(), "out_of_reach");
  EXPECT_EQ(relabelled.pointer(), "/labels");
  const Answer moved = Patch(bert_, id, {{"namespace", "payroll"}});
  EXPECT_EQ(moved.code(), "out_of_reach");
  EXPECT_EQ(moved.pointer(), "/namespace");
  EXPECT_EQ(Get("/api/jobs/" + id).body()["version"], 1);
  EXPECT_EQ(Patch(bert_, id, {{"labels", {{"team", "etl"}, {"tier", "1"}}}}).status, 200);
  Share(bert_, {{{"namespace", "default"}, {"selector", "team = etl"}}, {{"namespace", "web"}}});
  EXPECT_EQ(Patch(bert_, id, {{"namespace", "web"}, {"labels", {{"team", nullptr}}}}).status, 200);
}

TEST_F(SharesTest, AnOwnJobIsMadeAndMovedOnlyToWhatIsShared) {
  const auto make = [&](json changes) {
    return As(bert_.access_token, "POST", "/api/jobs", JobBody(std::move(changes)).dump());
  };
  const Answer refused = make({{"namespace", "payroll"}});
  EXPECT_EQ(refused.code(), "out_of_reach");
  EXPECT_EQ(refused.pointer(), "/namespace");
  Share(bert_, {{{"namespace", "payroll"}, {"selector", "team = etl"}}});
  EXPECT_EQ(make({{"namespace", "payroll"}}).pointer(), "/labels");
  const Answer made = make({{"namespace", "payroll"}, {"labels", {{"team", "etl"}}}});
  EXPECT_EQ(made.status, 201) << made.text;
  const std::string id = made.body().value("job_id", "");
  // If this were allowed, the selector of the share could be circumvented in two steps.
  const json unlabelled = {{"labels", {{"team", nullptr}}}};
  EXPECT_EQ(Patch(bert_, id, unlabelled).code(), "out_of_reach");
  EXPECT_EQ(Patch(bert_, id, {{"namespace", "web"}}).code(), "out_of_reach");
  // The user still owns the job when the share ends, and can still change it.
  Share(bert_, json::array());
  EXPECT_EQ(Patch(bert_, id, unlabelled).status, 200);
  EXPECT_EQ(Patch(bert_, id, {{"namespace", "default"}}).status, 200);
  EXPECT_EQ(Patch(bert_, id, {{"namespace", "payroll"}}).code(), "out_of_reach");
}

TEST_F(SharesTest, DoNotReachTheOwnersOtherSecrets) {
  const auto secret = [&](const SignedIn& who, const std::string& name) {
    const json body = {{"name", name}, {"value", "a long enough value"}};
    EXPECT_EQ(As(who.access_token, "POST", "/api/secrets", body.dump()).status, 201);
  };
  secret(anna_, "used");
  secret(anna_, "other");
  secret(bert_, "berts");
  const json common = {{"name", "common"}, {"value", "a long enough value"}, {"shared", true}};
  EXPECT_EQ(Post("/api/secrets", common).status, 201);
  const auto env = [](const std::string& name) {
    return json{{"env", {{"KEY", "{{secrets." + name + "}}"}}}};
  };
  const std::string id = Make(env("other"));
  EXPECT_EQ(Patch(anna_, id, env("used")).status, 200);
  EXPECT_EQ(Patch(anna_, id, {{"namespace", "payroll"}}).code(), "out_of_reach");
  Share(bert_, OfEtl());
  EXPECT_EQ(Patch(anna_, id, {{"labels", {{"team", "etl"}}}}).status, 200);
  const Answer taken = Patch(bert_, id, env("other"));
  EXPECT_EQ(taken.status, 422);
  EXPECT_EQ(taken.code(), "secret_forbidden");
  EXPECT_EQ(taken.pointer(), "/env/KEY");
  // The owner may not use the secrets of the user with the share.
  EXPECT_EQ(Patch(bert_, id, env("berts")).code(), "secret_forbidden");
  EXPECT_EQ(Patch(bert_, id, env("common")).status, 200);
  EXPECT_EQ(Patch(bert_, id, env("used")).code(),
            "secret_forbidden");  // the job no longer names it
  EXPECT_EQ(Patch(anna_, id, env("used")).status, 200);
  EXPECT_EQ(Patch(bert_, id, {{"command", "env"}, {"env", {{"K2", "{{secrets.used}}"}}}}).status,
            200);
  const Answer back = As(bert_.access_token, "POST", "/api/jobs/" + id + "/revert",
                         json{{"version", 1}}.dump(), kAny);
  EXPECT_EQ(back.status, 403) << back.text;  // version 1 has no label
  EXPECT_EQ(back.code(), "out_of_reach");
  const Answer named = As(bert_.access_token, "POST", "/api/jobs/" + id + "/revert",
                          json{{"version", 3}}.dump(), kAny);
  EXPECT_EQ(named.status, 200) << named.text;  // the version names `used`, as the job does now
  EXPECT_EQ(Patch(anna_, id, env("other")).status, 200);
  EXPECT_EQ(As(bert_.access_token, "POST", "/api/jobs/" + id + "/revert",
               json{{"version", 3}}.dump(), kAny)
                .code(),
            "secret_forbidden");
}

TEST_F(SharesTest, ApplyAndItsPruneReachWhatIsShared) {
  const std::string shared = Make({{"namespace", "payroll"}, {"labels", {{"by", "files"}}}});
  const std::string foreign = Make({{"labels", {{"by", "files"}}}});
  const std::string own =
      As(bert_.access_token, "POST", "/api/jobs", JobBody({{"labels", {{"by", "files"}}}}).dump())
          .body()
          .value("job_id", "");
  const std::string path = "/api/apply?prune=true&selector=by%20%3D%20files";
  const auto apply = [&](const std::string& more, const json& list) {
    return As(bert_.access_token, "POST", path + more, list.dump()).body();
  };
  EXPECT_EQ(apply("&dry_run=true", json::array())["counts"]["pruned"], 1);
  Share(bert_, OfPayroll());
  // A share does not increase the set of jobs that the user's apply with pruning deletes.
  EXPECT_EQ(apply("&dry_run=true", json::array())["counts"]["pruned"], 1);
  const json within = apply("&namespace=payroll", json::array());
  ASSERT_EQ(within["items"].size(), 1u) << within.dump();
  EXPECT_EQ(within["items"][0]["job_id"], shared);
  EXPECT_EQ(Get("/api/jobs/" + own).status, 200);
  EXPECT_EQ(Get("/api/jobs/" + foreign).status, 200);
  EXPECT_EQ(apply("&namespace=No", json::array())["errors"][0]["pointer"], "?namespace");
  for (const char* dry : {"", "?dry_run=true"}) {
    const json refused = As(bert_.access_token, "POST", std::string("/api/apply") + dry,
                            json{JobBody({{"namespace", "web"}})}.dump())
                             .body();
    EXPECT_EQ(refused["items"][0]["error"]["code"], "out_of_reach") << dry;
    EXPECT_EQ(refused["items"][0]["error"]["errors"][0]["pointer"], "/0/namespace");
  }
}

TEST_F(SharesTest, ManyAreActedOnAtOnceWhereTheyAreShared) {
  Make({{"namespace", "payroll"}});
  Make({{"namespace", "payroll"}});
  Make();
  Share(bert_, OfPayroll());
  const json all = As(bert_.access_token, "POST", "/api/bulk",
                      R"({"action": "pause", "filter": {"user_id": ")" + anna_.user_id + R"("}})")
                       .body();
  EXPECT_EQ(all["done"], 2) << all.dump();
  EXPECT_EQ(all["failed"], 1);
  const json some = As(bert_.access_token, "POST", "/api/bulk",
                       R"({"action": "resume", "filter": {"namespace": ["payroll", "web"]}})")
                        .body();
  EXPECT_EQ(some["total"], 2) << some.dump();
  EXPECT_EQ(some["done"], 2);
}

// The labels of an unreadable job are unknown, so only a share of its whole namespace includes it.
TEST_F(SharesTest, AJobThatCannotBeReadIsReachedByItsNamespaceAlone) {
  const std::string id = Make({{"namespace", "payroll"}, {"labels", {{"team", "etl"}}}});
  stores_.DamageDefinition(JobId(id), 1, true);
  Share(bert_, {{{"namespace", "payroll"}, {"selector", "team = etl"}}});
  EXPECT_EQ(As(bert_.access_token, "DELETE", "/api/jobs/" + id, "", kAny).status, 403);
  Share(bert_, OfPayroll());
  const Answer mended = As(bert_.access_token, "PUT", "/api/jobs/" + id, JobBody().dump(), kAny);
  EXPECT_EQ(mended.status, 200) << mended.text;
  EXPECT_EQ(mended.body()["user_id"], anna_.user_id);
  EXPECT_EQ(mended.body()["namespace"], "payroll");
}

// The job is moved to another namespace after the request was admitted, and again while its write
// is in progress.
TEST_F(SharesTest, AWriteCannotOutrunAMove) {
  Share(bert_, OfPayroll());
  for (const std::string moment : {"GetJob", "ReplaceJob"}) {
    const JobId id(Make({{"namespace", "payroll"}}));
    faults_.plan.OnCall([&, this](const std::string& operation) {
      const StoredJob job = *stores_.jobs.GetJob(id);
      if (operation != moment || job.version > 1) return;
      JobDefinition moved = job.definition;
      moved.name_space = "web";
      EXPECT_TRUE(stores_.jobs.ReplaceJob(id, 1, moved, {.now = clock_.Wall()}).ok());
    });
    const Answer late = Patch(bert_, id.value(), {{"name", "x"}});
    faults_.plan.OnCall(nullptr);
    EXPECT_EQ(late.status, 403) << moment << late.text;
    EXPECT_EQ(stores_.jobs.GetJob(id)->definition.name, "Nightly") << moment;
  }
}

TEST_F(SharesTest, ADeletionCannotOutrunAMove) {
  Share(bert_, OfPayroll());
  const JobId id(Make({{"namespace", "payroll"}}));
  faults_.plan.OnCall([&, this](const std::string& operation) {
    const StoredJob job = *stores_.jobs.GetJob(id);
    if (operation != "GetJob" || job.version > 1) return;
    JobDefinition moved = job.definition;
    moved.name_space = "web";
    EXPECT_TRUE(stores_.jobs.ReplaceJob(id, 1, moved, {.now = clock_.Wall()}).ok());
  });
  const Answer late = As(bert_.access_token, "DELETE", "/api/jobs/" + id.value(), "", kAny);
  faults_.plan.OnCall(nullptr);
  EXPECT_EQ(late.status, 403) << late.text;
  EXPECT_TRUE(stores_.jobs.GetJob(id).ok());
}

}  // namespace
}  // namespace carillon::test
