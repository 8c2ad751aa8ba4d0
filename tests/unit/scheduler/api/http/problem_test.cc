#include "scheduler/api/http/problem.h"

#include <gtest/gtest.h>

namespace carillon::scheduler {
namespace {

// The request and its object are right, and the request may be repeated.
TEST(ProblemTest, BrokenStoreIsUnavailableAndKeepsItsDetailsToItself) {
  const Problem problem = ToProblem({ErrorCode::kBrokenStore, "Table 'job_runs' doesn't exist"});
  EXPECT_EQ(problem.status, 503);
  EXPECT_EQ(problem.code, "unavailable");
  EXPECT_EQ(problem.detail.find("job_runs"), std::string::npos);
  EXPECT_NE(problem.log_detail.find("job_runs"), std::string::npos);
  ASSERT_EQ(problem.headers.size(), 1u);
  EXPECT_EQ(problem.headers[0].first, "Retry-After");
}

TEST(ProblemTest, TheDetailNamesTheField) {
  const Problem problem = InvalidField("/mode", "unknown_value", "Must be graceful or kill.");
  EXPECT_EQ(problem.detail, "mode must be graceful or kill.");
  EXPECT_EQ(problem.errors.at(0).detail, "Must be graceful or kill.");
  EXPECT_EQ(InvalidField("?sort", "x", "Must be name.").detail, "sort must be name.");
  EXPECT_EQ(InvalidField("/name", "x", "Already used.").detail, "Already used.");
  EXPECT_EQ(InvalidField("", "x", "Must be an object.").detail, "Must be an object.");
}

}  // namespace
}  // namespace carillon::scheduler
