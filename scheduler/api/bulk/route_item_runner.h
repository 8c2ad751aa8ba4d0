// Executes items of bulk actions with the handlers of their routes.
//
// Always   Repeating an item after a try with an unknown outcome is safe: `run` and `retry` are
//          keyed by action and position, a job that is gone after a `delete` counts as deleted, the
//          rest is idempotent. An item without its audit record counts as not done and is retried.
//          Each item is audited once; a duplicate needs two crashes, both between the audit write
//          and the item's result.
#pragma once

#include <functional>
#include <string_view>

#include "scheduler/api/bulk/bulk_item.h"
#include "scheduler/bulk/bulk_worker.h"

namespace carillon::scheduler {

// Decides what a reply means for its item. Pure.
ItemOutcome::Verdict JudgeItem(const BulkVerb& verb, const Reply& reply, EarlierAttempt tried);

class RouteItemRunner final : public BulkItemRunner {
 public:
  // Makes a Call on behalf of `caller`. All arguments that are references must outlive the Call.
  using CallMaker = std::function<Call(const HttpRequest& request, const Caller& caller,
                                       std::string_view trace_id, AuditNote& note)>;
  explicit RouteItemRunner(CallMaker make_call) : make_call_(std::move(make_call)) {}

  ItemOutcome Do(const BulkOrder& order, const Caller& caller, const BulkItem& item,
                 EarlierAttempt tried) override;
  // Finds jobs that cannot be deleted because they do not exist. That must happen before a deletion
  // begins: afterwards, a job that this action has deleted looks the same.
  std::optional<ItemOutcome> Precheck(const BulkOrder& order, const Caller& caller,
                                      const BulkItem& item) override;
  std::string ErrorOf(const BulkOrder& order, Undone undone) override;

 private:
  const CallMaker make_call_;
};

}  // namespace carillon::scheduler
