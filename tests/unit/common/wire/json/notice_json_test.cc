#include "common/wire/json/notice_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace carillon {
namespace {

using nlohmann::json;

constexpr WallTime kNoticeFire = FromUnixMicros(1'772'323'200'000'000);

OpenNotice FailedNotice() {
  OpenNotice open{.notice = {.id = 42,
                             .kind = NoticeKind::kFailed,
                             .job_no = JobNo(7),
                             .key = {kNoticeFire, ScheduleId(3), 0},
                             .attempt = 2,
                             .reason = "exit_code",
                             .created = kNoticeFire + 5s},
                  .job_id = JobId("nightly"),
                  .job_name = "Nightly \"report\"\r\nX: y"};
  open.memory.held_back = 4;
  RunDetail run;
  run.row.executor = ExecutorId("e1");
  run.result = {.state = RunState::kFailed,
                .error = "the secret",
                .exit_code = 3,
                .started = kNoticeFire + 1s,
                .ended = kNoticeFire + 4s,
                .output = "swordfish"};
  run.parameters_json = R"({"p": "plugh"})";
  open.run = run;
  return open;
}

TEST(NoticeJsonTest, TellsWhatARunIsAboutAndNothingItHolds) {
  const std::string text = NoticeToText(FailedNotice(), "http://h/runs/x");
  EXPECT_EQ(json::parse(text), (json{{"type", "run.failed"},
                                     {"timestamp", "2026-03-01T00:00:05.000000Z"},
                                     {"data",
                                      {{"job_id", "nightly"},
                                       {"job_name", "Nightly \"report\"\r\nX: y"},
                                       {"run_id", EncodeRunId({kNoticeFire, ScheduleId(3), 0})},
                                       {"fire_time", "2026-03-01T00:00:00.000000Z"},
                                       {"state", "FAILED"},
                                       {"reason", "exit_code"},
                                       {"attempts", 2},
                                       {"executor_id", "e1"},
                                       {"exit_code", 3},
                                       {"start_time", "2026-03-01T00:00:01.000000Z"},
                                       {"end_time", "2026-03-01T00:00:04.000000Z"},
                                       {"held_back", 4},
                                       {"link", "http://h/runs/x"}}}}));
}

TEST(NoticeJsonTest, AnApprovalSaysWhatIsAskedAndUntilWhen) {
  OpenNotice open = FailedNotice();
  open.notice.kind = NoticeKind::kApproval;
  open.notice.state = RunState::kPending;
  open.run->row.executor = {};
  open.run->result = {.started = kNoticeFire + 1s};
  open.run->node = NodeOrigin{.workflow_run = {kNoticeFire, ScheduleId(3)}, .node = "gate"};
  open.run->until = kNoticeFire + 1h;
  open.run->parameters_json = R"({"message":"12 rows; publish?","$untrusted":["message"]})";
  const json told = json::parse(NoticeToText(open, "http://h/runs/x"));
  EXPECT_EQ(told["type"], "run.approval");
  const json& data = told["data"];
  EXPECT_EQ(data["node"], "gate");
  EXPECT_EQ(data["workflow_run_id"], EncodeRunId({kNoticeFire, ScheduleId(3)}));
  EXPECT_EQ(data["message"], "12 rows; publish?");
  EXPECT_EQ(data["expires_at"], "2026-03-01T01:00:00.000000Z");
  EXPECT_EQ(data["state"], "PENDING");
  open.run->until = WallTime{};
  open.run->parameters_json = "no JSON";
  const json unknown = json::parse(NoticeToText(open, ""))["data"];
  EXPECT_EQ(unknown["message"], "");
  EXPECT_EQ(unknown["expires_at"], nullptr);
  EXPECT_FALSE(json::parse(NoticeToText(FailedNotice(), ""))["data"].contains("message"));
}

TEST(NoticeJsonTest, ATryThatWasSkippedIsNotCounted) {
  OpenNotice open = FailedNotice();
  open.notice.state = RunState::kSkipped;
  EXPECT_EQ(json::parse(NoticeToText(open, ""))["data"]["attempts"], 1);
}

TEST(NoticeJsonTest, MissedFiresAreAGap) {
  OpenNotice open{.notice = {.kind = NoticeKind::kMissed,
                             .key = {kNoticeFire, ScheduleId(3), 0},
                             .reason = "misfire",
                             .fires = 9,
                             .until = kNoticeFire + 8min},
                  .job_id = JobId("j"),
                  .job_name = "J"};
  const json body = json::parse(NoticeToText(open, ""));
  EXPECT_EQ(body["type"], "schedule.missed");
  EXPECT_EQ(body["data"]["count"], 9);
  EXPECT_EQ(body["data"]["from"], "2026-03-01T00:00:00.000000Z");
  EXPECT_EQ(body["data"]["to"], "2026-03-01T00:08:00.000000Z");
  EXPECT_TRUE(body["data"]["link"].is_null());
  EXPECT_FALSE(body["data"].contains("run_id"));
}

}  // namespace
}  // namespace carillon
