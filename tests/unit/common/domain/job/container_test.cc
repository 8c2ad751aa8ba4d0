#include "common/domain/job/container.h"

#include <gtest/gtest.h>

#include "common/domain/job/job.h"
#include "common/domain/job/job_types.h"
#include "common/domain/template/command_parameters.h"
#include "common/domain/template/template.h"

namespace carillon {
namespace {

std::vector<std::string> PointersOf(const ContainerDefinition& container,
                                    const std::map<std::string, std::string>& env = {}) {
  std::vector<std::string> pointers;
  for (const Error& mistake : FindContainerMistakes(container, env))
    pointers.push_back(mistake.pointer);
  return pointers;
}

using Pointers = std::vector<std::string>;

JobDefinition ContainerJob() {
  JobDefinition job;
  job.name = "day";
  job.type = JobType::kContainer;
  job.container = ContainerDefinition{.image = "alpine:3.20", .args = {"date", "{{params.day}}"}};
  job.parameters = {{"day", ParameterValue(std::string("mon; tue"))}};
  return job;
}

TEST(ContainerTest, TakesNamesOfImagesAndNothingThatIsAnOption) {
  for (const char* image : {"alpine", "alpine:3.20", "host.example:5000/a/b_c@sha256:0123"}) {
    EXPECT_EQ(PointersOf({.image = image}), Pointers{}) << image;
  }
  for (const char* image : {"", "--privileged", "a b", "a\nb", "-v"}) {
    EXPECT_EQ(PointersOf({.image = image}), Pointers{"/container/image"}) << image;
  }
  EXPECT_EQ(PointersOf({.image = "a", .user = "1000:1000"}), Pointers{});
  EXPECT_EQ(PointersOf({.image = "a", .user = "--user"}), Pointers{"/container/user"});
}

TEST(ContainerTest, BoundsCommandAndArguments) {
  const std::vector<std::string> many(60, "x");
  EXPECT_EQ(PointersOf({.image = "a", .command = many, .args = many}), Pointers{"/container/args"});
  EXPECT_EQ(PointersOf({.image = "a", .command = {""}}), Pointers{"/container/command/0"});
  EXPECT_EQ(PointersOf({.image = "a", .args = {"ok", std::string("a\0b", 3)}}),
            Pointers{"/container/args/1"});
  EXPECT_EQ(PointersOf({.image = "a", .args = {std::string(kContainerArgBytesMax + 1, 'x')}}),
            Pointers{"/container/args/0"});
}

TEST(ContainerTest, RefusesVariablesThatNoEngineTakes) {
  const ContainerDefinition container{.image = "a"};
  EXPECT_EQ(PointersOf(container, {{"TEXT", "one\ntwo"}}), Pointers{"/env/TEXT"});
  EXPECT_EQ(PointersOf(container, {{"DOCKER_HOST", "{{secrets.host}}"}, {"BASH_ENV", "x"}}),
            Pointers{});
}

TEST(ContainerTest, BelongsToJobsOfItsTypeOnly) {
  EXPECT_TRUE(ValidateJob(ContainerJob()).ok());
  JobDefinition job = ContainerJob();
  job.container.reset();
  EXPECT_EQ(ValidateJob(job).error().pointer, "/container");
  job = ContainerJob();
  job.type = JobType::kNoop;
  EXPECT_EQ(ValidateJob(job).error().pointer, "/container");
  job = ContainerJob();
  job.run_as = "root";
  EXPECT_EQ(ValidateJob(job).error().pointer, "/run_as");
}

TEST(ContainerTest, NeedsAnEngineButNoControlGroups) {
  JobDefinition job = ContainerJob();
  job.limits = Limits{.memory_mb = 64};
  EXPECT_EQ(NeedsOf(job), Features{Feature::kContainer});
  EXPECT_EQ(RunnerOf(job.type), Runner::kWarden);
}

TEST(ContainerTest, FillsPlaceholdersWithoutAShell) {
  const JobDefinition job = ContainerJob();
  const auto rendered = RenderAttempt(job, {.job_id = JobId("day"), .parameters = job.parameters});
  ASSERT_TRUE(rendered.ok()) << rendered.error().message;
  EXPECT_EQ(rendered->container->args, (std::vector<std::string>{"date", "mon; tue"}));
  EXPECT_FALSE(rendered->env.contains("PATH")) << "the image has its own";
  JobDefinition wrong = job;
  wrong.container->args = {"{{nothing}}"};
  EXPECT_EQ(ValidateTemplates(wrong).error().pointer, "/container/args/0");
}

TEST(ContainerTest, NamesTheParametersThatWouldBecomeCode) {
  JobDefinition job = ContainerJob();
  job.env = {{"MORE", "{{params.more}}"}, {"SAFE", "{{params.safe}}"}};
  job.container->command = {"sh"};
  job.container->args = {"$SAFE"};
  EXPECT_TRUE(CommandParameters(job).empty()) << "a variable is no code";
  job.container->command = {"{{params.program}}"};
  EXPECT_EQ(CommandParameters(job), (std::set<std::string>{"program"}));
  // The option before it does not matter, nor whether there is one.
  for (const char* option : {"-c", "-r", "-E", "--eval", "--", "x"}) {
    job.container->command = {"any", option, "echo {{params.text}} {{env.MORE}}"};
    EXPECT_EQ(CommandParameters(job), (std::set<std::string>{"text", "more"})) << option;
  }
  job.container->command = {"any"};
  job.container->args = {"--execute={{params.text}}", "{{params.alone}}"};
  EXPECT_EQ(CommandParameters(job), (std::set<std::string>{"text", "alone"}));
}

}  // namespace
}  // namespace carillon
