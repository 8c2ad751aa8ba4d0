// Interface for the part of GET /api/system/status that only the member knows and not the store.
//
// Threads  Read() is called on several workers at once and must not block on the store.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/overload_levels.h"
#include "common/base/time.h"
#include "common/ports/coordinator.h"
#include "common/ports/message_bus.h"
#include "common/ports/overdue_report.h"
#include "common/ports/store/executor_store.h"

namespace carillon::scheduler {

struct ClusterMember {
  MemberId id;
  std::string address;  // URL of its API; empty = unknown
  // The member's wall clock minus the database's clock. Known only for the member that answers.
  std::optional<Duration> clock_offset = {};
  std::string version = {};         // of the member's build; empty = unknown
  std::string ops_url = {};         // of the member's health and metrics; empty = unknown
  int schema = 0;                   // newest migration that the member knows; 0 = unknown
  std::optional<bool> paused = {};  // true if this member applies the pause of the cluster
};

struct ClusterView {
  MemberId self = {};                   // the member that answers
  bool ready = false;                   // whether that member is ready, as in /readyz
  std::optional<MemberId> leader = {};  // nullopt = unknown
  std::vector<ClusterMember> members = {};
  std::vector<ExecutorRecord> executors = {};  // executors with a link to this member
  Duration oldest_overdue = {};                // age of the oldest unclaimed due run; zero = none
  std::vector<UnplannedJob> unplanned_jobs = {};  // of the cluster, as in the OverdueReport
  // Median and 99th percentile of the time from when a first attempt was due until its task was
  // sent, since this process started. Zero = none was sent yet.
  Duration late_p50 = {};
  Duration late_p99 = {};
  std::map<std::string, BusHealth> topics = {};  // by the name of a topic that the member reads
  SessionState session = SessionState::kSuspended;
  std::optional<Overload> overload = {};  // of the member that answers
};

class StatusSource {
 public:
  virtual ~StatusSource() = default;
  virtual ClusterView Read() = 0;
};

}  // namespace carillon::scheduler
