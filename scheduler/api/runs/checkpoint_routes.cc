#include "scheduler/api/runs/checkpoint_routes.h"

#include "scheduler/api/call/path_ids.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {

// The bytes come from a process, so that a browser must not show them.
Reply GetRunCheckpoint(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const RunKey key, PathRunKey(call));
  CARILLON_TRY(Query::Read(call.request, {}));
  CARILLON_ASSIGN_OR_RETURN(const RunDetail run, call.stores.runs.GetRun(key));
  CARILLON_ASSIGN_OR_RETURN(auto checkpoint, call.stores.checkpoints.ReadCheckpoint(run.row.key));
  if (!checkpoint) return NotFound("The run has no checkpoint.");
  HttpResponse response{.status = 200};
  response.headers = {{"Content-Type", "application/octet-stream"},
                      {"Content-Disposition", "attachment; filename=\"checkpoint\""}};
  response.body = *std::move(checkpoint);
  return response;
}

}  // namespace carillon::scheduler
