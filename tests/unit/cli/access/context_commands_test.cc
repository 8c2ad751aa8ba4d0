// Contexts (named servers), wide tables, and formats of times.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "cli/client/context.h"
#include "cli/terminal/output.h"
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class ContextCommandsTest : public CliTest {
 protected:
  ContextCommandsTest() {
    std::string pattern = ::testing::TempDir() + "/context-XXXXXX";
    home_ = mkdtemp(pattern.data());
    environment_ = {{"HOME", home_}};
    for (const char* server : {"http://a", "http://b", "http://c"}) {
      AnswerOf(server, "GET /api/jobs?page_size=50", {{"items", json::array()}});
    }
  }
  ~ContextCommandsTest() override { std::filesystem::remove_all(home_); }

  std::string TokenFile(const std::string& name, const std::string& token) {
    const std::string path = home_ + "/" + name;
    std::ofstream(path) << token << "\n";
    return path;
  }
  // Sends a list request, and returns the server and the token that it used.
  std::string Asked(const std::vector<std::string>& flags = {}) {
    std::vector<std::string> arguments = {"job", "list"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    server_.requests.clear();
    EXPECT_EQ(Run(arguments), 0) << err();
    if (server_.requests.empty()) return "nobody";
    return Sent(0).url.substr(0, 8) + " " + HeaderOf(Sent(0), "Authorization");
  }

  std::string home_;
};

TEST_F(ContextCommandsTest, TheOneInUseIsWhereCommandsGo) {
  EXPECT_EQ(Run({"context", "set", "prod", "--addr", "http://b,http://c", "--token-file",
                 TokenFile("t", "pb")}),
            0)
      << err();
  EXPECT_EQ(Run({"context", "set", "test", "--addr", "http://c"}), 0);
  EXPECT_EQ(Run({"context", "use", "prod"}), 0);
  EXPECT_EQ(Asked(), "http://b Bearer pb");
  EXPECT_EQ(Run({"context", "list"}), 0);
  EXPECT_EQ(out(),
            "CURRENT  NAME  ADDRESSES          TOKEN FILE\n"
            "true     prod  http://b,http://c  " +
                home_ +
                "/t\n"
                "false    test  http://c           -\n");
  struct stat info {};
  ASSERT_EQ(stat((home_ + "/.config/carillon/contexts.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(Run({"context", "delete", "prod"}), 0);
  EXPECT_EQ(Run({"context", "list", "-q"}), 0);
  EXPECT_EQ(out(), "test\n");
  EXPECT_EQ(ReadContexts(environment_)->current, "");
}

TEST_F(ContextCommandsTest, KnowsWhoSignsItsServersCertificate) {
  const std::string ca = home_ + "/ca.pem";
  const std::string other = home_ + "/other.pem";
  for (const std::string& path : {ca, other}) {
    std::ofstream(path) << "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n";
  }
  EXPECT_EQ(Run({"context", "set", "tls", "--addr", "https://b", "--ca-file", ca}), 0) << err();
  EXPECT_EQ(Run({"context", "set", "tls", "--addr", "https://b", "--ca-file", home_ + "/no"}), 2);
  ASSERT_EQ(Run({"context", "use", "tls"}), 0);
  environment_["CARILLON_CA_FILE"] = other;
  EXPECT_EQ(FindTarget({}, environment_)->ca_file, ca);
  EXPECT_EQ(FindTarget({.ca_file = other}, environment_)->ca_file, other);
  EXPECT_EQ(FindTarget({.addresses = "https://c"}, environment_)->ca_file, other);
  EXPECT_EQ(Run({"context", "list", "-o", "json"}), 0);
  EXPECT_EQ(OutJson()["items"][0]["ca_file"], ca);
  std::filesystem::remove(ca);
  EXPECT_EQ(FindTarget({}, environment_).code(), ErrorCode::kInvalid);
}

TEST_F(ContextCommandsTest, FilesAreFoundFromAnyDirectory) {
  const auto before = std::filesystem::current_path();
  TokenFile("near", "tb");
  std::filesystem::current_path(home_);
  EXPECT_EQ(Run({"context", "set", "b", "--addr", "http://b", "--token-file", "near"}), 0);
  std::filesystem::current_path(before);
  EXPECT_EQ(Asked({"--context", "b"}), "http://b Bearer tb");
}

TEST_F(ContextCommandsTest, WhatIsNamedGoesBeforeWhatIsInUse) {
  const std::string token = TokenFile("t", "tb");
  ASSERT_EQ(Run({"context", "set", "b", "--addr", "http://b", "--token-file", token}), 0);
  ASSERT_EQ(Run({"context", "set", "c", "--addr", "http://c"}), 0);
  ASSERT_EQ(Run({"context", "use", "b"}), 0);
  environment_["CARILLON_TOKEN"] = "env";
  EXPECT_EQ(Asked(), "http://b Bearer tb");
  EXPECT_EQ(Asked({"--token-file", TokenFile("u", "flag")}), "http://b Bearer flag");
  EXPECT_EQ(Asked({"--context", "c"}), "http://c Bearer env");
  EXPECT_EQ(Asked({"--addr", "http://a"}), "http://a Bearer env");
  environment_["CARILLON_ADDR"] = "http://a";
  EXPECT_EQ(Asked(), "http://a Bearer env");
  environment_["CARILLON_CONTEXT"] = "c";
  EXPECT_EQ(Asked(), "http://c Bearer env");
  EXPECT_EQ(Asked({"--context", "b"}), "http://b Bearer tb");
}

TEST_F(ContextCommandsTest, WhatIsWrongIsSaid) {
  EXPECT_EQ(Run({"context", "use", "none"}), 3);
  EXPECT_EQ(Run({"context", "delete", "none"}), 3);
  EXPECT_EQ(Run({"context", "set", "a"}), 2);
  EXPECT_EQ(Run({"context", "set", "a b", "--addr", "http://a"}), 2);
  EXPECT_EQ(Run({"context", "set", "a", "--addr", "ftp://a"}), 2);
  EXPECT_EQ(Run({"job", "list", "--context", "none"}), 2);
  EXPECT_NE(err().find("unknown context 'none'"), std::string::npos);
  EXPECT_EQ(Run({"context", "list"}), 0);
  EXPECT_EQ(out(), "CURRENT  NAME  ADDRESSES  TOKEN FILE\n");
  std::filesystem::create_directories(home_ + "/.config/carillon");
  std::ofstream(home_ + "/.config/carillon/contexts.json") << "[]";
  EXPECT_EQ(Run({"context", "list"}), 2);
  EXPECT_EQ(Run({"job", "list"}), 2);
  EXPECT_NE(err().find("not a valid context file"), std::string::npos);
  EXPECT_EQ(Asked({"--addr", "http://a"}), "http://a ");
}

TEST_F(ContextCommandsTest, WideTablesHaveMoreColumnsAndWholeTexts) {
  environment_["CARILLON_ADDR"] = "http://a";
  json job = JobShown("nightly");
  job["name"] = std::string(70, 'n');
  job["user_id"] = "ann";
  job["labels"] = {{"team", "x"}};
  job["priority"] = 4;
  server_.answers.clear();
  Answer("GET /api/jobs?page_size=50", {{"items", {job}}, {"next_page_token", nullptr}});
  ASSERT_EQ(Run({"job", "list", "-o", "wide"}), 0) << err();
  EXPECT_NE(out().find(std::string(70, 'n')), std::string::npos);
  EXPECT_NE(out().find("PRIORITY  OWNER  LABELS"), std::string::npos) << out();
  EXPECT_NE(out().find("{\"team\":\"x\"}"), std::string::npos);
  ASSERT_EQ(Run({"job", "list"}), 0);
  EXPECT_EQ(out().find("OWNER"), std::string::npos);
  EXPECT_EQ(out().find(std::string(70, 'n')), std::string::npos);
}

TEST_F(ContextCommandsTest, TimesAreShownAsAskedFor) {
  environment_["CARILLON_ADDR"] = "http://a";
  environment_["TZ"] = "Asia/Kolkata";
  json job = JobShown("nightly");
  job["next_fire_time"] = FormatRfc3339(clock_.Wall() + 90min);
  Answer("GET /api/jobs/nightly", job);
  const auto shown = [&](const std::string& time) {
    EXPECT_EQ(Run({"job", "get", "nightly", "--time", time}), 0) << err();
    return out();
  };
  EXPECT_NE(shown("relative").find("in 90m"), std::string::npos) << out();
  EXPECT_NE(shown("local").find("+05:30"), std::string::npos) << out();
  EXPECT_NE(shown("utc").find("00Z"), std::string::npos) << out();
  EXPECT_EQ(Run({"job", "get", "nightly", "--time", "local", "-o", "json"}), 0);
  EXPECT_EQ(OutJson()["next_fire_time"], job["next_fire_time"]);
  EXPECT_EQ(Run({"job", "get", "nightly", "--time", "lunar"}), 2);
}

TEST(TimeTextTest, RelativeTimesAreInTheUnitThatSaysMost) {
  const WallTime now = FromUnixMicros(1'000'000'000'000'000);
  const std::vector<std::pair<Duration, std::string>> times = {
      {0s, "now"},         {900ms, "now"},  {-1s, "1s ago"}, {119s, "in 119s"}, {-120s, "2m ago"},
      {119min, "in 119m"}, {-2h, "2h ago"}, {47h, "in 47h"}, {-48h, "2d ago"}};
  for (const auto& [away, text] : times) EXPECT_EQ(RelativeTime(now + away, now), text);
}

}  // namespace
}  // namespace carillon::cli
