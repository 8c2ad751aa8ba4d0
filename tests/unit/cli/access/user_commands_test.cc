// Changing one's own password, and finding users by name.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class OwnPasswordTest : public CliTest {
 protected:
  OwnPasswordTest() {
    std::string pattern = ::testing::TempDir() + "carillon-password-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    environment_ = {{"CARILLON_ADDR", "http://a"}, {"XDG_CONFIG_HOME", directory_}};
  }
  ~OwnPasswordTest() override {
    chmod((directory_ + "/carillon").c_str(), 0700);
    std::filesystem::remove_all(directory_);
  }

  void AnswerSession(const std::string& request, const std::string& number) {
    const json body = {
        {"access_token", "access-" + number}, {"expires_in", 600}, {"user", {{"name", "anna"}}}};
    server_.answers["POST http://a" + request].emplace_back(HttpResponse{
        .status = 200,
        .headers = {{"content-type", "application/json"},
                    {"set-cookie", "carillon_refresh=refresh-" + number + "; HttpOnly"}},
        .body = body.dump()});
  }
  void LogIn() {
    AnswerSession("/api/auth/login", "1");
    in_.str("the old one\n");
    ASSERT_EQ(Run({"login", "--name", "anna"}), 0) << err();
    server_.requests.clear();
  }
  std::string Stored() const {
    std::ifstream in(directory_ + "/carillon/session.json");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool Asked() const {
    return std::any_of(server_.requests.begin(), server_.requests.end(),
                       [](const auto& request) { return request.method == "POST"; });
  }

  std::string directory_;
};

TEST_F(OwnPasswordTest, TheNewSessionTakesThePlaceOfTheOldOne) {
  LogIn();
  AnswerSession("/api/auth/password", "2");
  in_.str("the old one\nthe new one\n");
  environment_["CARILLON_TOKEN"] = "machine";
  EXPECT_EQ(Run({"user", "password"}), 0) << err();
  EXPECT_EQ(HeaderOf(Sent(0), "Authorization"), "Bearer access-1") << "a token has no password";
  EXPECT_EQ(SentBody(0), (json{{"old_password", "the old one"}, {"new_password", "the new one"}}));
  EXPECT_NE(Stored().find("refresh-2"), std::string::npos);
  EXPECT_EQ(Stored().find("refresh-1"), std::string::npos);
  EXPECT_EQ(Stored().find("the new one"), std::string::npos);
  EXPECT_EQ(out(), "");
  environment_.erase("CARILLON_TOKEN");
  Answer("GET /api/auth/me", {{"name", "anna"}});
  EXPECT_EQ(Run({"whoami"}), 0) << err();
  EXPECT_EQ(HeaderOf(server_.requests.back(), "Authorization"), "Bearer access-2");
}

TEST_F(OwnPasswordTest, OnATerminalTheNewOneIsAskedForTwice) {
  LogIn();
  AnswerSession("/api/auth/password", "2");
  tty_ = true;
  typed_passwords_ = {"the old one", "the new one", "the knew one"};
  EXPECT_EQ(Run({"user", "password"}), 2);
  EXPECT_EQ(prompts_, "Current password: New password: New password, again: ");
  EXPECT_NE(err().find("do not match"), std::string::npos) << err();
  EXPECT_FALSE(Asked());
  typed_passwords_ = {"the old one", "the new one", "the new one"};
  EXPECT_EQ(Run({"user", "password"}), 0) << err();
  EXPECT_EQ(SentBody(0)["new_password"], "the new one");
}

TEST_F(OwnPasswordTest, WhatTheServerRefusesLeavesTheSession) {
  LogIn();
  Answer("POST /api/auth/password", ProblemOf("wrong_password"), 400);
  in_.str("a wrong one\nthe new one\n");
  EXPECT_EQ(Run({"user", "password"}), 2);
  EXPECT_NE(err().find("wrong_password"), std::string::npos) << err();
  EXPECT_NE(Stored().find("refresh-1"), std::string::npos);
}

TEST_F(OwnPasswordTest, BothPasswordsAndASessionAreNeeded) {
  in_.str("the old one\nthe new one\n");
  EXPECT_EQ(Run({"user", "password"}), 4);
  EXPECT_NE(err().find("carillon login"), std::string::npos) << err();
  LogIn();
  in_.str("the old one\n");
  EXPECT_EQ(Run({"user", "password"}), 2);
  EXPECT_FALSE(Asked());
}

class NamedUserTest : public CliTest {
 protected:
  NamedUserTest() {
    Answer("GET /api/users?page_size=500",
           {{"items", {{{"user_id", "user-1"}, {"name", "anna"}}}}, {"next_page_token", "more"}});
    Answer("GET /api/users?page_size=500&page_token=more",
           {{"items", {{{"user_id", "user-2"}, {"name", "bert"}}}}, {"next_page_token", nullptr}});
  }
};

TEST_F(NamedUserTest, IsFoundWhateverTheCase) {
  Answer("GET /api/users/user-2", {{"user_id", "user-2"}, {"name", "bert"}});
  EXPECT_EQ(Run({"user", "get", "Bert", "-q"}), 0) << err();
  EXPECT_EQ(out(), "user-2\n");
  EXPECT_EQ(Run({"user", "get", "Berta"}), 3);
}

TEST_F(NamedUserTest, HasARecordOfWhatWasDoneToHim) {
  const json none = {{"items", json::array()}, {"next_page_token", nullptr}};
  const auto one = [](const std::string& id) {
    return json{{"items", {{{"id", id}, {"actor", "root"}}}}, {"next_page_token", nullptr}};
  };
  Answer("GET /api/audit?object_id=Bert&page_size=1", none);
  Answer("GET /api/audit?object_id=user-2&page_size=500", one("7"));
  EXPECT_EQ(Run({"audit", "Bert", "-q"}), 0) << err();
  EXPECT_EQ(out(), "7\n");
  Answer("GET /api/audit?object_id=anna&page_size=1", one("8"));
  Answer("GET /api/audit?object_id=anna&page_size=500", one("8"));
  EXPECT_EQ(Run({"audit", "anna", "-q"}), 0) << err();
  EXPECT_EQ(out(), "8\n") << "an id that has records is meant first";
  Answer("GET /api/audit?object_id=carl&page_size=1", none);
  Answer("GET /api/audit?object_id=carl&page_size=500", none);
  EXPECT_EQ(Run({"audit", "carl", "-q"}), 0) << err();
  EXPECT_EQ(out(), "");
}

TEST_F(CliTest, ATokensEndIsATimeOrALife) {
  Answer("POST /api/tokens", {{"token_id", "tok-1"}, {"token", "carillon_x"}}, 201);
  for (const char* end : {"5y", "-5m", "400000d", "0s", "tomorrow", "2030-03-01"}) {
    EXPECT_EQ(Run({"token", "create", "ci", "--expires", end}), 2) << end;
    EXPECT_NE(err().find("90d"), std::string::npos) << err();
    EXPECT_NE(err().find("2030-03-01T02:00:00Z"), std::string::npos) << err();
  }
  EXPECT_TRUE(server_.requests.empty());
  EXPECT_EQ(Run({"token", "create", "ci", "--expires", "2030-03-01T02:00:00Z"}), 0) << err();
  EXPECT_EQ(SentBody(0)["expires_at"], "2030-03-01T02:00:00Z");
}

}  // namespace
}  // namespace carillon::cli
