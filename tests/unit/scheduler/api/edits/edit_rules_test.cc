#include "scheduler/api/edits/edit_rules.h"

#include <gtest/gtest.h>

namespace carillon::scheduler {
namespace {

class EditRulesTest : public testing::Test {
 protected:
  EditRulesTest() {
    facts_.calendars = std::make_shared<const CalendarSet>();
    wanted_.user_id = "anna";
    wanted_.name_space = "default";
  }

  std::string Code(bool owns_all = false, const JobBase* before = nullptr) const {
    const auto decided =
        DecideEdit({.caller = anna_, .owns_all = owns_all}, before, wanted_, facts_);
    return decided.ok() ? "" : decided.error().code;
  }

  JobBase OfBert() const {
    JobBase base;
    base.job.definition = wanted_;
    base.job.definition.user_id = "bert";
    base.job.definition.name_space = "payroll";
    return base;
  }

  Caller anna_{.kind = CallerKind::kUser, .name = "anna", .user_id = "anna"};
  JobDefinition wanted_;
  EditFacts facts_;
};

TEST_F(EditRulesTest, JobThatNamesNothingIsAccepted) { EXPECT_EQ(Code(), ""); }

TEST_F(EditRulesTest, RightsAreJudgedBeforeFacts) {
  facts_.group_exists = false;
  wanted_.user_id = "bert";
  EXPECT_EQ(Code(), "not_owner");
  EXPECT_EQ(Code(true), "unknown_group");
}

TEST_F(EditRulesTest, SecretMustExistAndBeTheOwnersOrShared) {
  wanted_.env["TOKEN"] = "{{secrets.db}}";
  EXPECT_EQ(Code(), "unknown_secret");
  facts_.secrets = {{.record = {.name = "db", .user_id = "bert"}, .value = {}}};
  EXPECT_EQ(Code(true), "secret_forbidden");
  facts_.secrets[0].record.shared = true;
  EXPECT_EQ(Code(), "");
}

TEST_F(EditRulesTest, CallerWithAShareKeepsSecretsButAddsNone) {
  anna_.shared = SharedJobs({{.name_space = "payroll"}});
  wanted_.env["TOKEN"] = "{{secrets.db}}";
  facts_.secrets = {{.record = {.name = "db", .user_id = "bert"}, .value = {}}};
  JobBase before = OfBert();
  wanted_.user_id = "bert";
  wanted_.name_space = "payroll";
  EXPECT_EQ(Code(false, &before), "");
  before.job.definition.env.clear();
  EXPECT_EQ(Code(false, &before), "secret_forbidden");
}

TEST_F(EditRulesTest, OnlyAnAdministratorSetsOrKeepsRunAs) {
  wanted_.run_as = "backup";
  EXPECT_EQ(Code(), "run_as_forbidden");
  EXPECT_EQ(Code(true), "");
  const JobBase before{.job = {.definition = wanted_}};
  wanted_.run_as.clear();
  EXPECT_EQ(Code(false, &before), "run_as_forbidden");
}

TEST_F(EditRulesTest, UpstreamJobMustExist) {
  wanted_.schedules = {{.kind = ScheduleKind::kAfter, .upstream = "load"}};
  facts_.missing_upstream = 0;
  EXPECT_EQ(Code(), "unknown_job");
}

TEST_F(EditRulesTest, NamespaceMustHaveRoomForTriggers) {
  wanted_.schedules = {{.kind = ScheduleKind::kCron}, {.kind = ScheduleKind::kEvent}};
  facts_.without_room = 1;
  const auto decided = DecideEdit({.caller = anna_}, nullptr, wanted_, facts_);
  ASSERT_FALSE(decided.ok());
  EXPECT_EQ(decided.error().code, "too_many_triggers");
  EXPECT_EQ(decided.error().errors.at(0).pointer, "/schedules/1");
  wanted_.user_id = "bert";
  EXPECT_EQ(Code(), "not_owner");
}

TEST_F(EditRulesTest, CalendarMustExist) {
  wanted_.schedules = {{.kind = ScheduleKind::kCron, .calendar = "holidays"}};
  const auto decided = DecideEdit({.caller = anna_}, nullptr, wanted_, facts_);
  ASSERT_FALSE(decided.ok());
  EXPECT_EQ(decided.error().errors.at(0).pointer, "/schedules/0/calendar");
}

}  // namespace
}  // namespace carillon::scheduler
