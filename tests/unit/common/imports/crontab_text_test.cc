#include "common/imports/crontab_text.h"

#include <gtest/gtest.h>

#include "common/imports/anacrontab.h"
#include "common/imports/program_name.h"

namespace carillon {
namespace {

TEST(CrontabTextTest, SettingsAreReadAsCronReadsThem) {
  const struct {
    std::string line;
    std::string name;  // "" = no setting
    std::string value = {};
  } kSettings[] = {
      {"A=b", "A", "b"},
      {"A = b c  ", "A", "b c"},
      {"A=", "A", ""},
      {"A = ", "A", ""},
      {"A=\"\"", "A", ""},
      {"A=\" b \"  ", "A", " b "},
      {"\"GREETING\" = \"it's 5 o'clock\"", "GREETING", "it's 5 o'clock"},
      {"'A B'='c'", "A B", "c"},
      {"A='a # b'", "A", "a # b"},
      {"A=b # c", "A", "b # c"},
      {"A=it's", "A", "it's"},
      {"A=b=c", "A", "b=c"},
      {"MAILTO=root HOME=/", "MAILTO", "root HOME=/"},
      {"PATH=$HOME/bin:$PATH", "PATH", "$HOME/bin:$PATH"},
      {"my.setting=1", "my.setting", "1"},
      {"A\t=\tb\r", "A", "b"},
      {"A=\"b", ""},
      {"A='b' c", ""},
      {"\"A=b\"=c", ""},
      {"\"A=b", ""},
      {"=b", ""},
      {"A", ""},
      {"A b=c", ""},
      {"0 1 * * * A=1 run", ""},
      {"", ""},
  };
  for (const auto& one : kSettings) {
    const auto setting = ReadCrontabSetting(one.line);
    ASSERT_EQ(setting.has_value(), !one.name.empty()) << one.line;
    if (!setting) continue;
    EXPECT_EQ(setting->name, one.name) << one.line;
    EXPECT_EQ(setting->value, one.value) << one.line;
  }
}

TEST(CrontabTextTest, APercentSignEndsTheCommand) {
  const struct {
    std::string text;
    std::string command;
    std::string input;
  } kCommands[] = {
      {"date +\\%F", "date +%F", ""},
      {"a%b", "a", "b\n"},
      {"a%b%c", "a", "b\nc\n"},
      {"a%b%", "a", "b\n"},
      {"a%", "a", ""},
      {"a%%", "a", "\n"},
      {"a%b\\%c", "a", "b%c\n"},
      {"a\\\\%b", "a\\\\", "b\n"},
      {"a\\\\\\%b", "a\\\\%b", ""},
      {"a%b\\\\%c", "a", "b\\%c\n"},
      {"printf 'a\\nb'", "printf 'a\\nb'", ""},
      {"a%it's \\x", "a", "it's \\x\n"},
  };
  for (const auto& one : kCommands) {
    const CrontabCommand read = ReadCrontabCommand(one.text);
    EXPECT_EQ(read.command, one.command) << one.text;
    EXPECT_EQ(read.input, one.input) << one.text;
  }
}

TEST(CrontabTextTest, AnOpenQuotationIsIncomplete) {
  for (const char* text : {"a", "mail -s \"it's\" b", "echo 'a\"b'", "(a; b)", "a $(b \"$(c)\")",
                           "a \\\" b", "a ${b:-c}", "`a`", "awk '{print $1}'"}) {
    EXPECT_TRUE(IsCompleteCommand(text)) << text;
  }
  for (const char* text : {"date \"+", "echo 'a", "sleep $((RANDOM ", "a $(b", "`a", "a )", "a ${b",
                           "tar $(date +", "a \"$(b\""}) {
    EXPECT_FALSE(IsCompleteCommand(text)) << text;
  }
}

TEST(CrontabTextTest, AHeaderNamesTheFields) {
  for (const char* text :
       {"m h dom mon dow user\tcommand", "minute\thour\tmday\tmonth\twday\twho",
        "m h  dom mon dow   command", "*  *  *  *  * user-name command to be executed",
        "Minute Hour Day Month Weekday", "minute hour mday month wday [flags] command"}) {
    EXPECT_TRUE(NamesFields(text)) << text;
  }
  for (const char* text : {"", "nightly backup", "the command of the month", "* * * * *",
                           "0 5 * * 1 user command of the week"}) {
    EXPECT_FALSE(NamesFields(text)) << text;
  }
}

TEST(CrontabTextTest, TheProgramIsFoundBehindWrappers) {
  const struct {
    const char* command;
    const char* program;
  } kPrograms[] = {
      {"/usr/local/bin/Backup_DB.sh --full", "Backup_DB.sh"},
      {"source /home/app/.profile && cd /srv/a && ./nightly.sh &>> /home/app/log/a.log",
       "nightly.sh"},
      {"cd app && ./bin/poll >> log/poll.log 2>&1", "poll"},
      {". .profile; run-reports", "run-reports"},
      {"flock -n /run/lock/x nice -n 10 /usr/bin/sync.pl", "sync.pl"},
      {"flock -w 5 /run/lock/x -c 'cd /a && ./b'", "b"},
      {"flock /run/lock/x cd", "flock"},
      {"nice run-parts /etc/cron.daily", "cron.daily"},
      {"test -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.daily; }",
       "cron.daily"},
      {"ionice -c 3 nice -19 A=1 env -i B=2 /opt/x y", "x"},
      {"sudo -u www php -q /var/www/cron.php", "cron.php"},
      {"sudo -- backup", "backup"},
      {"timeout -k 5 10m curl -fsS https://example.org", "curl"},
      {"test -x /usr/lib/cron/run-crons && /usr/lib/cron/run-crons >/dev/null 2>&1", "run-crons"},
      {"[ -x /a ] && /a", "a"},
      {"if [ -x /a ]; then /a; fi", "a"},
      {"command -v debian-sa1 > /dev/null && debian-sa1 1 1", "debian-sa1"},
      {"sleep $((RANDOM \\% 600)) ; /usr/sbin/cfg2html", "cfg2html"},
      {"bash -lc 'source ~/.rvm && rake jobs'", "rake"},
      {"su - www -c \"backup --full\"", "backup"},
      {"python3 -u /opt/update-routes.py", "update-routes.py"},
      {"python3 -m app.jobs", "app.jobs"},
      {"perl -e 'print 1'", "perl"},
      {"A=1 B=2 run", "run"},
      {"( cd /a; ./b )", "b"},
      {"echo start; /opt/job", "job"},
      {"echo hello", "echo"},
      {"> /tmp/log backup", "backup"},
      {"for i in 1 2; do ./step; done", "step"},
      {"cd /tmp", "cd"},
      {"docker ps --format '{{.Names}}' | grep web", "docker"},
      {"\"/opt/My App/run\" now", "run"},
      {"x", "x"},
      {"", ""},
  };
  for (const auto& one : kPrograms) EXPECT_EQ(ProgramName(one.command), one.program) << one.command;
}

TEST(CrontabTextTest, AnacrontabsAreRecognised) {
  EXPECT_TRUE(
      IsAnacrontab("SHELL=/bin/sh\n1\t5\tcron.daily\tnice run-parts /etc/cron.daily\n"
                   "@monthly 45 cron.monthly\tx\n"));
  EXPECT_TRUE(IsAnacrontab("START_HOURS_RANGE=3-22\n"));
  EXPECT_FALSE(IsAnacrontab("1 5 * * * x\n1 5 cron.daily x\n"));
  EXPECT_FALSE(IsAnacrontab("# nothing\n\nA=b\n"));
  EXPECT_FALSE(IsAnacrontab("@daily /usr/bin/x\n"));
  EXPECT_FALSE(IsAnacrontab("1 5 ~ * * x y\n"));
  EXPECT_FALSE(AnacronAnswer("RANDOM_DELAY=45").has_value());
  EXPECT_NE(AnacronAnswer("7 25 cron.weekly x")->find("--cron 'H H * * H'"), std::string::npos);
  EXPECT_NE(AnacronAnswer("3 25 third x")->find("--every 3d"), std::string::npos);
}

}  // namespace
}  // namespace carillon
