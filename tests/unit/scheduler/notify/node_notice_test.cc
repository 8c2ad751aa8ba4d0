// Failures of nodes that are told for themselves, and those that are told with their workflow.
#include <gtest/gtest.h>

#include "common/domain/workflow/node_key.h"
#include "scheduler/notify/notifier.h"

namespace carillon::scheduler {
namespace {

OpenNotice NoticeOf(const RunKey& key, NoticeKind kind = NoticeKind::kFailed) {
  return {.notice = {.kind = kind, .key = key}};
}

TEST(NodeNoticeTest, FailuresOfNodesAreToldWithTheirWorkflow) {
  const RunKey node = NodeKey(WallTime{}, {.workflow_run_no = 7, .position = 2}).value();
  EXPECT_TRUE(IsToldWithItsWorkflow(NoticeOf(node)));
  EXPECT_FALSE(IsToldWithItsWorkflow(NoticeOf({.schedule_id = ScheduleId(7)})));
  EXPECT_FALSE(IsToldWithItsWorkflow(NoticeOf(node, NoticeKind::kLate)));
  EXPECT_FALSE(IsToldWithItsWorkflow(NoticeOf(node, NoticeKind::kApproval))) << "somebody must act";
}

TEST(NodeNoticeTest, SettingsOfTheNodesJobCount) {
  OpenNotice notice = NoticeOf(NodeKey(WallTime{}, {.workflow_run_no = 7}).value());
  notice.rules = {.late_after_s = 5};
  EXPECT_TRUE(IsToldWithItsWorkflow(notice));
  notice.rules = {.on = std::vector{NoticeKind::kFailed}};
  EXPECT_FALSE(IsToldWithItsWorkflow(notice));
  notice.rules = {.mail_to = {"a@b.example"}};
  EXPECT_FALSE(IsToldWithItsWorkflow(notice));
}

}  // namespace
}  // namespace carillon::scheduler
