// One attempt that the warden runs: its keeper, its
// pipes, its deadlines, how it is brought to an end.
//
// Place    Step 8 of docs/life-of-a-run.md.
// Threads  The warden's only one.
// Time     Never reads a clock; the server passes both times.
// Owns     The read ends of three pipes and the keeper's process id until Reaped().
// Always   Finished() only when no process of the attempt lives.
#pragma once

#include <sys/types.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/ports/executor_host.h"
#include "executor/journal/file_descriptor.h"
#include "executor/output/attempt_log.h"
#include "executor/output/output_tail.h"
#include "executor/output/secret_masker.h"
#include "executor/warden/keeper.h"

namespace carillon::executor {

class LiveRun {
 public:
  using Now = AttemptLog::Now;

  LiveRun(StartAttempt start, std::shared_ptr<AttemptLog> log);

  // Forks the keeper. An error means that nothing was started.
  Status Spawn(const WorkDirectory::Place& directory, const rlimit& open_files, Now now);

  // ---- what epoll and waitpid said
  // One packet of a stream (more when the pipe has grown or its writers are gone). True when there
  // may be more to read without another edge.
  bool ReadOutput(OutputStream stream, bool writers_gone, Now now);
  void ReadReport();
  // The keeper is gone; without an end in its report somebody killed it.
  void KeeperExited();

  // ---- ending it
  // The first reason wins; without grace it ends one that is being given. With grace: SIGTERM now,
  // SIGKILL to the tree after kill_grace.
  enum class Grace { kGiven, kNone };
  void End(RunState state, std::string_view reason, Grace grace, SteadyTime now);
  // Acts on what is due: timeout, lease, end of the grace, a keeper that does not answer.
  void Tick(SteadyTime now);
  // When Tick next has something to do.
  SteadyTime NextTick() const;
  void Renew(SteadyTime lease_end);

  // True once: the command acts, its start may be told.
  bool TakeStarted();
  // The tree is dead and the output complete.
  bool finished() const { return ended_report_ || keeper_killed_; }
  AttemptEnded Finish(Now now);

  const StartAttempt& start() const { return start_; }
  WallTime started() const { return started_wall_; }
  pid_t keeper() const { return keeper_; }
  bool keeper_killed() const { return keeper_killed_; }
  int fd(OutputStream stream) const { return pipes_[static_cast<size_t>(stream)].get(); }
  int report_fd() const { return report_.get(); }

 private:
  struct Ending {
    RunState state = RunState::kLost;
    std::string reason;
    SteadyTime kill_at;  // SIGKILL to the tree
    bool killing = false;
    bool kill_requested = false;  // by a person, who gave it no grace or no more of it
    SteadyTime next_push;         // the keeper did not answer: the warden kills by itself
  };

  void Keep(OutputStream stream, std::string_view bytes, Now now);
  void KeepMasked(OutputStream stream, std::string_view bytes, Now now);
  void Kill(SteadyTime now);
  AttemptResult ExitResult() const;
  AttemptResult EndedByWarden() const;

  StartAttempt start_;
  OutputTail output_;
  std::array<std::optional<SecretMasker>, 2> maskers_;  // none without secrets
  const std::shared_ptr<AttemptLog> log_;
  FileDescriptor pipes_[2];
  FileDescriptor report_;
  bool grown_[2] = {false, false};
  size_t bytes_read_[2] = {0, 0};
  pid_t keeper_ = -1;
  WallTime started_wall_{};
  SteadyTime deadline_;
  bool started_report_ = false;
  bool started_told_ = false;
  std::optional<ShimReport> spawn_failure_;
  std::optional<int> wait_status_;
  bool ended_report_ = false;
  bool keeper_killed_ = false;
  std::optional<Ending> ending_;
};

}  // namespace carillon::executor
