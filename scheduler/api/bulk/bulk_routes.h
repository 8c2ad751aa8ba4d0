// Handlers of /api/bulk: one action on many jobs, runs or dead letters, executed while the request
// waits or in the background. docs/api.md describes them.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply StartBulk(const Call& call);
Reply ListBulk(const Call& call);
Reply GetBulk(const Call& call);
Reply ListBulkItems(const Call& call);
Reply CancelBulk(const Call& call);

}  // namespace carillon::scheduler
