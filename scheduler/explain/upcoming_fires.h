// Coming fires as a preview shows them: UTC, local time with its offset, what a clock change did.
//
// Errors   kInvalid with the pointer of the schedule that does not compile.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "common/domain/job.h"

namespace carillon::scheduler {

inline constexpr int64_t kFiresMax = 100;
inline constexpr int64_t kFiresDefault = 10;

// The first `count` fires strictly after `after`, over all schedules of
// the job, ascending: [{schedule, fire_time, local_time, utc_offset,
// time_zone, dst}]; dst is null, "moved_by_gap" or "repeated".
Result<nlohmann::json> UpcomingFires(const JobDefinition& job, WallTime after, size_t count);

// What a clock change takes away after `after` and up to the last of
// `fires`, which are UpcomingFires of the same job: fires that would come
// under the other dst_gap or dst_repeat, as above, with dst "skipped_by_gap"
// or "not_repeated" and the time they would have. At most kFiresMax.
Result<nlohmann::json> SkippedByDst(const JobDefinition& job, WallTime after,
                                    const nlohmann::json& fires);

// One sentence a schedule, in the job's order.
Result<std::vector<std::string>> Explain(const JobDefinition& job);

}  // namespace carillon::scheduler
