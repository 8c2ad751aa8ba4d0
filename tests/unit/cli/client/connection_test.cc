#include <unistd.h>
#include <filesystem>
#include <fstream>

#include "cli/client/target.h"
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class FailOverTest : public CliTest {
 protected:
  FailOverTest() { environment_["CARILLON_ADDR"] = "http://a,http://b"; }
  json Status() { return {{"leader", "b"}}; }
};

TEST_F(FailOverTest, NextServerAnswersWhenTheFirstIsAway) {
  FailOf("http://a", "GET /api/system/status", ErrorCode::kUnavailable);
  AnswerOf("http://b", "GET /api/system/status", Status());
  EXPECT_EQ(Run({"system", "status", "-o", "json"}), 0);
  EXPECT_EQ(OutJson(), Status());
}

TEST_F(FailOverTest, NextServerAnswersWhenTheFirstIsBusy) {
  AnswerOf("http://a", "GET /api/system/status", ProblemOf("exhausted"), 503);
  AnswerOf("http://b", "GET /api/system/status", Status());
  EXPECT_EQ(Run({"system", "status"}), 0);
}

TEST_F(CliTest, RefusedForTooManyRequestsIsSentAgain) {
  const WallTime before = clock_.Wall();
  Answer("POST /api/jobs/j/pause", ProblemOf("too_many_requests"), 429);
  Answer("POST /api/jobs/j/pause", ProblemOf("too_many_requests"), 429);
  Answer("POST /api/jobs/j/pause", JobShown("j"), 200, "\"v3\"");
  EXPECT_EQ(Run({"job", "pause", "j"}), 0);
  EXPECT_EQ(server_.requests.size(), 3u);
  EXPECT_EQ(clock_.Wall() - before, 2s);
}

TEST_F(CliTest, RefusalsThatDoNotEndAreTold) {
  Answer("GET /api/system/status", ProblemOf("too_many_requests"), 429);
  EXPECT_EQ(Run({"system", "status"}), 1);
  EXPECT_EQ(server_.requests.size(), 61u);
  EXPECT_NE(err().find("too_many_requests"), std::string::npos) << err();
}

TEST_F(FailOverTest, ServerThatAnsweredIsKept) {
  FailOf("http://a", "GET /api/jobs/j", ErrorCode::kUnavailable);
  AnswerOf("http://b", "GET /api/jobs/j", JobShown("j"), 200, "\"v3\"");
  server_.answers["DELETE http://b/api/jobs/j"].emplace_back(HttpResponse{.status = 204});
  EXPECT_EQ(Run({"job", "delete", "j", "-y"}), 0);
  EXPECT_EQ(server_.requests.size(), 3u);
}

TEST_F(FailOverTest, WriteOfUnknownOutcomeIsNotRepeatedElsewhere) {
  FailOf("http://a", "POST /api/jobs/j/pause", ErrorCode::kTimeout);
  EXPECT_EQ(Run({"job", "pause", "j"}), 6);
  EXPECT_EQ(server_.requests.size(), 1u);
}

TEST_F(FailOverTest, WriteWithAKeyIsRepeatedWithTheSameKey) {
  FailOf("http://a", "POST /api/jobs/j/execute", ErrorCode::kTimeout);
  AnswerOf("http://b", "POST /api/jobs/j/execute", {{"run_id", "R1"}}, 202);
  EXPECT_EQ(Run({"job", "run", "j"}), 0);
  ASSERT_EQ(server_.requests.size(), 2u);
  EXPECT_NE(HeaderOf(Sent(0), "Idempotency-Key"), "");
  EXPECT_EQ(HeaderOf(Sent(0), "Idempotency-Key"), HeaderOf(Sent(1), "Idempotency-Key"));
}

TEST_F(FailOverTest, NobodyAnswers) {
  FailOf("http://a", "GET /api/system/status", ErrorCode::kUnavailable);
  FailOf("http://b", "GET /api/system/status", ErrorCode::kTimeout);
  EXPECT_EQ(Run({"system", "status"}), 6);
  EXPECT_EQ(out(), "");
}

class TargetTest : public ::testing::Test {
 protected:
  TargetTest() : home_(::testing::TempDir() + "carillon-home-" + std::to_string(getpid())) {
    data_dir_ = home_ + "/.local/share/carillon";
    std::filesystem::create_directories(data_dir_);
  }
  ~TargetTest() override { std::filesystem::remove_all(home_); }
  void StartStandalone() {
    std::ofstream(data_dir_ + "/admin.token") << "from the directory\n";
    std::ofstream(data_dir_ + "/runtime.json")
        << json{{"url", "http://127.0.0.1:5"}, {"token_file", data_dir_ + "/admin.token"}}.dump();
  }
  std::map<std::string, std::string> Environment(
      const std::map<std::string, std::string>& more = {}) const {
    std::map<std::string, std::string> environment = {{"HOME", home_}};
    environment.insert(more.begin(), more.end());
    return environment;
  }

  const std::string home_;
  std::string data_dir_;
};

TEST_F(TargetTest, WithoutAnythingItIsTheDefaultPort) {
  const auto target = FindTarget({}, Environment());
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->urls, std::vector<std::string>{"http://127.0.0.1:8640"});
  EXPECT_EQ(target->token, "");
}

TEST_F(TargetTest, RunningStandaloneServerIsFound) {
  StartStandalone();
  const auto target = FindTarget({}, Environment());
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->urls, std::vector<std::string>{"http://127.0.0.1:5"});
  EXPECT_EQ(target->token, "from the directory");
  EXPECT_EQ(FindTarget({.data_dir = data_dir_}, {})->token, "from the directory");
}

TEST_F(TargetTest, DirectorysTokenGoesToItsServerOnly) {
  StartStandalone();
  const auto target = FindTarget({}, Environment({{"CARILLON_ADDR", "elsewhere:1/, https://b"}}));
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->urls, (std::vector<std::string>{"http://elsewhere:1", "https://b"}));
  EXPECT_EQ(target->token, "");
}

TEST_F(TargetTest, FlagsWinOverTheEnvironment) {
  std::ofstream(data_dir_ + "/other.token") << "  other \n";
  const auto target =
      FindTarget({.addresses = "http://x", .token_file = data_dir_ + "/other.token"},
                 Environment({{"CARILLON_ADDR", "http://y"}, {"CARILLON_TOKEN", "t"}}));
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->urls, std::vector<std::string>{"http://x"});
  EXPECT_EQ(target->token, "other");
}

TEST_F(TargetTest, DataDirectoryFlagWinsOverTheEnvironment) {
  StartStandalone();
  const auto target =
      FindTarget({.data_dir = data_dir_},
                 Environment({{"CARILLON_ADDR", "http://y"}, {"CARILLON_TOKEN", "t"}}));
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->urls, std::vector<std::string>{"http://127.0.0.1:5"});
  EXPECT_EQ(target->token, "from the directory");
}

TEST_F(TargetTest, TokenFileOfTheEnvironment) {
  std::ofstream(data_dir_ + "/t") << "file\n";
  const auto env = Environment({{"CARILLON_ADDR", "a"}, {"CARILLON_TOKEN_FILE", data_dir_ + "/t"}});
  EXPECT_EQ(FindTarget({}, env)->token, "file");
}

TEST_F(TargetTest, WhatCannotBeUsedIsRefused) {
  EXPECT_EQ(FindTarget({.addresses = "ftp://x"}, {}).code(), ErrorCode::kInvalid);
  EXPECT_EQ(FindTarget({.addresses = "http://"}, {}).code(), ErrorCode::kInvalid);
  EXPECT_EQ(FindTarget({.addresses = "a,,b"}, {}).code(), ErrorCode::kInvalid);
  EXPECT_EQ(FindTarget({.addresses = "http://user@x"}, {}).code(), ErrorCode::kInvalid);
  EXPECT_EQ(FindTarget({.data_dir = data_dir_}, {}).code(), ErrorCode::kUnavailable);
  EXPECT_EQ(FindTarget({.addresses = "a", .token_file = "/nonexistent"}, {}).code(),
            ErrorCode::kInvalid);
  EXPECT_EQ(FindTarget({.addresses = "a"}, {{"CARILLON_TOKEN_FILE", "/nonexistent"}}).code(),
            ErrorCode::kInvalid);
  std::ofstream(data_dir_ + "/runtime.json") << "[]";
  EXPECT_EQ(FindTarget({}, Environment()).code(), ErrorCode::kInvalid);
}

TEST_F(TargetTest, WhomToTrustIsAFlagOrAVariable) {
  const std::string ca = home_ + "/ca.pem";
  const std::string other = home_ + "/other.pem";
  for (const std::string& file : {ca, other}) {
    std::ofstream(file) << "-----BEGIN CERTIFICATE-----\n";
  }
  EXPECT_EQ(FindTarget({}, Environment())->ca_file, "");
  const auto environment = Environment({{"CARILLON_CA_FILE", other}});
  EXPECT_EQ(FindTarget({}, environment)->ca_file, other);
  EXPECT_EQ(FindTarget({.ca_file = ca}, environment)->ca_file, ca);
}

TEST_F(TargetTest, AFileThatIsNoAuthoritysIsTheCallersMistake) {
  std::ofstream(home_ + "/rubbish") << "rubbish";
  for (const char* name : {"/missing", "/rubbish"}) {
    EXPECT_EQ(FindTarget({.ca_file = home_ + name}, Environment()).code(), ErrorCode::kInvalid);
  }
}

TEST_F(FailOverTest, TheConnectionTrustsWhomWasNamed) {
  const std::string ca = ::testing::TempDir() + "carillon-ca-" + std::to_string(getpid());
  std::ofstream(ca) << "-----BEGIN CERTIFICATE-----\n";
  AnswerOf("http://a", "GET /api/system/status", Status());
  EXPECT_EQ(Run({"--ca-file", ca, "system", "status"}), 0);
  EXPECT_EQ(ca_file_, ca);
  std::filesystem::remove(ca);
  EXPECT_EQ(Run({"--ca-file", ca, "system", "status"}), 2);
}

}  // namespace
}  // namespace carillon::cli
