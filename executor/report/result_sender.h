// Makes results durable, publishes them, and repeats each until the database has it.
//
// Place    Step 9 of docs/life-of-a-run.md.
// Threads  One loop calls Step; Report, Applied, SetFormat and blocked are thread-safe.
// Errors   A result that cannot be written to disk, or that the bus refuses, waits in memory and is
//          retried; meanwhile blocked() tells the core loop to claim nothing.
// Always   A result is published only after it is on disk. It leaves the disk only after the owner
//          confirmed that the database has it (P6).
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/clock.h"
#include "common/base/loops/bounded_queue.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/executor_host.h"
#include "common/ports/message_bus.h"
#include "common/wire/messages/task_codec.h"
#include "executor/runs/run_table.h"

namespace carillon::executor {

// The place where a result is stored when the sender receives it.
enum class ResultHome {
  kMemory,  // result of an in-process attempt: the sender spools it first
  kSpool,
  kWarden,
};

// A result that must be published until it is applied.
struct ReportedResult {
  AttemptEnded ended;
  ResultHome home = ResultHome::kMemory;
  bool saves = false;  // its attempt may have left progress or a checkpoint
};

class ResultSender final : public Stepper {
 public:
  struct Ports {
    ResultSpool& spool;
    Warden& warden;
    BusProducer& producer;
    Metrics& metrics;
  };
  // The waits for the confirmation of a result that was sent once, twice, and three or more times.
  // They grow because repetitions only fill the topic while the database is unavailable.
  static constexpr std::array<Duration, 3> kResendAfter{5s, 10s, 20s};
  static constexpr Duration kRetryAfter = 100ms;
  // The least time between two rounds of writing the spool and publishing, so that one round has
  // more results. Unlike a start, a result may wait.
  static constexpr Duration kGap = 25ms;
  static constexpr size_t kResultsPerStep = 2048;
  static constexpr size_t kBundleBytesMax = 512u << 10;

  ResultSender(Ports ports, ExecutorId executor, size_t queue_max,
               BusFormat format = BusFormat::kBinary)
      : ports_(ports),
        executor_(std::move(executor)),
        partition_key_(StableHash(executor_.value())),
        format_(format),
        spool_entries_(ports_.metrics.gauge("carillon_spool_entries")),
        reported_("results", queue_max),
        applied_("applied results", queue_max) {}

  // Both move as many items as fit into the queue, from the front; the caller keeps
  // the other items.
  void Report(std::vector<ReportedResult>& results) { reported_.PushFrom(results); }
  void Applied(std::vector<HeldAttempt>& attempts) { applied_.PushFrom(attempts); }
  void OnWork(const std::function<void()>& wake) {
    reported_.OnPush(wake, kResultsPerStep);
    applied_.OnPush(wake, kResultsPerStep);
  }

  SteadyTime Step(SteadyTime now) override;

  // Applies to records that are published after the call.
  void SetFormat(BusFormat format) { format_ = format; }
  bool blocked() const { return blocked_.load(std::memory_order_relaxed); }

 private:
  struct Unapplied {
    ReportedResult result;
    SteadyTime sent{};
    size_t patience = 0;  // index in kResendAfter; used after the next sending
  };

  void TakeReported();
  bool Save();
  void DropApplied();
  void TakeUnanswered(SteadyTime now);
  SteadyTime NextResend(SteadyTime now) const;
  bool Publish(SteadyTime now);
  bool SendBundle(const std::vector<AttemptId>& keys, BusFormat format, SteadyTime now);
  ResultMessage MessageOf(const AttemptEnded& ended) const;

  const Ports ports_;
  const ExecutorId executor_;
  const uint64_t partition_key_;  // spreads the executors over the partitions
  std::atomic<BusFormat> format_;
  Gauge& spool_entries_;
  BoundedQueue<ReportedResult> reported_;
  BoundedQueue<HeldAttempt> applied_;
  std::deque<AttemptEnded> unsaved_;
  std::unordered_map<AttemptId, Unapplied, AttemptIdHash> unapplied_;
  std::deque<AttemptId> to_send_;
  // Sent results by the index of their wait, each queue ordered by the time of sending.
  std::array<std::deque<std::pair<SteadyTime, AttemptId>>, kResendAfter.size()> resend_;
  std::vector<HeldAttempt> forget_spool_;
  std::vector<HeldAttempt> forget_warden_;
  SteadyTime next_{};  // work in the queues waits until this time
  std::atomic<bool> blocked_{false};
};

}  // namespace carillon::executor
