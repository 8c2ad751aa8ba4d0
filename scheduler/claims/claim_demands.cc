#include "scheduler/claims/claim_demands.h"

#include "common/base/failpoint.h"

namespace carillon::scheduler {
namespace {

// The demands of a job on its executor.
struct Needs {
  const Selector* selector;  // null: any labels
  Features features;
  const std::string& handler;  // empty: none

  bool none() const { return selector == nullptr && features.empty() && handler.empty(); }
};

// nullopt: the executor has not yet said what it can do, as it does with each heartbeat.
std::optional<bool> IsAble(const ExecutorRecord& executor, const Needs& needs) {
  if (needs.selector != nullptr && !needs.selector->Matches(executor.labels)) return false;
  if (needs.features.empty() && needs.handler.empty()) return true;
  if (failpoint::Broken("route.features")) return true;
  if (!executor.features) return std::nullopt;
  const bool offers = needs.handler.empty() || executor.handlers.contains(needs.handler);
  return offers && executor.features->HasAll(needs.features);
}

bool IsOfNode(const ClaimRequest& request) { return NodePositionOf(request.key).has_value(); }

}  // namespace

RunDefinitionKey DefinitionKeyOf(const ClaimRequest& request) {
  return DefinitionKeyOf({request.job_no, request.def_version}, request.key,
                         request.rules.value_or(std::string()));
}

Status ClaimDemands::ReadRules(const std::vector<ClaimRequest*>& requests) {
  std::vector<RunKey> nodes;
  for (const ClaimRequest* request : requests) {
    if (IsOfNode(*request)) nodes.push_back(request->key);
  }
  if (nodes.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(const auto rules, store_.LoadRunRules(nodes));
  if (failpoint::Broken("rules.lost_at_claim")) return {};
  for (ClaimRequest* request : requests) {
    if (!IsOfNode(*request)) continue;
    const auto own = rules.find(request->key);
    request->rules = own == rules.end() ? std::string() : own->second;
  }
  return {};
}

Result<std::vector<bool>> ClaimDemands::Complete(const std::vector<ClaimRequest*>& requests) {
  CARILLON_TRY(ReadRules(requests));
  std::vector<RunDefinitionKey> keys;
  for (const ClaimRequest* request : requests) keys.push_back(DefinitionKeyOf(*request));
  CARILLON_ASSIGN_OR_RETURN(const auto found, definitions_.Load(keys));
  known_.clear();
  std::vector<bool> complete;
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto at = found.definitions.find(keys[i]);
    if (at != found.definitions.end()) {
      complete.push_back(Place(*requests[i], *at->second));
      continue;
    }
    // The definition cannot be decoded, so it is unknown which executors may take the run. A new
    // claim is refused. A repeated claim is confirmed.
    if (found.unreadable.contains(keys[i]) || IsOfNode(*requests[i])) requests[i]->elsewhere = true;
    complete.push_back(true);
  }
  return complete;
}

// The executor's labels come from the store, because they may have changed after the task was
// published, and its features and handlers from its last heartbeat.
bool ClaimDemands::Place(ClaimRequest& request, const Definition& definition) {
  request.overlap = OverlapRulesOf(definition.job());
  // The own run of its fire has the slot.
  const bool is_part = request.key.shard > 0;
  if (is_part && !failpoint::Broken("parts.takes_slot")) {
    request.overlap.policy = OverlapPolicy::kAllow;
  }
  request.group = definition.job().concurrency_group;
  const std::string& pinned = definition.job().executor_id;
  if (!pinned.empty()) request.elsewhere = pinned != request.executor.value();
  // Else one such claim would have its whole batch decided twice.
  request.pinned = is_part && definition.job().broadcast.has_value();
  const Needs needs{definition.selector(), definition.NeedsOf(request.key),
                    definition.job().handler};
  if (needs.none()) return true;
  auto executor = known_.find(request.executor);
  if (executor == known_.end()) {
    executor = known_.emplace(request.executor, executors_.Find(request.executor)).first;
  }
  if (!executor->second) return false;
  const std::optional<bool> able = IsAble(*executor->second, needs);
  request.elsewhere = request.elsewhere || !able.value_or(true);
  return able.has_value();
}

}  // namespace carillon::scheduler
