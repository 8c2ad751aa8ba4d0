// The parts of this installation, their dependencies and their problems, as one member sees them,
// as JSON.
//
// Always   Pure. What the member cannot observe is `unknown`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/outage.h"
#include "common/domain/store_trust.h"
#include "common/ports/segment_store.h"
#include "scheduler/explain/status_source.h"
#include "scheduler/notify/notice_sender.h"

namespace carillon::scheduler {

// Above it executors are counted, and only unhealthy ones are listed, up to as many.
inline constexpr size_t kExecutorsNamedMax = 100;

struct TopologyInputs {
  WallTime at;
  ClusterView cluster;
  bool one_process = false;  // bus and coordinator are part of the member
  bool store_answers = false;
  StoreStanding store;
  std::vector<SegmentRecord> segments;    // empty while the store does not answer
  std::vector<ExecutorRecord> executors;  // likewise only those with a link to the member
  std::vector<ChannelHealth> channels;
  OutageBounds bounds;
  struct Places {
    std::string store;
    std::string coordinator;
    std::string bus;
    std::string mail;
  } places;
};

nlohmann::json DescribeTopology(const TopologyInputs& inputs);

}  // namespace carillon::scheduler
