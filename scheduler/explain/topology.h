// Describes as JSON the parts of this installation, their dependencies and their problems, as one
// member sees them. Pure.
//
// Always   The state of a part that the member cannot see is `unknown`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/outage.h"
#include "common/domain/store_trust.h"
#include "common/ports/store/segment_store.h"
#include "scheduler/explain/status_source.h"
#include "scheduler/notify/notice_sender.h"

namespace carillon::scheduler {

// More executors than this are only counted by state. At most this many unhealthy executors are
// then listed by name.
inline constexpr size_t kExecutorsNamedMax = 100;

struct TopologyInputs {
  WallTime at;
  ClusterView cluster;
  bool one_process = false;  // true: bus and coordinator are part of the member
  bool store_answers = false;
  StoreStanding store;
  std::vector<SegmentRecord> segments;    // empty if the store does not answer
  std::vector<ExecutorRecord> executors;  // without the store, only those linked to the member
  std::vector<ChannelHealth> channels;
  OutageBounds bounds;
  // Addresses of the other parts; empty = unknown.
  struct Places {
    std::string store;
    std::string coordinator;
    std::string bus;
    std::string mail;
  } places;
};

nlohmann::json DescribeTopology(const TopologyInputs& inputs);

}  // namespace carillon::scheduler
