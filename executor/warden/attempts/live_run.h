// One attempt that the warden runs: its keeper, pipes and deadlines, and how it is ended.
//
// Place    Step 8 of docs/life-of-a-run.md.
// Threads  The warden's loop.
// Time     Never reads a clock; the server passes both times.
// Owns     The read ends of three pipes and the keeper's process id until KeeperExited().
// Always   A keeper reports the end only when no other process of the attempt lives.
#pragma once

#include <sys/types.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/charset.h"
#include "common/base/file_descriptor.h"
#include "common/ports/executor_host.h"
#include "executor/output/attempt_log.h"
#include "executor/output/output_tail.h"
#include "executor/output/secret_masker.h"
#include "executor/warden/container/container_removal.h"
#include "executor/warden/process/keeper.h"

namespace carillon::executor {

class LiveRun {
 public:
  using Now = AttemptLog::Now;

  LiveRun(StartAttempt start, std::shared_ptr<AttemptLog> log);

  // The files of the attempt, with absolute paths.
  struct Files {
    WorkDirectory::Place directory;
    std::string outputs;
    std::string script;  // without the suffix of its interpreter; of a container: its record
    std::string warden_id = {};       // of a container
    std::string user_directory = {};  // of an attempt of another user: holds all of them
    std::string cgroup = {};          // for an attempt that needs one; empty: this host has none
    OutputReader read_outputs = &ReadOutputFile;
  };
  struct Host {
    rlimit open_files;
    Features features;  // of isolation
  };
  // Forks the keeper. After an error nothing was started.
  Status Spawn(const Files& files, const Host& host, Now now);

  // ---- events of epoll and waitpid
  // Reads one packet of a stream (more if the pipe was enlarged or its writers are gone). Returns
  // true if more may be readable although epoll reports no new event.
  bool ReadOutput(OutputStream stream, bool writers_gone, Now now);
  void ReadReport(SteadyTime now);
  // Call it when the keeper has exited. A keeper that did not report an end was killed.
  void KeeperExited(SteadyTime now);

  // ---- end of the attempt
  // Ends the attempt, unless its end is reported but not yet read:
  // - with grace: SIGTERM now, and SIGKILL to the tree after kill_grace;
  // - without grace: SIGKILL now.
  // The first reason is kept. A later call without grace only cuts a running grace short.
  enum class Grace { kGiven, kNone };
  void End(RunState state, std::string_view reason, Grace grace, SteadyTime now);
  // Acts on what is due: timeout, lease, end of the grace, a keeper that does not react, outputs
  // that do not come.
  void Tick(SteadyTime now);
  // The time at which Tick next has something to do.
  SteadyTime NextTick() const;
  void Renew(SteadyTime lease_end);
  // Adds a line by Carillon to the log.
  void Note(const std::string& text, Now now) { log_->Note(text, now); }

  // Returns true once, after the command has begun; then its start may be reported.
  bool TakeStarted();
  // The end is known, and nothing that can come later changes it. If the keeper was killed, call
  // Finish only when no process of the tree is left; of a container, when that is gone.
  bool finished() const { return over() && !waits_for_outputs(); }
  AttemptEnded Finish(Now now);

  const StartAttempt& start() const { return start_; }
  WallTime started() const { return started_wall_; }
  pid_t keeper() const { return keeper_; }
  bool keeper_killed() const { return keeper_killed_; }
  const std::string& cgroup() const { return cgroup_; }  // empty: none
  // It had a container, of which something may be left.
  bool needs_removal() const { return container_ && !spawn_failure_ && !container_gone_; }
  bool in_container() const { return container_.has_value(); }
  ContainerToRemove Removal() const;
  // Nothing is left of its container. `end`: as the removal found it.
  void ContainerGone(std::optional<ContainerEnd> end);
  // The path of the script; empty: none.
  const std::string& script_file() const { return script_file_; }
  // The keeper does not remove the files of the attempt.
  bool left_files() const { return !spawn_failure_ && (container_ || (keeper_ < 0 && !outputs_)); }
  int fd(OutputStream stream) const { return pipes_[static_cast<size_t>(stream)].get(); }
  int report_fd() const { return report_.get(); }

 private:
  struct Ending {
    RunState state = RunState::kLost;
    std::string reason;
    SteadyTime kill_at;  // time of the SIGKILL to the tree
    bool killing = false;
    // A user asked for a kill, without grace or during the grace.
    bool kill_requested = false;
    // If the keeper has not reacted at this time, the warden kills the tree itself.
    SteadyTime next_push;
  };

  // The keeper has reported the end of the tree, or was killed.
  bool over() const { return spawn_failure_ || wait_status_ || keeper_killed_; }
  bool waits_for_outputs() const;

  void OpenDecoders(Now now);
  void Keep(OutputStream stream, std::string_view bytes, Now now);
  void KeepBytes(OutputStream stream, std::string_view bytes, Now now);
  void KeepText(OutputStream stream, std::string_view text, Now now);
  void KeepMasked(OutputStream stream, std::string_view bytes, Now now);
  void Kill(SteadyTime now);
  void TakeReport(const ShimReport& report, std::string_view text, SteadyTime now);
  void AddOutputs(AttemptResult& result) const;
  AttemptResult ExitResult() const;
  AttemptResult EndedByWarden() const;
  AttemptResult ResultNow() const;

  StartAttempt start_;
  OutputTail output_;
  std::shared_ptr<const SecretPatterns> patterns_;  // null without secrets
  std::string program_;
  std::string script_file_;
  std::string cgroup_;
  std::vector<std::string> limits_not_enforced_;
  // Before the decoder: the process has its secrets in UTF-8 and may write them so.
  std::array<std::optional<SecretMasker>, 2> raw_maskers_;  // unset without secrets or decoder
  std::array<std::optional<CharsetDecoder>, 2> decoders_;   // unset for UTF-8
  std::array<std::optional<SecretMasker>, 2> maskers_;      // unset without secrets
  const std::shared_ptr<AttemptLog> log_;
  FileDescriptor pipes_[2];
  FileDescriptor report_;
  bool grown_[2] = {false, false};
  size_t bytes_read_[2] = {0, 0};
  pid_t keeper_ = -1;
  WallTime started_wall_{};
  SteadyTime deadline_;
  bool started_report_ = false;
  bool start_reported_ = false;
  std::string reported_;  // bytes of the report pipe that are not a whole record yet
  std::optional<ShimReport> spawn_failure_;
  std::optional<ResourceUsage> usage_;  // unset if the keeper was killed
  std::optional<OutputFile> outputs_;
  bool oom_ = false;
  std::optional<ContainerToRemove> container_;
  bool container_gone_ = false;
  std::optional<ContainerEnd> container_end_;  // the first that was told
  // The last line of the log: what the command has left running; or what somebody asked for after
  // the processes of a container had ended.
  std::string noted_;
  std::optional<int> wait_status_;
  SteadyTime outputs_due_{};  // set with wait_status_
  bool outputs_overdue_ = false;
  bool keeper_killed_ = false;
  std::optional<Ending> ending_;
};

}  // namespace carillon::executor
