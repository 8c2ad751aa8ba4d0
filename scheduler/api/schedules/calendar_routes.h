// Handlers of /api/calendars.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListCalendars(const Call& call);
Reply GetCalendar(const Call& call);
// Writes the next version; creates the calendar if there is none.
Reply PutCalendar(const Call& call);
// 409 in_use: a schedule names it.
Reply DeleteCalendar(const Call& call);
// The times that lie in a definition. Stores nothing.
Reply PreviewCalendar(const Call& call);

}  // namespace carillon::scheduler
