// Handlers of /api/schedules: previews of schedules, and the number of fires over time.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply PreviewSchedule(const Call& call);
Reply ScheduleLoad(const Call& call);

}  // namespace carillon::scheduler
