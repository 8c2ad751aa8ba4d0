#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class ImportCommandsTest : public CliTest {};

TEST_F(ImportCommandsTest, ShowsJobsAndSaysWhatWasLeftOut) {
  in_.str("# Nightly\n30 2 * * * backup.sh\n@reboot start\n");
  EXPECT_EQ(Run({"import", "crontab", "--tz", "Europe/Paris"}), 1);
  EXPECT_NE(out().find("jobs:"), std::string::npos);
  EXPECT_NE(out().find("description: Nightly"), std::string::npos);
  EXPECT_NE(err().find("line 3 skipped: @reboot is not supported"), std::string::npos);
  EXPECT_TRUE(server_.requests.empty());
  in_.str("30 2 * * * backup.sh\n");
  EXPECT_EQ(Run({"import", "crontab", "-", "--tz", "Europe/Paris", "-o", "json"}), 0);
  EXPECT_EQ(OutJson()["jobs"][0]["job_id"], "backup-sh");
}

TEST_F(ImportCommandsTest, ApplyCreatesEachAndGoesOnAfterOneThatIsThere) {
  in_.str("1 * * * * a\n2 * * * * b\n");
  Answer("POST /api/jobs", ProblemOf("exists"), 409);
  Answer("POST /api/jobs", JobShown("b"), 201);
  EXPECT_EQ(Run({"import", "crontab", "--tz", "UTC", "--apply", "-o", "name"}), 5);
  EXPECT_EQ(out(), "b\n");
  EXPECT_NE(err().find("a was not imported: another job has or had this ID"), std::string::npos);
  ASSERT_EQ(server_.requests.size(), 3u) << "it asks for the job that is there";
  EXPECT_EQ(SentBody(2)["job_id"], "b");
}

TEST_F(ImportCommandsTest, ADryRunSaysWhatWouldBeCreated) {
  const auto item = [](int index, const char* id, const char* result) {
    return json{{"index", index}, {"job_id", id}, {"result", result}, {"error", nullptr}};
  };
  in_.str("1 * * * * a\n2 * * * * b\n");
  Answer("POST /api/apply?dry_run=true",
         {{"items", {item(0, "a", "created"), item(1, "b", "created")}}});
  json bad = item(1, "b", "error");
  bad["error"] = ProblemOf("forbidden");
  Answer("POST /api/apply?dry_run=true", {{"items", {item(0, "a", "updated"), bad}}});
  EXPECT_EQ(Run({"import", "crontab", "--tz", "UTC", "--dry-run", "-o", "name"}), 0) << err();
  EXPECT_EQ(out(), "a\nb\n");
  ASSERT_EQ(server_.requests.size(), 1u);
  EXPECT_EQ(SentBody(0)[1]["job_id"], "b");
  in_.clear();
  in_.str("1 * * * * a\n2 * * * * b\n");
  EXPECT_NE(Run({"import", "crontab", "--tz", "UTC", "--dry-run", "-o", "json"}), 0);
  EXPECT_EQ(OutJson()["items"][0]["result"], "exists");
  EXPECT_EQ(OutJson()["items"][1]["result"], "error");
  EXPECT_NE(err().find("b was not imported"), std::string::npos);
  EXPECT_EQ(Run({"import", "crontab", "--tz", "UTC", "--dry-run", "--apply"}), 2);
}

TEST_F(ImportCommandsTest, ADirectoryIsReadFileByFile) {
  const std::string directory = ::testing::TempDir() + "cron.d";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory + "/inner");
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(directory + "/" + name) << text;
  };
  EXPECT_EQ(Run({"import", "crontab", directory, "--tz", "UTC"}), 2) << "no file in it";
  write("b", "A=1\n1 * * * * root one\n");
  write("a", "2 * * * * root two\n");
  write(".placeholder", "3 * * * * root three\n");
  EXPECT_EQ(Run({"import", "crontab", directory, "--system", "--tz", "UTC", "-o", "json"}), 0);
  ASSERT_EQ(OutJson()["jobs"].size(), 2u);
  EXPECT_EQ(OutJson()["jobs"][0]["job_id"], "two");
  write("c.bak", "4 * * * * root four\n");
  write("d", "bad\n");
  EXPECT_EQ(Run({"import", "crontab", directory, "--system", "--tz", "UTC", "-o", "json"}), 1);
  EXPECT_EQ(OutJson()["jobs"].size(), 2u);
  EXPECT_NE(err().find("c.bak skipped"), std::string::npos);
  EXPECT_NE(err().find("d, line 1 skipped"), std::string::npos);
}

TEST_F(ImportCommandsTest, AFileThatCannotBeReadCostsNoOther) {
  const std::string directory = ::testing::TempDir() + "cron.faults";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  std::ofstream(directory + "/a") << "2 * * * * root two\n";
  std::filesystem::create_symlink("/nowhere/at/all", directory + "/b");
  ASSERT_EQ(mkfifo((directory + "/c").c_str(), 0600), 0);
  std::ofstream(directory + "/d") << std::string((1u << 20) + 1, '#');
  std::ofstream(directory + "/e") << "3 * * * * root three\n";
  EXPECT_EQ(Run({"import", "crontab", directory, "--system", "--tz", "UTC", "-o", "json"}), 1);
  ASSERT_EQ(OutJson()["jobs"].size(), 2u);
  EXPECT_EQ(OutJson()["jobs"][1]["job_id"], "three");
  EXPECT_NE(err().find("b skipped: cannot read"), std::string::npos) << err();
  EXPECT_NE(err().find("c is no regular file"), std::string::npos) << err();
  EXPECT_NE(err().find("d is larger than 1 MiB"), std::string::npos) << err();
}

TEST_F(ImportCommandsTest, AUserOfASpoolMayHaveADotInTheName) {
  const std::string directory = ::testing::TempDir() + "cron.spool";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  std::ofstream(directory + "/john.doe") << "2 * * * * two\n";
  EXPECT_EQ(Run({"import", "crontab", directory, "--tz", "UTC", "-o", "json"}), 0) << err();
  ASSERT_EQ(OutJson()["jobs"].size(), 1u);
  EXPECT_EQ(OutJson()["jobs"][0]["labels"]["crontab-user"], "john.doe");
}

TEST_F(ImportCommandsTest, ABadZoneOrFileIsAnError) {
  EXPECT_NE(Run({"import", "crontab", "--tz", "Nowhere/Land"}), 0);
  EXPECT_NE(Run({"import", "crontab", "/nowhere/at/all", "--tz", "UTC"}), 0);
  EXPECT_EQ(Run({"import"}), 2);
}

}  // namespace
}  // namespace carillon::cli
