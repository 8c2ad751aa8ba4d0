#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

constexpr const char* kValue = "correct-horse-battery";

class SecretRoutesTest : public PeopleEnv {
 protected:
  SecretRoutesTest() {
    for (const char* name : {"anna", "bert"}) AddUser(name, "user");
    anna_ = SignIn("anna");
    bert_ = SignIn("bert");
  }

  static std::string Body(const std::string& name, json more = json::object()) {
    json body = {{"name", name}, {"value", kValue}};
    body.update(more);
    return body.dump();
  }
  Answer Make(const SignedIn& who, const std::string& name, json more = json::object()) {
    const Answer made = As(who.access_token, "POST", "/api/secrets", Body(name, more));
    EXPECT_EQ(made.status, 201) << made.text;
    return made;
  }
  Answer Put(const std::string& bearer, const std::string& name, const json& body,
             const std::string& tag = "*") {
    return As(bearer, "PUT", "/api/secrets/" + name, body.dump(), {{"If-Match", tag}});
  }
  std::string Opened(const std::string& name) {
    return keyring_->Open(name, stores_.secrets.GetSecret(name).value().value).value();
  }
  Answer PostJob(const SignedIn& who, const std::string& secret, json more = json::object()) {
    json job = JobBody({{"env", {{"URL", "mysql://u:{{secrets." + secret + "}}@h"}}}});
    job.update(more);
    return As(who.access_token, "POST", "/api/jobs", job.dump());
  }

  SignedIn anna_, bert_;
};

TEST_F(SecretRoutesTest, WhatIsWrittenIsNeverShown) {
  const Answer made = Make(anna_, "db", {{"description", "of the shop"}});
  EXPECT_EQ(made.header("location"), "/api/secrets/db");
  EXPECT_EQ(made.header("etag"), "\"v1\"");
  const json body = made.body();
  EXPECT_EQ(body["name"], "db");
  EXPECT_EQ(body["description"], "of the shop");
  EXPECT_EQ(body["user_id"], "user-anna");
  EXPECT_EQ(body["shared"], false);
  EXPECT_FALSE(body.contains("value"));
  EXPECT_EQ(Opened("db"), kValue);
  const Answer put = Put(anna_.access_token, "db", {{"value", "another-long-value"}});
  EXPECT_EQ(put.status, 200) << put.text;
  EXPECT_EQ(Opened("db"), "another-long-value");
  const Answer got = Get("/api/secrets/db");
  EXPECT_EQ(got.body()["version"], 2);
  const Answer list = Get("/api/secrets");
  EXPECT_EQ(list.body()["items"].size(), 1u);
  const Answer audit = Get("/api/audit");
  EXPECT_TRUE(IsAudited("secret.create", "anna"));
  EXPECT_TRUE(IsAudited("secret.update", "anna"));
  for (const Answer& answer : {made, put, got, list, audit}) {
    for (const char* value : {kValue, "another-long-value"}) {
      EXPECT_EQ(answer.text.find(value), std::string::npos) << answer.text;
    }
  }
}

TEST_F(SecretRoutesTest, WhatIsWrongIsToldWithoutTheValue) {
  const std::vector<std::pair<json, std::string>> rows = {
      {{{"name", "1db"}}, "/name"},
      {{{"name", "d-b"}}, "/name"},
      {{{"value", nullptr}}, "/value"},
      {{{"value", 12345678}}, "/value"},
      {{{"value", "short-1"}}, "/value"},
      {{{"value", std::string(70'000, 'v')}}, "/value"},
      {{{"description", std::string(1001, 'd')}}, "/description"},
      {{{"shared", "yes"}}, "/shared"},
  };
  for (const auto& [more, pointer] : rows) {
    const Answer answer = Send("POST", "/api/secrets", Body("db", more));
    EXPECT_EQ(answer.status, 400) << more.dump().substr(0, 80);
    EXPECT_EQ(answer.pointer(), pointer) << answer.text;
    for (const char* value : {kValue, "short-1", "12345678", "vvvvvvvv"}) {
      EXPECT_EQ(answer.text.find(value), std::string::npos) << answer.text;
    }
  }
  EXPECT_EQ(Send("POST", "/api/secrets", Body("db", {{"valeu", "x"}})).status, 400);
  Make(anna_, "db");
  EXPECT_EQ(Send("POST", "/api/secrets", Body("db")).code(), "exists");
}

TEST_F(SecretRoutesTest, ChangesNeedTheVersionAndKeepWhatIsLeftOut) {
  Make(anna_, "db", {{"description", "old"}});
  EXPECT_EQ(As(anna_.access_token, "PUT", "/api/secrets/db", "{}").status, 428);
  const Answer stale = Put(anna_.access_token, "db", {{"description", "new"}}, "\"v7\"");
  EXPECT_EQ(stale.status, 412);
  EXPECT_EQ(stale.body()["current"]["description"], "old");
  EXPECT_EQ(Put(anna_.access_token, "db", {{"description", "new"}}, "\"v1\"").status, 200);
  EXPECT_EQ(Opened("db"), kValue);
  const Answer same = Put(anna_.access_token, "db", {{"description", "new"}});
  EXPECT_EQ(same.body()["version"], 2) << "nothing was changed";
  EXPECT_EQ(
      As(anna_.access_token, "DELETE", "/api/secrets/db", "", {{"If-Match", "\"v1\""}}).status,
      412);
  EXPECT_EQ(
      As(anna_.access_token, "DELETE", "/api/secrets/db", "", {{"If-Match", "\"v2\""}}).status,
      204);
  EXPECT_EQ(Get("/api/secrets/db").status, 404);
}

TEST_F(SecretRoutesTest, OthersChangeNothingAndOnlyAdministratorsShare) {
  Make(anna_, "db");
  EXPECT_EQ(Put(bert_.access_token, "db", {{"description", "mine"}}).code(), "not_owner");
  const Answer refused = Put(anna_.access_token, "db", {{"shared", true}});
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.pointer(), "/shared");
  EXPECT_EQ(As(anna_.access_token, "POST", "/api/secrets", Body("x", {{"shared", true}})).status,
            403);
  EXPECT_EQ(Put(token_, "db", {{"shared", true}}).body()["shared"], true);
  EXPECT_EQ(Put(anna_.access_token, "db", {{"shared", true}, {"description", "ours"}}).status, 200)
      << "what stays as it is may be repeated";
}

TEST_F(SecretRoutesTest, AJobMayUseItsOwnersAndWhatIsShared) {
  Make(anna_, "db");
  EXPECT_EQ(PostJob(anna_, "db").status, 201);
  const Answer unknown = PostJob(anna_, "none");
  EXPECT_EQ(unknown.status, 422);
  EXPECT_EQ(unknown.code(), "unknown_secret");
  EXPECT_EQ(unknown.pointer(), "/env/URL");
  const Answer forbidden = PostJob(bert_, "db");
  EXPECT_EQ(forbidden.status, 422);
  EXPECT_EQ(forbidden.code(), "secret_forbidden");
  EXPECT_EQ(Put(token_, "db", {{"shared", true}}).status, 200);
  EXPECT_EQ(PostJob(bert_, "db").status, 201);
}

TEST_F(SecretRoutesTest, EveryWayToWriteAJobIsChecked) {
  Make(anna_, "db");
  Make(bert_, "berts");
  const Answer job = PostJob(anna_, "db");
  ASSERT_EQ(job.status, 201);
  const std::string path = "/api/jobs/" + job.body().value("job_id", "");
  const json berts = {{"env", {{"URL", "{{secrets.berts}}"}}}};
  const HttpHeaders any = {{"If-Match", "*"}};
  EXPECT_EQ(As(anna_.access_token, "PATCH", path, berts.dump(), any).status, 422);
  EXPECT_EQ(As(anna_.access_token, "PUT", path, JobBody(berts).dump(), any).status, 422);
  const Answer applied = As(anna_.access_token, "POST", "/api/apply?dry_run=true",
                            json::array({JobBody(berts)}).dump());
  EXPECT_NE(applied.text.find("secret_forbidden"), std::string::npos) << applied.text;
  // A job that uses the secret cannot be given to another owner.
  EXPECT_EQ(Send("PATCH", path, R"({"user_id": "user-bert"})", any).code(), "secret_forbidden");
  EXPECT_EQ(As(anna_.access_token, "PATCH", path, R"({"env": {"URL": null}})", any).status, 200);
  EXPECT_EQ(Send("PATCH", path, R"({"user_id": "user-bert"})", any).status, 200);
  // The job cannot be reverted to a version that used the secret either.
  const Answer reverted =
      As(bert_.access_token, "POST", path + "/revert", R"({"version": 1})", any);
  EXPECT_EQ(reverted.code(), "secret_forbidden") << reverted.text;
}

TEST_F(SecretRoutesTest, PlaceholdersElsewhereAreRefusedWithAReason) {
  Make(anna_, "db");
  const Answer command = As(anna_.access_token, "POST", "/api/jobs",
                            JobBody({{"command", "x {{secrets.db}}"}}).dump());
  EXPECT_EQ(command.status, 400);
  EXPECT_EQ(command.pointer(), "/command");
  EXPECT_NE(command.text.find("env"), std::string::npos);
  const Answer parameter = As(anna_.access_token, "POST", "/api/jobs",
                              JobBody({{"parameters", {{"p", "{{secrets.db}}"}}}}).dump());
  EXPECT_EQ(parameter.pointer(), "/parameters/p");
}

TEST_F(SecretRoutesTest, RewrappingSealsEverythingWithTheFirstKey) {
  Make(anna_, "a");
  Make(anna_, "b");
  const std::string old_key = keyring_->current();
  auto other = std::make_shared<const scheduler::Keyring>(
      scheduler::Keyring::Parse(scheduler::Keyring::NewKey()).value());
  std::swap(keyring_, other);
  ASSERT_EQ(stores_.secrets
                .CreateSecret({.record = {.name = "c", .key_id = keyring_->current()},
                               .value = keyring_->Seal("c", kValue)})
                .ok(),
            true);
  // With only the new key, secrets that the old key sealed cannot be read and are not changed.
  Answer answer = Post("/api/secrets/rewrap");
  EXPECT_EQ(answer.body()["rewrapped"], 0);
  EXPECT_EQ(answer.body()["unreadable"], json({"a", "b"}));
  EXPECT_EQ(Get("/api/secrets/a").body()["key_id"], old_key);
  std::swap(keyring_, other);
  answer = Post("/api/secrets/rewrap");
  EXPECT_EQ(answer.body()["unreadable"], json({"c"}));
  EXPECT_EQ(answer.body()["next_after"], nullptr);
}

TEST_F(SecretRoutesTest, RewrappingKeepsValuesAndVersions) {
  const std::string first = scheduler::Keyring::NewKey();
  const std::string second = scheduler::Keyring::NewKey();
  const auto ring = [](const std::string& text) {
    return std::make_shared<const scheduler::Keyring>(scheduler::Keyring::Parse(text).value());
  };
  keyring_ = ring(first);
  Make(anna_, "db");
  keyring_ = ring(second + "\n" + first);
  const Answer answer = Post("/api/secrets/rewrap");
  EXPECT_EQ(answer.body()["rewrapped"], 1);
  EXPECT_EQ(answer.body()["key_id"], keyring_->current());
  keyring_ = ring(second);
  EXPECT_EQ(Opened("db"), kValue);
  EXPECT_EQ(Get("/api/secrets/db").body()["version"], 1);
  EXPECT_EQ(Post("/api/secrets/rewrap").body()["rewrapped"], 0);
}

TEST_F(SecretRoutesTest, WithoutAKeyEverythingButValuesWorks) {
  Make(anna_, "db");
  keyring_ = nullptr;
  const Answer refused = Send("POST", "/api/secrets", Body("x"));
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.code(), "secrets_unavailable");
  EXPECT_EQ(Put(anna_.access_token, "db", {{"value", "a long new value"}}).code(),
            "secrets_unavailable");
  EXPECT_EQ(Post("/api/secrets/rewrap").code(), "secrets_unavailable");
  EXPECT_EQ(Get("/api/secrets").status, 200);
  EXPECT_EQ(Put(anna_.access_token, "db", {{"description", "new"}}).status, 200);
  EXPECT_EQ(PostJob(anna_, "db").status, 201);
}

}  // namespace
}  // namespace carillon::test
