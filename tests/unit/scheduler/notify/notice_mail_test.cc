#include "scheduler/notify/notice_mail.h"
#include "common/wire/base64.h"

#include <gtest/gtest.h>

namespace carillon::scheduler {
namespace {

constexpr WallTime kT0 = FromUnixMicros(1'772'323'200'000'000);

MailEnvelope Envelope() {
  return {.from = "carillon@example.org", .to = {"a@b", "c@d"}, .id = "ntc_42", .date = kT0 + 61s};
}

TEST(NoticeMailTest, IsAWholeMessage) {
  EXPECT_EQ(ComposeMail(Envelope(), "[Carillon] Failed: x", "Hello.\n"),
            "Date: Sun, 01 Mar 2026 00:01:01 +0000\r\n"
            "From: Carillon <carillon@example.org>\r\n"
            "To: a@b,\r\n c@d\r\n"
            "Subject: [Carillon] Failed: x\r\n"
            "Message-ID: <ntc_42@example.org>\r\n"
            "Auto-Submitted: auto-generated\r\n"
            "MIME-Version: 1.0\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            "Content-Transfer-Encoding: base64\r\n"
            "\r\n"
            "SGVsbG8uCg==\r\n");
}

TEST(NoticeMailTest, NoNameAddsAHeader) {
  const std::string mail = ComposeMail(Envelope(), "x\r\nBcc: evil@example.org", "y\r\n.\r\nz");
  EXPECT_EQ(mail.find("Bcc"), std::string::npos);
  EXPECT_EQ(mail.find("\r\n.\r\n"), std::string::npos);
  EXPECT_NE(mail.find("Subject: =?UTF-8?B?eA0KQmNjOiBldmlsQGV4YW1wbGUub3Jn?=\r\n"),
            std::string::npos);
}

TEST(NoticeMailTest, HeadersAreEncodedCharacterByCharacter) {
  EXPECT_EQ(EncodeHeader("plain"), "plain");
  EXPECT_EQ(EncodeHeader("\xc3\xbc"), "=?UTF-8?B?w7w=?=");
  EXPECT_EQ(EncodeHeader("=?x?="), "=?UTF-8?B?PT94Pz0=?=");
  // 44 letters and a letter of two bytes, which must move to the next encoded word as a whole.
  const std::string text = std::string(44, 'a') + "\xc3\xbc";
  EXPECT_EQ(EncodeHeader(text),
            "=?UTF-8?B?" + Base64(std::string(44, 'a')) + "?=\r\n =?UTF-8?B?w7w=?=");
}

TEST(NoticeMailTest, LinesOfTheBodyAreShort) {
  const std::string mail = ComposeMail(Envelope(), "s", std::string(1000, 'x'));
  for (size_t from = 0; from < mail.size();) {
    const size_t end = mail.find("\r\n", from);
    ASSERT_NE(end, std::string::npos);
    EXPECT_LE(end - from, 78u);
    from = end + 2;
  }
}

TEST(NoticeMailTest, AnApprovalIsToldWithItsQuestion) {
  OpenNotice open{.notice = {.kind = NoticeKind::kApproval,
                             .key = {kT0, ScheduleId(9), 0},
                             .state = RunState::kPending},
                  .job_id = JobId("nightly"),
                  .job_name = "Nightly"};
  RunDetail run;
  run.node = NodeOrigin{.workflow_run = {kT0, ScheduleId(3)}, .node = "gate"};
  run.until = kT0 + 1h;
  run.parameters_json = R"({"message":"12 rows; publish?"})";
  open.run = run;
  EXPECT_EQ(SubjectOf(open), "[Carillon] Approval: Nightly");
  const std::string text = TextOf(open, "http://h/runs/x");
  EXPECT_EQ(text.substr(0, text.find('\n')), "A run of the workflow nightly waits for a decision.");
  for (const std::string& part :
       {std::string("Node        gate\n"),
        "Workflow    " + EncodeRunId({kT0, ScheduleId(3)}) + "\n",
        std::string("Expires     2026-03-01T01:00:00.000000Z\n"),
        std::string("\n12 rows; publish?\n"), std::string("\nhttp://h/runs/x\n")}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(NoticeMailTest, TheTextSaysWhatIsKnown) {
  OpenNotice open{.notice = {.kind = NoticeKind::kFailed,
                             .key = {kT0, ScheduleId(3), 0},
                             .attempt = 2,
                             .state = RunState::kTimedOut,
                             .reason = "timeout"},
                  .job_id = JobId("nightly"),
                  .job_name = "Nightly"};
  open.memory.held_back = 12;
  const std::string text = TextOf(open, "http://h/runs/x");
  for (const char* part :
       {"nightly ended as TIMED_OUT", "Fire time   2026-03-01T00:00:00", "Attempts    2",
        "Reason      timeout", "12 more notifications of this kind", "http://h/runs/x"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
  EXPECT_EQ(SubjectOf(open), "[Carillon] Failed: Nightly");
  open.notice.state = RunState::kSkipped;
  EXPECT_NE(TextOf(open, "").find("Attempts    1"), std::string::npos) << "one did not begin";
}

}  // namespace
}  // namespace carillon::scheduler
