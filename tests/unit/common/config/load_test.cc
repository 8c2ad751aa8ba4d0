#include "common/config/load.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/config/config_table.h"
#include "common/config/letter_topic.h"
#include "tests/support/source_file.h"

namespace carillon::config {
namespace {

class LoadTest : public ::testing::Test {
 protected:
  LoadTest() : file_(::testing::TempDir() + "carillon-" + std::to_string(getpid()) + ".yaml") {}
  ~LoadTest() override { std::filesystem::remove(file_); }

  Result<Config> LoadYaml(const std::string& text) {
    std::ofstream(file_) << text;
    return Load({.file = file_});
  }
  ErrorCode YamlFails(const std::string& text, const std::string& expected_place) {
    const auto config = LoadYaml(text);
    EXPECT_FALSE(config.ok()) << text;
    if (config.ok()) return ErrorCode::kExists;
    EXPECT_NE(config.error().message.find(expected_place), std::string::npos)
        << config.error().message;
    return config.code();
  }

  const std::string file_;
};

TEST_F(LoadTest, WithoutSourcesEverythingIsItsDefault) {
  const auto config = Load({});
  ASSERT_TRUE(config.ok()) << config.error().message;
  for (const Setting& setting : SettingTable()) {
    EXPECT_EQ(config->Get(setting.name).text, setting.fallback);
    EXPECT_EQ(config->Get(setting.name).origin, Origin::kDefault);
  }
  EXPECT_EQ(config->Integer("rest.port"), 8640);
  EXPECT_EQ(config->Integer("ops.port"), 8642);
  EXPECT_EQ(config->Time("retention_days"), 14 * 24h);
  EXPECT_EQ(config->Time("scheduler.horizon_s"), 30s);
  EXPECT_EQ(config->Time("scheduler.heartbeat_ms"), 2s);
  EXPECT_EQ(config->Text("rest.listen"), "127.0.0.1");
  EXPECT_FALSE(config->Flag("rest.allow_beyond_loopback"));
  EXPECT_TRUE(config->Pairs("executor.labels").empty());
}

TEST_F(LoadTest, DefaultsAreWithinTheirOwnBounds) {
  for (const Setting& setting : SettingTable()) {
    const auto config =
        Load({.flags = {{std::string(setting.name), std::string(setting.fallback), "--set"}}});
    EXPECT_TRUE(config.ok()) << setting.name << ": " << config.error().message;
  }
}

TEST_F(LoadTest, FlagsWinOverEnvironmentOverFile) {
  std::ofstream(file_) << "rest:\n  port: 1001\nops.port: 1002\nretention_days: 3\n";
  const auto config =
      Load({.file = file_,
            .environment = {{"CARILLON_REST_PORT", "2001"},
                            {"CARILLON_OPS_PORT", "2002"},
                            {"PATH", "/bin"}},
            .flags = {{"rest.port", "3000", "--port"}, {"rest.port", "3001", "--port"}}});
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->Integer("rest.port"), 3001);
  EXPECT_EQ(config->Get("rest.port").origin, Origin::kFlag);
  EXPECT_EQ(config->Get("rest.port").place, "--port");
  EXPECT_EQ(config->Integer("ops.port"), 2002);
  EXPECT_EQ(config->Get("ops.port").place, "CARILLON_OPS_PORT");
  EXPECT_EQ(config->Integer("retention_days"), 3);
  EXPECT_EQ(config->Get("retention_days").place, file_ + ":4");
}

TEST_F(LoadTest, PairsAreReadFromTextAndFromAMap) {
  const std::map<std::string, std::string> expected = {{"disk", "ssd"}, {"zone", "a"}};
  EXPECT_EQ(LoadYaml("executor: {labels: {zone: a, disk: ssd}}").value().Pairs("executor.labels"),
            expected);
  EXPECT_EQ(LoadYaml("executor.labels: zone=a,disk=ssd").value().Pairs("executor.labels"),
            expected);
}

TEST_F(LoadTest, NetworksAreReadFromAList) {
  EXPECT_TRUE(LoadYaml("").value().Networks("rest.trusted_proxies").empty());
  const auto networks = LoadYaml("rest.trusted_proxies: '127.0.0.1, fd00::/8'\n")
                            .value()
                            .Networks("rest.trusted_proxies");
  ASSERT_EQ(networks.size(), 2u);
  EXPECT_TRUE(networks[1].Contains(IpAddress::Parse("fd00::1").value()));
  EXPECT_EQ(YamlFails("rest.trusted_proxies: proxy\n", "10.0.0.0/8"), ErrorCode::kInvalid);
}

TEST_F(LoadTest, ATopicOfDeadLettersIsOneOfKafkaAndNotCarillonsOwn) {
  EXPECT_TRUE(RefuseLetterTopic(LoadYaml("").value()).ok());
  const auto config = LoadYaml("dead_letters.topic: ops.letters_1\n");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->Text("dead_letters.topic"), "ops.letters_1");
  const Status standalone = RefuseLetterTopic(*config);
  EXPECT_EQ(standalone.code(), ErrorCode::kInvalid);
  EXPECT_NE(standalone.error().message.find(":1: dead_letters.topic needs Kafka"),
            std::string::npos)
      << standalone.error().message;
  for (const std::string& name :
       {std::string("carillon.dead_letters"), std::string("a b"), std::string(".."),
        std::string("caf\xc3\xa9"), std::string(250, 'a')}) {
    EXPECT_EQ(YamlFails("dead_letters.topic: '" + name + "'\n", "dead_letters.topic must"),
              ErrorCode::kInvalid);
  }
}

TEST_F(LoadTest, LevelsOfOverloadAreAListOfPairs) {
  EXPECT_TRUE(LoadYaml("").value().Levels("overload.levels").empty());
  for (const char* text :
       {"overload.levels: 10:20, 60:60\n", "overload:\n  levels: 10:20, 60:60\n"}) {
    EXPECT_EQ(LoadYaml(text).value().Levels("overload.levels"),
              (std::vector<OverloadLevel>{{10s, 20}, {60s, 60}}))
        << text;
  }
  EXPECT_EQ(YamlFails("overload.levels: 60:60, 10:20\n", "both ascending"), ErrorCode::kInvalid);
}

TEST_F(LoadTest, EmptyFileIsFine) {
  EXPECT_TRUE(LoadYaml("").ok());
  EXPECT_TRUE(LoadYaml("# nothing\n").ok());
}

TEST_F(LoadTest, WhatIsWrongIsNamedWithItsPlace) {
  EXPECT_EQ(YamlFails("rest:\n  prot: 1\n", file_ + ":2"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("rest:\n  port: many\n", "rest.port"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("rest.port: 65536\n", ":1"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("rest.port: -1\n", "rest.port"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("rest.port: [1]\n", "line 1"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("rest.port:\n", "rest.port"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("rest.port: 1\nrest:\n  port: 1\n", "line 3"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("rest: {port: 1\n", file_), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("- rest.port\n", "line 1"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("a: {b: {c: {d: {e: 1}}}}\n", "a.b.c.d"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("log.level: loud\n", "log.level"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("executor.id: Upper\n", "executor.id"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("executor.labels: zone\n", "executor.labels"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("rest.allow_beyond_loopback: perhaps\n", "allow"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails(std::string(kConfigFileBytesMax + 1, '#'), file_), ErrorCode::kInvalid);
}

TEST_F(LoadTest, MissingFileIsUnavailable) {
  EXPECT_EQ(Load({.file = "/nonexistent/carillon.yaml"}).code(), ErrorCode::kUnavailable);
}

TEST_F(LoadTest, WrongEnvironmentAndFlagsAreRefused) {
  EXPECT_EQ(Load({.environment = {{"CARILLON_REST_PORT", ""}}}).code(), ErrorCode::kInvalid);
  EXPECT_EQ(Load({.flags = {{"rest.port", "x", "--port"}}}).code(), ErrorCode::kInvalid);
  EXPECT_EQ(Load({.flags = {{"no.such", "x", "--set"}}}).code(), ErrorCode::kInvalid);
}

TEST_F(LoadTest, UnknownVariableIsOnlyAWarning) {
  const auto config = Load({.environment = {{"CARILLON_REST_PROT", "1"},
                                            {"CARILLON_TOKEN", "x"},
                                            {"CARILLON_BIN", "/x"},
                                            {"CARILLON_CONTAINER", "c"},
                                            {"CARILLON_PARAM_DAY", "monday"}}});
  ASSERT_TRUE(config.ok());
  ASSERT_EQ(config->warnings().size(), 1u);
  EXPECT_NE(config->warnings()[0].find("CARILLON_REST_PROT"), std::string::npos);
}

TEST_F(LoadTest, LeaseAndLossOutlastThreeHeartbeats) {
  const auto with = [](std::string name, std::string value) {
    return Load({.flags = {{"scheduler.heartbeat_ms", "3000", "--set"},
                           {std::move(name), std::move(value), "--set"}}});
  };
  EXPECT_TRUE(with("scheduler.executor_lost_ms", "9000").ok());
  EXPECT_EQ(with("scheduler.executor_lost_ms", "8999").code(), ErrorCode::kInvalid);
  // A lease must also contain the time in which attempts are killed before it ends.
  EXPECT_TRUE(with("scheduler.lease_ms", "12000").ok());
  EXPECT_EQ(with("scheduler.lease_ms", "11999").code(), ErrorCode::kInvalid);
}

TEST_F(LoadTest, NoLeaseIsShorterThanWhatKillsBeforeItsEnd) {
  const auto with = [](std::string lease) {
    return Load({.flags = {{"scheduler.heartbeat_ms", "100", "--set"},
                           {"scheduler.lease_ms", std::move(lease), "--set"}}});
  };
  EXPECT_TRUE(with("3300").ok());
  EXPECT_EQ(with("3299").code(), ErrorCode::kInvalid);
}

TEST_F(LoadTest, AddressesAreAddresses) {
  EXPECT_EQ(YamlFails("rest.listen: here\n", "rest.listen"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("rest.listen: 127.0.0.256\n", "rest.listen"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("ops.listen: ''\n", "ops.listen"), ErrorCode::kInvalid);
  EXPECT_TRUE(LoadYaml("rest.listen: localhost\nops.listen: 127.8.9.10\n").ok());
  EXPECT_TRUE(LoadYaml("rest.listen: '::1'\n").ok());
}

TEST_F(LoadTest, BeyondLoopbackOnlyWherePeopleSaidSo) {
  const std::vector<std::string> doors = {"rest", "link", "ops"};
  for (const char* address : {"0.0.0.0", "10.1.2.3", "'::'", "'2001:db8::1'"}) {
    for (const std::string& door : doors) {
      std::string listen = door + ".listen: " + address + "\n";
      EXPECT_EQ(YamlFails(listen, door + ".listen"), ErrorCode::kInvalid);
      EXPECT_TRUE(LoadYaml(listen + door + ".allow_beyond_loopback: true\n").ok()) << address;
      for (const std::string& other : doors) {  // a permission for another port does not count
        if (other != door) listen += other + ".allow_beyond_loopback: true\n";
      }
      EXPECT_EQ(YamlFails(listen, door + ".listen"), ErrorCode::kInvalid);
    }
  }
}

TEST_F(LoadTest, TlsOfTheApiTakesBothFilesAndLiftsTheRuleOfLoopback) {
  const std::string certificate = "rest.tls_certificate_file: /c.pem\n";
  const std::string key = "rest.tls_key_file: /k.pem\n";
  EXPECT_EQ(YamlFails(certificate, "rest.tls_key_file is not"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails(key, "rest.tls_certificate_file is not"), ErrorCode::kInvalid);
  EXPECT_TRUE(LoadYaml(certificate + key).ok());
  EXPECT_TRUE(LoadYaml(certificate + key + "rest.listen: 0.0.0.0\n").ok());
  EXPECT_EQ(YamlFails(certificate + key + "link.listen: 0.0.0.0\n", "link.listen"),
            ErrorCode::kInvalid);
}

TEST_F(LoadTest, TheDatabaseIsVerifiedWithAFileAndOnlyThen) {
  const std::string file = "store.tls_ca_file: /ca.pem\n";
  EXPECT_TRUE(LoadYaml("store.tls: required\n").ok());
  EXPECT_TRUE(LoadYaml("store.tls: verify\n" + file).ok());
  EXPECT_EQ(YamlFails("store.tls: verify\n", "store.tls_ca_file"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails(file, "store.tls: verify"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("store.tls: required\n" + file, "store.tls: verify"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("store.tls: preferred\n", "off|required|verify"), ErrorCode::kInvalid);
}

TEST_F(LoadTest, TheBrokersAreToldAllOrNothing) {
  const std::string verify = "kafka.tls: verify\n";
  const std::string ca = "kafka.tls_ca_file: /ca.pem\n";
  const std::string pair = "kafka.tls_certificate_file: /c.pem\nkafka.tls_key_file: /k.pem\n";
  const std::string who = "kafka.user: carillon\nkafka.password_file: /p\n";
  for (const std::string& good :
       {verify, verify + ca, verify + pair, "kafka.tls: required\n" + pair,
        verify + "kafka.sasl: plain\n" + who, "kafka.sasl: scram-sha-256\n" + who}) {
    const auto config = LoadYaml(good);
    EXPECT_TRUE(config.ok()) << good << config.error().message;
  }
  for (const auto& [bad, setting] : std::vector<std::pair<std::string, std::string>>{
           {ca, "kafka.tls_ca_file"},
           {"kafka.tls: required\n" + ca, "kafka.tls_ca_file"},
           {pair, "kafka.tls_key_file"},
           {verify + "kafka.tls_key_file: /k.pem\n", "kafka.tls_certificate_file"},
           {who, "kafka.user"},
           {"kafka.sasl: scram-sha-512\n", "kafka.user"},
           {"kafka.sasl: scram-sha-512\nkafka.user: carillon\n", "kafka.password_file"},
           {"kafka.sasl: plain\n" + who, "kafka.tls"}}) {
    EXPECT_EQ(YamlFails(bad, setting), ErrorCode::kInvalid);
  }
}

TEST_F(LoadTest, AProxyIsAUrlWithAPort) {
  for (const char* setting : {"executor.http_proxy", "notify.proxy", "notify.mail_proxy"}) {
    for (const char* wrong : {"proxy.example:3128", "http://proxy.example", "socks5://a:1",
                              "http://u:p@a:1", "http://a:0", "http://a:1/x"}) {
      EXPECT_EQ(YamlFails(std::string(setting) + ": " + wrong + "\n", setting), ErrorCode::kInvalid)
          << wrong;
    }
  }
}

TEST_F(LoadTest, TlsOfTheLinkLiftsTheRuleOfLoopback) {
  EXPECT_TRUE(LoadYaml("link.tls: mutual\nlink.listen: 0.0.0.0\n").ok());
  EXPECT_EQ(YamlFails("link.tls: required\n", "off|mutual"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("link.tls_ca_file: /ca.pem\n", "link.tls_ca_key_file"), ErrorCode::kInvalid);
}

TEST_F(LoadTest, ThePublicUrlIsOneThatLinksCanBeginWith) {
  for (const char* good :
       {"https://ops.example.org", "https://ops.example.org/carillon/", "http://[::1]:8640/a-b"}) {
    EXPECT_TRUE(LoadYaml(std::string("rest.public_url: ") + good + "\n").ok()) << good;
  }
  for (const char* bad :
       {"ops.example.org", "ftp://h", "https://", "https://h/?a=b", "https://h/#a", "https://u@h/",
        "https://h:0/", "https://h/a b", "https://h/<a>"}) {
    EXPECT_EQ(YamlFails(std::string("rest.public_url: '") + bad + "'\n", "rest.public_url"),
              ErrorCode::kInvalid)
        << bad;
  }
}

TEST_F(LoadTest, NoticesNeedTheirPartsAndTlsBeyondLoopback) {
  const std::string hook = "notify.webhook_secret_file: /s\nnotify.webhook_url: ";
  const std::string mail = "notify.mail_from: a@b\nnotify.mail_server: ";
  for (const std::string& good :
       {hook + "https://hooks.example.org/x", hook + "http://127.0.0.1:9/x",
        hook + "http://[::1]:9", hook + "http://hooks.example.org\nnotify.allow_plain: true",
        mail + "mail.example.org:587", mail + "localhost:25\nnotify.mail_tls: off",
        mail + "m:25\nnotify.mail_tls: off\nnotify.allow_plain: true"}) {
    const auto config = LoadYaml(good + "\n");
    EXPECT_TRUE(config.ok()) << good << ": " << config.error().message;
  }
  EXPECT_EQ(YamlFails("notify.webhook_url: https://h\n", "notify.webhook_secret_file"),
            ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("notify.mail_server: m:25\n", "notify.mail_from"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails("notify.mail_user: u\n", "notify.mail_password_file"), ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails(hook + "ftp://h\n", "https://"), ErrorCode::kInvalid);
  for (const char* url : {"https://h:99999/x", "https://h:0", "https://h:x/", "https://h/ y",
                          "https://", "https://:443/x", "http://[::1]:99999"}) {
    EXPECT_EQ(YamlFails(hook + url + "\n", "notify.webhook_url"), ErrorCode::kInvalid) << url;
  }
  EXPECT_EQ(YamlFails(hook + "http://127.0.0.1.example.org/\n", "notify.allow_plain"),
            ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails(hook + "http://127.0.0.1:9@example.org/\n", "notify.allow_plain"),
            ErrorCode::kInvalid);
  EXPECT_EQ(YamlFails(mail + "m:25\nnotify.mail_tls: off\n", "notify.allow_plain"),
            ErrorCode::kInvalid);
}

TEST_F(LoadTest, DataDirectoryIsNotEmpty) {
  EXPECT_EQ(Load({.flags = {{"data_dir", "", "--data-dir"}}}).code(), ErrorCode::kInvalid);
}

TEST_F(LoadTest, TildeIsTheHomeDirectory) {
  EXPECT_EQ(ExpandHome("~/x", "/home/u"), "/home/u/x");
  EXPECT_EQ(ExpandHome("~", "/home/u"), "/home/u");
  EXPECT_EQ(ExpandHome("~other/x", "/home/u"), "~other/x");
  EXPECT_EQ(ExpandHome("/x", "/home/u"), "/x");
}

TEST_F(LoadTest, LiveValueGoesBeforeFlagEnvironmentAndFile) {
  const auto config = Load({.environment = {{"CARILLON_RETENTION_DAYS", "7"}},
                            .flags = {{"log.level", "warn", "--set"}}});
  ASSERT_TRUE(config.ok());
  std::vector<std::string> left_out;
  const Config live = config->With({{"log.level", "debug"}, {"retention_days", "30"}}, &left_out);
  EXPECT_EQ(live.Text("log.level"), "debug");
  EXPECT_EQ(live.Get("log.level").origin, Origin::kLive);
  EXPECT_EQ(live.Time("retention_days"), 30 * 24h);
  EXPECT_EQ(live.Integer("rest.port"), 8640);
  EXPECT_TRUE(left_out.empty());
  EXPECT_EQ(config->Text("log.level"), "warn") << "the start's own is kept for when it is unset";
  EXPECT_EQ(config->With({}, &left_out).Get("retention_days").place, "CARILLON_RETENTION_DAYS");
}

TEST_F(LoadTest, WhatThisVersionDoesNotTakeLiveIsLeftOutAndTold) {
  const auto config = Load({});
  ASSERT_TRUE(config.ok());
  std::vector<std::string> left_out;
  const Config live = config->With({{"retention_days", "0"},
                                    {"rest.port", "1"},
                                    {"of.a_newer_version", "1"},
                                    {"executor.slots", "3"}},
                                   &left_out);
  EXPECT_EQ(live.Integer("retention_days"), 14);
  EXPECT_EQ(live.Integer("rest.port"), 8640);
  EXPECT_EQ(live.Integer("executor.slots"), 3);
  ASSERT_EQ(left_out.size(), 3u);
  EXPECT_NE(left_out[2].find("retention_days must be a whole number from 1"), std::string::npos)
      << left_out[2];
}

TEST(ConfigTableTest, NamesAndVariablesAreUnique) {
  std::map<std::string, int> seen;
  for (const Setting& setting : SettingTable()) {
    EXPECT_EQ(seen[std::string(setting.name)]++, 0) << setting.name;
    EXPECT_EQ(seen[EnvironmentName(setting.name)]++, 0) << setting.name;
  }
  EXPECT_EQ(EnvironmentName("rest.body_bytes_max"), "CARILLON_REST_BODY_BYTES_MAX");
}

TEST(ConfigTableTest, PageInDocsIsTheTable) {
  const std::string path = test::SourceFile("docs/configuration.md");
  if (getenv("CARILLON_REGEN") != nullptr) std::ofstream(path) << ConfigurationPage();
  std::ostringstream page;
  page << std::ifstream(path).rdbuf();
  EXPECT_EQ(page.str(), ConfigurationPage()) << "generate it: ./dev regen";
}

}  // namespace
}  // namespace carillon::config
