#include "common/domain/run/retry_conditions.h"

#include <gtest/gtest.h>

#include "common/domain/job/job.h"
#include "common/domain/job/job_types.h"

namespace carillon::test {
namespace {

RetryConditions Conditions(const std::vector<std::string>& retry_on,
                           const std::vector<std::string>& no_retry_on = {}) {
  return {.retry_on = ReadRetryConditions(retry_on),
          .no_retry_on = ReadRetryConditions(no_retry_on)};
}

AttemptResult Exit(int code) {
  return {.state = RunState::kFailed, .reason = std::string(reason::kExitCode), .exit_code = code};
}
const AttemptResult kKilled{.state = RunState::kFailed, .reason = std::string(reason::kSignal)};
const AttemptResult kUnstarted{.state = RunState::kFailed, .reason = std::string(reason::kSpawn)};
const AttemptResult kTooSlow{.state = RunState::kTimedOut, .reason = std::string(reason::kTimeout)};

TEST(RetryConditionsTest, WithoutConditionsEveryFailureIsRetried) {
  for (const AttemptResult& failed : {Exit(1), kKilled, kUnstarted, kTooSlow}) {
    EXPECT_TRUE(Conditions({}).Allow(failed)) << failed.reason;
  }
}

TEST(RetryConditionsTest, OnlyTheListedFailuresAreRetried) {
  const RetryConditions conditions = Conditions({"exit:75", "exit:100-110", "timeout"});
  for (const int code : {75, 100, 105, 110}) EXPECT_TRUE(conditions.Allow(Exit(code))) << code;
  for (const int code : {1, 74, 76, 99, 111}) EXPECT_FALSE(conditions.Allow(Exit(code))) << code;
  EXPECT_TRUE(conditions.Allow(kTooSlow));
  EXPECT_FALSE(conditions.Allow(kKilled));
  EXPECT_FALSE(conditions.Allow(kUnstarted));
  EXPECT_TRUE(Conditions({"signal"}).Allow(kKilled));
  EXPECT_TRUE(Conditions({"spawn"}).Allow(kUnstarted));
}

TEST(RetryConditionsTest, SignalBehindAShellIsASignal) {
  const RetryConditions conditions = Conditions({"signal"});
  for (const int code : {129, 137, 139, 143, 192})
    EXPECT_TRUE(conditions.Allow(Exit(code))) << code;
  for (const int code : {1, 127, 128, 193, 255}) EXPECT_FALSE(conditions.Allow(Exit(code))) << code;
  EXPECT_FALSE(Conditions({}, {"signal"}).Allow(Exit(137)));
  EXPECT_FALSE(Conditions({"signal"}, {"exit:143"}).Allow(Exit(143)));
  AttemptResult bad_outputs = Exit(137);
  bad_outputs.reason = std::string(reason::kBadOutputs);
  EXPECT_FALSE(conditions.Allow(bad_outputs));
}

TEST(RetryConditionsTest, ExclusionsGoFirst) {
  const RetryConditions conditions = Conditions({"exit:1-9"}, {"exit:2", "signal"});
  EXPECT_TRUE(conditions.Allow(Exit(1)));
  EXPECT_FALSE(conditions.Allow(Exit(2)));
  EXPECT_FALSE(Conditions({}, {"signal"}).Allow(kKilled));
  EXPECT_TRUE(Conditions({}, {"signal"}).Allow(Exit(2)));
}

AttemptResult FunctionFailed(const std::string& code) {
  return {
      .state = RunState::kFailed, .reason = std::string(reason::kHandlerError), .error_code = code};
}

TEST(RetryConditionsTest, ErrorsOfFunctionsAreNamedByTheirCode) {
  EXPECT_TRUE(Conditions({"error:TimeoutError"}).Allow(FunctionFailed("TimeoutError")));
  EXPECT_FALSE(Conditions({"error:TimeoutError"}).Allow(FunctionFailed("timeouterror")));
  EXPECT_FALSE(Conditions({"error:TimeoutError"}).Allow(FunctionFailed("")))
      << "an SDK without codes";
  EXPECT_FALSE(Conditions({"timeout"}).Allow(FunctionFailed("TimeoutError")));
  EXPECT_FALSE(Conditions({}, {"error:no.stock-1"}).Allow(FunctionFailed("no.stock-1")));
  EXPECT_TRUE(Conditions({}, {"error:no.stock-1"}).Allow(FunctionFailed("other")));
  EXPECT_TRUE(RetryConditions::Names(FunctionFailed("")));
}

TEST(RetryConditionsTest, AFunctionCanRefuseItsRetry) {
  AttemptResult refused = FunctionFailed("NoRetry");
  refused.no_retry = true;
  EXPECT_FALSE(Conditions({}).Allow(refused));
  EXPECT_FALSE(Conditions({"error:NoRetry"}).Allow(refused));
}

TEST(RetryConditionsTest, TooMuchMemoryHasAName) {
  const AttemptResult oom{.state = RunState::kFailed, .reason = std::string(reason::kOom)};
  EXPECT_TRUE(Conditions({"oom"}).Allow(oom));
  EXPECT_FALSE(Conditions({"signal"}).Allow(oom));
  EXPECT_FALSE(Conditions({}, {"oom"}).Allow(oom));
  EXPECT_TRUE(RetryConditions::Names(oom));
}

TEST(RetryConditionsTest, WhatTheReleaseBeforeDoesNotKnow) {
  EXPECT_TRUE(HasNewCondition({"exit:1", "oom"}));
  EXPECT_TRUE(HasNewCondition({"error:X"}));
  EXPECT_FALSE(HasNewCondition({"exit:1", "timeout", "http:error"}));
  JobDefinition job{.name = "a", .command = "true", .retry_on = {"oom"}};
  EXPECT_FALSE(NeedsOf(job).Has(Feature::kErrorCodes));
  job.no_retry_on = {"error:X"};
  EXPECT_TRUE(NeedsOf(job).Has(Feature::kErrorCodes));
}

TEST(RetryConditionsTest, OtherTextsAreRefused) {
  for (const char* text :
       {"",           "exit",      "exit:",   "exit:0",           "exit:256", "exit:9-1",
        "exit:075",   "exit:1-09", "exit:1-", "exit:-1",          "exit: 1",  "exit:1x",
        "exit:1-2-3", "Signal",    "lost",    "exit:99999999999", "error:",   "error:a b",
        "error:a,b",  "error:a;b", "oom:"}) {
    EXPECT_FALSE(ParseRetryCondition(text).ok()) << text;
  }
}

TEST(RetryConditionsTest, MistakesOfAJobNameTheirPlace) {
  JobDefinition job{.name = "a", .command = "true"};
  job.retry_on = {"exit:1", "soon"};
  EXPECT_EQ(ValidateJob(job).error().pointer, "/retry_on/1");
  job.retry_on = {};
  job.no_retry_on = std::vector<std::string>(kRetryConditionsMax + 1, "signal");
  EXPECT_EQ(ValidateJob(job).error().pointer, "/no_retry_on");
  job.no_retry_on.pop_back();
  EXPECT_TRUE(ValidateJob(job).ok());
  EXPECT_FALSE(ParseRetryCondition("error:" + std::string(kErrorCodeMax + 1, 'x')).ok());
  // As many names as the column of the database holds beside the longest other list.
  job.no_retry_on = std::vector<std::string>(9, "error:" + std::string(kErrorCodeMax - 1, 'x'));
  EXPECT_TRUE(ValidateJob(job).ok());
  job.no_retry_on.emplace_back("signal");
  EXPECT_EQ(ValidateJob(job).error().pointer, "/no_retry_on");
  job.no_retry_on = std::vector<std::string>(kRetryConditionsMax, "exit:100-110");
  EXPECT_TRUE(ValidateJob(job).ok());
}

}  // namespace
}  // namespace carillon::test
