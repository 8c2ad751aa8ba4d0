#include "common/domain/run/result_detail.h"

#include <gtest/gtest.h>

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
