#include "executor/tasks/start_orders.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/domain/template/template.h"
#include "common/domain/trace.h"
#include "tests/support/process_wait.h"

namespace carillon::executor {
namespace {

TaskMessage Task() {
  TaskMessage task;
  task.key = {FromUnixMicros(1'772'323'200'000'000), ScheduleId(7), 2};
  task.job_id = JobId("nightly");
  task.attempt = 3;
  task.command = "true";
  task.timeout_s = 60;
  task.kill_grace_s = 5;
  task.shard_total = 4;
  return task;
}

TEST(StartOrdersTest, PromisedNamesWinOverTheJobsOwnAndThoseOverTheDefaults) {
  TaskMessage task = Task();
  task.env = {{"PATH", "/mine"}, {"CARILLON_RUN_ID", "forged"}, {"CARILLON_PARAM_X", "1"}};
  const StartAttempt start = StartOf(task, {.key = task.key}, SteadyTime(9s),
                                     {.env = {{"PATH", "/bin"}, {"LANG", "C.UTF-8"}}});
  const std::map<std::string, std::string> expected = {
      {"PATH", "/mine"},
      {"LANG", "C.UTF-8"},
      {"CARILLON_PARAM_X", "1"},
      {"CARILLON_RUN_ID", EncodeRunId(task.key)},
      {"CARILLON_JOB_ID", "nightly"},
      {"CARILLON_FIRE_TIME", FormatRfc3339(task.key.fire)},
      {"CARILLON_ATTEMPT", "3"},
      {"CARILLON_SHARD_INDEX", "1"},
      {"CARILLON_SHARD_TOTAL", "4"},
      {"CARILLON_TRACE_ID", TraceIdOf(task.key)},
      {"TRACEPARENT", TraceParentOf(TraceIdOf(task.key), task.key, 3)}};
  EXPECT_EQ(start.env, expected);
  EXPECT_EQ(start.timeout, 60s);
  EXPECT_EQ(start.kill_grace, 5s);
  EXPECT_EQ(start.lease_end, SteadyTime(9s));
  EXPECT_EQ(start.job_id, task.job_id);
}

TEST(StartOrdersTest, TheTraceOfARequestGoesOnInItsProcess) {
  TaskMessage task = Task();
  task.trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
  EXPECT_EQ(StartOf(task, {}, {}, {}).env["CARILLON_TRACE_ID"], task.trace_id);
  EXPECT_EQ(TraceIdOfParent(StartOf(task, {}, {}, {}).env["TRACEPARENT"]), task.trace_id);
  task.env = {{"TRACEPARENT", "mine"}};
  EXPECT_EQ(StartOf(task, {}, {}, {}).env["TRACEPARENT"], "mine");
}

TEST(StartOrdersTest, OnlyWhatIsRetriedIsKilledAtTheEndOfItsLease) {
  TaskMessage task = Task();
  EXPECT_TRUE(StartOf(task, {}, {}, {}).kill_at_lease_end);
  task.on_lost = OnLost::kHold;
  EXPECT_FALSE(StartOf(task, {}, {}, {}).kill_at_lease_end);
  task.on_lost = OnLost::kFail;
  EXPECT_FALSE(StartOf(task, {}, {}, {}).kill_at_lease_end);
}

TEST(StartOrdersTest, AScriptNamesItsProgramSuffixAndArguments) {
  TaskMessage task = Task();
  task.type = JobType::kScript;
  task.command = "print(1)";
  task.interpreter = Interpreter::kPython3;
  task.args = {"a", "b c"};
  const Interpreters here = {{Interpreter::kPython3, "/opt/bin/python3"}};
  const StartAttempt start = StartOf(task, {}, {}, {.interpreters = here});
  ASSERT_TRUE(start.script);
  EXPECT_EQ(start.script->interpreter, "/opt/bin/python3");
  EXPECT_EQ(start.script->suffix, ".py");
  EXPECT_EQ(start.script->args, task.args);
  EXPECT_EQ(start.command, "print(1)");
  EXPECT_FALSE(StartOf(Task(), {}, {}, {}).script);
}

TEST(StartOrdersTest, AContainerHasTheVariablesOfItsJobAndNotThoseOfAProcess) {
  TaskMessage task = Task();
  task.type = JobType::kContainer;
  task.container = ContainerDefinition{.image = "alpine"};
  task.env = {{"MODE", "fast"}};
  task.limits = Limits{.memory_mb = 64};
  const StartAttempt start =
      StartOf(task, {.key = task.key}, SteadyTime(9s),
              {.env = {{"PATH", "/bin"}}, .container_engine = "/usr/bin/podman"});
  EXPECT_FALSE(start.env.contains("PATH")) << "the image has its own";
  EXPECT_EQ(start.env.at("MODE"), "fast");
  EXPECT_EQ(start.env.at("CARILLON_ATTEMPT"), "3");
  ASSERT_TRUE(start.container);
  EXPECT_EQ(start.container->engine, "/usr/bin/podman");
  EXPECT_EQ(start.container->definition, *task.container);
  EXPECT_EQ(start.limits, task.limits);
}

TEST(StartOrdersTest, InterpretersAreProgramsInAbsoluteDirectories) {
  const test::ScratchDirectory scratch;
  const std::string first = scratch / "first";
  const std::string second = scratch / "second";
  for (const std::string& directory : {first, second}) std::filesystem::create_directory(directory);
  const auto write = [](const std::string& path, int mode) {
    std::ofstream(path) << "#!/bin/sh\n";
    std::filesystem::permissions(path, static_cast<std::filesystem::perms>(mode));
  };
  write(first + "/perl", 0644);  // cannot be executed
  write(second + "/perl", 0755);
  write(first + "/php", 0755);
  write(second + "/php", 0755);
  std::filesystem::create_directory(first + "/node");
  const Interpreters found = FindInterpreters("bin:" + first + "::" + second);
  EXPECT_EQ(found, (Interpreters{{Interpreter::kPerl, second + "/perl"},
                                 {Interpreter::kPhp, first + "/php"}}));
  EXPECT_EQ(FeaturesOf(found), Features({Feature::kSecrets, Feature::kHttp, Feature::kHttpExtended,
                                         Feature::kScriptPerl, Feature::kScriptPhp}));
}

TEST(StartOrdersTest, ThePathOfTheHostTakesThePlaceOfTheStatedOne) {
  TaskMessage task = Task();
  task.env = {{"PATH", std::string(kStatedPath)}};
  const std::string longer = std::string(kStatedPath) + ":/opt/carillon";
  EXPECT_EQ(StartOf(task, {}, {}, {.env = {{"PATH", longer}}}).env["PATH"], longer);
  EXPECT_EQ(StartOf(task, {}, {}, {}).env["PATH"], kStatedPath);
  task.env = {{"PATH", "/bin"}};
  EXPECT_EQ(StartOf(task, {}, {}, {.env = {{"PATH", longer}}}).env["PATH"], "/bin");
}

TEST(StartOrdersTest, TheCommandIsFoundInTheDirectoryOfTheExecutor) {
  const test::ScratchDirectory scratch;
  const std::string own = scratch / "own";
  std::filesystem::create_directory(own);
  std::map<std::string, std::string> env{{"PATH", "/no/such/directory"}};
  OfferCommand(own, env);
  EXPECT_EQ(env.size(), 1u) << "there is no such program";
  std::ofstream(own + "/carillon") << "#!/bin/sh\n";
  std::filesystem::permissions(own + "/carillon", static_cast<std::filesystem::perms>(0755));
  OfferCommand(own, env);
  EXPECT_EQ(env["PATH"], "/no/such/directory:" + own);
  EXPECT_EQ(env["CARILLON_BIN"], own + "/carillon");
  OfferCommand(own, env);
  EXPECT_EQ(env["PATH"], "/no/such/directory:" + own) << "not twice";
  std::filesystem::create_directory(scratch / "a:b");
  std::filesystem::copy(own + "/carillon", scratch / "a:b/carillon");
  std::map<std::string, std::string> colon{{"PATH", "/no/such/directory"}};
  OfferCommand(scratch / "a:b", colon);
  EXPECT_EQ(colon["PATH"], "/no/such/directory") << "it would be two directories";
  EXPECT_EQ(colon["CARILLON_BIN"], scratch / "a:b/carillon");
}

}  // namespace
}  // namespace carillon::executor
