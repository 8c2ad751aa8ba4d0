// HandlerRunner with the workers of this host: a socket, a record of starts, and a thread that
// carries out what WorkerTable decides.
//
// Place    Step 8 of docs/life-of-a-run.md, for jobs of the type handler.
// Threads  Thread-safe. One thread of its own writes records and watches processes and timeouts;
//          each session has one that reads and one that writes.
// Time     The clock's steady time is CLOCK_BOOTTIME; workers get times of CLOCK_MONOTONIC, which
//          both ends can read.
// Errors   Open: kUnavailable if the socket or the records cannot be used.
// Always   See worker_table.h. What the workers have said and the core loop has not taken is
//          limited; streams are not read meanwhile. So is what they have not read; the stream of a
//          worker that does not read is closed.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/base/metrics/metrics.h"
#include "common/base/mutex.h"
#include "common/ports/handler_runner.h"
#include "common/ports/worker_door.h"
#include "executor/worker/process_watch.h"
#include "executor/worker/start_records.h"
#include "executor/worker/worker_table.h"
#include "executor/worker/worker_users.h"

namespace carillon::executor {

class WorkerRunner final : public HandlerRunner {
 public:
  // Limits of the events that the core loop has not taken. A message that is being taken may go
  // beyond them.
  static constexpr size_t kEventsMax = 16'384;
  static constexpr size_t kEventBytesMax = size_t{64} << 20;

  struct Options {
    std::string socket;                             // path
    std::string directory;                          // of the records
    std::map<std::string, std::string> users = {};  // worker_users.h
    size_t log_bytes_max = size_t{16} << 20;        // of one attempt
    // What all workers have not read yet. One of them may have a quarter; above the limit, a share
    // of kWorkersMax.
    size_t outbox_bytes_max = size_t{256} << 20;
  };
  static Result<std::unique_ptr<WorkerRunner>> Open(const Options& options,
                                                    const OpenWorkerDoor& open_door,
                                                    const Clock& clock, Metrics& metrics);
  ~WorkerRunner() override;

  std::shared_ptr<const HandlerOffers> Offers() override;
  void Start(StartHandler start) override;
  Status RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) override;
  Status Cancel(const HeldAttempt& attempt, CancelMode mode) override;
  Status Note(const HeldAttempt& attempt, const std::string& text) override;
  Status Forget(const std::vector<HeldAttempt>& attempts) override;
  std::vector<AttemptEvent> Receive(size_t max) override;
  void OnReadable(std::function<void()> wake) override;

 private:
  struct Outbox;
  struct Host final : WorkerHost {
    explicit Host(WorkerRunner& of) : runner(of) {}
    bool Admits(uid_t uid) override { return runner.users_.Admits(uid); }
    Status Serve(const WorkerPeer& peer, WorkerStream& stream) override {
      return runner.Serve(peer, stream);
    }
    WorkerRunner& runner;
  };

  WorkerRunner(const Options& options, const Clock& clock, Metrics& metrics,
               std::unique_ptr<StartRecords> records);
  Status Serve(const WorkerPeer& peer, WorkerStream& stream);
  Status Admit(const WorkerPeer& peer, FromWorkerMessage first, std::shared_ptr<Outbox> outbox,
               WorkerTable::Session* session);
  void TellDropped(const WorkerDropped& item) REQUIRES(mu_);
  Status ReadAll(WorkerTable::Session session, WorkerStream& stream);
  Result<FromWorkerMessage> Greet(const WorkerPeer& peer, WorkerStream& stream) const;
  WorkerTable::Now Now() const;
  int64_t MonotonicOf(SteadyTime time) const;
  void Run();
  void WriteRecords();
  void WatchProcesses();
  void TakeDeaths();
  void Wait();
  void WakeThread();
  // Hands what the book decided to the sessions, the core loop and the thread. Call it after each
  // change of the book.
  void Flush() REQUIRES(mu_);
  bool HasRoom() const REQUIRES(mu_) {
    return events_.size() < kEventsMax && event_bytes_ < kEventBytesMax;
  }
  std::vector<std::string> Encode(WorkerTable::Session session,
                                  WorkerTable::Outgoing outgoing) const;

  const Clock& clock_;
  Gauge& workers_;
  Host host_{*this};
  const WorkerUsers users_;
  const size_t outbox_bytes_max_;
  const std::unique_ptr<StartRecords> records_;  // the thread's, after Open
  ProcessWatch watch_;                           // likewise
  // Likewise: workers whose programs have ended, and since when that is known. Their streams may
  // still have something.
  std::map<WorkerId, SteadyTime> dead_;
  SteadyTime next_look_{};  // likewise
  SteadyTime next_warning_{};
  FileDescriptor wake_fd_;
  std::atomic<size_t> outbox_bytes_ = 0;

  Mutex mu_;
  WorkerTable book_ GUARDED_BY(mu_);
  WorkerTable::Session last_session_ GUARDED_BY(mu_) = 0;
  std::map<WorkerTable::Session, std::shared_ptr<Outbox>> sessions_ GUARDED_BY(mu_);
  std::vector<StartRecord> to_write_ GUARDED_BY(mu_);
  std::vector<AttemptId> to_remove_ GUARDED_BY(mu_);
  std::deque<AttemptEvent> events_ GUARDED_BY(mu_);
  size_t event_bytes_ GUARDED_BY(mu_) = 0;
  std::condition_variable_any room_;  // for events
  std::function<void()> wake_ GUARDED_BY(mu_);
  SteadyTime next_dropped_ GUARDED_BY(mu_){};
  bool closing_ GUARDED_BY(mu_) = false;  // the door
  bool stop_ GUARDED_BY(mu_) = false;

  std::thread thread_;
  std::unique_ptr<WorkerDoor> door_;  // last: its threads use all members above
};

}  // namespace carillon::executor
