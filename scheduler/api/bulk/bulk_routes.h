// Handlers of /api/bulk: one action on many jobs or runs, at once or as an object that outlives its
// request. docs/api.md describes them.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply StartBulk(const Call& call);
Reply ListBulk(const Call& call);
Reply GetBulk(const Call& call);
Reply ListBulkItems(const Call& call);
Reply CancelBulk(const Call& call);

}  // namespace carillon::scheduler
