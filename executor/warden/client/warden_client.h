// The daemon's client of the warden: implements the port Warden over the warden's unix socket.
//
// Place    Step 8 of docs/life-of-a-run.md, on the daemon's side.
// Threads  Thread-safe. Owns one thread for the socket, which also starts the warden if none
//          answers. Only List waits, for at most list_timeout.
// Owns     Unanswered starts. They are sent again after a reconnect; a warden that already has them
//          ignores the repetition.
// Errors   kUnavailable while no warden is attached, or while the attached one does not answer; the
//          caller tries again later. A connection that is of no use, because the warden refuses it
//          or cannot be understood, is repeated after a second, and CanStart says why.
// Always   After each (re)connect everything the warden holds is reported as events again, so that
//          an event lost with the connection is repeated.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "common/base/clock.h"
#include "common/base/file_descriptor.h"
#include "common/base/metrics/metrics.h"
#include "common/base/mutex.h"
#include "common/ports/executor_host.h"
#include "executor/warden/channel/warden_protocol.h"
#include "executor/warden/channel/warden_pulse.h"
#include "executor/warden/records/warden_journal.h"

namespace carillon::executor {

class WardenClient : public Warden {
 public:
  struct Options {
    std::string directory;              // directory of the warden; created (0700) when missing
    std::string executable = {};        // empty = beside this process's executable
    std::string run_directory = {};     // WardenCommand
    uint64_t open_files = 0;            // likewise
    std::string container_engine = {};  // absolute path; empty: none
    Duration idle_exit = 60s;           // the warden exits after being idle for so long
    Duration list_timeout = 5s;
    size_t log_bytes_max = 16u << 20;  // bytes of one attempt's log
  };
  static constexpr size_t kUnansweredStartsMax = 8192;
  static constexpr size_t kEventsMax = 8192;
  static constexpr size_t kUnsentBytesMax = 32u << 20;

  WardenClient(Options options, const Clock& clock, Metrics& metrics);
  // Disconnects. Running attempts continue, and the warden keeps their ends for the next daemon.
  ~WardenClient() override;

  Status CanStart() override;
  Status Start(const StartAttempt& start) override;
  Features Isolation() override;
  Status RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) override;
  Status Cancel(const HeldAttempt& attempt, CancelMode mode) override;
  Result<Inventory> List() override;
  Status Forget(const std::vector<HeldAttempt>& attempts) override;
  Status ConfirmOutput(const std::vector<StoredOutput>& confirmed) override;
  Status Note(const HeldAttempt& attempt, const std::string& text) override;
  std::vector<AttemptEvent> Receive(size_t max) override;
  void OnReadable(std::function<void()> wake) override;

  // The engine with which the warden removes containers, if it was not known at the start.
  void UseEngine(std::string path) {
    MutexLock lock(mu_);
    engine_ = std::move(path);
    if (welcome_) unsent_.Add(warden_message::UseEngine{engine_});
    Poke();
  }
  // Notifies the warden that this daemon stops for good. The warden exits as soon as
  // it holds nothing.
  void Leave();
  // 0 while no warden is attached.
  int64_t warden_pid() const;
  bool answers() const;
  uint64_t restarts() const;
  // Waits until the first warden has said what it can isolate; nullopt if that takes too long.
  std::optional<std::vector<HostCheck>> WaitForHostChecks(Duration at_most);

 private:
  struct Listing {
    Inventory inventory;
    bool done = false;
  };

  void Run();
  bool Connect();
  void Disconnect();
  void KeepRefusal() REQUIRES(mu_);
  void Serve();
  int WaitMillis();
  void Feel();
  bool Write();
  bool Read();
  // Called under mu_; Handle returns true if there is something new to receive.
  bool Handle(WardenMessage message) REQUIRES(mu_);
  void OnListEnd(uint64_t request) REQUIRES(mu_);
  void OnWelcome(warden_message::Welcome welcome) REQUIRES(mu_);
  Status Enqueue(const WardenMessage& message) REQUIRES(mu_);
  Status EnqueueStart(const StartAttempt& start) REQUIRES(mu_);
  void Poke();
  void WaitForPoke(Duration at_most);

  const Options options_;
  const Clock& clock_;
  Counter& restarts_metric_;
  Gauge& answers_metric_;
  Gauge& unreadable_metric_;
  FileDescriptor poke_;  // eventfd: something to send, or stop
  mutable Mutex mu_;
  std::condition_variable_any listed_;
  std::function<void()> wake_ GUARDED_BY(mu_);
  bool stopping_ GUARDED_BY(mu_) = false;
  bool attached_ GUARDED_BY(mu_) = false;
  bool silent_ GUARDED_BY(mu_) = false;  // attached, but pings stay unanswered
  Status ready_ GUARDED_BY(mu_);
  int64_t last_pid_ GUARDED_BY(mu_) = 0;
  std::optional<warden_message::Welcome> welcome_ GUARDED_BY(mu_);  // nullopt while disconnected
  // Why the last connection was of no use, for example because the warden has another version.
  // Empty: it was of use, or nobody listens.
  std::string refusal_ GUARDED_BY(mu_);
  uint64_t restarts_ GUARDED_BY(mu_) = 0;
  std::string engine_ GUARDED_BY(mu_);
  FrameWriter unsent_ GUARDED_BY(mu_);
  std::unordered_map<AttemptName, StartAttempt, AttemptNameHash> unanswered_ GUARDED_BY(mu_);
  std::deque<AttemptEvent> events_ GUARDED_BY(mu_);
  uint64_t next_request_ GUARDED_BY(mu_) = 1;
  std::map<uint64_t, Listing> listings_ GUARDED_BY(mu_);
  // Used by the thread only.
  FileDescriptor socket_;
  FrameReader reader_;
  std::string complaint_;  // why the present connection has to end
  WardenPulse pulse_;
  std::thread thread_;
};

}  // namespace carillon::executor
