// Schedules as English sentences without a full stop, and times for sentences. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/time.h"
#include "common/domain/schedule/cron.h"

namespace carillon {

// "At 02:30 on Monday to Friday, Europe/Paris time".
std::string ExplainCron(const CronExpression& expression, std::string_view zone);
// "Every 1 minute 30 seconds from 2026-03-01 00:00:00 UTC".
std::string ExplainRate(Duration every, WallTime start);
// "Once at 2026-03-01 02:00:00 UTC".
std::string ExplainOnce(WallTime at);
// "2026-03-01 02:00:00 UTC", in whole seconds. For sentences only: JSON fields have the exact time.
std::string ReadableTime(WallTime t);

}  // namespace carillon
