// Completes claims by what the definitions of their runs demand: the overlap policy, the group, and
// whether this executor may run it at all. The claim itself is not trusted in this.
//
// Threads  One loop calls it. It blocks on the store if a definition, or the rules of a node's run,
//          must be read.
// Errors   The store's. The claims then get no answer, so that the executors repeat them.
// Always   An executor that claims without a task gets nothing that the dispatch would not have
//          given it.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "common/ports/store/firing_store.h"
#include "scheduler/definitions/definition_cache.h"
#include "scheduler/liveness/executor_table.h"

namespace carillon::scheduler {

class ClaimDemands {
 public:
  ClaimDemands(FiringStore& store, DefinitionCache& definitions, const ExecutorTable& executors)
      : store_(store), definitions_(definitions), executors_(executors) {}

  // False for each claim of which it is unknown whether the executor may run it. It gets no answer.
  Result<std::vector<bool>> Complete(const std::vector<ClaimRequest*>& requests);

 private:
  // Notes the rules that runs of nodes have of their own.
  Status ReadRules(const std::vector<ClaimRequest*>& requests);
  bool Place(ClaimRequest& request, const Definition& definition);

  FiringStore& store_;
  DefinitionCache& definitions_;
  const ExecutorTable& executors_;
  std::map<ExecutorId, std::optional<ExecutorRecord>> known_;  // during a call
};

// The key of the definition that the run of this claim executes.
RunDefinitionKey DefinitionKeyOf(const ClaimRequest& request);

}  // namespace carillon::scheduler
