// Users of an ApiEnv, signed in over its routes.
#pragma once

#include <string>

#include "scheduler/auth/passwords.h"
#include "scheduler/auth/random_token.h"
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {

inline constexpr const char* kPassword = "a long enough password";

struct SignedIn {
  std::string user_id;
  std::string access_token;
  std::string cookie;  // "carillon_refresh=…"
};

class PeopleEnv : public ApiEnv {
 protected:
  // Writes the user to the store directly, with the same password hash for all: hashing is slow.
  std::string AddUser(const std::string& name, const std::string& role) {
    static const std::string hash = scheduler::HashPassword(kPassword).value();
    const UserRecord user{.user_id = "user-" + name,
                          .name = name,
                          .role = role,
                          .password_hash = hash,
                          .created = clock_.Wall(),
                          .updated = clock_.Wall()};
    EXPECT_TRUE(stores_.auth.CreateUser(user).ok());
    return user.user_id;
  }
  Answer As(const std::string& bearer, const std::string& method, const std::string& path,
            const std::string& body = "", HttpHeaders headers = {}) {
    if (!bearer.empty()) headers.emplace_back("Authorization", "Bearer " + bearer);
    if (!body.empty()) headers.emplace_back("Content-Type", "application/json");
    return SendOn(client_, method, path, body, std::move(headers));
  }
  Answer Login(const std::string& name, const std::string& password) {
    return As("", "POST", "/api/auth/login", json{{"name", name}, {"password", password}}.dump());
  }
  Answer Refresh(const std::string& cookie, HttpHeaders headers = {{"X-Carillon-Refresh", "1"}}) {
    headers.emplace_back("Cookie", cookie);
    return As("", "POST", "/api/auth/refresh", "", std::move(headers));
  }
  static SignedIn Session(const Answer& answer) {
    const json body = answer.body();
    const std::string cookie = answer.header("set-cookie");
    return {.user_id = body["user"].value("user_id", ""),
            .access_token = body.value("access_token", ""),
            .cookie = cookie.substr(0, cookie.find(';'))};
  }
  SignedIn SignIn(const std::string& name) {
    const Answer answer = Login(name, kPassword);
    EXPECT_EQ(answer.status, 200) << answer.text;
    return Session(answer);
  }
  json Audited() { return Get("/api/audit?page_size=100").body()["items"]; }
  bool IsAudited(const std::string& action, const std::string& actor) {
    for (const json& item : Audited()) {
      if (item["action"] == action && item["actor"] == actor) return true;
    }
    return false;
  }
};

}  // namespace carillon::test
