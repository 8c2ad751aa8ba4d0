#include "scheduler/api/change_routes.h"

#include "scheduler/api/change_feed.h"
#include "scheduler/api/event_stream.h"
#include "scheduler/api/request_parts.h"

namespace carillon::scheduler {

Reply StreamChanges(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {}));
  return EventStream(call, [&changes = call.changes, last = LastEventIdOf(call.request)] {
    return std::make_unique<ChangeFeed>(changes, last);
  });
}

}  // namespace carillon::scheduler
