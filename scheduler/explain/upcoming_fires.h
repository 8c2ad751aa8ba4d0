// Computes coming fires for a preview: the time in UTC, the local time with its offset, and the
// effects of clock changes.
//
// Errors   kInvalid with the JSON pointer of the schedule that does not compile, or that names a
//          calendar that is not in the set.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "common/domain/calendar/calendar_set.h"
#include "common/domain/job/job.h"

namespace carillon::scheduler {

inline constexpr int64_t kFiresMax = 100;
inline constexpr int64_t kFiresDefault = 10;

// Returns the first `count` fires strictly after `after` of all schedules of the job,
// ascending: [{schedule, fire_time, local_time, utc_offset, time_zone, dst}]. `dst` is null,
// "moved_by_gap" or "repeated".
Result<nlohmann::json> UpcomingFires(const JobDefinition& job, const CalendarSet& calendars,
                                     WallTime after, size_t count);

// Returns the fires that a clock change removes because of the job's dst_gap or dst_repeat. They
// lie after `after` and not after the last of `fires` (the UpcomingFires of the same job). The form
// is the same as in UpcomingFires. `dst` is "skipped_by_gap" or "not_repeated", and the times are
// the times at which the job would have fired. At most kFiresMax.
Result<nlohmann::json> SkippedByDst(const JobDefinition& job, const CalendarSet& calendars,
                                    WallTime after, const nlohmann::json& fires);

// Describes each schedule in a sentence, in the job's order.
Result<std::vector<std::string>> Explain(const JobDefinition& job, const CalendarSet& calendars);

}  // namespace carillon::scheduler
