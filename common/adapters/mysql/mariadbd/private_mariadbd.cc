#include "common/adapters/mysql/mariadbd/private_mariadbd.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include <fmt/core.h>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/mariadbd/server_process.h"
#include "common/base/log.h"

namespace carillon::mysql {
namespace {

namespace fs = std::filesystem;

constexpr Duration kReadyPoll = 10ms;
constexpr int kMaxConnections = 64;
// Pages that the server writes in the background per second. The server's default suits a single
// spinning disk. With the default, the redo log would fill up, and commits would wait.
constexpr int kIoCapacity = 1000;

Status MakePrivateDirectory(const std::string& path) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return {ErrorCode::kUnavailable, fmt::format("{}: {}", path, std::strerror(errno))};
  }
  // If everyone can write to the parent directory, another user may have created `path` first.
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid()) {
    return {ErrorCode::kDenied, fmt::format("{} is not a directory of ours", path)};
  }
  if ((info.st_mode & 0077) != 0 && chmod(path.c_str(), 0700) != 0) {
    return {ErrorCode::kDenied, fmt::format("{} is open to others", path)};
  }
  return {};
}

uint64_t HashOf(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a: the same in every process
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

}  // namespace

Result<std::unique_ptr<PrivateMariadbd>> PrivateMariadbd::Start(
    const PrivateMariadbdOptions& options, const Clock& clock) {
  std::unique_ptr<PrivateMariadbd> server(new PrivateMariadbd(options, clock));
  CARILLON_TRY(server->Prepare());
  CARILLON_TRY(server->CreateData());
  CARILLON_TRY(server->TakeOverOrStart());
  return server;
}

PrivateMariadbd::~PrivateMariadbd() {
  const Status stopped = Stop();
  if (!stopped.ok()) log::Warn("mariadbd", "{}", stopped.error().message);
}

Status PrivateMariadbd::Prepare() {
  std::error_code error;
  options_.directory = fs::absolute(options_.directory, error).lexically_normal();
  if (options_.mariadbd.empty()) options_.mariadbd = FindProgram("mariadbd");
  if (options_.mariadb_install_db.empty()) {
    options_.mariadb_install_db = FindProgram("mariadb-install-db");
  }
  if (options_.mariadbd.empty() || options_.mariadb_install_db.empty()) {
    return {ErrorCode::kNotFound,
            "no mariadbd on this machine: install the package mariadb-server-core"};
  }
  user_ = CurrentUser();
  if (user_.empty()) {
    return {ErrorCode::kNotFound,
            fmt::format("user id {} has no name, which the database needs", geteuid())};
  }
  CARILLON_TRY(MakePrivateDirectory(options_.directory));
  CARILLON_TRY(LockDirectory());
  return ChooseSocket();
}

Status PrivateMariadbd::LockDirectory() {
  const std::string path = options_.directory + "/lock";
  lock_fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (lock_fd_ < 0) {
    return {ErrorCode::kUnavailable, fmt::format("{}: {}", path, std::strerror(errno))};
  }
  if (flock(lock_fd_, LOCK_EX | LOCK_NB) == 0) return {};
  return {ErrorCode::kConflict,
          fmt::format("another process uses the data directory {}", options_.directory)};
}

Status PrivateMariadbd::ChooseSocket() {
  socket_path_ = options_.directory + "/server.sock";
  if (socket_path_.size() <= kSocketPathMax) return {};
  const std::string run = fmt::format("/run/user/{}", geteuid());
  struct stat info {};
  const bool has_run = stat(run.c_str(), &info) == 0 && info.st_uid == geteuid();
  const std::string folder = fmt::format("{}/carillon-{}-{:016x}", has_run ? run : "/tmp",
                                         geteuid(), HashOf(options_.directory));
  CARILLON_TRY(MakePrivateDirectory(folder));
  socket_path_ = folder + "/server.sock";
  return {};
}

// Creates the directory under another name and renames it, so that a directory called "data" is
// always complete.
Status PrivateMariadbd::CreateData() {
  const std::string data = options_.directory + "/data";
  std::error_code error;
  fs::create_directories(options_.directory + "/tmp", error);
  if (error)
    return {ErrorCode::kUnavailable,
            fmt::format("{}/tmp: {}", options_.directory, error.message())};
  if (fs::exists(data, error)) return {};
  const std::string fresh = options_.directory + "/data.new";
  for (const FoundProcess& left : FindByArgument("--datadir=" + fresh)) kill(left.pid, SIGKILL);
  fs::remove_all(fresh, error);
  log::Info("mariadbd", "making a database in {}", data);
  std::vector<std::string> command = {options_.mariadb_install_db,
                                      "--no-defaults",
                                      "--datadir=" + fresh,
                                      "--tmpdir=" + options_.directory + "/tmp",
                                      "--auth-root-authentication-method=socket",
                                      "--auth-root-socket-user=" + user_,
                                      "--skip-test-db",
                                      "--skip-name-resolve"};
  if (geteuid() == 0) command.push_back("--user=" + user_);
  const std::string log_path = options_.directory + "/install.log";
  CARILLON_ASSIGN_OR_RETURN(const pid_t pid, Spawn(command, log_path));
  const int pidfd = OpenPidfd(pid);
  const bool ended = pidfd >= 0 && AwaitExit(pidfd, kServerCreateMax);
  if (!ended) kill(-pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  if (pidfd >= 0) close(pidfd);
  if (!ended || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return {ErrorCode::kUnavailable,
            fmt::format("the database could not be made: see {}", log_path)};
  }
  fs::rename(fresh, data, error);
  if (!error) return {};
  return {ErrorCode::kUnavailable, fmt::format("{}: {}", data, error.message())};
}

std::vector<std::string> PrivateMariadbd::Command() const {
  const std::string& d = options_.directory;
  std::vector<std::string> command = {
      options_.mariadbd, "--no-defaults", "--datadir=" + d + "/data", "--socket=" + socket_path_,
      // The server has its own tmpdir, because a starting server deletes the temporary tables of
      // all servers that share its tmpdir.
      "--tmpdir=" + d + "/tmp", "--pid-file=" + d + "/server.pid",
      "--log-error=" + d + "/server.log", "--skip-networking", "--skip-log-bin",
      "--skip-symbolic-links", "--local-infile=0", "--performance-schema=OFF",
      "--character-set-server=utf8mb4", "--collation-server=utf8mb4_bin",
      "--transaction-isolation=READ-COMMITTED",
      fmt::format("--max-connections={}", kMaxConnections), "--max-allowed-packet=64M",
      fmt::format("--innodb-buffer-pool-size={}", options_.buffer_pool_bytes),
      fmt::format("--innodb-log-file-size={}", options_.redo_log_bytes),
      fmt::format("--innodb-io-capacity={}", kIoCapacity),
      fmt::format("--innodb-flush-log-at-trx-commit={}", options_.durable ? 1 : 0),
      // Resolves a deadlock immediately, instead of after the lock wait timeout.
      "--innodb-deadlock-detect=ON", "--innodb-autoinc-lock-mode=2"};
  if (geteuid() == 0) command.push_back("--user=" + user_);
  command.insert(command.end(), options_.arguments.begin(), options_.arguments.end());
  return command;
}

Status PrivateMariadbd::TakeOverOrStart() {
  for (const FoundProcess& left : FindByArgument("--datadir=" + options_.directory + "/data")) {
    const int pidfd = OpenPidfd(left.pid);
    if (pidfd < 0) continue;  // ended by itself
    if (left.command == Command() && pid_ == 0) {
      pid_ = left.pid;
      pidfd_ = pidfd;
      child_ = false;
      if (AwaitReady().ok()) {
        adopted_ = true;
        log::Info("mariadbd", "taking over the server that is running (pid {})", pid_);
        return {};
      }
      pid_ = 0;
      pidfd_ = -1;
    }
    log::Warn("mariadbd", "ending a server that was left behind (pid {})", left.pid);
    Status ended = EndServer(left.pid, pidfd, false);
    close(pidfd);
    if (!ended.ok()) return ended;
  }
  return Launch();
}

Status PrivateMariadbd::Launch() {
  unlink(socket_path_.c_str());
  CARILLON_ASSIGN_OR_RETURN(pid_, Spawn(Command(), options_.directory + "/server.log"));
  child_ = true;
  adopted_ = false;
  pidfd_ = OpenPidfd(pid_);
  if (pidfd_ < 0) {
    kill(pid_, SIGKILL);
    Reap();
    return {ErrorCode::kUnavailable, fmt::format("pidfd: {}", std::strerror(errno))};
  }
  Status ready = AwaitReady();
  if (!ready.ok()) {
    Status ended = EndServer(pid_, pidfd_, true);
    Reap();
    if (!ended.ok()) return ended;
  }
  return ready;
}

Status PrivateMariadbd::AwaitReady() {
  const SessionOptions session{
      .socket_path = socket_path_, .user = user_, .connect_timeout_s = 2, .read_timeout_s = 5};
  const SteadyTime deadline = clock_.Steady() + kServerStartMax;
  std::string last = "no answer";
  while (clock_.Steady() < deadline) {
    const Result<std::unique_ptr<Session>> connected = Session::Connect(session);
    if (connected.ok()) return {};
    last = connected.error().message;
    if (connected.code() == ErrorCode::kDenied) break;
    if (AwaitExit(pidfd_, kReadyPoll)) {
      last = "it ended";
      break;
    }
  }
  return {ErrorCode::kUnavailable,
          fmt::format("mariadbd does not start ({}): see {}/server.log", last, options_.directory)};
}

Status PrivateMariadbd::EndServer(pid_t pid, int pidfd, bool child) {
  kill(pid, SIGTERM);
  if (!AwaitExit(pidfd, kServerStopMax)) {
    log::Warn("mariadbd", "pid {} does not stop and is killed", pid);
    kill(pid, SIGKILL);
    if (!AwaitExit(pidfd, kServerStopMax)) {
      return {ErrorCode::kUnavailable, fmt::format("mariadbd (pid {}) cannot be ended", pid)};
    }
  }
  if (child) waitpid(pid, nullptr, 0);
  return {};
}

void PrivateMariadbd::Reap() {
  if (child_ && pid_ > 0) waitpid(pid_, nullptr, WNOHANG);
  if (pidfd_ >= 0) close(pidfd_);
  pidfd_ = -1;
  pid_ = 0;
  child_ = false;
}

SteadyTime PrivateMariadbd::Step(SteadyTime now) {
  if (lock_fd_ < 0) return now + kServerWatchEvery;  // stopped
  if (pid_ > 0) {
    struct stat info {};
    const bool ended = AwaitExit(pidfd_, Duration{0});
    const bool reachable = stat(socket_path_.c_str(), &info) == 0;
    if (!ended && reachable) return now + kServerWatchEvery;
    if (ended) {
      log::Error("mariadbd", "the server (pid {}) has ended; starting it again", pid_);
    } else {
      log::Error("mariadbd", "the server's socket {} is gone; starting it again", socket_path_);
      const Status stopped = EndServer(pid_, pidfd_, child_);
      if (!stopped.ok()) log::Error("mariadbd", "{}", stopped.error().message);
    }
    Reap();
  }
  ++restarts_;
  // The directory of the socket may have been deleted as well, so the socket is chosen again.
  Status started = ChooseSocket();
  if (started.ok()) started = Launch();
  if (!started.ok()) log::Error("mariadbd", "{}", started.error().message);
  return clock_.Steady() + kServerWatchEvery;
}

Status PrivateMariadbd::Stop() {
  Status ended;
  if (pid_ > 0) ended = EndServer(pid_, pidfd_, child_);
  child_ = false;  // it has been reaped
  Abandon();
  return ended;
}

void PrivateMariadbd::Abandon() {
  Reap();
  if (lock_fd_ >= 0) close(lock_fd_);
  lock_fd_ = -1;
}

}  // namespace carillon::mysql
