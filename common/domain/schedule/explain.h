// Schedules as English sentences without a full stop, and times for sentences. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/time.h"
#include "common/domain/cron/cron.h"
#include "common/domain/schedule/schedule_spec.h"

namespace carillon {

// "At 02:30 on Monday to Friday, Europe/Paris time".
std::string ExplainCron(const CronExpression& expression, std::string_view zone);
// "Every 1 minute 30 seconds from 2026-03-01 00:00:00 UTC".
std::string ExplainRate(Duration every, WallTime start);
// "Once at 2026-03-01 02:00:00 UTC".
std::string ExplainOnce(WallTime at);
// "10 seconds after its last run ended, from 2026-03-01 00:00:00 UTC"; no ending if `start`
// is zero.
std::string ExplainDelay(Duration every, WallTime start);
std::string ExplainAfter(std::string_view upstream, AfterOutcome on);
std::string ExplainEvent(std::string_view type, std::string_view source, bool has_filter);
// Endings of the sentence of a cron or rate schedule: ", from 2026-03-01 00:00:00 UTC until
// 2026-04-01 00:00:00 UTC" and ", each run up to 5 minutes later". Empty if `start` is zero and
// `end` is kNever, or if there is no jitter.
std::string ExplainWindow(WallTime start, WallTime end);
std::string ExplainJitter(Duration jitter);
// Ending of the sentence of a cron schedule with H, whose value the sentence names.
std::string ExplainSpread(uint64_t seed);
// ", only in calendar office, never in calendar freeze"; empty without names.
std::string ExplainCalendars(std::string_view calendar, std::string_view blackout);
// "2026-03-01 02:00:00 UTC", in whole seconds. For sentences only: JSON fields have the exact time.
std::string ReadableTime(WallTime t);

}  // namespace carillon
