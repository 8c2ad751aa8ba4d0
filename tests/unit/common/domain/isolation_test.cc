// Limits of jobs and the user as whom they run: their bounds, and what they need of a host.
#include "common/domain/isolation.h"

#include <gtest/gtest.h>

#include <limits>

#include "common/domain/job/job_types.h"

namespace carillon::isolation_test {
namespace {

std::string FailsAt(const JobDefinition& job) {
  const Status valid = ValidateJob(job);
  return valid.ok() ? "ok" : valid.error().pointer;
}

std::string FailsAt(const Limits& limits) {
  return FailsAt({.name = "n", .command = "true", .limits = limits});
}

TEST(IsolationTest, EveryLimitHasItsRange) {
  EXPECT_EQ(
      FailsAt(Limits{.memory_mb = 4, .cpu = 0.01, .pids = 1, .open_files = 16, .file_size_mb = 1}),
      "ok");
  EXPECT_EQ(FailsAt(Limits{.memory_mb = 3}), "/limits/memory_mb");
  EXPECT_EQ(FailsAt(Limits{.memory_mb = -1}), "/limits/memory_mb");
  EXPECT_EQ(FailsAt(Limits{.cpu = 0.009}), "/limits/cpu");
  EXPECT_EQ(FailsAt(Limits{.cpu = 1025}), "/limits/cpu");
  EXPECT_EQ(FailsAt(Limits{.cpu = std::numeric_limits<double>::quiet_NaN()}), "/limits/cpu");
  EXPECT_EQ(FailsAt(Limits{.pids = 4'194'305}), "/limits/pids");
  EXPECT_EQ(FailsAt(Limits{.open_files = 15}), "/limits/open_files");
  EXPECT_EQ(FailsAt(Limits{.file_size_mb = 16'777'217}), "/limits/file_size_mb");
}

TEST(IsolationTest, OnlyJobsWithAProcessHaveThem) {
  JobDefinition job{.name = "n", .type = JobType::kNoop, .limits = Limits{.pids = 5}};
  EXPECT_EQ(FailsAt(job), "/limits");
  job.limits.reset();
  job.run_as = "alice";
  EXPECT_EQ(FailsAt(job), "/run_as");
  job.type = JobType::kScript;
  job.script = ScriptDefinition{.interpreter = Interpreter::kSh, .body = "true"};
  EXPECT_EQ(FailsAt(job), "ok");
}

TEST(IsolationTest, NamesOfUsers) {
  for (const char* good : {"alice", "_apt", "www-data", "j.doe", "A1"})
    EXPECT_TRUE(IsUserName(good)) << good;
  for (const char* bad : {"", "0", "1000", "-x", "a b", "a:b", "a/b", "a\n"})
    EXPECT_FALSE(IsUserName(bad)) << bad;
  EXPECT_TRUE(IsUserName(std::string(32, 'a')));
  EXPECT_FALSE(IsUserName(std::string(33, 'a')));
}

TEST(IsolationTest, WorkingDirectoriesAreAbsoluteOrBelowTheHome) {
  for (const char* good : {"/", "/srv/app", "~", "~/", "~/my app", "/a/../b", "/srv/数据"})
    EXPECT_EQ(WorkingDirectoryFault(good), "") << good;
  for (const char* bad : {"app", "./app", "~alice", "~alice/app", " /srv", "$HOME/app", "/a\nb",
                          "/a\tb", "/srv/{{params.x}}", "C:\\app", "/a\xff"})
    EXPECT_NE(WorkingDirectoryFault(bad), "") << bad;
  EXPECT_EQ(WorkingDirectoryFault("/" + std::string(4'095, 'a')), "");
  EXPECT_NE(WorkingDirectoryFault("/" + std::string(4'096, 'a')), "");
}

TEST(IsolationTest, TheHomeIsThatOfTheProcess) {
  EXPECT_EQ(PathOfWorkingDirectory("/srv", "").value_or("?"), "/srv");
  EXPECT_EQ(PathOfWorkingDirectory("~", "/home/a").value_or("?"), "/home/a");
  EXPECT_EQ(PathOfWorkingDirectory("~/b/c", "/home/a").value_or("?"), "/home/a/b/c");
  const std::string none = PathOfWorkingDirectory("~/b", "").error().message;
  EXPECT_NE(none.find("no HOME"), std::string::npos);
  EXPECT_NE(none.find("the job sets an empty HOME"), std::string::npos);
  const Error relative = PathOfWorkingDirectory("~/b", "hunter22").error();
  EXPECT_EQ(relative.message,
            "could not enter its working directory ~/b: HOME is no absolute path");
}

TEST(IsolationTest, OnlyProcessesHaveAnEncodingOfTheirOutput) {
  JobDefinition job{.name = "n", .command = "true", .output_encoding = "GBK"};
  EXPECT_EQ(FailsAt(job), "ok");
  EXPECT_EQ(NeedsOf(job), Features{Feature::kOutputEncoding});
  job.output_encoding = "klingon";
  EXPECT_EQ(FailsAt(job), "/output_encoding");
  job.output_encoding = "shift_jis";
  job.command.clear();
  job.type = JobType::kContainer;
  job.container = ContainerDefinition{.image = "alpine"};
  EXPECT_EQ(FailsAt(job), "ok");
  job.container.reset();
  for (const JobType type : {JobType::kNoop, JobType::kHandler}) {
    job.type = type;
    job.handler = type == JobType::kHandler ? "a/b" : "";
    EXPECT_EQ(FailsAt(job), "/output_encoding") << Name(type);
  }
}

TEST(IsolationTest, OnlyProcessesOfTheHostBeginInADirectory) {
  JobDefinition job{.name = "n", .command = "true", .working_directory = "~/app"};
  EXPECT_EQ(FailsAt(job), "ok");
  EXPECT_EQ(NeedsOf(job), Features{Feature::kWorkingDirectory});
  job.working_directory = "app";
  EXPECT_EQ(FailsAt(job), "/working_directory");
  job.working_directory = "/srv";
  job.type = JobType::kScript;
  job.command.clear();
  job.script = ScriptDefinition{.interpreter = Interpreter::kSh, .body = "true"};
  EXPECT_EQ(FailsAt(job), "ok");
  job.script.reset();
  job.type = JobType::kContainer;
  job.container = ContainerDefinition{.image = "alpine"};
  EXPECT_EQ(FailsAt(job), "/working_directory");
  job.container.reset();
  for (const JobType type : {JobType::kNoop, JobType::kHttp, JobType::kHandler}) {
    job.type = type;
    job.handler = type == JobType::kHandler ? "a/b" : "";
    if (type == JobType::kHttp) job.http.emplace().url = "http://a/";
    EXPECT_EQ(FailsAt(job), "/working_directory") << Name(type);
    job.http.reset();
  }
}

TEST(IsolationTest, RequiredLimitsNeedAHostThatEnforcesThem) {
  JobDefinition job{
      .name = "n", .command = "true", .limits = Limits{.memory_mb = 64, .open_files = 64}};
  EXPECT_EQ(NeedsOf(job), (Features{Feature::kLimits, Feature::kMemoryLimit}));
  job.limits->enforce = Enforce::kBestEffort;
  EXPECT_EQ(NeedsOf(job), Features{Feature::kLimits});
  job.run_as = "alice";
  EXPECT_EQ(NeedsOf(job), (Features{Feature::kLimits, Feature::kRunAs}));
}

TEST(IsolationTest, WhatAHostDoesNotEnforceIsNamed) {
  const Limits limits{
      .memory_mb = 64, .cpu = 1, .pids = 5, .open_files = 64, .enforce = Enforce::kBestEffort};
  EXPECT_EQ(NotEnforced(limits, {Feature::kLimits, Feature::kPidsLimit}),
            (std::vector<std::string>{"memory_mb", "cpu"}));
  EXPECT_TRUE(NotEnforced(Limits{.open_files = 64}, {Feature::kLimits}).empty());
}

}  // namespace
}  // namespace carillon::isolation_test
