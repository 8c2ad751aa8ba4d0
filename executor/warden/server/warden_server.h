// The warden's loop: one epoll, one directory.
//
// Place    Run by carillon-warden's main; docs/executor.md describes its effect on the processes of
//          users.
// Threads  The caller's, which waits in epoll only, and the journal device's own (thread_device.h).
// Owns     The directory (locked): journal, working directories, socket.
// Errors   Create: kConflict if another warden holds the directory.
// Always   Survives the daemon; exits on its own only when it holds nothing.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "executor/journal/thread_device.h"
#include "executor/warden/channel/daemon_channel.h"
#include "executor/warden/server/warden_core.h"

namespace carillon::executor {

// Names inside the warden's directory.
inline constexpr char kWardenSocket[] = "socket";
inline constexpr char kWardenLock[] = "lock";
inline constexpr char kWardenLog[] = "log";

struct WardenOptions {
  std::string directory;           // must exist
  std::string run_directory = {};  // of attempts of other users; empty: there are none
  uint64_t open_files = 0;         // soft limit of commands; 0: that of this process
  // How long the warden waits for a daemon while it holds nothing.
  Duration idle_exit = 60s;
  size_t journal_bytes_max = 256u << 20;
  // Executes the journal's orders, on the device's thread.
  OrderExecutor execute = &ExecuteOrder;
  OutputReader read_outputs = &ReadOutputFile;  // in the keepers
};

class WardenServer {
 public:
  static Result<std::unique_ptr<WardenServer>> Create(const Clock& clock, WardenOptions options);
  // Returns when there is nothing left to do, or after SIGTERM or SIGINT once every attempt is
  // killed and recorded.
  void Run();

 private:
  WardenServer(const Clock& clock, WardenOptions options)
      : clock_(clock), options_(std::move(options)) {}
  Status Lock();
  Status PrepareSignals();
  // Fills in what the warden can do on this host.
  Status PrepareCore(warden_message::Welcome* welcome);
  Status Watch(int fd, uint64_t token, uint32_t events);
  void Turn();
  int WaitMillis() const;
  void Dispatch(uint64_t token, uint32_t events);
  void OnSignals();
  void OnConnection(uint32_t events);
  void Attach();
  void Detach();
  void Handle(WardenMessage message);
  void Tell(SteadyTime now);
  void SendList();
  void CheckReady(SteadyTime now);
  bool Done(SteadyTime now);

  const Clock& clock_;
  const WardenOptions options_;
  FileDescriptor directory_;
  FileDescriptor lock_;
  FileDescriptor epoll_;
  FileDescriptor signals_;
  std::unique_ptr<DaemonChannel> channel_;
  std::unique_ptr<WardenCore> core_;
  bool watching_writes_ = false;
  struct Listing {
    uint64_t request = 0;
    std::vector<AttemptName> names;  // taken from the back
  };
  std::vector<Listing> listings_;  // oldest first
  bool ready_ = true;
  bool ready_sent_ = false;
  SteadyTime next_ready_check_{};
  bool stopping_ = false;
  bool left_ = false;    // the last daemon that was greeted sent Leave
  bool listed_ = false;  // the daemon has asked for a list
  SteadyTime idle_since_{};
};

}  // namespace carillon::executor
