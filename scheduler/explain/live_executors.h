// Merges two sources: the records of executors in the store, which are written every few seconds,
// and the newer state of the executors that have a link to this member.
#pragma once

#include <map>

#include "scheduler/explain/status_source.h"

namespace carillon::scheduler {

class LiveExecutors {
 public:
  explicit LiveExecutors(const ClusterView& view);
  // Returns `stored`, or its newer state if this member has received a later heartbeat.
  ExecutorRecord Latest(ExecutorRecord stored) const;
  // True if the executor has a link to this member.
  bool Linked(const ExecutorId& id) const { return heard_.contains(id); }

 private:
  std::map<ExecutorId, ExecutorRecord> heard_;
};

}  // namespace carillon::scheduler
