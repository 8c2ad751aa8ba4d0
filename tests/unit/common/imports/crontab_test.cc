#include "common/imports/crontab.h"

#include <gtest/gtest.h>

#include "common/wire/json/job/job_json.h"
#include "tests/fuzz/crontab_check.h"

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
    {"  5  4\t*  *  *   /bin/a  b   c ", "5 4 * * *", "/bin/a  b   c "},
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
    {"-*/15 * * * * /usr/lib/run-crons", "*/15 * * * *", "/usr/lib/run-crons"},
    {"0 1 * * * x\t--a\t# nightly", "0 1 * * *", "x\t--a\t# nightly"},
    {"0 1 * * * a\x01\x1b[0m", "0 1 * * *", "a\x01\x1b[0m"},
    {"0 1 * * * rm a\\ ", "0 1 * * *", "rm a\\ "},
    {"0 1 * * * x a\\\\", "0 1 * * *", "x a\\\\"},
    {"0 1 * * * -n /bin/sh /etc/daily", "0 1 * * *", "/bin/sh /etc/daily"},
    {"0 1 * * * -nq -s  x -n", "0 1 * * *", "x -n"},
    {"0 1 * * * echo {{job_id}}", "0 1 * * *", "echo {{{{job_id}}"},
    {"0 1 * * * inspect '{\"a\":{\"b\":{{json .}}}}'", "0 1 * * *",
     "inspect '{\"a\":{\"b\":{{{{json .}}}}}}'"},
    {"0 1 * * * mail -s 'hi you' bob%dear bob,%it's me.%", "0 1 * * *",
     "printf '%s\\n' 'dear bob,' 'it'\\''s me.' | /bin/sh -c 'mail -s '\\''hi you'\\'' bob'"},
    {"0 1 * * * cat%%a\\%b", "0 1 * * *", "printf '%s\\n' '' 'a%b' | /bin/sh -c 'cat'"},
    {"0 1 * * * echo 100%", "0 1 * * *", "echo 100"},
    {"5-59/10 * * * * a  \r", "5-59/10 * * * *", "a  "},
    {"@every_minute x", "* * * * *", "x"},
    {"0~59 * * * * x", "H(0-59) * * * *", "x"},
    {"0 1 * * * printf 'a\\b' # not a comment", "0 1 * * *", "printf 'a\\b' # not a comment"},
    {"0 1 * * * test \"$A\" = b && c", "0 1 * * *", "test \"$A\" = b && c"},
    {"0 1 * * * A=1 run", "0 1 * * *", "A=1 run"},
    {"0 1 * * * \u00e9cho", "0 1 * * *", "\u00e9cho"},
    {"@reboot x", "", "systemd unit"},
    {"@fortnightly x", "", "cron does not know @fortnightly"},
    {"0 1 * * * date \"+%H:%M\" >> $HOME/date.log", "", "write \\% for a percent sign"},
    {"0 1 * * * date +%F", "", "write \\% for a percent sign"},
    {"0 1 * * * sleep $((RANDOM % 600)) ; x", "", "write \\% for a percent sign"},
    {"0 1 * * * %a", "", "no command"},
    {"0 1 * * *", "", "no command"},
    {"0 1 * * * -n", "", "no command"},
    {"0 1 * * * -x /bin/a", "", "cron has no flag -x"},
    {"0 1 * * * --version", "", "cron has no flag --version"},
    {"0 1 * * * - x", "", "a minus without a flag"},
    {"0 1 * *", "", "neither a setting nor five schedule fields"},
    {"@daily", "", "no command"},
    {"61 * * * * x", "", "minute: 61 is out of range"},
    {"0 22-2 * * * x", "", "runs backwards"},
    {"5/10 * * * * x", "", "step after a single number"},
    {"* * * * * * x", "", "cron has no seconds"},
    {"nonsense", "", "neither a setting nor five schedule fields"},
    {"0 1 * * * \xff", "", "the command is not valid UTF-8; convert the file"},
    {"0 1 * * * x \\", "", "cron has no continuation lines"},
    {"OPEN=\"half", "", "cron ignores such a setting"},
    {"A = 'b' # c", "", "cron ignores such a setting"},
    {"\xff\xfe* \x00", "", "UTF-16"},
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
    EXPECT_EQ(ParseJob(job)->definition.name, job["name"]);
    EXPECT_EQ(job["working_directory"], "~");
    EXPECT_EQ(job["timeout"], 604800);  // the longest, because cron has no timeout
  }
}

TEST(CrontabTest, SettingsHoldForWhatFollows) {
  const CrontabImport import = ParseCrontab(
      "1 * * * * before\n"
      "PATH=/usr/bin:/bin\n"
      "  GREETING = \" hello {{.Name}}\"\n"
      "SHELL=/bin/bash\n"
      "CRON_TZ=Asia/Tokyo\n"
      "MAILTO=root\n"
      "2 * * * * it's 'after'\n"
      "CRON_TZ=\n"
      "SHELL=/bin/sh\n"
      "LOGNAME=other\n"
      "QUOTED='a # b'\n"
      "my.setting='1 2'\n"
      "3 * * * * last%input\n",
      {.time_zone = "Europe/Paris"});
  ASSERT_EQ(import.jobs.size(), 3u);
  EXPECT_FALSE(import.jobs[0].contains("env"));
  EXPECT_EQ(import.jobs[0]["time_zone"], "Europe/Paris");
  json env{{"PATH", "/usr/bin:/bin"},
           {"GREETING", " hello {{{{.Name}}"},
           {"SHELL", "/bin/bash"},
           {"MAILTO", "root"}};
  EXPECT_EQ(import.jobs[1]["env"], env);
  EXPECT_EQ(import.jobs[1]["command"],
            "exec '/bin/bash' -c 'it'\\''s '\\''after'\\''"
            "'");
  EXPECT_EQ(import.jobs[1]["time_zone"], "Asia/Tokyo");
  env["SHELL"] = "/bin/sh";
  env["QUOTED"] = "a # b";
  EXPECT_EQ(import.jobs[2]["env"], env) << "cron itself sets LOGNAME";
  EXPECT_EQ(import.jobs[2]["command"],
            "printf '%s\\n' 'input' | env 'my.setting=1 2' '/bin/sh' -c 'last'");
  EXPECT_EQ(import.jobs[2]["time_zone"], "Europe/Paris") << "empty: that of the machine";
  EXPECT_TRUE(import.refused.empty());
  std::vector<size_t> remarks;
  for (const CrontabLine& remark : import.remarks) remarks.push_back(remark.number);
  EXPECT_EQ(remarks, (std::vector<size_t>{6, 10, 13}));
}

// Nothing is guessed: the entries below are refused too, until the setting is replaced.
TEST(CrontabTest, ASettingThatCannotBeKeptStopsWhatFollows) {
  const std::pair<std::string, std::string> kSettings[] = {
      {"CRON_TZ=Mars/Base", "CRON_TZ=UTC"},
      {"SHELL=bash", "SHELL=/bin/bash"},
      {"SHELL=", "SHELL=/bin/sh"},
      {"SHELL=/bin/bash  # the shell", "SHELL=/bin/bash"},
      {"SHELL=/bin/bash -l", "SHELL=/bin/bash"},
      {"HOME=~", "HOME=/root"},
      {"HOME=$OTHER", "HOME=/root"},
      {"HOME=data", "HOME=/root"},
      {"A=caf\xe9", "A=cafe"},
      {"CARILLON_RUN_ID=1", ""},
      {"-x=1", ""}};
  for (const auto& [bad, good] : kSettings) {
    const std::string text =
        "1 * * * * a\n" + bad + "\n2 * * * * b\n3 * * * * c\n" + good + "\n4 * * * * d\n";
    const CrontabImport import = ParseCrontab(text, {.time_zone = "Europe/Paris"});
    ASSERT_EQ(import.jobs.size(), good.empty() ? 1u : 2u) << bad;
    ASSERT_EQ(import.refused.size(), good.empty() ? 4u : 3u) << bad;
    EXPECT_EQ(import.refused[0].number, 2u);
    EXPECT_EQ(import.refused[1].number, 3u);
    EXPECT_NE(import.refused[1].why.find("in line 2 cannot be kept"), std::string::npos)
        << import.refused[1].why;
    EXPECT_EQ(import.jobs[0]["time_zone"], "Europe/Paris");
  }
}

TEST(CrontabTest, ARandomDelayIsJitter) {
  const CrontabImport import = ParseCrontab(
      "RANDOM_DELAY=45\n1 2 * * * a\nRANDOM_DELAY = 90 \n@daily b\nRANDOM_DELAY=x\n1 2 * * * c\n"
      "RANDOM_DELAY=-3\n1 2 * * * d\n",
      {});
  ASSERT_EQ(import.jobs.size(), 4u);
  EXPECT_EQ(import.jobs[0]["schedules"], (json{{{"kind", "cron"},
                                                {"cron_expression", "1 2 * * *"},
                                                {"time_zone", "UTC"},
                                                {"jitter_s", 2700}}}));
  EXPECT_EQ(import.jobs[1]["schedules"][0]["jitter_s"], 3600);
  EXPECT_EQ(import.jobs[2]["cron_expression"], "1 2 * * *");
  EXPECT_EQ(import.jobs[3]["cron_expression"], "1 2 * * *");
  ASSERT_EQ(import.remarks.size(), 2u);
  EXPECT_EQ(import.remarks[0].number, 3u);
  EXPECT_EQ(import.remarks[1].number, 7u);
}

TEST(CrontabTest, FlagsAndMacrosOfOtherSystemsKeepTheirMeaning) {
  const CrontabImport import = ParseCrontab("~ * * * * -ns rpki\n@600 poll\n*/20 2 * * * x\n", {});
  ASSERT_EQ(import.jobs.size(), 3u);
  EXPECT_EQ(import.jobs[0]["overlap_policy"], "skip");
  EXPECT_EQ(import.jobs[0]["cron_expression"], "H * * * *");
  EXPECT_EQ(import.jobs[1]["schedules"], (json{{{"kind", "delay"}, {"every_ms", 600'000}}}));
  EXPECT_FALSE(import.jobs[1].contains("overlap_policy"));
  EXPECT_EQ(import.jobs[2]["dst_gap"], "skip");
  EXPECT_EQ(import.jobs[2]["dst_repeat"], "both");
}

// cron has no continuation lines: neither half of such an entry may run.
TEST(CrontabTest, AContinuedEntryIsRefusedAsAWhole) {
  const CrontabImport import = ParseCrontab(
      "0 3 * * * flock -n /run/lock \\\n"
      "    python3 update.py \\\n"
      "    >> /var/log/routes.log 2>&1\n"
      "0 4 * * * backup \\\n"
      "0 5 * * * other\n",
      {});
  ASSERT_EQ(import.jobs.size(), 1u);
  EXPECT_EQ(import.jobs[0]["command"], "other");
  ASSERT_EQ(import.refused.size(), 4u);
  EXPECT_NE(import.refused[1].why.find("it continues the line above"), std::string::npos);
  EXPECT_NE(import.refused[2].why.find("it continues the line above"), std::string::npos);
  EXPECT_NE(import.refused[3].why.find("on one line"), std::string::npos);
}

TEST(CrontabTest, DecorationNeverCostsAnEntry) {
  const CrontabImport import = ParseCrontab(
      "\xEF\xBB\xBF*/5 * * * * first\r\n"
      "# caf\xe9\r\n"
      "0 1 * * * second\r\n"
      "# " +
          std::string(20'000, '\xe9') +
          "\n"
          "0 2 * * * \xE3\x80\x80 \xE2\x80\xAE x\n"
          "0 3 * * * \xE3\x80\x80\n"
          "0 4 * * * " +
          std::string(79, 'a') + "\xC3\xA9\n",
      {});
  ASSERT_EQ(import.jobs.size(), 5u) << import.refused[0].why;
  EXPECT_EQ(import.jobs[0]["command"], "first");
  EXPECT_EQ(import.jobs[1]["description"], "caf\xEF\xBF\xBD");
  EXPECT_EQ(import.jobs[2]["name"], import.jobs[2]["job_id"]);
  EXPECT_EQ(import.jobs[3]["name"], "cron");
  EXPECT_EQ(import.jobs[4]["name"], std::string(79, 'a'));
}

TEST(CrontabTest, AnAnacrontabIsRefusedWithTheWayToSayIt) {
  const CrontabImport import = ParseCrontab(
      "SHELL=/bin/sh\nRANDOM_DELAY=45\nSTART_HOURS_RANGE=3-22\n"
      "1\t5\tcron.daily\t\tnice run-parts /etc/cron.daily\n"
      "@monthly 45 cron.monthly\tx\n",
      {});
  EXPECT_TRUE(import.jobs.empty());
  ASSERT_EQ(import.refused.size(), 2u);
  EXPECT_NE(import.refused[0].why.find("anacrontab"), std::string::npos);
  EXPECT_NE(import.refused[1].why.find("--cron 'H H H * *'"), std::string::npos);
}

TEST(CrontabTest, SettingsEndWithTheirFileAndIdsDiffer) {
  const CrontabImport import = ParseCrontabs(
      {{.name = "a", .text = "A=1\nCRON_TZ=Asia/Tokyo\n1 * * * * x\nbad\n", .user = "anna"},
       {.name = "b", .text = "1 * * * * x\n"}},
      {});
  ASSERT_EQ(import.jobs.size(), 2u);
  EXPECT_EQ(import.jobs[0]["labels"]["crontab-user"], "anna");
  EXPECT_FALSE(import.jobs[1].contains("labels"));
  EXPECT_FALSE(import.jobs[1].contains("env"));
  EXPECT_EQ(import.jobs[1]["time_zone"], "UTC");
  EXPECT_EQ(import.jobs[1]["job_id"], "x-2");
  ASSERT_EQ(import.refused.size(), 1u);
  EXPECT_EQ(import.refused[0].file, "a");
  for (const char* name : {"sysstat", "0hourly", "e2scrub_all"}) EXPECT_TRUE(IsCrontabName(name));
  for (const char* name : {"", ".placeholder", "a~", "#a#", "a.rpmsave", "b.rpmnew", "c.rpmorig"}) {
    EXPECT_FALSE(IsCrontabName(name)) << name;
  }
}

TEST(CrontabTest, CommentsDirectlyAboveDescribe) {
  const CrontabImport import = ParseCrontab(
      "# of nothing\n\n"
      "# The manual is crontab(5).\n"
      "# m h dom mon dow command\n"
      "## Backs up\n"
      "#0 1 * * * old\n"
      "#  the database\n"
      "0 2 * * * a\r\n"
      "0 3 * * * b\n",
      {});
  ASSERT_EQ(import.jobs.size(), 2u);
  EXPECT_EQ(import.jobs[0]["description"], "Backs up\nthe database");
  EXPECT_EQ(import.jobs[0]["command"], "a");
  EXPECT_FALSE(import.jobs[1].contains("description"));
  EXPECT_EQ(ParseCrontab(std::string("# a\0b\n0 3 * * * c\n", 17), {}).jobs.at(0)["description"],
            "ab");
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
                                           "backup-db-sh-3", "cron", "a"}));
}

TEST(CrontabTest, SystemTabsNameTheirUser) {
  const CrontabImport import = ParseCrontab(
      "17 * * * * root run-parts /etc/cron.hourly\n"
      "18 * * * * root again\n"
      "19 * * * * www-data other\n"
      "20 * * * * lonely\n"
      "@daily /usr/local/bin/renew now\n"
      "0 1 * * * env /usr/local/bin/backup\n"
      "0 1 * * * FOO=1 run\n"
      "0 1 * * * * run\n"
      "-0 1 * * * www:www/daemon -n run\n",
      {.system = true});
  ASSERT_EQ(import.jobs.size(), 4u);
  EXPECT_EQ(import.jobs[0]["command"], "run-parts /etc/cron.hourly");
  EXPECT_EQ(import.jobs[2]["labels"], (json{{"crontab-user", "www-data"}}));
  EXPECT_EQ(import.jobs[3]["labels"], (json{{"crontab-user", "www"}}));
  EXPECT_EQ(import.jobs[3]["command"], "run");
  EXPECT_EQ(import.remarks.size(), 3u);  // one for each user
  ASSERT_EQ(import.refused.size(), 5u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(import.refused[i].number, 4 + i);
    EXPECT_NE(import.refused[i].why.find("is this a system crontab"), std::string::npos);
  }
}

// Accounts have names of programs, and people forget the user before a program of this name.
TEST(CrontabTest, ASystemTabMayNameAUserLikeAProgram) {
  for (const char* command :
       {"node /usr/bin/node /srv/app/tick.js", "node cd /srv && npm run a", "node node a.js",
        "node NODE_ENV=production node a.js", "node . /home/node/.profile; run", "node /srv/go.sh",
        "docker docker system prune -f", "docker /srv/backup.sh", "docker [ -x /b ] && /b",
        "git git -C /srv gc", "php /usr/bin/php /srv/cron.php", "service /opt/report"}) {
    const auto import = ParseCrontab(std::string("0 1 * * * ") + command + "\n", {.system = true});
    ASSERT_EQ(import.jobs.size(), 1u) << command;
    const std::string user = import.jobs[0]["labels"]["crontab-user"];
    EXPECT_TRUE(std::string(command).starts_with(user + " ")) << command;
  }
  for (const char* command :
       {"node /srv/app/tick.js", "node -e 'x()'", "docker system prune -f", "docker run a/b",
        "php /srv/cron.php", "php /srv/artisan schedule:run", "php -f /srv/cron.php",
        "python /usr/local/bin/report.py", "service nginx restart", "env /srv/backup",
        "bash /srv/a.sh", "rsync /a /b", "test -x /b", "node"}) {
    const auto import = ParseCrontab(std::string("0 1 * * * ") + command + "\n", {.system = true});
    EXPECT_TRUE(import.jobs.empty()) << command;
  }
  const auto own = ParseCrontab("0 1 * * * postgres pg_dumpall\n0 2 * * * mysql -e x\n", {});
  ASSERT_EQ(own.remarks.size(), 1u);
  EXPECT_EQ(own.remarks[0].number, 1u);
}

// Each line that is not blank, a comment or a setting becomes a job or is refused.
TEST(CrontabMutationTest, AnyBytesAreAnsweredLineByLine) {
  constexpr std::string_view kBytes = "*/%\\ \t#@019-,\"'abT\xff{}~\x01=";
  uint64_t state = 7;
  const auto any = [&](size_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state >> 33) % below;
  };
  constexpr std::string_view kEntry = "-*/5 0~3 1,2 * sat-sun root -n a {{b}} '%' c%d";
  for (int round = 0; round < 3000; ++round) {
    const bool mutation = round % 3 == 0;
    std::string line = mutation ? std::string(kEntry) : "x";
    if (mutation) {
      for (size_t i = any(4); i > 0; --i) line[any(line.size())] = kBytes[any(kBytes.size())];
    } else {
      for (int i = 0; i < 40; ++i) line += kBytes[any(kBytes.size())];
    }
    const bool system = round % 2 == 0;
    EXPECT_EQ(test::CheckCrontab(line, system), "") << line;
    if (line.find('=') != std::string::npos || line.front() == '#') continue;
    const CrontabImport import = ParseCrontab(line, {.system = system});
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
