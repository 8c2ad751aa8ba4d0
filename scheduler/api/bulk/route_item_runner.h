// Executes items of bulk actions with the handlers of their routes.
//
// Always   An item may be repeated if the outcome of an earlier attempt is unknown:
//          - `run` and `retry` use an idempotency key made of the action and the item's position;
//          - if the job is missing after a `delete`, the job counts as deleted;
//          - the other actions are idempotent.
//          If the audit record of an item cannot be written, the item counts as not done and is
//          retried. Each item has one audit record. It can have two only after two crashes, both
//          between the audit write and the write of the item's result.
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
  // Makes a Call on behalf of `caller`. All arguments that are references, and the text of
  // `trace_id`, must outlive the Call.
  using CallMaker = std::function<Call(const HttpRequest& request, const Caller& caller,
                                       std::string_view trace_id, AuditNote& note)>;
  explicit RouteItemRunner(CallMaker make_call) : make_call_(std::move(make_call)) {}

  ItemOutcome Do(const BulkOrder& order, const Caller& caller, const BulkItem& item,
                 EarlierAttempt tried) override;
  // Finds jobs that cannot be deleted because they do not exist. Call it before a deletion begins.
  // Afterwards, a missing job may also be one that this action has deleted.
  std::optional<ItemOutcome> Precheck(const BulkOrder& order, const Caller& caller,
                                      const BulkItem& item) override;
  std::string ErrorOf(const BulkOrder& order, Undone undone) override;

 private:
  const CallMaker make_call_;
};

}  // namespace carillon::scheduler
