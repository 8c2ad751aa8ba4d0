// Executors as last heard of. The store is told every few seconds; with a link of its own this
// member has heard more lately.
#pragma once

#include <map>

#include "scheduler/explain/status_source.h"

namespace carillon::scheduler {

class LiveExecutors {
 public:
  explicit LiveExecutors(const ClusterView& view);
  ExecutorRecord Latest(ExecutorRecord stored) const;
  bool Linked(const ExecutorId& id) const { return heard_.contains(id); }

 private:
  std::map<ExecutorId, ExecutorRecord> heard_;
};

}  // namespace carillon::scheduler
