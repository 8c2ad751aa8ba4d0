// Handlers of /api/deliveries and /api/notify/test. scheduler/openapi/openapi.yaml describes them.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListDeliveries(const Call& call);
Reply ResendDelivery(const Call& call);
Reply TestNotices(const Call& call);

}  // namespace carillon::scheduler
