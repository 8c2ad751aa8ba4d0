// Merges two sources. The records of executors in the store are written every few seconds. For
// executors with a link to this member, the member has a newer state.
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
