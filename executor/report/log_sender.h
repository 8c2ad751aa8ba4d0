// Publishes pieces of logs, and publishes them again until the database has them.
//
// Place    Between the warden, which keeps each piece until it is confirmed, and the bus.
// Threads  One loop calls Step; Add and Stored are thread-safe.
// Owns     What was added and not stored; the warden bounds it (LogRelay).
// Errors   A record that the bus refuses is tried again; nothing else waits for logs.
// Always   The pieces of an attempt are published in their order; they may arrive in another one
//          when a record is lost and sent again.
#pragma once

#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "common/base/loop.h"
#include "common/base/metrics.h"
#include "common/base/mutex.h"
#include "common/ports/executor_host.h"
#include "common/ports/message_bus.h"
#include "common/wire/log_codec.h"

namespace carillon::executor {

class LogSender final : public Stepper {
 public:
  struct Ports {
    Warden& warden;
    BusProducer& producer;
    Metrics& metrics;
  };
  // A piece nobody spoke for; doubled each time up to the longest: a scheduler that is older than
  // this never speaks.
  static constexpr Duration kResendFirst = 5s;
  static constexpr Duration kResendLongest = 60s;
  static constexpr Duration kRetryAfter = 100ms;
  static constexpr size_t kRecordBytesMax = 512u << 10;

  LogSender(Ports ports, ExecutorId executor)
      : ports_(ports),
        executor_(std::move(executor)),
        partition_key_(StableHash(executor_.value())) {}

  void Add(AttemptOutput output);
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
  // False: the bus refused; the rest waits.
  bool SendDue(SteadyTime now);
  bool SendRecord(const std::vector<Name>& names, SteadyTime now);

  const Ports ports_;
  const ExecutorId executor_;
  const uint64_t partition_key_;
  mutable Mutex mu_;
  std::function<void()> wake_ GUARDED_BY(mu_);
  std::vector<AttemptOutput> added_ GUARDED_BY(mu_);
  std::vector<StoredOutput> stored_ GUARDED_BY(mu_);
  // The loop's own.
  std::map<Name, Unstored> unstored_;
  std::vector<StoredOutput> to_confirm_;
};

}  // namespace carillon::executor
