// A MariaDB server of our own on a unix socket in a data directory: the store of a standalone
// server, and of the tests.
//
// The server is not tied to our life: after `kill -9` of this process it goes on, and the next
// Start on the same directory adopts it (or ends it, if it does not answer).
//
// Threads  One loop calls Step; socket(), pid() and starts() are thread-safe.
// Owns     The server process from Start until Stop. The destructor leaves it running.
// Errors   Start: kUnavailable with the server's last log lines. Run one Start at a time on a
//          directory (the caller holds the directory's lock).
// Always   Nobody but the same user reaches it: no port, a socket in a directory of mode 0700,
//          and accounts that ask the kernel who is calling.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/base/loop.h"

namespace carillon::mysql {

struct PrivateMariadbdOptions {
  std::string directory;            // made if missing; holds data/, the socket and the log
  std::string server = "mariadbd";  // found on PATH, /usr/sbin included
  std::string installer = "mariadb-install-db";
  size_t buffer_pool_mib = 256;
  size_t redo_log_mib = 256;
  size_t connections_max = 64;
  Duration start_timeout = 60s;  // of crash recovery too
  Duration stop_timeout = 30s;
};

class PrivateMariadbd : public Stepper {
 public:
  // Blocks until the server accepts connections.
  static Result<std::unique_ptr<PrivateMariadbd>> Start(const PrivateMariadbdOptions& options,
                                                        const Clock& clock);
  ~PrivateMariadbd() override;

  // Notices the server's death and starts it again; does not wait for its recovery. Asks to be
  // called every 50 ms.
  SteadyTime Step(SteadyTime now) override;
  // SIGTERM, then SIGKILL after stop_timeout.
  void Stop();

  const std::string& socket() const { return socket_; }
  // The account of the operating system's user: root, or the name of the user.
  const std::string& user() const { return user_; }
  int pid() const { return pid_.load(); }
  // Servers started by this object: 0 when the first was adopted.
  int starts() const { return starts_.load(); }

 private:
  PrivateMariadbd(PrivateMariadbdOptions options, const Clock& clock);
  Status Prepare();
  Status Install();
  bool Adopt();
  Status Spawn();
  bool Alive();
  bool AcceptsConnections() const;
  Status AwaitReady();
  std::string LastLogLines() const;

  const PrivateMariadbdOptions options_;
  const Clock& clock_;
  std::string socket_;
  std::string user_;
  std::atomic<int> pid_{0};
  std::atomic<int> starts_{0};
  int pidfd_ = -1;
  SteadyTime next_start_{};
};

}  // namespace carillon::mysql
