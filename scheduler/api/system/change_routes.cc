#include "scheduler/api/system/change_routes.h"

#include "scheduler/api/call/sse_response.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/system/change_feed.h"

namespace carillon::scheduler {

Reply StreamChanges(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {}));
  return EventStream(call, [&changes = call.services.changes, last = LastEventIdOf(call.request)] {
    return std::make_unique<ChangeFeed>(changes, last);
  });
}

}  // namespace carillon::scheduler
