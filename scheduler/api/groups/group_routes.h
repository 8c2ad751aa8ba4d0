// Handlers of /api/groups: concurrency groups, their limits, holders and queues.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListGroups(const Call& call);
Reply GetGroup(const Call& call);
// Creates the group or changes its limit. Idempotent.
Reply PutGroup(const Call& call);
// 409 in_use while a job names the group.
Reply DeleteGroup(const Call& call);

}  // namespace carillon::scheduler
