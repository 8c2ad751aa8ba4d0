// Gathers tasks into signed bundles, one executor a bundle, and hands them to the bus.
//
// Place    Step 6 of docs/life-of-a-run.md. No write to the store on this path.
// Threads  Not thread-safe; the firing loop owns it.
// Errors   A bundle the bus refuses is handed back by Flush: its runs are ready again.
// Always   A bundle has at most TasksPerRecord tasks and about kBundleBytesMax bytes.
#pragma once

#include <map>
#include <vector>

#include "common/base/metrics.h"
#include "common/wire/signature.h"
#include "common/wire/task_codec.h"
#include "scheduler/route/executor_credits.h"

namespace carillon::scheduler {

inline constexpr size_t kBundleBytesMax = size_t{512} << 10;

class Dispatcher {
 public:
  // How long an executor may take to open a bundle; beyond, its runs were published elsewhere.
  static constexpr Duration kBundleValid = 60s;

  Dispatcher(BusProducer& producer, const Signer& signer, Metrics& metrics)
      : producer_(producer), signer_(signer), metrics_(metrics) {}

  // Of what is added from now on. After a Flush: a bundle is of one format.
  void SetFormat(BusFormat format) { format_ = format; }

  // Sends the executor's bundle when this task fills it.
  void Add(const ExecutorCredits& credits, ExecutorCredits::Index executor, TaskMessage task,
           WallTime now);
  // Sends everything; returns the runs of bundles that were refused, of Add's as well.
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
