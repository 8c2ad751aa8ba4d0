// Takes pieces of logs off the bus into the store and says so to the executors.
//
// Place    Beside step 9 of docs/life-of-a-run.md; nothing that fires waits for it.
// Threads  One loop calls Step.
// Errors   Store away: the pieces are held and tried again; the bus is not read meanwhile. What the
//          store refuses is bisected, and what it refuses alone is left out, counted and said.
// Always   "Stored" is said after the store's commit. Pieces of segments that the assignment gives
//          to another member are left to it: executors send again until somebody answers.
#pragma once

#include <functional>
#include <vector>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/loop.h"
#include "common/base/metrics.h"
#include "common/base/rng.h"
#include "common/ports/log_store.h"
#include "common/ports/message_bus.h"
#include "common/wire/log_codec.h"
#include "scheduler/liveness/executor_table.h"

namespace carillon::scheduler {

class LogKeeper final : public Stepper {
 public:
  struct Ports {
    const Clock& clock;
    LogStore& store;
    BusConsumer& logs;
    const ExecutorTable& executors;
    ExecutorHub& hub;
    Metrics& metrics;
  };
  struct Options {
    std::function<bool(SegmentId)> wants = [](SegmentId) { return false; };
    uint64_t seed = 1;
  };
  static constexpr size_t kRecordsPerStep = 64;

  LogKeeper(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;

 private:
  // True when the bus may have more at once.
  bool Receive();
  // False: the store did not answer.
  bool Write(std::vector<LogMessage> messages);
  void Acknowledge(const std::vector<LogMessage>& messages);

  const Ports ports_;
  const Options options_;
  Rng rng_;
  Backoff backoff_;
  std::vector<ReceivedRecord> received_;  // positions to commit with `open_`
  std::vector<LogMessage> open_;
  SteadyTime retry_at_{};
};

}  // namespace carillon::scheduler
