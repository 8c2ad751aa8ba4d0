#include "common/adapters/mysql/private_mariadbd.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "common/base/log.h"

namespace carillon::mysql {
namespace {

namespace fs = std::filesystem;

constexpr Duration kStepEvery = 50ms;
// A server that dies at once is not started in a busy loop.
constexpr Duration kRestartEvery = 500ms;
constexpr size_t kLogTailBytes = 2000;
// sun_path holds 108 bytes with its terminator.
constexpr size_t kSocketPathMax = 107;
constexpr int kPollMs = 20;

Error Failed(const std::string& what) {
  return {ErrorCode::kUnavailable, what + ": " + std::strerror(errno)};
}

std::string UserName() {
  if (geteuid() == 0) return "root";
  if (const passwd* entry = getpwuid(geteuid())) return entry->pw_name;
  return std::to_string(geteuid());
}

// A directory that only we can enter; refuses one that somebody else made.
Status PrivateDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return Failed("make " + path);
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return Failed("stat " + path);
  if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid()) {
    return {ErrorCode::kDenied, path + " is not a directory of this user"};
  }
  if (chmod(path.c_str(), 0700) != 0) return Failed("chmod " + path);
  return {};
}

std::string FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  std::string path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  std::istringstream directories(path + ":/usr/sbin:/usr/bin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string candidate = directory + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return name;
}

// Starts a program in a session of its own, stdio to `log`, no other descriptor.
Result<pid_t> Launch(const std::vector<std::string>& arguments, const std::string& log) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    errno = error;
    return Failed("start " + arguments[0] + " (Debian package mariadb-server-core)");
  }
  return pid;
}

bool CommandLineNames(int pid, const std::string& argument) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  for (std::string word; std::getline(in, word, '\0');) {
    if (word == argument) return true;
  }
  return false;
}

bool WaitForDeath(int pidfd, Duration timeout) {
  pollfd waiting{pidfd, POLLIN, 0};
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count();
  return poll(&waiting, 1, static_cast<int>(ms)) > 0;
}

// Waits without reading a clock: up to `turns` times kPollMs.
void Nap() { poll(nullptr, 0, kPollMs); }

}  // namespace

PrivateMariadbd::PrivateMariadbd(PrivateMariadbdOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock), user_(UserName()) {}

PrivateMariadbd::~PrivateMariadbd() {
  if (pidfd_ >= 0) close(pidfd_);
}

Result<std::unique_ptr<PrivateMariadbd>> PrivateMariadbd::Start(
    const PrivateMariadbdOptions& options, const Clock& clock) {
  PrivateMariadbdOptions absolute = options;
  absolute.directory = fs::absolute(options.directory).lexically_normal().string();
  std::unique_ptr<PrivateMariadbd> server(new PrivateMariadbd(std::move(absolute), clock));
  CARILLON_TRY(server->Prepare());
  if (server->Adopt()) {
    log::Info("mariadbd", "adopted pid {} of an earlier process", server->pid());
    return server;
  }
  CARILLON_TRY(server->Spawn());
  CARILLON_TRY(server->AwaitReady());
  return server;
}

Status PrivateMariadbd::Prepare() {
  CARILLON_TRY(PrivateDirectory(options_.directory));
  socket_ = options_.directory + "/mariadbd.sock";
  if (socket_.size() > kSocketPathMax) {
    // Derived from the directory alone, so that the next process finds the same one.
    const std::string base = "/tmp/carillon-" + std::to_string(geteuid()) + "-" +
                             std::to_string(std::hash<std::string>{}(options_.directory));
    CARILLON_TRY(PrivateDirectory(base));
    socket_ = base + "/mariadbd.sock";
  }
  if (fs::exists(options_.directory + "/data")) return {};
  return Install();
}

Status PrivateMariadbd::Install() {
  // Installed beside and renamed, so that a crash leaves no half-made data directory.
  const std::string fresh = options_.directory + "/data.new";
  const std::string log = options_.directory + "/install.log";
  std::error_code error;
  fs::remove_all(fresh, error);
  CARILLON_ASSIGN_OR_RETURN(
      const pid_t pid,
      Launch({FindProgram(options_.installer), "--no-defaults", "--datadir=" + fresh,
              "--user=" + user_, "--skip-test-db", "--skip-name-resolve",
              "--auth-root-authentication-method=socket", "--auth-root-socket-user=" + user_},
             log));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return {ErrorCode::kUnavailable, "mariadb-install-db failed; see " + log};
  }
  fs::rename(fresh, options_.directory + "/data", error);
  if (error) return {ErrorCode::kUnavailable, "rename " + fresh + ": " + error.message()};
  return {};
}

bool PrivateMariadbd::Adopt() {
  std::ifstream in(options_.directory + "/mariadbd.pid");
  int pid = 0;
  if (!(in >> pid) || pid <= 1) return false;
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) return false;
  // The pid may have been given to another process since.
  if (!CommandLineNames(pid, "--datadir=" + options_.directory + "/data")) {
    close(pidfd);
    return false;
  }
  pidfd_ = pidfd;
  pid_ = pid;
  if (AwaitReady().ok()) return true;
  log::Warn("mariadbd", "pid {} of an earlier process does not answer; ending it", pid);
  Stop();
  return false;
}

Status PrivateMariadbd::Spawn() {
  const std::string& home = options_.directory;
  CARILLON_ASSIGN_OR_RETURN(
      const pid_t pid,
      Launch({FindProgram(options_.server), "--no-defaults", "--datadir=" + home + "/data",
              "--socket=" + socket_, "--pid-file=" + home + "/mariadbd.pid", "--user=" + user_,
              "--skip-networking", "--skip-name-resolve", "--character-set-server=utf8mb4",
              "--collation-server=utf8mb4_bin", "--transaction-isolation=READ-COMMITTED",
              "--innodb-flush-log-at-trx-commit=1",
              "--innodb-buffer-pool-size=" + std::to_string(options_.buffer_pool_mib) + "M",
              "--innodb-log-file-size=" + std::to_string(options_.redo_log_mib) + "M",
              "--max-connections=" + std::to_string(options_.connections_max),
              "--max-allowed-packet=64M", "--performance-schema=OFF", "--skip-log-bin",
              "--default-time-zone=+00:00"},
             home + "/mariadbd.log"));
  if (pidfd_ >= 0) close(pidfd_);
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (pidfd_ < 0) return Failed("watch mariadbd");
  pid_ = pid;
  ++starts_;
  return {};
}

bool PrivateMariadbd::Alive() {
  if (pidfd_ < 0) return false;
  if (!WaitForDeath(pidfd_, Duration::zero())) return true;
  // Reaps it when it was our child; an adopted one has another parent.
  waitpid(pid_, nullptr, WNOHANG);
  close(pidfd_);
  pidfd_ = -1;
  return false;
}

bool PrivateMariadbd::AcceptsConnections() const {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  bool greeted = false;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    // The kernel accepts for a server that is stopped or still recovering; its greeting does not
    // come then.
    pollfd readable{fd, POLLIN, 0};
    char byte = 0;
    greeted = poll(&readable, 1, 1000) > 0 && read(fd, &byte, 1) == 1;
  }
  close(fd);
  return greeted;
}

Status PrivateMariadbd::AwaitReady() {
  const SteadyTime deadline = clock_.Steady() + options_.start_timeout;
  while (!AcceptsConnections()) {
    if (!Alive()) {
      return {ErrorCode::kUnavailable, "mariadbd ended while starting:\n" + LastLogLines()};
    }
    if (clock_.Steady() > deadline) {
      return {ErrorCode::kUnavailable, "mariadbd did not answer in time:\n" + LastLogLines()};
    }
    Nap();
  }
  return {};
}

SteadyTime PrivateMariadbd::Step(SteadyTime now) {
  if (!Alive() && now >= next_start_) {
    next_start_ = now + kRestartEvery;
    log::Warn("mariadbd", "it died (pid {}); starting it again", pid());
    const Status started = Spawn();
    if (!started.ok()) log::Error("mariadbd", "{}", started.error().message);
  }
  return now + kStepEvery;
}

void PrivateMariadbd::Stop() {
  if (!Alive()) return;
  kill(pid_, SIGTERM);
  kill(pid_, SIGCONT);
  if (!WaitForDeath(pidfd_, options_.stop_timeout)) {
    log::Warn("mariadbd", "pid {} did not end in time; killing it", pid());
    kill(pid_, SIGKILL);
    WaitForDeath(pidfd_, options_.stop_timeout);
  }
  Alive();
}

std::string PrivateMariadbd::LastLogLines() const {
  std::ifstream in(options_.directory + "/mariadbd.log", std::ios::binary | std::ios::ate);
  if (!in) return "(no log)";
  const auto size = static_cast<size_t>(in.tellg());
  const size_t take = std::min(size, kLogTailBytes);
  in.seekg(static_cast<std::streamoff>(size - take));
  std::string text(take, '\0');
  in.read(text.data(), static_cast<std::streamsize>(take));
  return text;
}

}  // namespace carillon::mysql
