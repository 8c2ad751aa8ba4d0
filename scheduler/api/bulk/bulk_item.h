// Handles one item of a bulk action like a single request of the caller. The item has the same
// handler, permissions, checks and problems as the request, and an audit record of its own.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/api/bulk/bulk_request.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// The operation on each item.
struct BulkOperation {
  const BulkVerb* verb = nullptr;
  std::string reason = {};                  // for the audit record
  bool confirm = false;                     // see WriteContext::confirm_overlap
  CancelMode mode = CancelMode::kGraceful;  // used by `cancel` only
  WallTime requested = WallTime{};          // when the action was requested
};

// Idempotency key of an item, if the item's route supports keys.
struct ItemKey {
  std::string scope;
  std::string key;
};

// Makes a request on the caller's behalf for the path with these segments.
HttpRequest AskedRequest(const Call& call, std::string_view method,
                         std::vector<std::string> segments);
// If the caller has the permission of the request's route, returns the route's reply. Otherwise
// returns the problem.
Reply AskAlone(const Call& call, const HttpRequest& request, AuditNote& note);

// Executes the operation on the object with this id. The retry of a run is done if the run was
// started since the action was requested: the retry of another item of the same workflow run has
// run it again.
Reply DoItem(const Call& call, const BulkOperation& operation, const std::string& id,
             AuditNote& note, const std::optional<ItemKey>& key = {});
// True if a run that does not wait has gone on: its limit was not over, nor was it cancelled.
Result<bool> IsReleased(const Call& call, const BulkOperation& operation, const std::string& id);
// Checks that the object exists and that the caller may act on it; of a run that is to be released,
// also that it waits. Has no effect.
Reply LookAtItem(const Call& call, const BulkOperation& operation, const std::string& id);
// Writes the item's audit record.
Status RecordItem(const Call& call, const BulkOperation& operation, const std::string& id,
                  const AuditNote& note);

// Returns the problem in the form of the field `error` of an item.
nlohmann::json ItemProblem(const BulkVerb& verb, const std::string& id, Problem problem,
                           std::string_view trace_id);
// The id of the run that the action `run` created; null for other actions.
nlohmann::json RunIdOf(const BulkVerb& verb, const HttpResponse& done);

}  // namespace carillon::scheduler
