#include "common/domain/results/result_detail.h"

#include <gtest/gtest.h>

#include "common/domain/job/retry.h"
#include "common/domain/run/retry_conditions.h"

namespace carillon::result_detail_test {
namespace {

AttemptResult Read(std::string_view text) {
  AttemptResult result;
  ReadDetail(text, result);
  return result;
}

TEST(ResultDetailTest, SurvivesTheText) {
  AttemptResult result;
  EXPECT_EQ(DetailToText(result), "");
  result.usage = ResourceUsage{.cpu_us = 1, .memory_bytes = 2, .read_bytes = 3, .written_bytes = 4};
  result.http_status = 503;
  result.retry_after = 30s;
  result.limits_not_enforced = {"memory_mb", "cpu"};
  EXPECT_EQ(DetailToText(result), "usage=1,2,3,4;http=503;retry=30;unlimited=memory_mb+cpu");
  EXPECT_EQ(Read(DetailToText(result)), result);
}

TEST(ResultDetailTest, HasWhatAFunctionAsksForItsRetry) {
  AttemptResult result;
  result.error_code = "Out.of_stock-1";
  result.no_retry = true;
  EXPECT_EQ(DetailToText(result), "code=Out.of_stock-1;no_retry=1");
  EXPECT_EQ(Read(DetailToText(result)), result);
  EXPECT_EQ(Read("code=a b;no_retry=2"), AttemptResult{});
}

TEST(ResultDetailTest, IsNeverTooLongForItsColumn) {
  AttemptResult result;
  result.usage = ResourceUsage{INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
  result.http_status = 599;
  result.retry_after = kRetryAfterMax;
  result.error_code = std::string(kErrorCodeMax, 'x');
  result.no_retry = true;
  result.limits_not_enforced = {"memory_mb", "cpu", "pids"};
  EXPECT_LE(DetailToText(result).size(), 200u);
}

TEST(ResultDetailTest, WhatItDoesNotKnowIsSkipped) {
  const AttemptResult read = Read("later=a=b;;http=404;x;retry=99999;usage=1");
  EXPECT_EQ(read.http_status, 404);
  EXPECT_FALSE(read.retry_after) << "above the limit";
  EXPECT_FALSE(read.usage) << "not four numbers";
  EXPECT_FALSE(Read("http=99").http_status);
  EXPECT_FALSE(Read("http=2000").http_status);
  EXPECT_FALSE(Read("http=").http_status);
  EXPECT_EQ(Read("unlimited=later+pids").limits_not_enforced, std::vector<std::string>{"pids"});
}

}  // namespace
}  // namespace carillon::result_detail_test
