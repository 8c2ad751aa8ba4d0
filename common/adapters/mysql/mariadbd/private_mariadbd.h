// A MariaDB server of our own, for `carillon standalone`: made, started, watched, stopped.
//
// Layout   <directory>/lock       held (flock) by the one process that uses the directory
//          <directory>/data/      the server's data
//          <directory>/server.log what it has to say
//          <directory>/server.sock, or a directory of mode 0700 below /run/user or /tmp where that
//          path would be too long for a unix socket (107 bytes)
//
// Access   No network port. The server accepts only this process's own user, whose uid the kernel
//          vouches for on the socket; there is no password to keep.
//
// Left by a killed predecessor: its server lives on (it has no parent-death signal, so that the
// commits in flight are finished and a restart finds it warm). It is found by its --datadir among
// the running processes, never by a stored pid. Started with the same options and answering, it is
// taken over; otherwise it is ended first.
//
// Threads  Not thread-safe: one owner calls Step, which blocks while it starts the server again.
// Errors   Start: kConflict: another process uses the directory; kUnavailable: the server does not
//          start (the message names its log); kNotFound: no mariadbd on this machine.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/loop.h"
#include "common/base/result.h"

namespace carillon::mysql {

inline constexpr Duration kServerCreateMax = 180s;  // 1 s where nothing else runs
inline constexpr Duration kServerStartMax = 120s;   // recovery of a large log takes its time
inline constexpr Duration kServerStopMax = 30s;     // then it is killed; InnoDB recovers
inline constexpr Duration kServerWatchEvery = 500ms;
inline constexpr size_t kSocketPathMax = 107;

struct PrivateMariadbdOptions {
  std::string directory;  // made with mode 0700 if it is not there
  int64_t buffer_pool_bytes = 128 << 20;
  int64_t redo_log_bytes = 128 << 20;
  bool durable = true;                      // false: tests that do not look at crashes
  std::vector<std::string> arguments = {};  // more of them, which win; for tests
  std::string mariadbd = {};                // paths; empty = found on the machine
  std::string mariadb_install_db = {};
};

class PrivateMariadbd final : public Stepper {
 public:
  // Blocks until the server answers. `clock` outlives the object.
  static Result<std::unique_ptr<PrivateMariadbd>> Start(const PrivateMariadbdOptions& options,
                                                        const Clock& clock);
  // Stops the server, waiting for it.
  ~PrivateMariadbd() override;

  // Looks whether the server lives, and starts it again if not. Returns when to look again.
  SteadyTime Step(SteadyTime now) override;

  // Clean shutdown; the object is of no use afterwards. Idempotent.
  Status Stop();
  // Lets go of the directory and leaves the server running, as if this process had been killed.
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
  bool child_ = false;  // ours to wait for
  bool adopted_ = false;
  int restarts_ = 0;
};

}  // namespace carillon::mysql
