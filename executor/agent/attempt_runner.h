// Runs the attempts whose claims were accepted: starts, renews, cancels and ends them, and hands
// their results to the sender.
//
// Place    Steps 8 and 9 of docs/life-of-a-run.md; under ExecutorCore.
// Threads  The core loop; SetOutputMax is thread-safe.
// Time     Steady for leases; wall for the times of in-process attempts.
// Errors   A start that the warden did not take is passed to the warden again. The owner repeats a
//          cancellation. An attempt that is lost later ends with its lease.
// Always   No attempt is started later than 3 s before its lease ends. Only the warden ends an
//          attempt that was passed to it.
#pragma once

#include <atomic>
#include <deque>
#include <string>
#include <vector>

#include "executor/agent/attempt_hosts.h"
#include "executor/agent/executor_daemon.h"
#include "executor/checkpoints/checkpoint_sender.h"
#include "executor/report/result_sender.h"
#include "executor/runs/run_table.h"
#include "executor/tasks/start_orders.h"

namespace carillon::executor {

class AttemptRunner {
 public:
  static constexpr Duration kStartAgain = 1s;

  struct Rooms {
    const AttemptHosts& hosts;
    RunTable& runs;
    ResultSender& sender;
    CheckpointSender& saver;
  };
  AttemptRunner(const ExecutorDaemon::Ports& ports, const ExecutorOptions& options, Rooms rooms)
      : ports_(ports),
        options_(options),
        rooms_(rooms),
        output_bytes_max_(options.tuning.output_bytes_max) {}

  // Applies to attempts that are started after the call.
  void SetOutputMax(size_t bytes) { output_bytes_max_.store(bytes); }

  // ---- after an accepted claim; `entry` is in kStarting
  void Begin(RunEntry& entry, SteadyTime now);
  void EndUnstarted(RunEntry& entry);
  void FailUnstarted(RunEntry& entry, std::string_view reason, std::string error);
  void RefuseUnreadable(RunEntry& entry);
  // Passes starts to the warden again until it confirms them.
  void StartDue(SteadyTime now);

  // ---- messages of members
  void Renew(const MemberId& member, const HeartbeatReply& reply, SteadyTime now);
  void Cancel(const CancelAttempts& message);
  void Applied(const ResultsApplied& message);

  // ---- events of the hosts, also of attempts that an earlier daemon started
  void Started(const AttemptStarted& started, Runner runner);
  void Save(AttemptContent save);
  void SetSilent(const AttemptSilent& event);
  void Ended(AttemptEnded ended, Runner runner, ResultHome home);

  // Passes the results of this Step to the sender in one call, so that the sender is woken only
  // once. Results that do not fit into the sender's queue stay here. Nothing is claimed while
  // results stay here.
  void HandOver() { rooms_.saver.Report(to_sender_); }
  bool handed_over() const { return to_sender_.empty(); }
  // True if a start or a handover must be tried again soon.
  bool waiting() const { return !starting_.empty() || !to_sender_.empty(); }
  // Does nothing unless the failpoint lease.daemon_checks moves this check from the warden to the
  // daemon. The failpoint shows why the warden must enforce leases: a stopped daemon
  // checks nothing.
  void CheckLeases(SteadyTime now);

 private:
  bool StartOne(RunEntry& entry, SteadyTime now);
  Result<StartAttempt> OrderOf(const RunEntry& entry, const FilledSecrets& secrets) const;
  void StartRequest(RunEntry& entry);
  void StartFunction(RunEntry& entry);
  void SetRunning(RunEntry& entry);
  void FailSecrets(RunEntry& entry, const Error& error);
  RunEntry& Adopt(const HeldAttempt& held, Runner runner, const std::string& handler = {});
  void EndHere(RunEntry& entry, AttemptResult result);
  void End(RunEntry& entry, AttemptEnded ended, ResultHome home);
  void LogTrace(const RunEntry& entry, std::string_view what) const;

  const ExecutorDaemon::Ports& ports_;
  const ExecutorOptions& options_;
  const Rooms rooms_;
  std::deque<AttemptId> starting_;         // passed to the warden, not confirmed yet
  std::vector<ReportedResult> to_sender_;  // ended in this Step, or did not fit into the queue
  std::atomic<size_t> output_bytes_max_;
};

}  // namespace carillon::executor
