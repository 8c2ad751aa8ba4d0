// The settings of servers: standalone, check-config and system config.
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

using ServerCommandsTest = CliTest;

TEST_F(ServerCommandsTest, StandaloneGetsItsOverrides) {
  EXPECT_EQ(Run({"standalone", "--data-dir", "/d", "--port", "0", "--config", "/c.yaml", "--set",
                 "executor.slots=3", "--set", "ops.port=5"}),
            0);
  ASSERT_TRUE(standalone_.has_value());
  EXPECT_EQ(standalone_->config_file, "/c.yaml");
  std::map<std::string, std::string> last;  // a later value replaces an earlier one
  for (const config::Override& o : standalone_->overrides) last[o.name] = o.value;
  EXPECT_EQ(
      last,
      (std::map<std::string, std::string>{
          {"data_dir", "/d"}, {"executor.slots", "3"}, {"ops.port", "5"}, {"rest.port", "0"}}));
}

TEST_F(ServerCommandsTest, AnEmptyFlagIsNotNoFlag) {
  for (const char* flag : {"--data-dir", "--port", "--config", "--addr", "--token-file"}) {
    EXPECT_EQ(Run({"standalone", flag, ""}), 2) << flag;
    EXPECT_FALSE(standalone_.has_value()) << flag;
  }
}

TEST_F(ServerCommandsTest, CheckConfigShowsWhereValuesComeFrom) {
  environment_["CARILLON_OPS_PORT"] = "9";
  EXPECT_EQ(Run({"check-config", "--set", "rest.port=7", "-o", "json"}), 0);
  std::map<std::string, std::string> origins;
  const json shown = OutJson();
  for (const json& item : shown["items"]) origins[item["name"]] = item["origin"];
  EXPECT_EQ(origins["rest.port"], "flag");
  EXPECT_EQ(origins["ops.port"], "environment");
  EXPECT_EQ(origins["log.level"], "default");
  EXPECT_EQ(Run({"check-config", "--set", "rest.port=x"}), 2);
  EXPECT_EQ(Run({"check-config", "--config", "/nowhere/at.all"}), 2);
  EXPECT_EQ(out(), "");
}

TEST_F(ServerCommandsTest, CheckConfigSaysAllThatIsWrong) {
  EXPECT_EQ(Run({"check-config", "--set", "rest.port=x", "--set", "rest.prot=7", "--set",
                 "log.level=loud"}),
            2);
  for (const char* part :
       {"rest.port must be", "unknown setting 'rest.prot'", "log.level must be"}) {
    EXPECT_NE(err().find(part), std::string::npos) << part << " in " << err();
  }
  EXPECT_EQ(
      Run({"check-config", "--set", "rest.listen=0.0.0.0", "--set", "kafka.sasl=scram-sha-512"}),
      2);
  for (const char* part : {"rest.listen is beyond loopback", "kafka.sasl is scram-sha-512"}) {
    EXPECT_NE(err().find(part), std::string::npos) << part << " in " << err();
  }
}

TEST_F(ServerCommandsTest, CheckConfigRemarksOnFilesThatCannotBeRead) {
  EXPECT_EQ(Run({"check-config", "--set", "store.password_file=/nowhere/password"}), 0);
  EXPECT_NE(err().find("store.password_file: cannot read /nowhere/password"), std::string::npos)
      << err();
}

json ConfigShown(int64_t version, const std::string& level, const std::string& source) {
  return {{"version", version},
          {"settings", {{"log.level", level}, {"rest.port", "0"}}},
          {"sources", {{"log.level", source}, {"rest.port", "flag"}}},
          {"live", {"log.level"}}};
}

TEST_F(ServerCommandsTest, ConfigWithoutAVerbIsConfigGet) {
  Answer("GET /api/system/config", ConfigShown(3, "debug", "live"));
  EXPECT_EQ(Run({"system", "config", "-o", "json"}), 0);
  EXPECT_EQ(server_.requests.size(), 1u);
  EXPECT_EQ(OutJson(), ConfigShown(3, "debug", "live"));
  EXPECT_EQ(Run({"system", "config", "get", "rest.port", "-o", "json"}), 0);
  EXPECT_EQ(OutJson()["value"], "0");
  EXPECT_EQ(Run({"system", "config", "get", "no.such"}), 3);
}

TEST_F(ServerCommandsTest, ConfigurationIsChangedAtTheVersionThatWasRead) {
  Answer("GET /api/system/config", ConfigShown(3, "info", "default"), 200, "\"v3\"");
  Answer("PUT /api/system/config", ConfigShown(4, "debug", "live"));
  EXPECT_EQ(Run({"system", "config", "set", "log.level=debug", "executor.slots=3", "--reason",
                 "looking"}),
            0)
      << err();
  EXPECT_EQ(HeaderOf(Sent(1), "If-Match"), "\"v3\"");
  EXPECT_EQ(SentBody(1), (json{{"settings", {{"log.level", "debug"}, {"executor.slots", "3"}}},
                               {"reason", "looking"}}));
  EXPECT_NE(out().find("log.level  debug  live    true\n"), std::string::npos) << out();
  EXPECT_EQ(Run({"system", "config", "unset", "log.level"}), 0);
  EXPECT_EQ(SentBody(3), (json{{"settings", {{"log.level", nullptr}}}}));
  EXPECT_EQ(Run({"system", "config", "set", "log.level"}), 2);
  EXPECT_EQ(Run({"system", "config", "set"}), 2);
  EXPECT_EQ(Run({"system", "config", "unset"}), 2);
  server_.answers.erase("PUT http://a/api/system/config");
  Answer("PUT /api/system/config", ProblemOf("stale_version"), 412);
  EXPECT_EQ(Run({"system", "config", "set", "log.level=warn"}), 5);
}

}  // namespace
}  // namespace carillon::cli
