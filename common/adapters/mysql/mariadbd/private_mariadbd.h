// Creates, starts, watches and stops the private MariaDB server of `carillon standalone`.
//
// Layout   <directory>/lock       held (flock) by the one process that uses the directory
//          <directory>/data/      the server's data
//          <directory>/server.log the server's log
//          <directory>/server.sock the server's socket. If this path is longer than 107 bytes (the
//          limit of a unix socket), the socket is elsewhere: in a directory of mode 0700 below
//          /run/user or /tmp
//
// Access   No network port. The server accepts only the user of this process. The kernel guarantees
//          the user's uid on the socket, so no password is needed.
//
// If the previous process was killed, its server keeps running. The server has no parent-death
// signal, so that commits in progress finish and the next process finds warm caches. The next
// process finds the server by its --datadir among the running processes, never by a stored pid. If
// the server was started with the same options and answers, the process adopts it. Otherwise the
// process ends that server and starts a new one.
//
// Threads  Not thread-safe: one owner calls Step, which blocks while it restarts the server.
// Errors   Start: kConflict: another process uses the directory; kUnavailable: the server does not
//          start (the message names its log); kNotFound: no mariadbd on this machine.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/loops/loop.h"
#include "common/base/result.h"

namespace carillon::mysql {

inline constexpr Duration kServerCreateMax = 180s;  // takes 1 s on an idle machine
inline constexpr Duration kServerStartMax = 120s;   // recovery from a large log takes long
inline constexpr Duration kServerStopMax = 30s;     // then it is killed; the next start recovers
inline constexpr Duration kServerWatchEvery = 500ms;
inline constexpr size_t kSocketPathMax = 107;

struct PrivateMariadbdOptions {
  std::string directory;  // created with mode 0700 if it does not exist
  int64_t buffer_pool_bytes = 128 << 20;
  int64_t redo_log_bytes = 128 << 20;
  bool durable = true;                      // false in tests that do not crash the server
  std::vector<std::string> arguments = {};  // appended, so they take precedence; for tests
  std::string mariadbd = {};                // path; empty = found on the machine
  std::string mariadb_install_db = {};      // path; empty = found on the machine
};

class PrivateMariadbd final : public Stepper {
 public:
  // Blocks until the server answers. `clock` outlives the object.
  static Result<std::unique_ptr<PrivateMariadbd>> Start(const PrivateMariadbdOptions& options,
                                                        const Clock& clock);
  // Stops the server and waits until it has ended.
  ~PrivateMariadbd() override;

  // Restarts the server if it has ended. Returns the time of the next check.
  SteadyTime Step(SteadyTime now) override;

  // Shuts the server down cleanly. The object must not be used afterwards. Idempotent.
  Status Stop();
  // Releases the directory and leaves the server running, as if this process had been killed.
  void Abandon();

  const std::string& socket_path() const { return socket_path_; }
  const std::string& user() const { return user_; }
  pid_t pid() const { return pid_; }
  bool adopted() const { return adopted_; }
  int restarts() const { return restarts_; }

 private:
  PrivateMariadbd(PrivateMariadbdOptions options, const Clock& clock)
      : options_(std::move(options)), clock_(clock) {}

  Status Prepare();
  Status LockDirectory();
  Status ChooseSocket();
  Status CreateData();
  Status TakeOverOrStart();
  Status Launch();
  Status AwaitReady();
  Status EndServer(pid_t pid, int pidfd, bool child);
  std::vector<std::string> Command() const;
  void Reap();

  PrivateMariadbdOptions options_;
  const Clock& clock_;
  std::string socket_path_ = {};
  std::string user_ = {};
  int lock_fd_ = -1;
  pid_t pid_ = 0;
  int pidfd_ = -1;      // readable when the server has ended
  bool child_ = false;  // the server is a child of this process, which must reap it
  bool adopted_ = false;
  int restarts_ = 0;
};

}  // namespace carillon::mysql
