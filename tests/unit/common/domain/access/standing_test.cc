#include "common/domain/access/standing.h"

#include <gtest/gtest.h>

#include "common/domain/run/run.h"

namespace carillon {
namespace {

JobDefinition Job(const std::string& owner) {
  JobDefinition job;
  job.user_id = owner;
  job.name_space = "payroll";
  job.labels = {{"team", "etl"}};
  return job;
}

Backer Account(AccountRights rights) {
  rights.name = "bert";
  return {.user_id = "user-bert", .account = std::move(rights)};
}

TEST(StandingTest, OwnJobsNeedNoAccount) {
  EXPECT_TRUE(MayRun({.user_id = "user-bert"}, Job("user-bert")));
  EXPECT_TRUE(MayRun(Account({.role = "read_only", .disabled = true}), Job("user-bert")));
}

TEST(StandingTest, AnAccountIsJudgedByItsRightsNow) {
  const JobDefinition job = Job("user-anna");
  EXPECT_TRUE(MayRun(Account({.role = "admin"}), job));
  EXPECT_FALSE(MayRun(Account({.role = "user"}), job));
  EXPECT_FALSE(MayRun(Account({.role = "read_only"}), job));
  EXPECT_FALSE(MayRun(Account({.role = "of a later version"}), job));
  const SharedJobs whole(std::vector<Share>{{"payroll"}});
  const SharedJobs team(std::vector<Share>{{"payroll", "team = etl"}});
  const SharedJobs other(std::vector<Share>{{"payroll", "team = web"}, {"default"}});
  EXPECT_TRUE(MayRun(Account({.role = "user", .shared = whole}), job));
  EXPECT_TRUE(MayRun(Account({.role = "user", .shared = team}), job));
  EXPECT_FALSE(MayRun(Account({.role = "user", .shared = other}), job));
  EXPECT_FALSE(MayRun(Account({.role = "read_only", .shared = whole}), job));
  EXPECT_FALSE(MayRun(Account({.role = "user", .disabled = true, .shared = whole}), job));
  EXPECT_FALSE(MayRun(Account({.role = "admin", .disabled = true}), job));
}

TEST(StandingTest, WhoIsNoAccountWasNamedByAnAdministrator) {
  EXPECT_TRUE(MayRun({.user_id = "ops"}, Job("user-anna")));
  EXPECT_FALSE(MayRun({.user_id = "user-gone"}, Job("user-anna"))) << "a deleted account";
}

TEST(StandingTest, TheSentenceNamesThePersonAndTheirPart) {
  Backer bert = Account({.role = "user"});
  EXPECT_EQ(MayNotRunSentence(bert),
            "bert, who gave the workflow its parameters, may not run the job of this node now.");
  bert.part = Backer::Part::kGaveRun;
  EXPECT_EQ(MayNotRunSentence(bert),
            "bert, who gave the run its parameters, may not run the job now.");
  bert.part = Backer::Part::kOwnsWorkflow;
  bert.account.reset();
  EXPECT_EQ(MayNotRunSentence(bert),
            "user-bert, who owns the workflow, may not run the job of this node now.");
}

TEST(StandingTest, TheFirstWhoMayNotRunTheJobIsNamed) {
  const JobDefinition job = Job("user-anna");
  Backer bert = Account({.role = "user"});
  EXPECT_EQ(RefusalOf({}, job), "");
  EXPECT_EQ(RefusalOf({{.user_id = "user-anna"}, Account({.role = "admin"})}, job), "");
  EXPECT_EQ(RefusalOf({{.user_id = "user-anna"}, bert, {.user_id = "user-gone"}}, job),
            MayNotRunSentence(bert));
}

TEST(StandingTest, OnlyOthersThanTheOwnerAreAskedAtTheClaim) {
  EXPECT_EQ(BehalfFlag({}, "user-anna"), 0u);
  EXPECT_EQ(BehalfFlag({{.user_id = "user-anna"}}, "user-anna"), 0u);
  EXPECT_EQ(BehalfFlag({{.user_id = "user-anna"}, {.user_id = "user-bert"}}, "user-anna"),
            run_flag::kOnBehalf);
  EXPECT_EQ(BehalfFlag({{.user_id = "user-anna"}}, ""), run_flag::kOnBehalf);
}

}  // namespace
}  // namespace carillon
