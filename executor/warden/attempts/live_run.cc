#include "executor/warden/attempts/live_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "common/domain/results/exit_code.h"
#include "executor/leases/lease_watch.h"
#include "executor/output/attempt_outputs.h"
#include "executor/warden/container/container_start.h"
#include "executor/warden/process/host_isolation.h"
#include "executor/warden/process/process_tree.h"
#include "executor/warden/process/spawn_fault.h"

namespace carillon::executor {
namespace {

// The size of an output pipe at first: one page, so that each stream holds at most one unread
// packet and epoll reports the two streams in the order of their writes. The pipe of a verbose
// stream is enlarged.
constexpr int kOrderedPipeBytes = 4096;
constexpr int kGrownPipeBytes = 65536;
constexpr size_t kOrderedBytesMax = 64u << 10;
constexpr size_t kOutputReadBytes = 65536;
constexpr int kReadsPerTurnMax = 8;
// A keeper reacts to a kill within one of its waits; after this long the warden kills the
// tree itself.
constexpr Duration kKeeperAnswers = 500ms;
constexpr Duration kPushEvery = 50ms;
// A run waits this long for its file of outputs after its process has ended; then its disk hangs.
constexpr Duration kOutputsWithin = 5s;

struct PipePair {
  FileDescriptor read;
  FileDescriptor write;
};

Result<PipePair> MakePipe(int flags) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC | flags) != 0) {
    return {ErrorCode::kExhausted, fmt::format("pipe: {}", std::strerror(errno))};
  }
  PipePair made{FileDescriptor(fds[0]), FileDescriptor(fds[1])};
  fcntl(made.read.get(), F_SETFL, O_NONBLOCK | (flags & O_DIRECT));
  return made;
}

// Makes a pipe in packet mode with a single slot, where the kernel supports that; else an ordinary
// one. Sets `grown` if the pipe holds more than one page.
Result<PipePair> MakeOutputPipe(bool* grown) {
  Result<PipePair> made = MakePipe(O_DIRECT);
  if (!made.ok()) made = MakePipe(0);
  if (made.ok()) *grown = fcntl(made->read.get(), F_SETPIPE_SZ, kOrderedPipeBytes) < 0;
  return made;
}

std::string SpawnStepText(SpawnStep step, const std::string& program,
                          const std::string& directory) {
  switch (step) {
    case SpawnStep::kDirectory: return "create its working directory";
    case SpawnStep::kFork: return "fork";
    case SpawnStep::kExec: return "exec " + program;
    case SpawnStep::kScript: return "write its script";
    case SpawnStep::kLimits: return "set its limits";
    case SpawnStep::kUser: return "become its user";
    case SpawnStep::kCgroup: return "use a control group";
    case SpawnStep::kEnter: return "enter its working directory";
    case SpawnStep::kEnterOfJob: return "enter its working directory " + directory;
    case SpawnStep::kNone: break;
  }
  return "start";
}

}  // namespace

LiveRun::LiveRun(StartAttempt start, std::shared_ptr<AttemptLog> log)
    : start_(std::move(start)), output_(start_.output_bytes_max), log_(std::move(log)) {
  if (start_.masked.empty()) return;
  patterns_ = std::make_shared<const SecretPatterns>(start_.masked);
  for (auto& masker : maskers_) masker.emplace(patterns_);
}

Status LiveRun::Spawn(const Files& files, const Host& host, Now now) {
  const bool in_container = start_.container.has_value();
  // The engine enforces the limits of a container.
  if (!in_container) CARILLON_TRY(CheckIsolation(start_, host.features));
  CARILLON_ASSIGN_OR_RETURN(PipePair out, MakeOutputPipe(&grown_[0]));
  CARILLON_ASSIGN_OR_RETURN(PipePair err, MakeOutputPipe(&grown_[1]));
  CARILLON_ASSIGN_OR_RETURN(PipePair report, MakePipe(0));
  ShimSpec spec;
  if (in_container) {
    CARILLON_ASSIGN_OR_RETURN(PreparedContainer prepared,
                              PrepareContainer(start_, {.warden_id = files.warden_id,
                                                        .control_directory = files.directory.path,
                                                        .outputs_file = files.outputs}));
    container_ = {.name = prepared.record.name,
                  .engine = prepared.record.engine,
                  .warden_id = files.warden_id,
                  .record_file = files.script,
                  .outputs_file = files.outputs,
                  .patterns = patterns_,
                  .ask_engine = true};
    spec.container = container_;
    // The program that runs, even if its file was replaced by an upgrade.
    spec.program = "/proc/self/exe";
    spec.script_file = files.script;
    spec.script = EncodeRecord(prepared.record);
    spec.input = EncodeInput(prepared.input);
    spec.arguments = {"carillon-warden", "--container", spec.script_file};
    // What a job may set is not for programs of the host.
    spec.env = std::move(prepared.record.client_env);
  } else if (start_.script) {
    spec.program = start_.script->interpreter;
    spec.script_file = files.script + start_.script->suffix;
    spec.script = start_.command;
    spec.arguments = {spec.program, spec.script_file};
    spec.arguments.insert(spec.arguments.end(), start_.script->args.begin(),
                          start_.script->args.end());
  } else {
    spec.program = "/bin/sh";
    // A command may begin with a minus.
    spec.arguments = {"sh", "-c", "--", start_.command};
  }
  program_ = spec.program;
  script_file_ = spec.script_file;
  if (!in_container) {
    start_.env[kOutputFileVariable] = files.outputs;
    for (const auto& [name, value] : start_.env) spec.env.emplace_back(name + "=").append(value);
  }
  spec.work_directory = files.directory;
  if (!in_container) spec.start_directory = start_.working_directory;
  spec.output_file = files.outputs;
  spec.read_outputs = files.read_outputs;
  spec.out_write = out.write.get();
  spec.err_write = err.write.get();
  spec.report_write = report.write.get();
  spec.open_files = host.open_files;
  if (start_.limits && !in_container)
    ApplyLimits(*start_.limits, host.features, files.cgroup, spec);
  cgroup_ = spec.cgroup;
  spec.user = start_.user;
  spec.user_directory = files.user_directory;
  if (start_.limits && !in_container)
    limits_not_enforced_ = NotEnforced(*start_.limits, host.features);
  OpenDecoders(now);
  started_wall_ = now.wall;
  deadline_ = now.steady + start_.timeout;
  const pid_t warden = getpid();
  keeper_ = fork();
  if (keeper_ == 0) RunKeeper(spec, warden);
  if (keeper_ < 0) {
    return {ErrorCode::kExhausted, fmt::format("fork: {}", std::strerror(errno))};
  }
  pipes_[0] = std::move(out.read);
  pipes_[1] = std::move(err.read);
  report_ = std::move(report.read);
  // These may contain secrets and are not needed any more.
  start_.env.clear();
  start_.command.clear();
  start_.script.reset();
  start_.container.reset();
  start_.masked.clear();
  return {};
}

bool LiveRun::ReadOutput(OutputStream stream, bool writers_gone, Now now) {
  const size_t which = static_cast<size_t>(stream);
  if (!pipes_[which].open()) return false;
  static char buffer[kOutputReadBytes];
  const int reads = grown_[which] || writers_gone ? kReadsPerTurnMax : 1;
  for (int i = 0; i < reads; ++i) {
    const ssize_t n = read(pipes_[which].get(), buffer, sizeof(buffer));
    if (n < 0) return errno == EINTR;
    if (n == 0) {
      pipes_[which].Close();
      return false;
    }
    Keep(stream, std::string_view(buffer, static_cast<size_t>(n)), now);
    bytes_read_[which] += static_cast<size_t>(n);
  }
  if (!grown_[which] && bytes_read_[which] > kOrderedBytesMax) {
    // Set even if the kernel refuses to enlarge the pipe: then the small pipe is only read several
    // times in one turn.
    grown_[which] = true;
    fcntl(pipes_[which].get(), F_SETPIPE_SZ, kGrownPipeBytes);
    return true;
  }
  return grown_[which] || writers_gone;
}

// The process matters more than its output: what cannot be converted is kept as it is.
void LiveRun::OpenDecoders(Now now) {
  if (start_.output_encoding.empty()) return;
  for (auto& decoder : decoders_) {
    auto opened = CharsetDecoder::Open(start_.output_encoding);
    if (!opened.ok()) return Note("the output is not converted: " + opened.error().message, now);
    decoder = *std::move(opened);
  }
  if (!patterns_) return;
  for (auto& masker : raw_maskers_) masker.emplace(patterns_);
}

void LiveRun::Keep(OutputStream stream, std::string_view bytes, Now now) {
  auto& masker = raw_maskers_[static_cast<size_t>(stream)];
  if (masker) return KeepBytes(stream, masker->Feed(bytes), now);
  KeepBytes(stream, bytes, now);
}

void LiveRun::KeepBytes(OutputStream stream, std::string_view bytes, Now now) {
  auto& decoder = decoders_[static_cast<size_t>(stream)];
  if (decoder) return KeepText(stream, decoder->Feed(bytes), now);
  KeepText(stream, bytes, now);
}

// Masks secrets before anything else sees the output.
void LiveRun::KeepText(OutputStream stream, std::string_view text, Now now) {
  auto& masker = maskers_[static_cast<size_t>(stream)];
  if (masker) return KeepMasked(stream, masker->Feed(text), now);
  KeepMasked(stream, text, now);
}

void LiveRun::KeepMasked(OutputStream stream, std::string_view bytes, Now now) {
  output_.Append(stream, bytes);
  log_->Append(stream, bytes, now);
}

void LiveRun::ReadReport(SteadyTime now) {
  char buffer[4096];
  for (;;) {
    const ssize_t n = read(report_.get(), buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    reported_.append(buffer, static_cast<size_t>(n));
  }
  std::string_view left = reported_;
  ShimReport report;
  while (left.size() >= sizeof(report)) {
    std::memcpy(&report, left.data(), sizeof(report));
    const bool more =
        report.kind == ShimReportKind::kOutputs || report.kind == ShimReportKind::kUsage ||
        report.kind == ShimReportKind::kLeftRunning || report.kind == ShimReportKind::kContainer;
    const bool with_text = more && report.value > 0;
    const size_t text = with_text ? static_cast<size_t>(report.value) : 0;
    if (left.size() < sizeof(report) + text) break;
    TakeReport(report, left.substr(sizeof(report), text), now);
    left.remove_prefix(sizeof(report) + text);
  }
  reported_.erase(0, reported_.size() - left.size());
}

void LiveRun::TakeReport(const ShimReport& report, std::string_view text, SteadyTime now) {
  switch (report.kind) {
    case ShimReportKind::kStarted: started_report_ = true; break;
    case ShimReportKind::kSpawnFailed: spawn_failure_ = report; break;
    case ShimReportKind::kOom: oom_ = true; break;
    // Whoever stops a run expects that everything is stopped.
    case ShimReportKind::kLeftRunning:
      if (!ending_) noted_ = Masked(patterns_, text);
      break;
    case ShimReportKind::kContainer: container_end_ = ParseEnd(text); break;
    case ShimReportKind::kOutputs:
      outputs_ = OutputFile{static_cast<OutputFault>(std::min(report.value, 0)), std::string(text)};
      break;
    case ShimReportKind::kUsage:
      if (text.size() == sizeof(ResourceUsage)) {
        std::memcpy(&usage_.emplace(), text.data(), text.size());
      }
      break;
    case ShimReportKind::kEnded:
      wait_status_ = report.value;
      outputs_due_ = now + kOutputsWithin;
      break;
  }
}

void LiveRun::KeeperExited(SteadyTime now) {
  ReadReport(now);
  keeper_ = -1;
  if (!over()) keeper_killed_ = true;
}

// Only a process that exited by itself has outputs: one that was killed may have written a part of
// a line.
bool LiveRun::waits_for_outputs() const {
  const bool has_outputs = !container_ && !ending_ && wait_status_ && WIFEXITED(*wait_status_);
  return has_outputs && !outputs_ && keeper_ > 0 && !outputs_overdue_;
}

void LiveRun::End(RunState state, std::string_view reason, Grace grace, SteadyTime now) {
  // The end may have been reported while the warden itself was stopped.
  if (!over() && report_.open()) ReadReport(now);
  // The container has ended, and is only being removed.
  if (over() && container_ && !ending_ && state == RunState::kCancelled) {
    noted_ = "The cancel came after the container had ended.";
  }
  if (over() || (ending_ && (ending_->killing || grace == Grace::kGiven))) return;
  if (!ending_) ending_ = Ending{.state = state, .reason = std::string(reason)};
  ending_->kill_requested = state == RunState::kCancelled && grace == Grace::kNone;
  if (grace == Grace::kNone || start_.kill_grace <= Duration::zero()) {
    Kill(now);
    return;
  }
  ending_->kill_at = now + start_.kill_grace;
  if (keeper_ > 0) kill(keeper_, SIGTERM);
}

void LiveRun::Kill(SteadyTime now) {
  ending_->killing = true;
  ending_->next_push = now + kKeeperAnswers;
  if (keeper_ > 0) kill(keeper_, SIGUSR1);
}

void LiveRun::Tick(SteadyTime now) {
  if (over()) {
    if (waits_for_outputs()) outputs_overdue_ = now >= outputs_due_;
    return;
  }
  const WatchedLease lease{start_.lease_end, start_.kill_at_lease_end};
  if (DecideWhileRunning(lease, now) == LeaseAction::kKill) {
    End(RunState::kLost, reason::kLeaseEnded, Grace::kNone, now);
  }
  if (!ending_) {
    if (now >= deadline_ && !over()) End(RunState::kTimedOut, reason::kTimeout, Grace::kGiven, now);
    return;
  }
  if (!ending_->killing) {
    if (now >= ending_->kill_at) Kill(now);
    return;
  }
  if (now < ending_->next_push || keeper_ <= 0) return;
  // The keeper does not react: somebody has stopped it (SIGSTOP). Its descendants are killed first.
  // The keeper is continued only when no descendant is left, so that none can become an orphan.
  // Those of a container are the engine's.
  ending_->next_push = now + kPushEvery;
  if (container_ || KillDescendants(keeper_) == 0) kill(keeper_, SIGCONT);
}

SteadyTime LiveRun::NextTick() const {
  if (over()) return waits_for_outputs() ? outputs_due_ : SteadyTime::max();
  if (ending_ && ending_->killing) return ending_->next_push;
  const SteadyTime lease = NextLeaseCheck({start_.lease_end, start_.kill_at_lease_end});
  return std::min(lease, ending_ ? ending_->kill_at : deadline_);
}

ContainerToRemove LiveRun::Removal() const {
  ContainerToRemove removal = *container_;
  removal.ask_engine = !ending_;
  return removal;
}

// The keeper waits for this, so that somebody removes the container if the warden dies.
void LiveRun::ContainerGone(std::optional<ContainerEnd> end) {
  container_gone_ = true;
  if (!container_end_) container_end_ = std::move(end);
  if (keeper_ > 0) kill(keeper_, SIGUSR1);
}

void LiveRun::Renew(SteadyTime lease_end) {
  start_.lease_end = RenewedEnd(start_.lease_end, lease_end);
}

bool LiveRun::TakeStarted() {
  if (!started_report_ || start_reported_) return false;
  start_reported_ = true;
  return true;
}

AttemptEnded LiveRun::Finish(Now now) {
  for (const OutputStream stream : {OutputStream::kOut, OutputStream::kErr}) {
    // The tree is dead, so the rest of its output is in the pipe. The bound is for a foreign
    // process that received the descriptor and keeps writing. Such a process must not keep the run
    // from ending.
    for (int turn = 0; turn < 64 && ReadOutput(stream, true, now); ++turn) {
    }
    auto& raw_masker = raw_maskers_[static_cast<size_t>(stream)];
    if (raw_masker) KeepBytes(stream, raw_masker->End(), now);
    auto& decoder = decoders_[static_cast<size_t>(stream)];
    if (decoder) KeepText(stream, decoder->End(), now);
    auto& masker = maskers_[static_cast<size_t>(stream)];
    if (masker) KeepMasked(stream, masker->End(), now);
  }
  log_->End(now, noted_);
  AttemptResult result = ResultNow();
  if (!container_) AddOutputs(result);
  if (!container_) result.usage = usage_;  // that of a container is the engine's, which is no child
  if (!spawn_failure_) result.limits_not_enforced = limits_not_enforced_;
  result.started = spawn_failure_ ? WallTime{} : started_wall_;
  result.ended = std::max(now.wall, started_wall_);
  result.output = output_.Render();
  result.output_truncated = output_.truncated();
  return {start_.attempt, std::move(result), start_.job_id};
}

void LiveRun::AddOutputs(AttemptResult& result) const {
  if (!result.exit_code) return;
  Result<Outputs> outputs(ErrorCode::kInvalid,
                          keeper_ < 0 ? "the process that was to read their file was killed"
                                      : "their file was not read in time");
  if (outputs_ && outputs_->fault == OutputFault::kNone) {
    outputs = ReadOutputs(outputs_->text, patterns_);
  } else if (outputs_) {
    outputs = {ErrorCode::kInvalid, std::string(FaultText(outputs_->fault))};
  }
  if (outputs.ok()) {
    result.outputs = *std::move(outputs);
  } else if (result.state == RunState::kCompleted) {
    result.state = RunState::kFailed;
    result.reason = reason::kBadOutputs;
    result.error = "its outputs cannot be used: " + outputs.error().message;
  } else {
    result.error += "; its outputs cannot be used: " + outputs.error().message;
  }
}

AttemptResult LiveRun::ResultNow() const {
  // What ended before somebody could stop it has ended by itself, whoever wanted something else
  // by then.
  const bool by_itself = container_end_ && (!ending_ || !container_end_->stopped);
  if (by_itself) return ResultOf(*container_end_, start_.limits);
  return ending_ ? EndedByWarden() : ExitResult();
}

AttemptResult LiveRun::EndedByWarden() const {
  AttemptResult result{.state = ending_->state, .reason = ending_->reason};
  switch (ending_->state) {
    case RunState::kTimedOut:
      result.error = fmt::format("timed out after {} s", start_.timeout / 1s);
      break;
    case RunState::kCancelled:
      result.error = ending_->kill_requested ? "killed on request" : "cancelled on request";
      break;
    default:
      result.error = ending_->reason == reason::kLeaseEnded ? "killed: its lease expired"
                                                            : "killed: the warden was stopped";
  }
  return result;
}

AttemptResult LiveRun::ExitResult() const {
  AttemptResult result{.state = RunState::kFailed};
  if (spawn_failure_) {
    const bool host =
        IsFaultOfHost(spawn_failure_->step, spawn_failure_->value, start_.limits.has_value());
    result.reason = host ? reason::kHost : reason::kSpawn;
    // The directory may lie below a HOME that contains a secret.
    result.error =
        Masked(patterns_,
               fmt::format("could not {}: {}",
                           SpawnStepText(spawn_failure_->step, program_, start_.working_directory),
                           std::strerror(spawn_failure_->value)));
  } else if (!wait_status_) {
    result.state = RunState::kLost;
    result.reason = reason::kWardenDied;
    result.error = "the supervisor process of this attempt was killed";
  } else if (container_) {  // the status of its driver is none of the container
    result.state = RunState::kLost;
    result.reason = reason::kWardenDied;
    result.error = "the process that watched its container was killed";
  } else if (oom_ && WIFSIGNALED(*wait_status_) && WTERMSIG(*wait_status_) == SIGKILL) {
    result.reason = reason::kOom;
    result.error = fmt::format("killed by the kernel for its memory; its limit is {} MiB",
                               start_.limits->memory_mb);
  } else if (WIFSIGNALED(*wait_status_)) {
    const int signal_number = WTERMSIG(*wait_status_);
    const char* name = sigabbrev_np(signal_number);
    result.reason = reason::kSignal;
    result.error =
        fmt::format("killed by signal {} (SIG{})", signal_number, name != nullptr ? name : "?");
  } else {
    const int code = WEXITSTATUS(*wait_status_);
    result.exit_code = code;
    if (code == 0) {
      result.state = RunState::kCompleted;
    } else {
      result.reason = reason::kExitCode;
      result.error = "exit code " + ExitCodeText(code);
    }
  }
  return result;
}

}  // namespace carillon::executor
