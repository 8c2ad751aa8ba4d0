#include "executor/server/container_engine.h"

#include <gtest/gtest.h>

#include "executor/warden/container/engine_client.h"

namespace carillon::executor {
namespace {

TEST(ContainerEngineTest, SaysWhatIsMissingAndTheCure) {
  EXPECT_EQ(DecideEngineCheck({.setting = "none"}).state, HostCheckState::kNo);
  const HostCheck absent = DecideEngineCheck({.setting = "docker", .path = "/bin"});
  EXPECT_EQ(absent.detail, "There is no docker in /bin.");
  const HostCheck silent = DecideEngineCheck({.setting = "docker", .program = "/bin/docker"});
  EXPECT_EQ(silent.state, HostCheckState::kNo);
  EXPECT_NE(silent.cure, "");
  const HostCheck works =
      DecideEngineCheck({.setting = "docker", .program = "/bin/docker", .answered = true});
  EXPECT_EQ(works.state, HostCheckState::kWorks);
  EXPECT_EQ(works.cure, "");
}

TEST(ContainerEngineTest, UsesOnlyAnEngineThatAnswers) {
  EXPECT_EQ(FindEngine("none", "/bin").path, "");
  EXPECT_EQ(FindEngine("/bin/true", "/bin").path, "/bin/true");
  EXPECT_EQ(FindEngine("/bin/false", "/bin").path, "");
  EXPECT_EQ(FindEngine("/no/such/engine", "/bin").path, "");
}

TEST(ContainerEngineTest, SilenceSaysNothingOfTheEngine) {
  const std::vector<std::string> env = {"PATH=/usr/bin:/bin"};
  const auto ran = [&](const EngineArguments& arguments) {
    const std::string shell = "/bin/sh";
    return AskEngine({shell, arguments, env}, 200).ran;
  };
  EXPECT_TRUE(ran({"-c", "exit 1"}));
  EXPECT_FALSE(ran({"-c", "sleep 1000"}));
  EXPECT_FALSE(ran({"-c", "exec >&-; exec sleep 1000"})) << "has closed its output, and goes on";
}

}  // namespace
}  // namespace carillon::executor
