// One item of a bulk action, asked for as if its caller had asked for it alone: by the handler of
// its route, with the same rights, the same checks, the same problems, its own record in the audit.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/api/bulk/bulk_request.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// What is done to each.
struct BulkOperation {
  const BulkVerb* verb = nullptr;
  std::string reason = {};
  bool confirm = false;
  CancelMode mode = CancelMode::kGraceful;
};

// Under which an item is done once, where its route knows keys.
struct ItemKey {
  std::string scope;
  std::string key;
};

// A request of the caller's for the path of these segments.
HttpRequest AskedRequest(const Call& call, std::string_view method,
                         std::vector<std::string> segments);
// What the handler of its route makes of `request`, if the caller may ask for it.
Reply AskAlone(const Call& call, const HttpRequest& request, AuditNote& note);

Reply DoItem(const Call& call, const BulkOperation& operation, const std::string& id,
             AuditNote& note, const std::optional<ItemKey>& key = {});
// Whether it is there, and the caller's to act on.
Reply LookAtItem(const Call& call, const BulkOperation& operation, const std::string& id);
Status RecordItem(const Call& call, const BulkOperation& operation, const std::string& id,
                  const AuditNote& note);

// As an item's `error` shows it.
nlohmann::json ItemProblem(const BulkVerb& verb, const std::string& id, Problem problem,
                           std::string_view trace_id);
// The run that a `run` has made; null of everything else.
nlohmann::json RunIdOf(const BulkVerb& verb, const HttpResponse& done);

}  // namespace carillon::scheduler
