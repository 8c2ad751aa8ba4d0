// The executor's main loop: takes tasks, claims them, starts, renews, cancels and ends attempts.
//
// Place    Steps 7 to 9 of docs/life-of-a-run.md.
// Threads  One loop calls Step; Tune, Drain, drained, refusal and status are thread-safe.
// Time     Steady for leases and timeouts; wall for the times of in-process attempts.
// Errors   Nothing here is authoritative: a task dropped before its claim is published again, an
//          attempt lost after it ends with its lease.
// Always   An attempt is started at most once, only under an accepted claim, and no later than 3 s
//          before its lease ends.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "common/base/mutex.h"
#include "executor/agent/executor_daemon.h"
#include "executor/intake/cluster_time.h"
#include "executor/intake/task_intake.h"
#include "executor/link/member_sessions.h"
#include "executor/queue/local_queue.h"
#include "executor/report/log_sender.h"
#include "executor/report/result_sender.h"
#include "executor/runs/run_table.h"

namespace carillon::executor {

class ExecutorCore final : public Stepper {
 public:
  static constexpr size_t kQueueMax = 8192;                   // tasks waiting for a slot, per lane
  static constexpr size_t kQueueBytesMax = size_t{64} << 20;  // of the tasks in one lane's queue
  // Largest record that a broker accepts.
  static constexpr size_t kRecordBytesMax = size_t{1} << 20;
  static constexpr Duration kQueueWaitMax = 10s;
  static constexpr Duration kAskOther = 20ms;    // delay before a claim goes to another member
  static constexpr Duration kSlotPatience = 2s;  // after it, an unanswered claim frees its slot
  static constexpr Duration kStartAgain = 1s;
  // A warden that died has been restarted by then; one silent for longer is reported as trouble.
  static constexpr Duration kWardenPatience = 2s;
  static constexpr size_t kMessagesPerStep = 1024;
  static constexpr size_t kRecordsPerStep = 64;
  // Unapplied results; at the limit no process is claimed.
  static constexpr int kReportingMax = 8192;
  static constexpr size_t kReportingBytesMax = 64u << 20;

  ExecutorCore(const ExecutorDaemon::Ports& ports, const ExecutorOptions& options,
               ResultSender& sender, LogSender& logs);

  SteadyTime Step(SteadyTime now) override;

  void Drain() { draining_.store(true); }
  // Notifies every member that this process stops on purpose. Call it after the last Step.
  void Leave(SteadyTime now);
  void Tune(const ExecutorTuning& tuning) {
    slots_.store(tuning.slots);
    output_bytes_max_.store(tuning.output_bytes_max);
  }
  bool drained() const { return draining_.load() && idle_.load(); }
  std::string refusal() const;
  ExecutorDaemon::Status status() const;

 private:
  using Queue = LocalQueue<AttemptId>;

  // Resolved once, so that no Step looks a gauge up by name.
  struct Gauges {
    explicit Gauges(Metrics& metrics);

    Gauge& slots_used;
    Gauge& slots_free;
    Gauge& config_version;
    Gauge& queue_depth;
  };

  // executor_core.cc: recovery, queues, claims and heartbeats
  bool Recover(SteadyTime now);
  void TakeTasks(SteadyTime now);
  void Admit(TaskMessage task, SteadyTime now);
  void Enqueue(TaskMessage task, SteadyTime now);
  void DropExpired(SteadyTime now);
  bool Accepts(Lane lane);
  int FreeSlots(Lane lane) const;
  int RoomFor(const MemberId& member, Lane lane);
  bool RoomChanged();
  void WatchWarden(SteadyTime now);
  bool TellsRunning(const RunEntry& entry, SteadyTime now) const;
  void ClaimFree(SteadyTime now);
  void SendClaim(RunEntry& entry, SteadyTime now);
  void AskAgain(SteadyTime now);
  void GiveUp(RunEntry& entry);
  void Beat(SteadyTime now);
  void FillHeartbeat(const MemberId& member, SteadyTime now, Heartbeat* heartbeat);
  void PublishStatus();
  SteadyTime NextWake(SteadyTime now) const;
  Queue& QueueOf(Lane lane) { return queues_[static_cast<size_t>(lane)]; }

  // executor_core_events.cc: messages from members, events from the warden
  void TakeMessages(SteadyTime now);
  void LearnTime(const std::optional<WallTime>& told, SteadyTime now);
  void On(const MemberId& member, const Registered& message, SteadyTime now);
  void On(const MemberId& member, const HeartbeatReply& message, SteadyTime now);
  void On(const MemberId& member, const ClaimBatchReply& message, SteadyTime now);
  void On(const MemberId& member, const ResultsApplied& message, SteadyTime now);
  void On(const MemberId& member, const CancelAttempts& message, SteadyTime now);
  void On(const MemberId& member, const LogsStored& message, SteadyTime now);
  void Accept(RunEntry& entry, const ClaimBatchReply::Item& answer, SteadyTime lease_end,
              SteadyTime now);
  void Begin(RunEntry& entry, SteadyTime now);
  void StartDue(SteadyTime now);
  void LogTrace(const RunEntry& entry, std::string_view what) const;
  void EndUnstarted(RunEntry& entry);
  void FailUnstarted(RunEntry& entry, std::string_view reason, std::string error);
  bool StartOne(RunEntry& entry, SteadyTime now);
  void TakeWardenEvents();
  void DropPretender(const HeldAttempt& held);
  void AdoptRunning(const AttemptStarted& started);
  void AdoptEnded(AttemptEnded ended, ResultHome home);
  void Ended(RunEntry& entry, AttemptEnded ended, ResultHome home);
  void HandOver();
  void CheckLeases(SteadyTime now);

  const ExecutorDaemon::Ports& ports_;
  const ExecutorOptions& options_;
  ResultSender& sender_;
  LogSender& logs_;
  const Gauges gauges_;
  TaskIntake intake_;
  ClusterTime cluster_time_;
  MemberSessions sessions_;
  RunTable runs_;
  Queue queues_[2] = {Queue({.capacity = kQueueMax, .bytes_max = kQueueBytesMax}),
                      Queue({.capacity = kQueueMax, .bytes_max = kQueueBytesMax})};
  // Unanswered claims; an answer carries only the token.
  std::map<ClaimToken, AttemptId> claims_;
  std::deque<AttemptId> starting_;         // passed to the warden, not confirmed yet
  std::vector<ReportedResult> to_sender_;  // ended in this Step, or refused by the full queue
  Duration lease_ = 20s;                   // as granted by the members
  bool spool_loaded_ = false;
  bool warden_listed_ = false;
  bool more_ = false;
  // Whether each lane accepted work, as sent with the last heartbeat that reported a change.
  bool told_accepting_[2] = {};
  // Why no process can be started; empty if one can, or if the warden has been away only briefly.
  std::string trouble_;
  // Whether the members know of trouble_.
  bool told_trouble_ = false;
  // Whether the wrong clock of this host has been reported.
  bool told_clock_ = false;
  std::optional<SteadyTime> warden_seen_;
  SteadyTime next_ask_{};
  SteadyTime next_change_beat_{};
  SteadyTime next_sample_{};
  ExecutorLoad load_;
  std::optional<int64_t> tasks_behind_;
  std::atomic<int> slots_;
  std::atomic<size_t> output_bytes_max_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> idle_{false};
  mutable Mutex mu_;
  ExecutorDaemon::Status status_ GUARDED_BY(mu_);
  std::string refusal_ GUARDED_BY(mu_);
};

}  // namespace carillon::executor
