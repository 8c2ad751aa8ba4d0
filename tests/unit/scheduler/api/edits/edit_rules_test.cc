#include "scheduler/api/edits/edit_rules.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

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
  wanted_.concurrency_group = "db";
  facts_.unknown_groups = {"db"};
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

// Puts the job into a node of a workflow that is otherwise the same.
JobDefinition AsTask(JobDefinition job, const JobDefinition& outer) {
  JobDefinition workflow = outer;
  workflow.type = JobType::kWorkflow;
  workflow.workflow.emplace().nodes = {{.id = "first", .job = JobId("load")}};
  job.user_id.clear();
  job.name_space = JobDefinition{}.name_space;
  workflow.workflow->nodes.push_back({.id = "second", .task = TaskBox(std::move(job))});
  return workflow;
}

// Each check of fields that a task can have, as it is asked of a job and of a task.
TEST_F(EditRulesTest, AskOfATaskWhatTheyAskOfAJob) {
  struct Case {
    const char* code;
    const char* pointer;
    void (*set)(JobDefinition&);
  };
  const Case cases[] = {
      {"unknown_secret", "/env/TOKEN",
       [](JobDefinition& job) { job.env["TOKEN"] = "{{secrets.none}}"; }},
      {"secret_forbidden", "/env/TOKEN",
       [](JobDefinition& job) { job.env["TOKEN"] = "{{secrets.berts}}"; }},
      {"unknown_group", "/concurrency_group",
       [](JobDefinition& job) { job.concurrency_group = "db"; }},
      {"run_as_forbidden", "/run_as", [](JobDefinition& job) { job.run_as = "backup"; }}};
  facts_.secrets = {{.record = {.name = "berts", .user_id = "bert"}, .value = {}}};
  facts_.unknown_groups = {"db"};
  const JobDefinition plain = wanted_;
  for (const Case& one : cases) {
    JobDefinition job = plain;
    one.set(job);
    for (const bool in_task : {false, true}) {
      wanted_ = in_task ? AsTask(job, plain) : job;
      const auto decided = DecideEdit({.caller = anna_}, nullptr, wanted_, facts_);
      ASSERT_FALSE(decided.ok()) << one.code << in_task;
      EXPECT_EQ(decided.error().code, one.code);
      EXPECT_EQ(decided.error().errors.at(0).pointer,
                (in_task ? "/workflow/nodes/1/task" : "") + std::string(one.pointer));
    }
  }
}

TEST_F(EditRulesTest, CallerWithAShareKeepsSecretsOfTasksButMovesNoneIntoOne) {
  anna_.shared = SharedJobs({{.name_space = "payroll"}});
  facts_.secrets = {{.record = {.name = "db", .user_id = "bert"}, .value = {}}};
  JobBase before = OfBert();
  const JobDefinition with{.env = {{"TOKEN", "{{secrets.db}}"}}};
  JobDefinition outer = before.job.definition;
  wanted_ = AsTask(with, outer);
  before.job.definition = wanted_;
  EXPECT_EQ(Code(false, &before), "");
  before.job.definition = AsTask(JobDefinition{}, outer);
  EXPECT_EQ(Code(false, &before), "secret_forbidden");
}

TEST_F(EditRulesTest, OnlyAnAdministratorTakesRunAsOutOfATask) {
  const JobBase before{.job = {.definition = AsTask({.run_as = "backup"}, wanted_)}};
  wanted_ = AsTask({}, wanted_);
  EXPECT_EQ(Code(false, &before), "run_as_forbidden");
  EXPECT_EQ(Code(true, &before), "");
}

TEST_F(EditRulesTest, GroupOfANodeMustExist) {
  facts_.unknown_groups = {"db"};
  wanted_ = AsTask({}, wanted_);
  wanted_.workflow->nodes[0].rules.concurrency_group = "db";
  const auto decided = DecideEdit({.caller = anna_}, nullptr, wanted_, facts_);
  ASSERT_FALSE(decided.ok());
  EXPECT_EQ(decided.error().errors.at(0).pointer, "/workflow/nodes/0/concurrency_group");
  wanted_.workflow->nodes[0].rules.concurrency_group = "";
  EXPECT_EQ(Code(), "");
}

TEST_F(EditRulesTest, UsersOfAnApprovalMustExist) {
  wanted_.type = JobType::kWorkflow;
  wanted_.workflow.emplace().nodes = {{.id = "gate", .approval = Approval{.by = {"u-1", "anna"}}}};
  facts_.unknown_users = {"anna"};
  const auto decided = DecideEdit({.caller = anna_}, nullptr, wanted_, facts_);
  ASSERT_FALSE(decided.ok());
  EXPECT_EQ(decided.error().code, "unknown_user");
  ASSERT_EQ(decided.error().errors.size(), 1u);
  EXPECT_EQ(decided.error().errors[0].pointer, "/workflow/nodes/0/approval/by/1");
  EXPECT_NE(decided.error().detail.find("carillon user list"), std::string::npos);
}

}  // namespace
}  // namespace carillon::scheduler
