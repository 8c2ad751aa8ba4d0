#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/tls/certificates.h"
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

std::string TextOf(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class JoinCommandsTest : public CliTest {
 protected:
  JoinCommandsTest()
      : directory_(::testing::TempDir() + "carillon-join-" + std::to_string(getpid())) {}
  ~JoinCommandsTest() override { std::filesystem::remove_all(directory_); }

  const std::string directory_;
};

TEST_F(JoinCommandsTest, ATokenIsAllOfStandardOutput) {
  Answer("POST /api/executors/join-tokens",
         json{{"join_token", "carillon_x:AAAA"}, {"expires_at", "2030-01-01T00:00:00.000000Z"}},
         201);
  EXPECT_EQ(Run({"executor", "join-token", "executor-7", "--expires-in", "30m"}), 0);
  EXPECT_EQ(out(), "carillon_x:AAAA\n");
  EXPECT_NE(err().find("2030-01-01"), std::string::npos);
  EXPECT_EQ(SentBody(0), (json{{"executor_id", "executor-7"}, {"expires_in_s", 1800}}));
  EXPECT_EQ(Run({"executor", "join-token", "executor-7", "--reason", "another rack"}), 0);
  EXPECT_EQ(SentBody(1), (json{{"executor_id", "executor-7"}, {"reason", "another rack"}}));
}

TEST_F(JoinCommandsTest, AnAddressMakesAWholeCommand) {
  Answer("POST /api/executors/join-tokens",
         json{{"join_token", "carillon_x:AAAA"}, {"link_address", "10.0.0.1:8641"}}, 201);
  EXPECT_EQ(Run({"executor", "join-token", "executor-7"}), 0);
  EXPECT_EQ(out(), "carillon_x:AAAA\n");
  EXPECT_NE(err().find("--set executor.id=executor-7 --set link.members=10.0.0.1:8641"),
            std::string::npos);
}

TEST_F(JoinCommandsTest, ARefusalPrintsNoToken) {
  Answer("POST /api/executors/join-tokens",
         json{{"code", "link_without_tls"}, {"detail", "no TLS"}}, 409);
  EXPECT_EQ(Run({"executor", "join-token", "executor-7"}), 5);
  EXPECT_EQ(out(), "");
  EXPECT_NE(err().find("link_without_tls"), std::string::npos);
  EXPECT_EQ(Run({"executor", "join-token", "executor-7", "--expires-in", "soon"}), 2);
  EXPECT_EQ(Run({"executor", "join-token"}), 2);
}

TEST_F(JoinCommandsTest, AnAuthorityIsMadeOnceAndItsKeyIsItsOwnersOnly) {
  EXPECT_EQ(Run({"executor", "authority", directory_}), 0);
  const std::string certificate = TextOf(directory_ + "/link-ca.pem");
  const std::string key = TextOf(directory_ + "/link-ca.key");
  const auto authority = tls::Authority::Load(certificate, key);
  ASSERT_TRUE(authority.ok()) << authority.error().message;
  EXPECT_EQ(out(), authority->fingerprint() + "\n");
  struct stat file {};
  ASSERT_EQ(stat((directory_ + "/link-ca.key").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  EXPECT_EQ(Run({"executor", "authority", directory_}), 2);
  EXPECT_EQ(TextOf(directory_ + "/link-ca.pem"), certificate);
  EXPECT_EQ(TextOf(directory_ + "/link-ca.key"), key);
}

}  // namespace
}  // namespace carillon::cli
