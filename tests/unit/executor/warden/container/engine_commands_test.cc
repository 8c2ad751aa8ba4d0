#include "executor/warden/container/engine_commands.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "executor/warden/container/container_start.h"

namespace carillon::executor {
namespace {

using Kind = ContainerEnd::Kind;
const std::string kId(64, 'a');

TEST(EngineCommandsTest, StatesEverythingThatIsolatesTheContainer) {
  const ContainerPlan plan{
      .name = "carillon-R-1",
      .warden_id = "w1",
      .control_directory = "/d",
      .definition = {.image = "alpine:3.20",
                     .command = {"sh", "-c"},
                     .args = {"echo $TOKEN"},
                     .network = ContainerNetwork::kNone,
                     .read_only = true,
                     .user = "1000",
                     .pull = ContainerPull::kNotAtAll},
      .limits = Limits{.memory_mb = 64, .cpu = 0.5, .pids = 9, .open_files = 16, .file_size_mb = 1},
      .variables = {"CARILLON_PARAM_TEXT"}};
  const EngineArguments expected = {"create",
                                    "--name",
                                    "carillon-R-1",
                                    "--label",
                                    "carillon.warden=w1",
                                    "--log-driver",
                                    "none",
                                    "--pull",
                                    "never",
                                    "--network",
                                    "none",
                                    "--volume",
                                    "/d:/carillon",
                                    "--env-file",
                                    "/dev/stdin",
                                    "--read-only",
                                    "--user",
                                    "1000",
                                    "--memory",
                                    "64m",
                                    "--memory-swap",
                                    "64m",
                                    "--cpus",
                                    "0.5",
                                    "--pids-limit",
                                    "9",
                                    "--ulimit",
                                    "nofile=16:16",
                                    "--ulimit",
                                    "fsize=1048576:1048576",
                                    "--env",
                                    "CARILLON_PARAM_TEXT",
                                    "--entrypoint",
                                    "sh",
                                    "alpine:3.20",
                                    "-c",
                                    "echo $TOKEN"};
  EXPECT_EQ(CreateCommand(plan), expected);
}

TEST(EngineCommandsTest, LeavesTheImageItsEntryPoint) {
  const EngineArguments words =
      CreateCommand({.name = "n", .definition = {.image = "a", .args = {"x"}}});
  EXPECT_EQ(EngineArguments(words.end() - 2, words.end()), (EngineArguments{"a", "x"}));
  EXPECT_EQ(std::count(words.begin(), words.end(), "--entrypoint"), 0);
}

TEST(EngineCommandsTest, ReadsListsAndRefusesEverythingElse) {
  EXPECT_EQ(ParseList(""), std::vector<ListedContainer>{});
  EXPECT_EQ(ParseList(kId + " carillon-R-1\n" + kId + "\n"),
            (std::vector<ListedContainer>{{kId, "carillon-R-1"}, {kId, ""}}));
  EXPECT_EQ(ParseList("Error: cannot connect\n"), std::nullopt);
  EXPECT_EQ(ParseList(kId + " a b\n"), std::nullopt);
  EXPECT_EQ(ParseId("Pulling fs layer\n" + kId + "\n"), kId);
  EXPECT_EQ(ParseId("no id\n"), "");
}

TEST(EngineCommandsTest, DecidesByTheStateOfTheContainer) {
  const auto over = [](std::string_view answer) {
    const Inspection inspection = DecideAfterInspect(answer);
    EXPECT_EQ(inspection.step, AfterInspect::kOver) << answer;
    return inspection.end;
  };
  EXPECT_EQ(over("exited 3 false\n"), (ContainerEnd{.exit_code = 3}));
  EXPECT_EQ(over("exited 137 true\n").kind, Kind::kOutOfMemory);
  EXPECT_EQ(over("exited 0 true"), ContainerEnd{}) << "one of several processes was killed";
  EXPECT_EQ(over("created 127 false\n").kind, Kind::kNotStarted);
  for (const char* answer :
       {"running 0 false", "paused 0 false", "", "garbage", "exited x false", "exited 0"}) {
    EXPECT_EQ(DecideAfterInspect(answer).step, AfterInspect::kAskAgain) << answer;
  }
}

TEST(EngineCommandsTest, EndsComeBackAsTheyWere) {
  for (const ContainerEnd& end :
       {ContainerEnd{.exit_code = 0}, ContainerEnd{.exit_code = 75},
        ContainerEnd{.kind = Kind::kOutOfMemory},
        ContainerEnd{.kind = Kind::kNotStarted, .text = "no such image"},
        ContainerEnd{.kind = Kind::kRemoved},
        ContainerEnd{.stopped = true, .outputs = {{"rows", "3"}}, .outputs_fault = "x"}}) {
    EXPECT_EQ(ParseEnd(EncodeEnd(end)), end);
  }
  EXPECT_EQ(ParseEnd(""), std::nullopt);
  const std::string bytes = EncodeEnd({.exit_code = 0});
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(ParseEnd(bytes.substr(0, size)), std::nullopt);
}

TEST(EngineCommandsTest, RecordsComeBackAsTheyWereAndDamagedOnesNot) {
  const ContainerRecord record{.engine = "/usr/bin/docker",
                               .name = "n",
                               .warden_id = "w",
                               .create = {"create", "a"},
                               .limits = Limits{.memory_mb = 64, .cpu = 0.5, .pids = 9},
                               .grace_s = 10,
                               .outputs_file = "/o",
                               .client_env = {"PATH=/bin"}};
  const std::string bytes = EncodeRecord(record);
  EXPECT_EQ(DecodeRecord(bytes), record);
  EXPECT_EQ(DecodeRecord(bytes.substr(0, bytes.size() - 1)), std::nullopt);
  EXPECT_EQ(DecodeRecord(""), std::nullopt);
}

TEST(EngineCommandsTest, NamesTellTheirAttempts) {
  const HeldAttempt held{
      .key = {.fire = FromUnixMicros(1'772'323'200'000'001), .schedule_id = ScheduleId(7)},
      .attempt = 3};
  const auto named = ParseContainerName(ContainerName(held));
  ASSERT_TRUE(named);
  EXPECT_EQ(named->key, held.key);
  EXPECT_EQ(named->attempt, 3);
  for (const char* other : {"", "carillon-", "carillon-x-1", "postgres"})
    EXPECT_FALSE(ParseContainerName(other));
}

TEST(EngineCommandsTest, FindsTheLimitThatIsNotEnforced) {
  const Limits limits{.memory_mb = 64, .cpu = 0.5, .pids = 9};
  EXPECT_EQ(FindMissingLimit(limits, "67108864 500000000 0 9\n"), "");
  EXPECT_EQ(FindMissingLimit(limits, "67108864 0 50000 9\n"), "");
  EXPECT_EQ(FindMissingLimit(limits, "0 500000000 0 9\n"), "memory_mb");
  EXPECT_EQ(FindMissingLimit(limits, "67108864 0 0 9\n"), "cpu");
  EXPECT_EQ(FindMissingLimit(limits, "67108864 500000000 0 <nil>\n"), "pids");
  EXPECT_EQ(FindMissingLimit({.open_files = 16}, "0 0 0 0\n"), "");
}

TEST(EngineCommandsTest, InputOfADriverComesBackAsItWas) {
  const DriverInput input{
      .env_file = "A=1\n", .variables = {"CARILLON_X=1\n2"}, .masked = {"secret"}};
  const std::string bytes = EncodeInput(input);
  EXPECT_EQ(DecodeInput(bytes), input);
  EXPECT_EQ(DecodeInput(bytes.substr(1)), std::nullopt);
  EXPECT_EQ(DecodeInput(""), std::nullopt);
}

}  // namespace
}  // namespace carillon::executor
