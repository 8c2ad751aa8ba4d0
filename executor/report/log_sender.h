// Publishes chunks of logs, and repeats each until the database has it.
//
// Place    Between the warden, which keeps each chunk until it is confirmed, and the bus.
// Threads  One loop calls Step; Add and Stored are thread-safe.
// Owns     Chunks that were added and not stored yet; the warden bounds them (LogRelay).
// Errors   A record that the bus refuses is retried; nothing else waits for logs.
// Always   The chunks of an attempt are published in order; they may arrive out of order when a
//          record is lost and sent again.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/base/mutex.h"
#include "common/ports/executor_host.h"
#include "common/ports/message_bus.h"
#include "common/wire/messages/log_codec.h"

namespace carillon::executor {

class LogSender final : public Stepper {
 public:
  struct Ports {
    Warden& warden;
    BusProducer& producer;
    Metrics& metrics;
  };
  // How long to wait for the confirmation of a chunk. The wait doubles after each sending, up to
  // kResendLongest, because a scheduler of an older version never confirms.
  static constexpr Duration kResendFirst = 5s;
  static constexpr Duration kResendLongest = 60s;
  static constexpr Duration kRetryAfter = 100ms;
  static constexpr size_t kRecordBytesMax = 512u << 10;
  static constexpr size_t kUnboundBytesMax = 32u << 20;

  LogSender(Ports ports, ExecutorId executor)
      : ports_(ports),
        executor_(std::move(executor)),
        partition_key_(StableHash(executor_.value())) {}

  void Add(AttemptOutput output);
  // For a log that nothing else keeps or bounds: it is dropped and counted while
  // kUnboundBytesMax wait.
  void AddIfRoom(AttemptOutput output);
  void Stored(const std::vector<StoredOutput>& stored);
  void OnWork(std::function<void()> wake);

  SteadyTime Step(SteadyTime now) override;

 private:
  using Name = std::tuple<RunKey, int, uint64_t>;  // run, attempt, first seq
  struct Unstored {
    LogMessage message;
    Duration patience = kResendFirst;
    SteadyTime again{};
  };

  void TakeAdded();
  void DropStored();
  // Returns false if the bus refused a record; the remaining chunks wait.
  bool SendDue(SteadyTime now);
  bool SendRecord(const std::vector<Name>& names, SteadyTime now);

  const Ports ports_;
  const ExecutorId executor_;
  const uint64_t partition_key_;
  mutable Mutex mu_;
  std::function<void()> wake_ GUARDED_BY(mu_);
  std::vector<AttemptOutput> added_ GUARDED_BY(mu_);
  std::vector<StoredOutput> stored_ GUARDED_BY(mu_);
  // Used by the loop only.
  std::map<Name, Unstored> unstored_;
  std::vector<StoredOutput> to_confirm_;
  std::atomic<size_t> waiting_bytes_{0};  // of all chunks that are not stored
};

}  // namespace carillon::executor
