// Takes task bundles off the bus and rejects those that this executor must not act on.
//
// Place    Step 6 of docs/life-of-a-run.md, the receiving end; promise P9.
// Threads  Not thread-safe; the core loop owns it.
// Errors   A rejected record is counted by reason, logged once per reason, and never run. So is a
//          task that cannot be read; the others of its record are taken. If its run is known,
//          Take returns what is left of it, so that the run ends instead of being sent again.
//          While the bus is unavailable Take returns nothing; the next call tries again.
// Always   Every record taken is committed at once: claims decide what runs, and the owner
//          publishes again any task that is lost here.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/base/metrics/metrics.h"
#include "common/ports/message_bus.h"
#include "common/wire/messages/signature.h"

namespace carillon::executor {

class TaskIntake {
 public:
  struct Ports {
    BusConsumer& bus;
    Metrics& metrics;
    // The members' public keys; a bundle's signature must verify with one of them.
    std::function<std::vector<std::string>()> public_keys;
  };
  struct Options {
    ExecutorId executor;
    // Tasks for another incarnation (an earlier process of this executor) are rejected.
    Incarnation incarnation;
  };
  TaskIntake(Ports ports, Options options)
      : ports_(std::move(ports)), options_(std::move(options)) {}

  // The accepted tasks, and what is left of unreadable ones, of up to `records_max` records of at
  // most kBundleTasksMax tasks each.
  std::vector<TaskMessage> Take(size_t records_max, WallTime now);

 private:
  void Count(Rejection rejection);
  void CountUnreadable(const Error& error);

  const Ports ports_;
  const Options options_;
  std::set<Rejection> logged_;
  bool unreadable_logged_ = false;
};

}  // namespace carillon::executor
