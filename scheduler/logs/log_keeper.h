// Stores pieces of logs from the bus and acknowledges them to the executors.
//
// Place    Beside step 9 of docs/life-of-a-run.md; no fire waits for it.
// Threads  One loop calls Step.
// Errors   Store unavailable or broken as a whole: the pieces are held and retried, and the bus is
//          not read meanwhile. A batch that the store refuses is bisected. If the store refuses a
//          piece in a batch of one, the piece is replaced by a line in the log that says so. If the
//          store refuses that line too, the piece is held until the store accepts other pieces, and
//          then dropped. Its executor sends the piece again.
// Always   A piece is acknowledged only after the store's commit. Pieces of segments that are
//          assigned to another member are left to that member. Executors repeat a piece until some
//          member acknowledges it.
#pragma once

#include <span>
#include <vector>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/base/rng.h"
#include "common/ports/message_bus.h"
#include "common/ports/store/log_store.h"
#include "common/wire/messages/log_codec.h"
#include "scheduler/assign/assigned_segments.h"
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
    const AssignedSegments& assigned;
  };
  struct Options {
    uint64_t seed = 1;
  };
  static constexpr size_t kRecordsPerStep = 64;

  LogKeeper(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;

 private:
  // Returns true if the bus may have more records now.
  bool Receive();
  // The outcomes of the store calls of one Step so far.
  struct Round {
    bool took_some = false;  // the store accepted a piece, so a refusal concerns only that piece
    bool stopped = false;    // do not call the store again in this Step
    std::vector<LogMessage> refused;
  };
  Status Append(std::span<const LogMessage> messages);
  Status DropForeign();
  // Returns false if some pieces could not be stored. These pieces are kept in `open_`.
  bool WriteOpen();
  void Write(std::span<LogMessage> messages, Round* round);
  void WriteNotice(LogMessage message, const Error& error, Round* round);
  void Reopen(std::span<LogMessage> messages);  // moves from them
  void Acknowledge(std::span<const LogMessage> messages);

  const Ports ports_;
  const Options options_;
  Rng rng_;
  Backoff backoff_;
  std::vector<ReceivedRecord> received_;  // their positions are committed with `open_`
  std::vector<LogMessage> open_;
  SteadyTime retry_at_{};
};

}  // namespace carillon::scheduler
