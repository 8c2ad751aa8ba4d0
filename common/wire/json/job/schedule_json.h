// Reads and writes the schedules of a job.
//
// Errors   kInvalid with the pointer of the first field that is missing, unknown or of a wrong
//          type. kConflict: at and in_s are both set. ValidateJob checks the bounds.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/schedule/schedule_spec.h"

namespace carillon {

Status ReadSchedule(const nlohmann::json& value, const std::string& pointer, ScheduleSpec& spec);
Status ReadSchedules(const nlohmann::json& value, const std::string& pointer,
                     std::vector<ScheduleSpec>& out);
nlohmann::json SchedulesToJson(const std::vector<ScheduleSpec>& schedules);

// Replaces `in_s` in the schedules of a request by `at`, that many seconds after `now`, the time
// of the write. What is not valid stays, for ReadSchedules to report: it accepts no in_s at all,
// because a definition that is read twice, from a file or from the store, must mean the same
// each time.
void ResolveRelativeTimes(nlohmann::json& body, WallTime now);

}  // namespace carillon
