// /api/schedules: what a schedule means, and how the fires of all of them are spread over time.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply PreviewSchedule(const Call& call);
Reply ScheduleLoad(const Call& call);

}  // namespace carillon::scheduler
