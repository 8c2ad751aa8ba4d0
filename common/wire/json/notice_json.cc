#include "common/wire/json/notice_json.h"

#include <nlohmann/json.hpp>

#include "common/wire/json/job/given_parameters.h"
#include "common/wire/json/json_text.h"

namespace carillon {
namespace {

using nlohmann::json;

json TimeOrNothing(WallTime time) {
  return time == WallTime{} ? json(nullptr) : json(FormatRfc3339(time));
}

json TextOrNothing(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

void DescribeRun(const OpenNotice& open, json& data) {
  const Notice& notice = open.notice;
  data["run_id"] = EncodeRunId(notice.key);
  data["fire_time"] = FormatRfc3339(notice.key.fire);
  data["state"] = Name(notice.state);
  data["reason"] = TextOrNothing(notice.reason);
  data["attempts"] = TriesOf(notice);
  if (!open.run) return;
  const AttemptResult& result = open.run->result;
  data["executor_id"] = TextOrNothing(open.run->row.executor.value());
  data["exit_code"] = result.exit_code ? json(*result.exit_code) : json(nullptr);
  data["start_time"] = TimeOrNothing(result.started);
  data["end_time"] = TimeOrNothing(result.ended);
}

void DescribeApproval(const RunDetail& run, json& data) {
  data["node"] = run.node ? json(run.node->node) : json(nullptr);
  data["workflow_run_id"] = run.node ? json(EncodeRunId(run.node->workflow_run)) : json(nullptr);
  data["message"] = ApprovalMessageOf(run);
  data["expires_at"] = TimeOrNothing(run.until);
}

void DescribeGap(const Notice& notice, json& data) {
  data["schedule_id"] = notice.key.schedule_id.value();
  data["from"] = FormatRfc3339(notice.key.fire);
  data["to"] = FormatRfc3339(notice.until);
  data["count"] = notice.fires;
  data["reason"] = TextOrNothing(notice.reason);
}

}  // namespace

std::string_view TypeOf(NoticeKind kind) {
  switch (kind) {
    case NoticeKind::kFailed: return "run.failed";
    case NoticeKind::kMissed: return "schedule.missed";
    case NoticeKind::kLate: return "run.late";
    case NoticeKind::kRecovered: return "run.recovered";
    case NoticeKind::kJobPaused: return "job.paused";
    case NoticeKind::kShed: return "run.shed";
    case NoticeKind::kApproval: return "run.approval";
  }
  return "unknown";
}

std::string ApprovalMessageOf(const RunDetail& run) {
  const auto given = GivenFromText(run.parameters_json);
  if (!given.ok()) return {};
  const auto message = given->values.find("message");
  return message == given->values.end() ? std::string() : ParameterText(message->second);
}

std::string NoticeToText(const OpenNotice& open, const std::string& link) {
  json data = {{"job_id", open.job_id.value()}, {"job_name", open.job_name}};
  if (open.notice.kind == NoticeKind::kMissed) {
    DescribeGap(open.notice, data);
  } else {
    DescribeRun(open, data);
    if (open.notice.kind == NoticeKind::kJobPaused) data["failures"] = open.notice.fires;
    const bool asks = open.notice.kind == NoticeKind::kApproval && open.run;
    if (asks) DescribeApproval(*open.run, data);
  }
  data["held_back"] = open.memory.held_back;
  data["link"] = TextOrNothing(link);
  return JsonToText({{"type", TypeOf(open.notice.kind)},
                     {"timestamp", FormatRfc3339(open.notice.created)},
                     {"data", std::move(data)}});
}

std::string TestNoticeToText(WallTime now) {
  return JsonToText({{"type", "notify.test"},
                     {"timestamp", FormatRfc3339(now)},
                     {"data", {{"message", "Test notification from Carillon."}}}});
}

}  // namespace carillon
