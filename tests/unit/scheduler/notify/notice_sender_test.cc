#include "scheduler/notify/notice_sender.h"

#include <gtest/gtest.h>

#include "tests/support/manual_clock.h"
#include "tests/unit/scheduler/notify/notice_doubles.h"

namespace carillon::scheduler {
namespace {

struct NoSecretsOfSender : NotifySecrets {
  Result<std::string> WebhookSecrets() const override { return std::string(); }
  Result<std::string> MailPassword() const override { return std::string(); }
};

TEST(NoticeSenderTest, AnApprovalLinksToTheRunOfItsWorkflow) {
  const test::ManualClock clock;
  FakeTransport transport;
  const NoSecretsOfSender secrets;
  const NoticeSender sender(clock, transport, secrets, {.webhook_url = "http://127.0.0.1:1/hook"});
  const RunKey own{clock.Wall(), ScheduleId(3)};
  OpenNotice open{.notice = {.kind = NoticeKind::kApproval, .key = {own.fire, ScheduleId(9), 0}},
                  .job_id = JobId("nightly")};
  open.run.emplace().node = NodeOrigin{.workflow_run = own, .node = "gate"};
  const auto sent = sender.Compose(open, "http://here", clock.Wall());
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_NE(sent[0].message.find("\"http://here/runs/" + EncodeRunId(own) + "\""),
            std::string::npos)
      << sent[0].message;
}

}  // namespace
}  // namespace carillon::scheduler
