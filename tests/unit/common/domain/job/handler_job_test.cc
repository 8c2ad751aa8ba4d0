// Jobs of type handler.
#include <gtest/gtest.h>

#include "common/domain/job/job_types.h"
#include "common/domain/template/template.h"

namespace carillon::handler_job_test {
namespace {

JobDefinition Handler(const std::string& name = "billing/close_day") {
  return {.name = "close", .type = JobType::kHandler, .handler = name};
}

std::string PointerOf(const JobDefinition& job) {
  const Status status = ValidateJob(job);
  return status.ok() ? "" : status.error().pointer;
}

TEST(HandlerJobTest, ItsNameHasTwoParts) {
  for (const char* good : {"a/b", "billing/close_day", "0-9_/x.y-z"}) {
    EXPECT_EQ(PointerOf(Handler(good)), "") << good;
  }
  for (const char* wrong :
       {"", "a", "/b", "a/", "A/b", "a/B", "a.b/c", "a/b/c", "a /b", "-a/b", "a/.b"}) {
    EXPECT_EQ(PointerOf(Handler(wrong)), "/handler") << wrong;
  }
  EXPECT_EQ(PointerOf(Handler("a/" + std::string(64, 'b'))), "/handler");
}

TEST(HandlerJobTest, FieldsOfOtherTypesAreRefused) {
  JobDefinition job = Handler();
  job.command = "true";
  EXPECT_EQ(PointerOf(job), "/command");
  job = {.name = "x", .command = "true", .handler = "a/b"};
  EXPECT_EQ(PointerOf(job), "/handler");
}

TEST(HandlerJobTest, ItIsCooperativeAndNeedsNoProcess) {
  EXPECT_TRUE(IsCooperative(JobType::kHandler));
  EXPECT_FALSE(IsCooperative(JobType::kShell));
  EXPECT_FALSE(StartsProcess(JobType::kHandler));
}

TEST(HandlerJobTest, OnlyALostFunctionThatIsRetriedIsPresumedDead) {
  JobDefinition job = Handler();
  for (const int64_t seconds : {0, 1, 86'400}) {
    job.presume_dead_s = seconds;
    EXPECT_EQ(PointerOf(job), "") << seconds;
  }
  for (const int64_t seconds : {-1, 86'401}) {
    job.presume_dead_s = seconds;
    EXPECT_EQ(PointerOf(job), "/presume_dead_s") << seconds;
  }
  for (const OnLost other : {OnLost::kFail, OnLost::kHold}) {
    job = Handler();
    job.on_lost = other;
    EXPECT_EQ(PointerOf(job), "");
    job.presume_dead_s = 60;
    EXPECT_EQ(PointerOf(job), "/presume_dead_s");
  }
  EXPECT_EQ(PointerOf({.name = "x", .command = "true", .presume_dead_s = 60}), "/presume_dead_s");
}

TEST(HandlerJobTest, AFunctionGetsTheVariablesOfTheJobOnly) {
  JobDefinition job = Handler();
  job.env = {{"DAY", "{{params.day}}"}, {"TOKEN", "{{secrets.token}}"}};
  job.parameters = {{"day", std::string("monday")}};
  const auto rendered = RenderAttempt(job, {.job_id = JobId("j"), .parameters = job.parameters});
  ASSERT_TRUE(rendered.ok()) << rendered.error().message;
  EXPECT_EQ(rendered->env, (std::map<std::string, std::string>{{"DAY", "monday"}}));
  EXPECT_EQ(rendered->secret_env.size(), 1u);
  EXPECT_TRUE(NeedsOf(job).Has(Feature::kSecrets));
}

}  // namespace
}  // namespace carillon::handler_job_test
