#include "executor/warden/process/keeper.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/file_descriptor.h"
#include "executor/warden/process/daemonize.h"
#include "executor/warden/process/process_tree.h"
#include "executor/warden/process/user_directory.h"

namespace carillon::executor {
namespace {

// Processes that a finished command leaves behind get SIGTERM, then SIGKILL after this many waits.
constexpr int kLeftoverWaitsMax = 25;
constexpr long kWaitNanos = 20'000'000;  // 20 ms
// Makes the kernel's OOM killer choose a run rather than Carillon.
constexpr char kOomScoreAdjust[] = "200";

void CloseAllExcept(std::array<int, 3> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned next = 3;
  for (const int fd : kept) {
    if (fd < 3) continue;
    if (static_cast<unsigned>(fd) > next) close_range(next, static_cast<unsigned>(fd) - 1, 0);
    next = static_cast<unsigned>(fd) + 1;
  }
  close_range(next, ~0u, 0);
}

void WriteOomScore() {
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  // Only a hint to the kernel: on a host that forbids it the command runs all the same.
  static_cast<void>(!write(fd, kOomScoreAdjust, sizeof(kOomScoreAdjust) - 1));
  close(fd);
}

// The arguments of exec, prepared before the fork: the child shares this memory and must
// not allocate.
struct CommandImage {
  explicit CommandImage(const ShimSpec& spec) {
    env.reserve(spec.env.size() + 1);
    for (const std::string& entry : spec.env) env.push_back(const_cast<char*>(entry.c_str()));
    env.push_back(nullptr);
    for (const std::string& one : spec.arguments)
      arguments.push_back(const_cast<char*>(one.c_str()));
    arguments.push_back(nullptr);
  }
  std::vector<char*> env;
  std::vector<char*> arguments;
  int group = -1;  // open file cgroup.procs of its control group
  int input = -1;  // its standard input, if that is not the keeper's
};

// Makes sure that this process, and nobody else, dies with its keeper.
void DieWith(pid_t keeper) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) _exit(127);
}

bool LowerLimit(decltype(RLIMIT_NOFILE) resource, std::optional<rlim_t> most) {
  if (!most) return true;
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return false;
  limit.rlim_cur = limit.rlim_max = std::min(limit.rlim_max, *most);
  return setrlimit(resource, &limit) == 0;
}

// System calls, because the functions of the C library change all threads of a process, and this
// one shares its memory with the keeper.
bool BecomeUser(const ProcessUser& user) {
  return syscall(SYS_setgroups, user.groups.size(), user.groups.data()) == 0 &&
         syscall(SYS_setresgid, user.gid, user.gid, user.gid) == 0 &&
         syscall(SYS_setresuid, user.uid, user.uid, user.uid) == 0 &&
         prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

struct SpawnFailure {
  SpawnStep step;
  int error;
};

// Runs in the command's process, between fork and exec. Returns only if it fails.
SpawnFailure BecomeCommand(const ShimSpec& spec, const CommandImage& image, pid_t keeper) {
  setsid();
  DieWith(keeper);
  if (image.group >= 0 && write(image.group, "0", 1) != 1) return {SpawnStep::kCgroup, errno};
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  setrlimit(RLIMIT_NOFILE, &spec.open_files);
  if (!LowerLimit(RLIMIT_NOFILE, spec.open_files_max) ||
      !LowerLimit(RLIMIT_FSIZE, spec.file_bytes_max)) {
    return {SpawnStep::kLimits, errno};
  }
  umask(022);
  WriteOomScore();
  if (spec.user) {
    if (!BecomeUser(*spec.user)) return {SpawnStep::kUser, errno};
    DieWith(keeper);  // the change of the user has undone it
  }
  const bool own = spec.start_directory.empty();
  const std::string& directory = own ? spec.work_directory.path : spec.start_directory;
  if (chdir(directory.c_str()) != 0)
    return {own ? SpawnStep::kEnter : SpawnStep::kEnterOfJob, errno};
  if (dup2(spec.out_write, STDOUT_FILENO) < 0 || dup2(spec.err_write, STDERR_FILENO) < 0) {
    return {SpawnStep::kExec, errno};
  }
  if (image.input >= 0 && dup2(image.input, STDIN_FILENO) < 0) return {SpawnStep::kExec, errno};
  ResetSignals();
  // Closes the keeper's descriptors in the command: all except the first three.
  close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
  execve(spec.program.c_str(), image.arguments.data(), image.env.data());
  return {SpawnStep::kExec, errno};
}

ResourceUsage UsageOfChildren() {
  constexpr int64_t kBlockBytes = 512;
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto micros = [](const timeval& time) {
    return int64_t{time.tv_sec} * 1'000'000 + time.tv_usec;
  };
  return {.cpu_us = micros(used.ru_utime) + micros(used.ru_stime),
          .memory_bytes = int64_t{used.ru_maxrss} * 1024,
          .read_bytes = int64_t{used.ru_inblock} * kBlockBytes,
          .written_bytes = int64_t{used.ru_oublock} * kBlockBytes};
}

class Keeper {
 public:
  Keeper(const ShimSpec& spec, pid_t warden)
      : spec_(spec), warden_(warden), directory_(spec.work_directory) {}

  [[noreturn]] void Run() {
    Prepare();
    if (Launch()) {
      WaitForTree();
      if (spec_.container) EndContainer();
      if (!spec_.cgroup.empty() && OomKills(spec_.cgroup) > 0) {
        Report({ShimReportKind::kOom, SpawnStep::kNone, 0});
      }
      // Before the disk is touched: a disk that hangs must not hide how the process ended.
      ReportEnd();
      if (spec_.container) AwaitRemoval();
      if (ReportOutputs()) RemoveTree(spec_.output_file);
    }
    if (!spec_.cgroup.empty()) RemoveGroup();
    close(spec_.report_write);
    if (spec_.user) {
      RemoveTree(spec_.user_directory);
      _exit(0);
    }
    if (!spec_.script_file.empty()) RemoveTree(spec_.script_file);
    directory_.GiveBack();
    _exit(0);
  }

 private:
  void WaitForTree() {
    while (!Step()) {
    }
  }

  // The end stays on the disk until the warden has journaled it.
  void EndContainer() {
    const Result<ContainerEnd> end = ReadEnd(spec_.script_file);
    if (!end.ok()) return;  // the warden asks again
    const std::string text = EncodeEnd(*end);
    ReportText({ShimReportKind::kContainer, SpawnStep::kNone, static_cast<int32_t>(text.size())},
               text);
  }

  // The warden removes the container, and then says so.
  [[noreturn]] void AwaitRemoval() {
    siginfo_t info{};
    int got = 0;
    while (!warden_died_ && got != SIGUSR1) {
      got = sigwaitinfo(&awaited_, &info);
      if (got > 0) Handle(got, info);
      Reap();
    }
    if (warden_died_) {
      prctl(PR_SET_NAME, kRemoverName);
      RemoveWithoutWarden(*spec_.container);
    }
    _exit(0);
  }

  void Prepare() {
    prctl(PR_SET_NAME, kShimName);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGUSR2);
    if (getppid() != warden_) _exit(0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    // An ignored signal cannot be waited for, and SIGCHLD may have been ignored already before the
    // warden's exec.
    signal(SIGCHLD, SIG_DFL);
    CloseAllExcept({spec_.out_write, spec_.err_write, spec_.report_write});
    if (spec_.user)
      setgroups(0, nullptr);  // files of the user are read as the user, without root's groups
    sigemptyset(&awaited_);
    for (const int wanted : {SIGCHLD, SIGTERM, SIGUSR1, SIGUSR2}) sigaddset(&awaited_, wanted);
  }

  void Report(const ShimReport& report) {
    // The result is ignored: a write below PIPE_BUF is atomic, and if the warden is gone, nobody
    // needs the report.
    static_cast<void>(!write(spec_.report_write, &report, sizeof(report)));
  }

  // The usage and the end, in one write, so that the end never arrives without the usage.
  void ReportEnd() {
    const ShimReport header{ShimReportKind::kUsage, SpawnStep::kNone, sizeof(ResourceUsage)};
    const ResourceUsage usage = UsageOfChildren();
    const ShimReport end{ShimReportKind::kEnded, SpawnStep::kNone, status_};
    std::array<char, sizeof(header) + sizeof(usage) + sizeof(end)> bytes;
    char* at = bytes.data();
    const auto put = [&at](const auto& part) {
      std::memcpy(at, &part, sizeof(part));
      at += sizeof(part);
    };
    put(header);
    put(usage);
    put(end);
    static_cast<void>(!write(spec_.report_write, bytes.data(), bytes.size()));
  }

  void ReportText(const ShimReport& header, const std::string& text) {
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
    bytes += text;
    std::string_view left = bytes;
    while (!left.empty()) {  // the pipe may hold less; the warden empties it
      const ssize_t n = write(spec_.report_write, left.data(), left.size());
      if (n <= 0) break;  // the warden is gone
      left.remove_prefix(static_cast<size_t>(n));
    }
  }

  // Reads the file of outputs here, because a disk that hangs must not stop the warden's loop.
  // Returns false if there is no such file.
  bool ReportOutputs() {
    const std::optional<OutputFile> found = ReadOutputs();
    const OutputFile file = found.value_or(OutputFile{});
    const ShimReport header{ShimReportKind::kOutputs, SpawnStep::kNone,
                            file.fault == OutputFault::kNone
                                ? static_cast<int32_t>(file.text.size())
                                : static_cast<int32_t>(file.fault)};
    ReportText(header, file.text);
    return found.has_value();
  }

  std::optional<OutputFile> ReadOutputs() const {
    if (!spec_.user) return spec_.read_outputs(spec_.output_file);
    const FileIdentity identity(spec_.user->uid, spec_.user->gid);
    return spec_.read_outputs(spec_.output_file);
  }

  // No process of the attempt is left, so only one that somebody else has put into the group
  // delays this.
  void RemoveGroup() {
    const timespec wait{0, kWaitNanos};
    for (int waits = 0; !RemoveCgroup(spec_.cgroup) && errno == EBUSY && waits < kLeftoverWaitsMax;
         ++waits) {
      KillCgroup(spec_.cgroup);
      sigtimedwait(&awaited_, nullptr, &wait);
    }
  }

  bool Fail(SpawnStep step, int error) {
    Report({ShimReportKind::kSpawnFailed, step, error});
    return false;
  }

  // True if the command must not start any more: the warden may have abandoned the attempt, or
  // died, while the keeper waited for the disk to take the directory.
  bool MustDie() const {
    sigset_t waiting;
    sigpending(&waiting);
    return getppid() != warden_ || sigismember(&waiting, SIGUSR1) == 1 ||
           sigismember(&waiting, SIGUSR2) == 1 || sigismember(&waiting, SIGTERM) == 1;
  }

  // A file, because not every interpreter reads a script of this size from its arguments, and the
  // standard input belongs to the script.
  bool WriteScript() const {
    if (spec_.script_file.empty()) return true;
    if (spec_.container) return WriteWhole(spec_.script_file, spec_.script).ok();
    RemoveTree(spec_.script_file);  // a remainder
    const int fd =
        open(spec_.script_file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
    if (fd < 0) return false;
    if (spec_.user && fchown(fd, spec_.user->uid, spec_.user->gid) != 0) {
      const int error = errno;
      close(fd);
      errno = error;
      return false;
    }
    std::string_view left = spec_.script;
    while (!left.empty()) {
      const ssize_t n = write(fd, left.data(), left.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        const int error = n < 0 ? errno : ENOSPC;
        close(fd);
        errno = error;
        return false;
      }
      left.remove_prefix(static_cast<size_t>(n));
    }
    return close(fd) == 0;
  }

  FileDescriptor Input() const {
    if (spec_.input.empty()) return FileDescriptor();
    FileDescriptor file(memfd_create("carillon-input", MFD_CLOEXEC));
    const auto size = static_cast<ssize_t>(spec_.input.size());
    const bool written =
        file.open() && write(file.get(), spec_.input.data(), spec_.input.size()) == size;
    return written && lseek(file.get(), 0, SEEK_SET) == 0 ? std::move(file) : FileDescriptor();
  }

  bool MakeDirectory() {
    if (spec_.user) {
      const auto [uid, gid] = std::pair(spec_.user->uid, spec_.user->gid);
      // Commands open their output by name, too: echo > /dev/stderr.
      return fchown(spec_.out_write, uid, gid) == 0 && fchown(spec_.err_write, uid, gid) == 0 &&
             MakeUserDirectory(spec_.user_directory, uid, gid);
    }
    if (!directory_.Take()) return false;
    // The user of a container is none of this host. Only the engine can reach the directory: its
    // parent is closed.
    if (spec_.container && chmod(spec_.work_directory.path.c_str(), 0777) != 0) return false;
    RemoveTree(spec_.output_file);  // a remainder
    return true;
  }

  bool Launch() {
    if (!MakeDirectory()) return Fail(SpawnStep::kDirectory, errno);
    if (!WriteScript()) return Fail(SpawnStep::kScript, errno);
    if (MustDie()) return Fail(SpawnStep::kDirectory, EINTR);
    CommandImage image(spec_);
    if (!spec_.cgroup.empty()) {
      if (!MakeCgroup(spec_.cgroup, spec_.cgroup_settings)) return Fail(SpawnStep::kCgroup, errno);
      image.group = open((spec_.cgroup + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
      if (image.group < 0) return Fail(SpawnStep::kCgroup, errno);
    }
    const FileDescriptor input = Input();
    image.input = input.get();
    if (!spec_.input.empty() && !input.open()) return Fail(SpawnStep::kFork, errno);
    const pid_t self = getpid();
    // The child shares this memory until it execs: copying it would be the most expensive step.
    volatile int error = 0;
    volatile SpawnStep step = SpawnStep::kNone;
    first_ = vfork();
    if (first_ == 0) {
      const SpawnFailure failure = BecomeCommand(spec_, image, self);
      step = failure.step;
      error = failure.error;
      _exit(127);
    }
    if (first_ < 0) return Fail(SpawnStep::kFork, errno);
    close(spec_.out_write);
    close(spec_.err_write);
    if (image.group >= 0) close(image.group);
    if (error != 0) {
      waitpid(first_, &status_, 0);
      return Fail(step, error);
    }
    Report({ShimReportKind::kStarted, SpawnStep::kNone, first_});
    return true;
  }

  // Reaps, kills when it is time, and waits for the next signal. True if no process is left.
  bool Step() {
    if (!Reap()) return true;
    // The others are the engine's, and may serve other containers, too.
    if (spec_.container && first_done_) return true;
    if (first_done_ && leftover_waits_++ == 0) TerminateLeftovers();
    if (kill_all_ || leftover_waits_ > kLeftoverWaitsMax) {
      if (!spec_.cgroup.empty()) KillCgroup(spec_.cgroup);
      KillTree();
    }
    const bool patient = !first_done_ && !kill_all_;
    const timespec wait{0, kWaitNanos};
    siginfo_t info{};
    const int got = patient ? sigwaitinfo(&awaited_, &info) : sigtimedwait(&awaited_, &info, &wait);
    if (got > 0) Handle(got, info);
    return false;
  }

  // A command line of the engine dies with the driver.
  void KillTree() {
    if (!spec_.container) {
      KillDescendants(getpid());
    } else if (!first_done_) {
      kill(first_, SIGKILL);
    }
  }

  // False if no child is left, and therefore no descendant either.
  bool Reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, WNOHANG);
      if (pid == 0) return true;
      if (pid < 0) return errno != ECHILD;
      if (pid == first_) {
        first_done_ = true;
        status_ = status;
      }
    }
  }

  void TerminateLeftovers() {
    const std::vector<ProcessEntry> processes = ReadProcesses();
    const std::vector<pid_t> left = DescendantsOf(getpid(), processes);
    for (const pid_t pid : left) kill(pid, SIGTERM);
    const std::string text = LeftRunningText(left, processes);
    if (text.empty()) return;
    ReportText({ShimReportKind::kLeftRunning, SpawnStep::kNone, static_cast<int32_t>(text.size())},
               text);
  }

  void Handle(int signal_number, const siginfo_t& info) {
    // SIGUSR2 proves that the warden died in two cases. First: the parent has changed.
    // Second: the kernel sent the signal, which then carries the warden's pid. The second case is
    // needed, because a warden that is killed while one of its threads is blocked on the disk
    // remains the parent.
    if (signal_number == SIGUSR2 && (getppid() != warden_ || info.si_pid == warden_)) {
      kill_all_ = true;
      warden_died_ = true;
    }
    if (info.si_pid != warden_) return;  // a command cannot give orders to its keeper
    if (signal_number == SIGUSR1) kill_all_ = true;
    if (signal_number == SIGTERM && !first_done_) kill(-first_, SIGTERM);
  }

  const ShimSpec& spec_;
  const pid_t warden_;
  WorkDirectory directory_;
  sigset_t awaited_{};
  pid_t first_ = -1;
  int status_ = 0;
  bool first_done_ = false;
  bool kill_all_ = false;
  bool warden_died_ = false;
  int leftover_waits_ = 0;
};

}  // namespace

void RunKeeper(const ShimSpec& spec, pid_t warden) { Keeper(spec, warden).Run(); }

}  // namespace carillon::executor
