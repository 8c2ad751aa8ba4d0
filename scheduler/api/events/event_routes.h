// Handlers of /api/events. docs/api.md describes them.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// Accepts events and starts the runs of their triggers. 202 as soon as the runs are stored.
// Repeating the request starts nothing twice.
Reply SendEvents(const Call& call);
// Says what an event would start, without starting it. With `trigger`, asks that draft alone.
Reply TestEvent(const Call& call);
// Newest first.
Reply ListEvents(const Call& call);

}  // namespace carillon::scheduler
