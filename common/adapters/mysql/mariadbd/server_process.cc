#include "common/adapters/mysql/mariadbd/server_process.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

extern char** environ;

namespace carillon::mysql {
namespace {

namespace fs = std::filesystem;

// Reads a file up to the first error. If a process ends between the opening and the reading of its
// file, the process counts as not found.
std::string ReadUpToError(const std::string& path) {
  std::string text;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  std::array<char, 4096> buffer;
  ssize_t n = 0;
  while ((n = read(fd, buffer.data(), buffer.size())) > 0 || (n < 0 && errno == EINTR)) {
    if (n > 0) text.append(buffer.data(), static_cast<size_t>(n));
  }
  close(fd);
  return text;
}

std::vector<std::string> ReadCommand(const std::string& pid) {
  const std::string text = ReadUpToError("/proc/" + pid + "/cmdline");
  std::vector<std::string> command;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\0', begin), text.size());
    command.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return command;
}

// True if the process runs as our user. A zombie also has our user id, but FindByArgument does not
// find the zombie, because it has no command line.
bool IsOurs(const std::string& pid) {
  struct stat info {};
  return stat(("/proc/" + pid).c_str(), &info) == 0 && info.st_uid == geteuid();
}

}  // namespace

Result<pid_t> Spawn(const std::vector<std::string>& command, const std::string& log_path) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log_path.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // Starts the process in its own session, so that Ctrl-C in the terminal does not reach the
  // process. Its signal handling is the default.
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_setsigdefault(&attributes, &all);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error == 0) return pid;
  return {ErrorCode::kUnavailable, "cannot start " + command[0] + ": " + std::strerror(error)};
}

int OpenPidfd(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

bool AwaitExit(int pidfd, Duration timeout) {
  pollfd watched{.fd = pidfd, .events = POLLIN, .revents = 0};
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count();
  return poll(&watched, 1, static_cast<int>(milliseconds)) == 1;
}

std::vector<FoundProcess> FindByArgument(const std::string& argument) {
  std::vector<FoundProcess> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos || !IsOurs(name)) continue;
    std::vector<std::string> command = ReadCommand(name);
    for (const std::string& word : command) {
      if (word != argument) continue;
      found.push_back({static_cast<pid_t>(std::stol(name)), std::move(command)});
      break;
    }
  }
  return found;
}

std::string FindProgram(const std::string& name) {
  for (const char* folder : {"/usr/sbin/", "/usr/bin/", "/usr/local/sbin/", "/usr/local/bin/",
                             "/usr/libexec/", "/usr/local/mysql/bin/"}) {
    std::string path = folder + name;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

std::string CurrentUser() {
  std::array<char, 4096> buffer;
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found);
  return found == nullptr ? "" : found->pw_name;
}

}  // namespace carillon::mysql
