// The part of a statement that joins the run of a node to its workflow run.
#pragma once

#include <string_view>

namespace carillon::mysql {

// Gives job_runs r the workflow run w of which it is a node; NULL for other runs. 2251799813685248
// is kFirstNodeSchedule, 1024 is kNodePositionsMax.
inline constexpr std::string_view kJoinWorkflow =
    "LEFT JOIN workflow_runs w FORCE INDEX (PRIMARY) ON w.no = IF(r.schedule_id < "
    "2251799813685248, 0, (r.schedule_id - 2251799813685248) DIV 1024)";

}  // namespace carillon::mysql
