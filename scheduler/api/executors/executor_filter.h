// Filter of a list of executors: `state`, `q`, `label`. Pure.
//
// Errors   400 with ?state (unknown_value), ?q (too_long), ?label (bad_value).
#pragma once

#include <string>
#include <vector>

#include "common/domain/executor_state.h"
#include "common/ports/store/executor_store.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {

struct ExecutorFilter {
  std::vector<ExecutorState> states = {};  // any of these; empty = all
  std::string text = {};                   // contained in the id or host, regardless of case
  LabelFilter labels = {};

  static Outcome<ExecutorFilter> Read(const Query& query);
  bool Matches(const ExecutorRecord& executor) const;
};

}  // namespace carillon::scheduler
