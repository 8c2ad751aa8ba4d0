#include "executor/warden/process/daemonize.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace carillon::executor {
namespace {

constexpr off_t kLogBytesMax = 8 << 20;

Error SystemError(const std::string& what) {
  return {ErrorCode::kUnavailable, what + ": " + std::strerror(errno)};
}

Status ForkAndLeaveParent() {
  const pid_t child = fork();
  if (child < 0) return SystemError("fork");
  if (child > 0) _exit(0);
  return {};
}

Status RedirectStdio(const std::string& log) {
  struct stat info {};
  const bool too_long = stat(log.c_str(), &info) == 0 && info.st_size > kLogBytesMax;
  const int null = open("/dev/null", O_RDONLY);
  const int file = open(
      log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | (too_long ? O_TRUNC : 0), 0600);
  if (null < 0 || file < 0) return SystemError("open " + log);
  if (dup2(null, STDIN_FILENO) < 0 || dup2(file, STDOUT_FILENO) < 0 ||
      dup2(file, STDERR_FILENO) < 0) {
    return SystemError("dup2");
  }
  return {};
}

}  // namespace

void ResetSignals() {
  for (int signal_number = 1; signal_number < NSIG; ++signal_number) {
    if (signal_number != SIGKILL && signal_number != SIGSTOP) signal(signal_number, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

Status Daemonize(const std::string& log) {
  CARILLON_TRY(ForkAndLeaveParent());
  if (setsid() < 0) return SystemError("setsid");
  CARILLON_TRY(ForkAndLeaveParent());
  ResetSignals();
  umask(077);
  CARILLON_TRY(RedirectStdio(log));
  close_range(3, ~0u, 0);
  return {};
}

}  // namespace carillon::executor
