// Executes items of bulk actions with the handlers of their routes.
//
// Always   Repeating an item after an attempt with an unknown outcome is safe: `run` and `retry`
//          use an idempotency key made of the action and the item's position, a job that is missing
//          after a `delete` counts as deleted, and the other actions are idempotent. An item whose
//          audit record could not be written counts as not done and is retried. Each item is
//          audited once. Two records of an item need two crashes, both between the audit write and
//          the item's result.
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
  // Finds jobs that cannot be deleted because they do not exist. It must be called before a
  // deletion begins: afterwards, a missing job may also be one that this action has deleted.
  std::optional<ItemOutcome> Precheck(const BulkOrder& order, const Caller& caller,
                                      const BulkItem& item) override;
  std::string ErrorOf(const BulkOrder& order, Undone undone) override;

 private:
  const CallMaker make_call_;
};

}  // namespace carillon::scheduler
