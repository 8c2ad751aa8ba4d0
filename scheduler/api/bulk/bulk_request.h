// Parses the body of POST /api/bulk and selects its items: jobs, runs or dead letters.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/ports/store/bulk_store.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

inline constexpr size_t kBulkItemsMax = 1000;  // items processed while the request waits

// An action that can be applied to many objects of a kind.
struct BulkVerb {
  std::string_view action;
  std::string_view kind;  // job, run or dead_letter
  std::string_view method;
  std::string_view verb;  // last segment of the route's path; empty = the path ends with the id
  bool takes_reason = false;
  bool takes_confirm = false;
  bool takes_mode = false;

  // Path of the list of objects of this kind, relative to /api/.
  std::string_view path() const;
  // The name of the action in the audit. A single request of this action has the same name there.
  std::string AuditAction() const;
};
// Null: objects of this kind have no such action.
const BulkVerb* FindBulkVerb(std::string_view action, std::string_view kind);

struct BulkRequest {
  const BulkVerb* verb = nullptr;
  std::vector<std::string> ids = {};
  std::optional<nlohmann::json> filter = {};
  bool dry_run = false;
  bool background = false;
  bool confirm = false;
  CancelMode mode = CancelMode::kGraceful;
  std::string reason = {};

  size_t items_max() const { return background ? kBulkStoredItemsMax : kBulkItemsMax; }
};
Outcome<BulkRequest> ReadBulkRequest(const Call& call);

struct SelectedItems {
  std::vector<std::string> ids;
  bool more = false;  // the filter matches more items than one action may have
};
// Selects the items of the filter with the route of the list, so that the filter means the same as
// in the list.
Outcome<SelectedItems> SelectItems(const Call& call, const BulkRequest& bulk);
// The problem with status 400 for a bulk action with too many items.
Problem TooManyItems(const BulkRequest& bulk);

}  // namespace carillon::scheduler
