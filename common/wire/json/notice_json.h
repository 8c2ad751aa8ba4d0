// A notice as the body of a webhook (docs/notify.md). Never contains a job's commands, parameters,
// environment or output, except for the message of an approval, which is meant for people.
#pragma once

#include <string>

#include "common/ports/store/notice_store.h"

namespace carillon {

// "run.failed", "run.late", "run.recovered", "schedule.missed".
std::string_view TypeOf(NoticeKind kind);
// The question of an approval to people; empty if there is none, or if it cannot be read.
std::string ApprovalMessageOf(const RunDetail& run);
// `link`: URL of the run's page; empty = none.
std::string NoticeToText(const OpenNotice& notice, const std::string& link);
// The message of POST /api/notify/test.
std::string TestNoticeToText(WallTime now);

}  // namespace carillon
