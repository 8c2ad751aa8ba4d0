#include "common/domain/job/share.h"

#include <gtest/gtest.h>

#include "common/domain/job/job.h"

namespace carillon {
namespace {

std::string PointerOf(const std::vector<Share>& shares) {
  const Status valid = ValidateShares(shares);
  return valid.ok() ? "fine" : valid.error().pointer;
}

TEST(NamespaceTest, IsPlainAndBounded) {
  for (const char* good : {"default", "a", "0", "a-b", "a--b", "team-1"}) {
    EXPECT_TRUE(IsNamespace(good)) << good;
  }
  EXPECT_TRUE(IsNamespace(std::string(63, 'a')));
  EXPECT_FALSE(IsNamespace(std::string(64, 'a')));
  for (const char* bad : {"", "-", "-a", "a-", "A", "a b", "a_b", "a.b", "ä", "*"}) {
    EXPECT_FALSE(IsNamespace(bad)) << bad;
  }
  JobDefinition job{.name = "n", .type = JobType::kNoop};
  EXPECT_TRUE(ValidateJob(job).ok());
  EXPECT_EQ(job.name_space, "default");
  job.name_space = "No";
  EXPECT_EQ(ValidateJob(job).error().pointer, "/namespace");
}

TEST(ShareTest, SaysWhichOneIsWrong) {
  EXPECT_EQ(PointerOf({}), "fine");
  EXPECT_EQ(PointerOf({{"payroll"}, {"default", "team = etl"}, {"*", "team = etl"}}), "fine");
  EXPECT_EQ(PointerOf({{"payroll"}, {"Bad"}}), "/shares/1/namespace");
  EXPECT_EQ(PointerOf({{""}}), "/shares/0/namespace");
  EXPECT_EQ(PointerOf({{"*"}}), "/shares/0/selector");
  EXPECT_EQ(PointerOf({{"*", " "}}), "/shares/0/selector");
  EXPECT_EQ(PointerOf({{"a", "team ="}}), "/shares/0/selector");
  EXPECT_EQ(PointerOf({{"a", std::string(Selector::kBytesMax + 1, 'x')}}), "/shares/0/selector");
  EXPECT_EQ(PointerOf(std::vector<Share>(kSharesMax, {"a"})), "fine");
  EXPECT_EQ(PointerOf(std::vector<Share>(kSharesMax + 1, {"a"})), "/shares");
}

TEST(SharedJobsTest, ByNamespaceAndByLabels) {
  const Labels etl = {{"team", "etl"}};
  const Labels web = {{"team", "web"}};
  const SharedJobs shared(std::vector<Share>{{"payroll"}, {"default", "team = etl"}});
  EXPECT_TRUE(shared.Cover("payroll", &web));
  EXPECT_TRUE(shared.Cover("payroll", nullptr));
  EXPECT_TRUE(shared.Cover("default", &etl));
  EXPECT_FALSE(shared.Cover("default", &web));
  EXPECT_FALSE(shared.Cover("default", nullptr));
  EXPECT_FALSE(shared.Cover("other", &etl));
  EXPECT_TRUE(shared.CoverSomeOf("default"));
  EXPECT_FALSE(shared.CoverSomeOf("other"));
  const SharedJobs everywhere(std::vector<Share>{{"*", "team = etl"}});
  EXPECT_TRUE(everywhere.Cover("other", &etl));
  EXPECT_FALSE(everywhere.Cover("other", &web));
  EXPECT_TRUE(everywhere.CoverSomeOf("other"));
}

TEST(SharedJobsTest, NothingIsSharedByNoneNorByOneThatCannotBeRead) {
  const Labels labels = {{"team", "etl"}};
  EXPECT_FALSE(SharedJobs().Cover("default", &labels));
  EXPECT_FALSE(SharedJobs(std::vector<Share>{{"default", "team ="}}).Cover("default", &labels));
}

}  // namespace
}  // namespace carillon
