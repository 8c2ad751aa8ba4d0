// Setup, sign-in, sessions, passwords, users and tokens over the routes.
#include "scheduler/api/accounts/auth_routes.h"
#include "scheduler/auth/access_token.h"
#include "scheduler/auth/lock_out.h"
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

class SignInTest : public PeopleEnv {
 protected:
  int Me(const std::string& bearer) { return As(bearer, "GET", "/api/auth/me").status; }
  Answer SetUpWith(const std::string& token, const std::string& name = "anna",
                   const std::string& password = kPassword) {
    return As("", "POST", "/api/auth/setup",
              json{{"setup_token", token}, {"name", name}, {"password", password}}.dump());
  }
  std::string SetupToken() {
    const std::string path = Post("/api/auth/setup-link").body().value("path", "");
    const std::string before = "/setup#token=";
    EXPECT_EQ(path.find(before), 0u) << path;
    return path.substr(before.size());
  }
  bool SetupNeeded() {
    return As("", "GET", "/api/auth/state").body().value("setup_needed", false);
  }
};

TEST_F(SignInTest, TheSetupLinkWorksOnce) {
  EXPECT_TRUE(SetupNeeded());
  const std::string token = SetupToken();
  EXPECT_EQ(SetUpWith("wrong").code(), "setup_link_invalid");
  EXPECT_EQ(SetUpWith(token, "an na").pointer(), "/name");
  EXPECT_EQ(SetUpWith(token, "anna", "short").pointer(), "/password");
  const Answer made = SetUpWith(token);
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.body()["user"]["role"], "admin");
  EXPECT_EQ(Me(Session(made).access_token), 200);
  EXPECT_FALSE(SetupNeeded());
  EXPECT_EQ(SetUpWith(token, "bert").code(), "setup_done");
  EXPECT_EQ(Post("/api/auth/setup-link").code(), "setup_done");
  EXPECT_TRUE(IsAudited("auth.setup", "anna"));
  EXPECT_EQ(Login("anna", kPassword).status, 200);
}

TEST_F(SignInTest, ANewSetupLinkTakesThePlaceOfTheOldOneAndExpires) {
  const std::string old_token = SetupToken();
  const std::string token = SetupToken();
  EXPECT_EQ(SetUpWith(old_token).code(), "setup_link_invalid");
  clock_.Advance(scheduler::kSetupLinkLife);
  EXPECT_EQ(SetUpWith(token).code(), "setup_link_invalid");
  EXPECT_TRUE(SetupNeeded());
}

TEST_F(SignInTest, LoginAnswersATokenAndACookieThatScriptsCannotRead) {
  AddUser("anna", "user");
  const Answer answer = Login("Anna", kPassword);
  ASSERT_EQ(answer.status, 200) << answer.text;
  const json body = answer.body();
  EXPECT_EQ(body["token_type"], "Bearer");
  EXPECT_EQ(body["expires_in"], 600);
  EXPECT_EQ(body["user"], As(body["access_token"], "GET", "/api/auth/me").body());
  const std::string cookie = answer.header("set-cookie");
  EXPECT_NE(cookie.find("; Path=/api/auth; Max-Age=1209600; HttpOnly; SameSite=Strict"),
            std::string::npos)
      << cookie;
  EXPECT_EQ(cookie.find("Secure"), std::string::npos);
  const json me = As(Session(answer).access_token, "GET", "/api/auth/me").body();
  EXPECT_EQ(me["kind"], "user");
  EXPECT_EQ(me["user_id"], "user-anna");
  EXPECT_EQ(me["permissions"].size(), 5u);
  EXPECT_TRUE(IsAudited("auth.login", "anna"));
}

TEST_F(SignInTest, TheCookieIsSentUnderThePathThatAProxyServes) {
  AddUser("anna", "user");
  const auto path_of = [this](const std::string& prefix) {
    const std::string body = nlohmann::json{{"name", "anna"}, {"password", kPassword}}.dump();
    const Answer answer =
        SendOn(client_, "POST", "/api/auth/login", body,
               {{"Content-Type", "application/json"}, {"X-Forwarded-Prefix", prefix}});
    const std::string cookie = answer.header("set-cookie");
    const size_t from = cookie.find("Path=") + 5;
    return cookie.substr(from, cookie.find(';', from) - from);
  };
  EXPECT_EQ(path_of("/ops/carillon"), "/ops/carillon/api/auth");
  EXPECT_EQ(path_of("/ops/carillon/"), "/ops/carillon/api/auth");
  EXPECT_EQ(path_of("/"), "/api/auth");
  for (const char* bad :
       {"ops", "//evil.example", "/a; Domain=evil.example", "/a/../b", "/a, /b"}) {
    EXPECT_EQ(path_of(bad), "/api/auth") << bad;
  }
}

TEST_F(SignInTest, AnUnknownNameAWrongPasswordAndADisabledUserGetTheSameAnswer) {
  AddUser("anna", "user");
  AddUser("gone", "user");
  EXPECT_EQ(
      Send("PATCH", "/api/users/user-gone", R"({"disabled": true})", {{"If-Match", "*"}}).status,
      200);
  std::set<std::string> answers;
  for (const Answer& answer : {Login("anna", "not the password"), Login("bert", kPassword),
                               Login("gone", kPassword), Login("\xc3\xa4 x", kPassword)}) {
    EXPECT_EQ(answer.status, 401);
    EXPECT_EQ(answer.code(), "wrong_credentials");
    EXPECT_TRUE(answer.header("set-cookie").empty());
    answers.insert(answer.body().value("detail", ""));
  }
  EXPECT_EQ(answers.size(), 1u);
  EXPECT_TRUE(IsAudited("auth.login_failed", "anna"));
  EXPECT_TRUE(IsAudited("auth.login_failed", "(unknown)"));
  EXPECT_FALSE(IsAudited("auth.login_failed", "bert"));
  EXPECT_EQ(As("", "POST", "/api/auth/login", "{}").pointer(), "/name");
}

TEST_F(SignInTest, ANewPasswordFromAnAdministratorLetsInAtOnce) {
  const std::string anna = "/api/users/" + AddUser("anna", "user");
  for (int i = 0; i < scheduler::LockOut::kAccountFailures; ++i) Login("anna", "not the password");
  EXPECT_EQ(Send("PATCH", anna, R"({"display_name": "Anna"})", {{"If-Match", "*"}}).status, 200);
  EXPECT_EQ(Login("anna", kPassword).status, 429);
  EXPECT_EQ(
      Send("PATCH", anna, R"({"password": "another one of hers"})", {{"If-Match", "*"}}).status,
      200);
  EXPECT_EQ(Login("Anna", "another one of hers").status, 200);
}

TEST_F(SignInTest, FiveWrongPasswordsLockOutForAWhile) {
  AddUser("anna", "user");
  for (int i = 0; i < scheduler::LockOut::kAccountFailures; ++i) {
    EXPECT_EQ(Login("anna", "not the password").status, 401);
  }
  const Answer locked = Login("ANNA", kPassword);
  EXPECT_EQ(locked.status, 429);
  EXPECT_EQ(locked.code(), "too_many_attempts");
  const int wait = std::stoi(locked.header("retry-after"));
  EXPECT_GT(wait, 0);
  EXPECT_LE(wait, 5);
}

TEST_F(SignInTest, RefreshRotatesAndReuseEndsTheSession) {
  AddUser("anna", "user");
  const SignedIn first = SignIn("anna");
  EXPECT_EQ(Refresh(first.cookie, {}).code(), "refresh_header_missing");
  EXPECT_EQ(Refresh(first.cookie, {{"X-Carillon-Refresh", "yes"}}).status, 403);
  const Answer rotated = Refresh(first.cookie);
  ASSERT_EQ(rotated.status, 200) << rotated.text;
  const SignedIn second = Session(rotated);
  EXPECT_NE(second.cookie, first.cookie);
  EXPECT_EQ(Me(second.access_token), 200);
  clock_.Advance(kLostAnswerMax + 1s);
  const Answer reused = Refresh(first.cookie);
  EXPECT_EQ(reused.status, 401);
  EXPECT_EQ(reused.code(), "refresh_reused");
  EXPECT_NE(reused.header("set-cookie").find("carillon_refresh=; "), std::string::npos);
  EXPECT_NE(reused.header("set-cookie").find("Max-Age=0"), std::string::npos);
  EXPECT_EQ(Refresh(second.cookie).code(), "refresh_invalid");
  EXPECT_EQ(Me(second.access_token), 401);
  EXPECT_TRUE(IsAudited("auth.refresh_reused", "anna"));
  EXPECT_EQ(Refresh("carillon_refresh=").code(), "refresh_invalid");
  EXPECT_EQ(Refresh("other=1; carillon_refresh=x").code(), "refresh_invalid");
}

TEST_F(SignInTest, AReloadThatLosesTheAnswerDoesNotSignOut) {
  AddUser("anna", "user");
  const SignedIn first = SignIn("anna");
  const SignedIn lost = Session(Refresh(first.cookie));
  const Answer again = Refresh(first.cookie);
  ASSERT_EQ(again.status, 200) << again.text;
  const SignedIn second = Session(again);
  EXPECT_NE(second.cookie, lost.cookie);
  EXPECT_EQ(Me(second.access_token), 200);
  EXPECT_EQ(Refresh(second.cookie).status, 200);
  EXPECT_FALSE(IsAudited("auth.refresh_reused", "anna"));
  // The answer was not lost: a second client uses its token.
  EXPECT_EQ(Refresh(lost.cookie).code(), "refresh_reused");
  EXPECT_EQ(Me(second.access_token), 401);
  EXPECT_TRUE(IsAudited("auth.refresh_reused", "anna"));
}

TEST_F(SignInTest, AccessEndsAfterTenMinutesAndTheSessionAfterTwoWeeks) {
  AddUser("anna", "user");
  const SignedIn session = SignIn("anna");
  clock_.Advance(scheduler::kAccessTokenLife);
  EXPECT_EQ(Me(session.access_token), 401);
  const SignedIn next = Session(Refresh("a=b; " + session.cookie));
  EXPECT_EQ(Me(next.access_token), 200);
  clock_.Advance(24h * 14);
  EXPECT_EQ(Refresh(next.cookie).code(), "refresh_invalid");
}

TEST_F(SignInTest, LogoutEndsTheSessionAndIsIdempotent) {
  AddUser("anna", "user");
  const SignedIn session = SignIn("anna");
  EXPECT_EQ(Me(session.access_token), 200);
  for (int i = 0; i < 2; ++i) {
    const Answer out = As("", "POST", "/api/auth/logout", "", {{"Cookie", session.cookie}});
    EXPECT_EQ(out.status, 204);
    EXPECT_NE(out.header("set-cookie").find("Max-Age=0"), std::string::npos);
  }
  EXPECT_EQ(Refresh(session.cookie).status, 401);
  EXPECT_EQ(Me(session.access_token), 401);
  EXPECT_TRUE(IsAudited("auth.logout", "anna"));
}

TEST_F(SignInTest, ChangingThePasswordEndsTheOtherSessions) {
  AddUser("anna", "user");
  const SignedIn here = SignIn("anna");
  const SignedIn there = SignIn("anna");
  const auto change = [&](const std::string& old_password, const std::string& new_password) {
    return As(here.access_token, "POST", "/api/auth/password",
              json{{"old_password", old_password}, {"new_password", new_password}}.dump());
  };
  EXPECT_EQ(change("not the password", "another password").pointer(), "/old_password");
  EXPECT_EQ(change(kPassword, "short").pointer(), "/new_password");
  EXPECT_EQ(change(kPassword, kPassword).pointer(), "/new_password");
  EXPECT_EQ(Me(there.access_token), 200);
  const Answer changed = change(kPassword, "another password");
  ASSERT_EQ(changed.status, 200) << changed.text;
  EXPECT_EQ(Me(Session(changed).access_token), 200);
  EXPECT_EQ(Me(here.access_token), 401);
  EXPECT_EQ(Me(there.access_token), 401);
  EXPECT_EQ(Refresh(there.cookie).status, 401);
  EXPECT_EQ(Login("anna", kPassword).status, 401);
  EXPECT_EQ(Login("anna", "another password").status, 200);
}

TEST_F(SignInTest, UsersAreMadeChangedAndDeleted) {
  AddUser("boss", "admin");
  const Answer made = Post(
      "/api/users",
      {{"name", "anna"}, {"display_name", "Anna"}, {"role", "read_only"}, {"password", kPassword}});
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.text.find("argon2"), std::string::npos);
  const std::string path = made.header("location");
  const std::string user_id = made.body()["user_id"];
  EXPECT_EQ(path, "/api/users/" + user_id);
  EXPECT_EQ(Post("/api/users", {{"name", "ANNA"}, {"password", kPassword}}).code(), "exists");
  EXPECT_EQ(
      Post("/api/users", {{"name", "x"}, {"password", kPassword}, {"role", "root"}}).pointer(),
      "/role");
  EXPECT_EQ(Get("/api/users").body()["items"].size(), 2u);
  EXPECT_EQ(Send("PATCH", path, R"({"role": "user"})").status, 428);
  const SignedIn session = SignIn("anna");
  const Answer patched = Send("PATCH", path, R"({"role": "user", "reason": "grew"})",
                              {{"If-Match", made.header("etag")}});
  EXPECT_EQ(patched.status, 200) << patched.text;
  EXPECT_EQ(patched.body()["version"], 2);
  EXPECT_EQ(Me(session.access_token), 401);
  const Answer stale =
      Send("PATCH", path, R"({"role": "admin"})", {{"If-Match", made.header("etag")}});
  EXPECT_EQ(stale.status, 412);
  EXPECT_EQ(stale.body()["current"]["role"], "user");
  EXPECT_EQ(Audited()[0]["reason"], "grew");
  EXPECT_EQ(Send("PATCH", path, R"({"name": "other"})", {{"If-Match", "*"}}).status, 400);
  EXPECT_EQ(Send("PATCH", path, R"({"password": "another password"})", {{"If-Match", "*"}}).status,
            200);
  EXPECT_EQ(Login("anna", "another password").status, 200);
  EXPECT_EQ(Send("DELETE", path, "", {{"If-Match", "*"}}).status, 204);
  EXPECT_EQ(Get(path).status, 404);
  EXPECT_EQ(Login("anna", "another password").status, 401);
  EXPECT_TRUE(IsAudited("user.delete", "token/admin"));
  EXPECT_EQ(Audited().dump().find("another password"), std::string::npos);
}

TEST_F(SignInTest, TheLastAdministratorStays) {
  AddUser("boss", "admin");
  const HttpHeaders any = {{"If-Match", "*"}};
  EXPECT_EQ(Send("DELETE", "/api/users/user-boss", "", any).code(), "last_admin");
  EXPECT_EQ(Send("PATCH", "/api/users/user-boss", R"({"role": "user"})", any).code(), "last_admin");
  EXPECT_EQ(Send("PATCH", "/api/users/user-boss", R"({"disabled": true})", any).status, 409);
}

TEST_F(SignInTest, TokensAreShownOnceAndReachNoFurtherThanTheirOwner) {
  AddUser("anna", "user");
  AddUser("boss", "admin");
  const SignedIn anna = SignIn("anna");
  const Answer made = As(anna.access_token, "POST", "/api/tokens", R"({"name": "ci"})");
  ASSERT_EQ(made.status, 201) << made.text;
  const std::string whole = made.body()["token"];
  EXPECT_EQ(made.body()["role"], "user");
  EXPECT_EQ(whole.find(made.body()["prefix"].get<std::string>()), 0u);
  const json me = As(whole, "GET", "/api/auth/me").body();
  EXPECT_EQ(me["kind"], "token");
  EXPECT_EQ(me["user_id"], "user-anna");
  EXPECT_EQ(As(whole, "POST", "/api/jobs", JobBody().dump()).body()["user_id"], "user-anna");
  EXPECT_TRUE(IsAudited("job.create", "anna/ci"));
  const Answer above =
      As(anna.access_token, "POST", "/api/tokens", R"({"name": "ci", "role": "admin"})");
  EXPECT_EQ(above.code(), "role_too_high");
  const json mine = As(anna.access_token, "GET", "/api/tokens").body();
  ASSERT_EQ(mine["items"].size(), 1u);
  EXPECT_FALSE(mine["items"][0].contains("token"));
  EXPECT_EQ(Get("/api/tokens").body()["items"].size(), 2u);
  const json asked = As(anna.access_token, "GET", "/api/tokens?user_id=user-boss").body();
  ASSERT_EQ(asked["items"].size(), 1u);  // its last use may be written between the two requests
  EXPECT_EQ(asked["items"][0]["token_id"], mine["items"][0]["token_id"]);
  EXPECT_EQ(
      Send("PATCH", "/api/users/user-anna", R"({"role": "read_only"})", {{"If-Match", "*"}}).status,
      200);
  EXPECT_EQ(As(whole, "GET", "/api/auth/me").body()["role"], "read_only");
  EXPECT_EQ(As(whole, "DELETE", made.header("location")).status, 204);
  EXPECT_EQ(Me(whole), 401);
}

TEST_F(SignInTest, TokensDoNoMoreThanTheirScopes) {
  AddUser("anna", "user");
  const SignedIn anna = SignIn("anna");
  const auto create = [&](const std::string& bearer, const json& scopes) {
    return As(bearer, "POST", "/api/tokens", json{{"name", "ci"}, {"scopes", scopes}}.dump());
  };
  As(anna.access_token, "POST", "/api/jobs", JobBody().dump());
  const Answer made = create(anna.access_token, {"jobs:run", "read", "read", "config:write"});
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.body()["scopes"], json({"config:write", "jobs:run", "read"}));
  const std::string whole = made.body()["token"];
  EXPECT_EQ(As(whole, "GET", "/api/auth/me").body()["permissions"], json({"read", "jobs:run:own"}));
  const json job = As(whole, "GET", "/api/jobs").body()["items"][0];
  const std::string path = "/api/jobs/" + job["job_id"].get<std::string>();
  EXPECT_EQ(job["allowed_actions"], json({"backfill", "cancel", "execute"}));
  EXPECT_EQ(As(whole, "POST", path + "/execute").status, 202);
  EXPECT_EQ(As(whole, "POST", path + "/pause").body()["permission"], "jobs:write");
  EXPECT_EQ(As(whole, "POST", "/api/jobs", JobBody().dump()).code(), "forbidden");
  EXPECT_EQ(As(whole, "GET", "/api/tokens").code(), "forbidden");
  const json bulk = {{"action", "pause"}, {"ids", {job["job_id"]}}};
  EXPECT_EQ(As(whole, "POST", "/api/bulk", bulk.dump()).body()["items"][0]["error"]["code"],
            "forbidden");
  for (const json& bad : {json::array(), json({"root"}), json({7}), json("read")}) {
    EXPECT_EQ(create(anna.access_token, bad).status, 400) << bad;
  }
}

TEST_F(SignInTest, ATokenOfATokenDoesNoMoreThanThatOne) {
  AddUser("anna", "user");
  const SignedIn anna = SignIn("anna");
  const auto create = [&](const std::string& bearer, const json& body) {
    return As(bearer, "POST", "/api/tokens", body.dump());
  };
  const std::string whole =
      create(anna.access_token, {{"name", "a"}, {"scopes", {"self:manage", "read"}}})
          .body()["token"];
  EXPECT_EQ(create(whole, {{"name", "b"}}).body()["scopes"], json({"read", "self:manage"}));
  EXPECT_EQ(create(whole, {{"name", "b"}, {"scopes", nullptr}}).body()["scopes"],
            json({"read", "self:manage"}));
  EXPECT_EQ(create(whole, {{"name", "b"}, {"scopes", {"jobs:run"}}}).code(), "scope_too_wide");
  EXPECT_EQ(create(whole, {{"name", "b"}, {"scopes", {"read"}}}).body()["scopes"], json({"read"}));
}

TEST_F(SignInTest, AUserHasSoManyTokens) {
  const std::string owner = AddUser("anna", "user");
  const SignedIn anna = SignIn("anna");
  for (int i = 0; i < 200; ++i) {
    TokenRecord token = scheduler::DescribeToken("t" + std::to_string(i), clock_.Wall());
    token.name = "many";
    token.role = "read_only";
    token.user_id = owner;
    ASSERT_TRUE(stores_.auth.CreateToken(token).ok());
  }
  const std::string body = json{{"name", "one more"}}.dump();
  const Answer refused = As(anna.access_token, "POST", "/api/tokens", body);
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.code(), "too_many_tokens");
  AddUser("bert", "user");
  EXPECT_EQ(As(SignIn("bert").access_token, "POST", "/api/tokens", body).status, 201);
  const auto id = scheduler::TokenIdOf(scheduler::HashToken("t7"));
  EXPECT_EQ(As(anna.access_token, "DELETE", "/api/tokens/" + id).status, 204);
  EXPECT_EQ(As(anna.access_token, "POST", "/api/tokens", body).status, 201);
}

TEST_F(SignInTest, TokensExpireAndCannotOutliveThemselves) {
  AddUser("anna", "user");
  const SignedIn anna = SignIn("anna");
  const std::string soon = FormatRfc3339(clock_.Wall() + 1h);
  const auto create = [&](const std::string& bearer, const std::string& expires) {
    json body = {{"name", "ci"}};
    if (!expires.empty()) body["expires_at"] = expires;
    return As(bearer, "POST", "/api/tokens", body.dump());
  };
  EXPECT_EQ(create(anna.access_token, "2020-01-01T00:00:00Z").pointer(), "/expires_at");
  EXPECT_EQ(create(anna.access_token, "tomorrow").pointer(), "/expires_at");
  const std::string whole = create(anna.access_token, soon).body()["token"];
  EXPECT_EQ(create(whole, FormatRfc3339(clock_.Wall() + 2h)).pointer(), "/expires_at");
  EXPECT_EQ(create(whole, "").body()["expires_at"], soon);
  EXPECT_EQ(Me(whole), 200);
  clock_.Advance(1h);
  EXPECT_EQ(Me(whole), 401);
}

}  // namespace
}  // namespace carillon::test
