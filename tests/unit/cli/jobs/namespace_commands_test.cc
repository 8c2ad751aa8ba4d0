// Namespaces and shares on the command line.
#include <filesystem>
#include <fstream>

#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class NamespaceCommandsTest : public CliTest {
 protected:
  NamespaceCommandsTest() {
    std::string pattern = ::testing::TempDir() + "carillon-cli-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    environment_ = {
        {"CARILLON_ADDR", "http://a"}, {"CARILLON_TOKEN", "t"}, {"XDG_CONFIG_HOME", directory_}};
  }
  ~NamespaceCommandsTest() override { std::filesystem::remove_all(directory_); }

  std::string File(const std::string& name, const std::string& text) {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  std::string directory_;
};

TEST_F(NamespaceCommandsTest, JobsAreListedByThem) {
  Answer("GET /api/jobs?namespace=payroll&namespace=web&page_size=50",
         {{"items", {{{"job_id", "a"}, {"name", "A"}, {"namespace", "web"}}}},
          {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"job", "list", "--namespace", "payroll", "--namespace", "web", "-o", "wide"}), 0)
      << err();
  EXPECT_NE(out().find("NAMESPACE"), std::string::npos) << out();
  EXPECT_NE(out().find("web"), std::string::npos) << out();
}

TEST_F(NamespaceCommandsTest, JobsAreMadeAndMovedWithAFlag) {
  Answer("POST /api/jobs", {{"job_id", "a"}}, 201);
  EXPECT_EQ(Run({"job", "create", "--name", "A", "--type", "noop", "--namespace", "payroll"}), 0)
      << err();
  EXPECT_EQ(SentBody(0)["namespace"], "payroll");
  Answer("GET /api/jobs/a", {{"job_id", "a"}}, 200, "\"v1\"");
  Answer("PATCH /api/jobs/a", {{"job_id", "a"}});
  EXPECT_EQ(Run({"job", "edit", "a", "--namespace", "web"}), 0) << err();
  EXPECT_EQ(SentBody(2), (json{{"namespace", "web"}}));
}

TEST_F(NamespaceCommandsTest, FilesThatNameNoneAreAppliedToOne) {
  const std::string file = File("job.yaml", "name: A\ntype: noop\n");
  const json applied = {{"items", json::array()}, {"counts", json::object()}};
  Answer("POST /api/apply?namespace=payroll", applied);
  EXPECT_EQ(Run({"apply", "-f", file, "--namespace", "payroll"}), 0) << err();
  Answer("POST /api/apply?namespace=payroll&dry_run=true", applied);
  EXPECT_EQ(Run({"diff", "-f", file, "--namespace", "payroll"}), 0) << err();
}

TEST_F(NamespaceCommandsTest, ANameMayStandTwiceInFilesOfTwo) {
  const std::string two =
      File("two.yaml", "name: A\ntype: noop\n---\nname: A\ntype: noop\nnamespace: web\n");
  EXPECT_EQ(Run({"validate", "-f", two}), 0) << err();
  const std::string same = File("same.yaml", "name: A\ntype: noop\n---\nname: A\ntype: noop\n");
  EXPECT_EQ(Run({"validate", "-f", same}), 2);
}

TEST_F(NamespaceCommandsTest, ExportsAreOfSomeAndSayWhereAJobBelongs) {
  json job = {{"job_id", "a"},          {"name", "A"},    {"type", "noop"},
              {"namespace", "payroll"}, {"user_id", "u"}, {"cron_expression", nullptr},
              {"state", "ENABLED"},     {"version", 3},   {"allowed_actions", {"edit"}}};
  Answer("GET /api/jobs?namespace=payroll&page_size=500",
         {{"items", {job}}, {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"export", "--namespace", "payroll"}), 0) << err();
  EXPECT_EQ(out(), "---\njob_id: a\nname: A\nnamespace: payroll\ntype: noop\n");
  EXPECT_EQ(Run({"export", "--namespace", "payroll", "--job", "a"}), 2);
}

TEST_F(NamespaceCommandsTest, ACrontabIsTakenOverIntoOne) {
  const std::string file = File("crontab", "0 3 * * * true\n");
  EXPECT_EQ(Run({"import", "crontab", file, "--tz", "UTC", "--namespace", "web", "-o", "json"}), 0)
      << err();
  EXPECT_EQ(OutJson()["jobs"][0]["namespace"], "web");
}

TEST_F(NamespaceCommandsTest, SharesAreGivenAndTakenAway) {
  Answer("POST /api/users", {{"user_id", "u"}}, 201);
  in_.str("a long enough password\n");
  EXPECT_EQ(Run({"user", "create", "anna", "--share", "payroll", "--share", "*:team = etl"}), 0)
      << err();
  const json shares = {{{"namespace", "payroll"}},
                       {{"namespace", "*"}, {"selector", "team = etl"}}};
  EXPECT_EQ(SentBody(0)["shares"], shares);
  Answer("GET /api/users/u", {{"user_id", "u"}}, 200, "\"v1\"");
  Answer("PATCH /api/users/u", {{"user_id", "u"}});
  EXPECT_EQ(Run({"user", "edit", "u", "--share", "web"}), 0) << err();
  EXPECT_EQ(SentBody(2), (json{{"shares", {{{"namespace", "web"}}}}}));
  EXPECT_EQ(Run({"user", "edit", "u", "--no-shares"}), 0) << err();
  EXPECT_EQ(SentBody(4), (json{{"shares", json::array()}}));
  EXPECT_EQ(Run({"user", "edit", "u", "--no-shares", "--share", "web"}), 2);
}

}  // namespace
}  // namespace carillon::cli
