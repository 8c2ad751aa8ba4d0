#include "common/domain/run/retry_conditions.h"

#include <gtest/gtest.h>

#include "common/domain/job/job.h"

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

TEST(RetryConditionsTest, OtherTextsAreRefused) {
  for (const char* text :
       {"", "exit", "exit:", "exit:0", "exit:256", "exit:9-1", "exit:075", "exit:1-09", "exit:1-",
        "exit:-1", "exit: 1", "exit:1x", "exit:1-2-3", "Signal", "lost", "exit:99999999999"}) {
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
}

}  // namespace
}  // namespace carillon::test
