#include "common/imports/crontab.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

using nlohmann::json;

struct Entry {
  std::string line;
  std::string expression;  // empty = the line is refused
  std::string command;     // of a refused line: a part of the reason
};

// The results of single lines.
const Entry kEntries[] = {
    {"* * * * * true", "* * * * *", "true"},
    {"  5  4\t*  *  *   /bin/a  b   c ", "5 4 * * *", "/bin/a  b   c"},
    {"*/15 0-6,20-23 * * 1-5 x", "*/15 0-6,20-23 * * 1-5", "x"},
    {"0 0 1,15 * fri x", "0 0 1,15 * fri", "x"},
    {"0 0 1 jan,jul * x", "0 0 1 jan,jul *", "x"},
    {"0 22 * * 7 x", "0 22 * * 7", "x"},
    {"5-59/10 * * * * x", "5-59/10 * * * *", "x"},
    {"@hourly x", "@hourly", "x"},
    {"@daily x", "@daily", "x"},
    {"@midnight x", "@midnight", "x"},
    {"@weekly x", "@weekly", "x"},
    {"@monthly x", "@monthly", "x"},
    {"@yearly x", "@yearly", "x"},
    {"@annually x y", "@annually", "x y"},
    {"0 1 * * * date +\\%F > /tmp/\\%d", "0 1 * * *", "date +%F > /tmp/%d"},
    {"0 1 * * * printf 'a\\b' # not a comment", "0 1 * * *", "printf 'a\\b' # not a comment"},
    {"0 1 * * * test \"$A\" = b && c", "0 1 * * *", "test \"$A\" = b && c"},
    {"0 1 * * * A=1 run", "0 1 * * *", "A=1 run"},
    {"0 1 * * * \u00e9cho", "0 1 * * *", "\u00e9cho"},
    {"@reboot x", "", "systemd unit"},
    {"@every_minute x", "", "/cron_expression"},
    {"0 1 * * * mail -s hi bob%dear bob", "", "%"},
    {"0 1 * * *", "", "no command"},
    {"0 1 * *", "", "neither a setting nor five schedule fields"},
    {"@daily", "", "no command"},
    {"61 * * * * x", "", "/cron_expression"},
    {"0 22-2 * * * x", "", "/cron_expression"},
    {"0~59 * * * * x", "", "/cron_expression"},
    {"5/10 * * * * x", "", "step after a single number"},
    {"0 0 * jan/2 * x", "", "step after a single number"},
    {"nonsense", "", "neither a setting nor five schedule fields"},
    {"0 1 * * * \xff", "", "/"},
};

TEST(CrontabTest, EachLineIsAJobOrIsRefusedWithAReason) {
  for (const Entry& entry : kEntries) {
    const CrontabImport import = ParseCrontab(entry.line, {.time_zone = "Europe/Paris"});
    ASSERT_EQ(import.jobs.size() + import.refused.size(), 1u) << entry.line;
    if (entry.expression.empty()) {
      ASSERT_EQ(import.refused.size(), 1u) << entry.line;
      EXPECT_NE(import.refused[0].why.find(entry.command), std::string::npos)
          << entry.line << ": " << import.refused[0].why;
      EXPECT_EQ(import.refused[0].number, 1u);
      continue;
    }
    ASSERT_EQ(import.jobs.size(), 1u) << entry.line << ": " << import.refused[0].why;
    const json& job = import.jobs[0];
    EXPECT_EQ(job["cron_expression"], entry.expression) << entry.line;
    EXPECT_EQ(job["command"], entry.command) << entry.line;
    EXPECT_EQ(job["time_zone"], "Europe/Paris");
    EXPECT_EQ(job["timeout"], 604800);  // the longest, because cron has no timeout
  }
}

TEST(CrontabTest, SettingsHoldForWhatFollows) {
  const CrontabImport import = ParseCrontab(
      "1 * * * * before\n"
      "PATH=/usr/bin:/bin\n"
      "  GREETING = \" hello \"\n"
      "SHELL=/bin/bash\n"
      "CRON_TZ=Asia/Tokyo\n"
      "MAILTO=root\n"
      "2 * * * * it's 'after'\n"
      "CRON_TZ=Nowhere/Land\n"
      "SHELL=/bin/sh\n"
      "3 * * * * last\n",
      {});
  ASSERT_EQ(import.jobs.size(), 3u);
  EXPECT_FALSE(import.jobs[0].contains("env"));
  EXPECT_EQ(import.jobs[0]["time_zone"], "UTC");
  EXPECT_EQ(import.jobs[1]["env"], (json{{"PATH", "/usr/bin:/bin"}, {"GREETING", " hello "}}));
  EXPECT_EQ(import.jobs[1]["command"], "exec '/bin/bash' -c 'it'\\''s '\\''after'\\'''");
  EXPECT_EQ(import.jobs[1]["time_zone"], "Asia/Tokyo");
  EXPECT_EQ(import.jobs[2]["command"], "last");
  EXPECT_EQ(import.jobs[2]["time_zone"], "Asia/Tokyo");
  ASSERT_EQ(import.refused.size(), 1u);
  EXPECT_EQ(import.refused[0].number, 8u);
  ASSERT_EQ(import.remarks.size(), 1u);
  EXPECT_EQ(import.remarks[0].number, 6u);
}

TEST(CrontabTest, CommentsDirectlyAboveDescribe) {
  const CrontabImport import = ParseCrontab(
      "# of nothing\n\n"
      "## Backs up\n"
      "#  the database\n"
      "0 2 * * * a\r\n"
      "0 3 * * * b\n",
      {});
  ASSERT_EQ(import.jobs.size(), 2u);
  EXPECT_EQ(import.jobs[0]["description"], "Backs up\nthe database");
  EXPECT_EQ(import.jobs[0]["command"], "a");
  EXPECT_FALSE(import.jobs[1].contains("description"));
}

TEST(CrontabTest, IdsComeFromTheProgramAndAreUnique) {
  const CrontabImport import = ParseCrontab(
      "* * * * * /usr/local/bin/Backup_DB.sh --full\n"
      "* * * * * /opt/backup-db.sh\n"
      "* * * * * backup-db-sh-2\n"
      "* * * * * backup.db.sh; x\n"
      "* * * * * ...\n"
      "* * * * * [ -x /a ] && /a\n",
      {});
  std::vector<std::string> ids;
  for (const json& job : import.jobs) ids.push_back(job["job_id"]);
  EXPECT_EQ(ids, (std::vector<std::string>{"backup-db-sh", "backup-db-sh-2", "backup-db-sh-2-2",
                                           "backup-db-sh-3", "cron", "cron-2"}));
}

TEST(CrontabTest, SystemTabsNameTheirUser) {
  const CrontabImport import = ParseCrontab(
      "17 * * * * root run-parts /etc/cron.hourly\n"
      "18 * * * * root again\n"
      "19 * * * * www-data other\n"
      "20 * * * * lonely\n",
      {.system = true});
  ASSERT_EQ(import.jobs.size(), 3u);
  EXPECT_EQ(import.jobs[0]["command"], "run-parts /etc/cron.hourly");
  EXPECT_EQ(import.jobs[2]["labels"], (json{{"crontab-user", "www-data"}}));
  EXPECT_EQ(import.remarks.size(), 2u);  // one for each user
  ASSERT_EQ(import.refused.size(), 1u);
  EXPECT_EQ(import.refused[0].number, 4u);
}

// Each line that is not blank, a comment or a setting becomes a job or is refused.
TEST(CrontabTest, AnyBytesAreAnsweredLineByLine) {
  constexpr std::string_view kBytes = "*/%\\ \t#@019-,\"'abT\xff";
  uint64_t state = 7;
  for (int round = 0; round < 3000; ++round) {
    std::string line = "x";
    for (int i = 0; i < 40; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      line += kBytes[(state >> 33) % kBytes.size()];
    }
    const CrontabImport import = ParseCrontab(line, {.system = round % 2 == 0});
    EXPECT_EQ(import.jobs.size() + import.refused.size(), 1u) << line;
  }
}

TEST(CrontabTest, AUserWhereNoneBelongsIsRemarkedOn) {
  const std::string line = "*/5 * * * * root /usr/bin/foo";
  const CrontabImport own = ParseCrontab(line, {.time_zone = "UTC"});
  ASSERT_EQ(own.remarks.size(), 1u);
  EXPECT_NE(own.remarks[0].why.find("--system"), std::string::npos) << own.remarks[0].why;
  const CrontabImport system = ParseCrontab(line, {.system = true, .time_zone = "UTC"});
  for (const CrontabLine& remark : system.remarks) {
    EXPECT_EQ(remark.why.find("--system"), std::string::npos) << remark.why;
  }
  EXPECT_EQ(ParseCrontab("0 1 * * * www-data php cron.php", {}).remarks.size(), 1u);
  EXPECT_EQ(ParseCrontab("0 1 * * * nagios /usr/bin/check", {}).remarks.size(), 1u);
  EXPECT_TRUE(ParseCrontab("0 1 * * * mysql -e 'SELECT 1'", {}).remarks.empty()) << "a program";
}

TEST(CrontabTest, AnEntryThatNeverFiresIsRemarkedOn) {
  const CrontabImport import = ParseCrontab("0 0 31 2 * true", {});
  ASSERT_EQ(import.jobs.size(), 1u);
  ASSERT_EQ(import.remarks.size(), 1u);
  EXPECT_NE(import.remarks[0].why.find("never fires"), std::string::npos);
}

TEST(CrontabTest, APrefixBeginsEachId) {
  const CrontabImport import = ParseCrontab("1 * * * * a\n2 * * * * a\n", {.id_prefix = "web1-"});
  ASSERT_EQ(import.jobs.size(), 2u);
  EXPECT_EQ(import.jobs[0]["job_id"], "web1-a");
  EXPECT_EQ(import.jobs[1]["job_id"], "web1-a-2");
}

}  // namespace
}  // namespace carillon
