// Schedules as other tools write them ("@every 5m", "rate(5 minutes)", "*-*-* 02:00"), and how to
// write them here. Pure.
//
// Place    ParseCron refuses such a text with this sentence.
// Always   A cron expression that is suggested is valid.
#pragma once

#include <string>
#include <string_view>

namespace carillon {

// The refusal of a text in another tool's form, e.g. "'@every 5m' is not a cron expression: use a
// rate schedule: every_ms 300000, --every 5m". Empty if the form is not known.
std::string WayToSay(std::string_view text);

// Reads six fields as minute, hour, day, month, weekday and year: the same time as a cron
// expression in quotes. Empty if they cannot be read so.
std::string WithYearLast(std::string_view text);

// The weekdays of Quartz and EventBridge, where 1 is Sunday, with names: "MON-FRI" for "2-6".
// Empty if the field has no number that stands for a weekday.
std::string NamedWeekdays(std::string_view field);

}  // namespace carillon
