// Detects changes anywhere in the cluster and reports them as topics: the lists and pages that
// clients should read again.
//
// Place    The streams of GET /api/changes use it (change_feed.h). Changes that people make through
//          any member are found in the audit. Changes of runs, executors, deliveries and bulk
//          actions are found by a comparison of two reads of the store.
// Threads  Used by the streams' thread only.
// Time     Reads the store at most every kLookEvery, and only while there is a listener.
// Errors   If the store does not answer, it is read again later. Changes are then only delayed.
// Always   A change may be reported twice, and a topic without a change may be reported. A
//          change may be missed in two cases, so a page of the console also refreshes itself
//          from time to time:
//          - a run begins and ends between two reads, and 16 newer runs exist at the second read;
//          - an attempt of a delivery that is not among the newest deliveries.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/ports/store/audit_store.h"
#include "common/ports/store/bulk_store.h"
#include "common/ports/store/executor_store.h"
#include "common/ports/store/notice_store.h"
#include "common/ports/store/run_store.h"

namespace carillon::scheduler {

struct Change {
  std::string topic;    // "jobs", "runs", "executors", "deliveries", "users", "bulk", …
  std::string id = {};  // of the job, run, executor, …; empty = any of them
  bool operator<(const Change& other) const {
    return topic != other.topic ? topic < other.topic : id < other.id;
  }
};

class ChangeWatch {
 public:
  static constexpr Duration kLookEvery = 1s;
  static constexpr size_t kKept = 1024;          // changes in memory
  static constexpr size_t kReadMax = 500;        // audit records per read
  static constexpr size_t kDeliveriesSeen = 50;  // the newest deliveries, which are compared
  static constexpr size_t kBulkLookedAt = 200;   // unfinished bulk actions that are compared
  // A new audit record may become visible after up to this many records with higher ids.
  static constexpr uint64_t kCommitLag = 100;

  struct Ports {
    AuditStore& audit;
    RunStore& runs;
    ExecutorStore& executors;
    NoticeStore& notices;
    BulkStore& bulk;
    // Cluster time; kUnavailable while it is not known.
    std::function<Result<WallTime>()> cluster_now;
  };
  // `epoch` identifies this instance, because each instance numbers its changes from 0.
  ChangeWatch(Ports ports, std::string epoch)
      : ports_(std::move(ports)), epoch_(std::move(epoch)) {}

  const std::string& epoch() const { return epoch_; }
  void Look(SteadyTime now);
  // The number that the next change will have.
  uint64_t end() const { return first_ + kept_.size(); }
  // The changes from `number` on. nullopt: some of these changes are no longer in memory.
  std::optional<std::vector<Change>> From(uint64_t number) const;

 private:
  void LookAtAudit();
  void LookAtRuns();
  void LookAtExecutors();
  void LookAtDeliveries();
  void LookAtBulk();
  void Tell(Change change);
  void Forget();  // drops all changes, so that every client reads everything again

  const Ports ports_;
  const std::string epoch_;
  SteadyTime next_look_{};
  std::deque<Change> kept_;
  uint64_t first_ = 0;
  std::optional<uint64_t> audited_;  // id of the newest audit record seen
  std::set<uint64_t> seen_;          // ids seen above audited_ - kCommitLag
  std::optional<uint64_t> runs_mark_;
  std::optional<uint64_t> executors_mark_;
  std::optional<uint64_t> deliveries_mark_;
  std::map<std::string, WallTime> bulk_;  // unfinished actions and their last update
};

}  // namespace carillon::scheduler
