// The executor's main loop: connects its components, and runs them in a fixed order in each step.
//
// Place    Steps 7 to 9 of docs/life-of-a-run.md.
// Threads  One loop calls Step; Tune, Drain, drained, refusal and status are thread-safe.
// Time     Steady for leases and timeouts; wall for the times of in-process attempts.
// Errors   Nothing here is authoritative. If a task is dropped before its claim, its owner
//          publishes it again. If an attempt is lost after its claim, it ends with its lease.
// Always   An attempt is started at most once, only under an accepted claim, and no later than 3 s
//          before its lease ends.
#pragma once

#include <functional>
#include <string>

#include "executor/agent/attempt_hosts.h"
#include "executor/agent/attempt_runner.h"
#include "executor/agent/claim_gate.h"
#include "executor/agent/executor_daemon.h"
#include "executor/agent/heartbeat_sender.h"
#include "executor/agent/lane_queues.h"
#include "executor/agent/open_claims.h"
#include "executor/agent/status_board.h"
#include "executor/agent/task_admission.h"
#include "executor/agent/warden_watch.h"
#include "executor/checkpoints/checkpoint_sender.h"
#include "executor/link/member_sessions.h"
#include "executor/report/log_sender.h"
#include "executor/report/result_sender.h"
#include "executor/runs/run_table.h"

namespace carillon::executor {

class ExecutorCore final : public Stepper {
 public:
  static constexpr size_t kMessagesPerStep = 1024;

  ExecutorCore(const ExecutorDaemon::Ports& ports, const ExecutorOptions& options,
               ResultSender& sender, LogSender& logs, CheckpointSender& saver);

  SteadyTime Step(SteadyTime now) override;
  // `wake` is called when a port has something for Step.
  void OnReadable(const std::function<void()>& wake);

  void Drain() { gate_.Drain(); }
  // Notifies every member that this process stops on purpose. Call it after the last Step.
  void Leave(SteadyTime now);
  void Tune(const ExecutorTuning& tuning);
  bool drained() const { return gate_.draining() && board_.idle(); }
  std::string refusal() const { return board_.refusal(); }
  ExecutorDaemon::Status status() const { return board_.status(); }

 private:
  bool Recover();
  void TakeMessages(SteadyTime now);
  void On(const MemberId& member, const Registered& message, SteadyTime now);
  void On(const MemberId& member, const HeartbeatReply& message, SteadyTime now);
  void On(const MemberId& member, const ClaimBatchReply& message, SteadyTime now);
  void On(const MemberId& member, const ResultsApplied& message, SteadyTime now);
  void On(const MemberId& member, const CancelAttempts& message, SteadyTime now);
  void On(const MemberId& member, const LogsStored& message, SteadyTime now);
  void On(const MemberId& member, const CarriedRecord& message, SteadyTime now);
  void On(const MemberId& member, const SaveAnswer& message, SteadyTime now);
  void TakeEvents(Runner runner);
  void Adopt(const AttemptStarted& started, Runner runner);
  void Adopt(AttemptEnded ended, Runner runner, ResultHome home);
  void DropOtherClaim(const HeldAttempt& held);
  void PublishStatus();
  SteadyTime NextWake(SteadyTime now) const;

  const ExecutorDaemon::Ports& ports_;
  const AttemptHosts hosts_;
  LogSender& logs_;
  CheckpointSender& saver_;
  MemberSessions sessions_;
  RunTable runs_;
  LaneQueues queues_;
  AttemptRunner runner_;
  ClaimGate gate_;
  OpenClaims claims_;
  TaskAdmission admission_;
  WardenWatch warden_;
  HeartbeatSender heartbeats_;
  StatusBoard board_;
  std::shared_ptr<const HostPrograms> programs_;  // those of which the members were told
  bool spool_loaded_ = false;
  bool warden_listed_ = false;
  bool more_ = false;
  Duration may_wait_{};  // as the link was told
};

}  // namespace carillon::executor
