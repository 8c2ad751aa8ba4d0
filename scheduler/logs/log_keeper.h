// Takes pieces of logs off the bus into the store and says so to the executors.
//
// Place    Beside step 9 of docs/life-of-a-run.md; nothing that fires waits for it.
// Threads  One loop calls Step.
// Errors   Store away or broken as a whole: the pieces are held and tried again; the bus is not
//          read meanwhile. What the store refuses is bisected; in place of a piece that it refuses
//          alone it gets one that says so. One in whose place it takes nothing either is left to
//          its executor, which sends it again, once others were stored; until then it is held.
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
  // Knowledge of the store that a Step has gained so far.
  struct Round {
    bool took_some = false;  // so that a refusal is about its piece
    bool stopped = false;    // no further call makes sense now
    std::vector<LogMessage> refused;
  };
  Status Append(const std::vector<LogMessage>& messages);
  // False: the store takes nothing now; what was not stored is open again.
  bool WriteOpen();
  void Write(std::vector<LogMessage> messages, Round* round);
  void WriteNotice(LogMessage message, const Error& error, Round* round);
  void Reopen(std::vector<LogMessage> messages);
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
