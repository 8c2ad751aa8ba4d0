// Takes task bundles off the bus and keeps out what must not be acted on.
//
// Place    Step 6 of docs/life-of-a-run.md, the receiving end; promise P9.
// Threads  Not thread-safe; the core loop owns it.
// Errors   A rejected record is counted by reason, logged once for each reason, never run. A bus
//          that is away gives nothing; the next Take tries again.
// Always   Every record taken is committed: what it asks for is decided by claims, and a task that
//          is forgotten here is published again by its owner.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/base/metrics.h"
#include "common/ports/message_bus.h"
#include "common/wire/signature.h"

namespace carillon::executor {

class TaskIntake {
 public:
  struct Ports {
    BusConsumer& bus;
    Metrics& metrics;
    std::function<std::vector<std::string>()> public_keys;  // of the members, to check signatures
  };
  struct Options {
    ExecutorId executor;
    Incarnation incarnation;
  };
  TaskIntake(Ports ports, Options options)
      : ports_(std::move(ports)), options_(std::move(options)) {}

  // The tasks of up to `records_max` records; a record holds at most kBundleTasksMax.
  std::vector<TaskMessage> Take(size_t records_max, WallTime now);

 private:
  void Count(Rejection rejection);

  const Ports ports_;
  const Options options_;
  std::set<Rejection> logged_;
};

}  // namespace carillon::executor
