// Detects changes in the cluster as topics: the lists and pages that clients should read again.
//
// Place    Polled by the streams of GET /api/changes (change_feed.h). Changes by users through any
//          member are in the audit; runs, executors and deliveries are read from the store.
// Threads  The streams' thread alone.
// Time     The store is queried at most every kLookEvery, and only while there are listeners.
// Errors   A store that does not answer is queried again; no change is lost.
// Always   A change may be reported twice or without cause. Not reported are runs that begin and
//          end between two queries when 16 later ones do as well, and tries of a delivery that is
//          not among the newest; so a page also reads again from time to time.
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
#include "common/ports/admin_store.h"
#include "common/ports/bulk_store.h"
#include "common/ports/executor_store.h"
#include "common/ports/notice_store.h"
#include "common/ports/run_store.h"

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
  static constexpr size_t kKept = 1024;
  static constexpr size_t kReadMax = 500;  // of the audit at once
  static constexpr size_t kDeliveriesSeen = 50;
  static constexpr size_t kBulkLookedAt = 200;
  static constexpr uint64_t kCommitLag = 100;  // records that may become visible after later ones

  struct Ports {
    AdminStore& audit;
    RunStore& runs;
    ExecutorStore& executors;
    NoticeStore& notices;
    BulkStore& bulk;
    // The database's time; kUnavailable while it is not known.
    std::function<Result<WallTime>()> cluster_now;
  };
  // `epoch` names this watch's life: its numbers mean nothing to another one.
  ChangeWatch(Ports ports, std::string epoch)
      : ports_(std::move(ports)), epoch_(std::move(epoch)) {}

  const std::string& epoch() const { return epoch_; }
  void Look(SteadyTime now);
  // The number of the next change; the first has 0.
  uint64_t end() const { return first_ + kept_.size(); }
  // Changes from `number` on; nullopt: some of them are no longer kept.
  std::optional<std::vector<Change>> From(uint64_t number) const;

 private:
  void LookAtAudit();
  void LookAtRuns();
  void LookAtExecutors();
  void LookAtDeliveries();
  void LookAtBulk();
  void Tell(Change change);
  void Forget();  // all clients have to read everything again

  const Ports ports_;
  const std::string epoch_;
  SteadyTime next_look_{};
  std::deque<Change> kept_;
  uint64_t first_ = 0;
  std::optional<uint64_t> audited_;  // the newest record seen
  std::set<uint64_t> seen_;          // records above audited_ - kCommitLag
  std::optional<uint64_t> runs_mark_;
  std::optional<uint64_t> executors_mark_;
  std::optional<uint64_t> deliveries_mark_;
  std::map<std::string, WallTime> bulk_;  // active ones, with their last update
};

}  // namespace carillon::scheduler
