// Gathers tasks into signed bundles, each for one executor, and publishes them on the bus.
//
// Place    Step 6 of docs/life-of-a-run.md. Never writes to the store.
// Threads  Not thread-safe; the firing loop owns it.
// Errors   Flush returns the runs of the bundles that the bus refused. These runs must
//          be dispatched again.
// Always   A bundle has at most TasksPerRecord tasks and about kBundleBytesMax bytes.
#pragma once

#include <map>
#include <vector>

#include "common/base/metrics/metrics.h"
#include "common/wire/messages/signature.h"
#include "common/wire/messages/task_codec.h"
#include "scheduler/route/executor_credits.h"

namespace carillon::scheduler {

inline constexpr size_t kBundleBytesMax = size_t{512} << 10;

class Dispatcher {
 public:
  // Executors reject a bundle older than this. Its runs have then been published elsewhere.
  static constexpr Duration kBundleValid = 60s;

  Dispatcher(BusProducer& producer, const Signer& signer, Metrics& metrics)
      : producer_(producer), signer_(signer), metrics_(metrics) {}

  // Sets the format of the tasks that are added afterwards. Call it only after a Flush, because all
  // tasks of a bundle have the same format.
  void SetFormat(BusFormat format) { format_ = format; }

  // Adds the task to the executor's bundle. If the bundle is then full, sends it.
  void Add(const ExecutorCredits& credits, ExecutorCredits::Index executor, TaskMessage task,
           WallTime now);
  // Sends all bundles. Returns the runs of the bundles that the bus refused since the last Flush.
  std::vector<RunKey> Flush(const ExecutorCredits& credits, WallTime now);

 private:
  struct Bundle {
    std::vector<TaskMessage> tasks;
    size_t bytes = 0;
  };
  void Send(const ExecutorCredits& credits, ExecutorCredits::Index executor, Bundle& bundle,
            WallTime now);

  BusProducer& producer_;
  const Signer& signer_;
  Metrics& metrics_;
  BusFormat format_ = BusFormat::kBinary;
  std::map<ExecutorCredits::Index, Bundle> bundles_;
  std::vector<RunKey> refused_;
};

}  // namespace carillon::scheduler
