// The workers of this host, their sessions, and the attempts that they run. Pure.
//
// A worker is one Worker object of a program that offers handlers: a process may have several, each
// with an instance number of its own, and a process that executes another program has new ones. A
// session is one stream of a worker. An attempt goes through these stages:
//
//   waiting    no worker has a free slot yet
//   recording  a worker is chosen; the record of the start is being written
//   recorded   the record is on disk; the worker has no session at the moment
//   sent       the worker has it
//   done       the function has returned, or its process is dead, or it was never called
//
// Place    Step 8 of docs/life-of-a-run.md, for jobs of the type handler. worker_runner.h acts for
//          it.
// Threads  Not thread-safe.
// Time     Steady (CLOCK_BOOTTIME) for deadlines and leases, wall for the times of results; both
//          are passed in.
// Always   A function is called at most once for an attempt: its record is on disk before the
//          worker gets it, and it is sent once. An attempt ends only by the word of its worker, by
//          the death of its program, or because it is proved that it never began: it was not sent,
//          or a later Hello of the same instance does not name it. A worker speaks only about
//          attempts that it was given. One that stays away while its process lives proves nothing:
//          its attempts are called silent, and their leases are left to end.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/ports/handler_runner.h"
#include "common/wire/messages/worker_codec.h"
#include "executor/output/secret_masker.h"
#include "executor/runs/run_table.h"
#include "executor/worker/function_log.h"
#include "executor/worker/unknown_ends.h"
#include "executor/worker/worker_ticket.h"

namespace carillon::executor {

// A process, told apart from later ones with the same number.
struct WorkerProcess {
  int64_t pid = 0;
  uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat
  std::string boot_id;       // /proc/sys/kernel/random/boot_id

  auto operator<=>(const WorkerProcess&) const = default;
};

struct WorkerId {
  WorkerProcess process;
  std::string instance;  // random, by the worker

  auto operator<=>(const WorkerId&) const = default;
};

// The start of a function, on disk until its result is in the database.
struct StartRecord {
  HeldAttempt attempt;
  JobId job_id;
  std::string handler;  // "app/name"
  WorkerId worker;
  uint64_t image = 0;  // process_watch.h
  WallTime started;
  SteadyTime begun;
  SteadyTime deadline;
};

class WorkerTable {
 public:
  using Session = uint64_t;
  static constexpr size_t kWorkersMax = 64;
  // A start waits this long for a slot that its worker has just given up.
  static constexpr Duration kPlaceWait = 5s;
  // A worker without a session comes back within 5 s, unless it is stopped or there is none any
  // more. Attempts of one that is away for longer are silent.
  static constexpr Duration kAwayMax = 30s;

  struct Now {
    SteadyTime steady;
    WallTime wall;
  };

  // `log_bytes_max`: what is kept of the log of a function.
  explicit WorkerTable(size_t log_bytes_max = size_t{16} << 20) : log_bytes_max_(log_bytes_max) {}

  // ---- after a restart of the daemon, before everything else
  void Adopt(const StartRecord& record, Now now);

  // ---- the workers
  bool full() const { return workers_.size() >= kWorkersMax; }
  bool Knows(const WorkerId& worker) const { return workers_.contains(worker); }
  // A stream of this worker has sent its Hello. An earlier session of the worker is over. `image`
  // is that of its process (process_watch.h).
  void Attach(Session session, const WorkerId& id, uint64_t image, WorkerHello hello, Now now);
  void Take(Session session, FromWorkerMessage message, Now now);
  void Detach(Session session, Now now);
  // Call it when the program of the worker is dead and all that it had sent was taken.
  void Died(const WorkerId& id, Now now);

  // ---- the daemon
  void Start(StartHandler start, Now now);
  void RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end);
  void Cancel(const HeldAttempt& attempt, Now now);
  void Note(const HeldAttempt& held, std::string text, Now now) {
    Attempt* attempt = Find(held);
    if (attempt != nullptr && attempt->stage != Stage::kDone) Note(*attempt, std::move(text), now);
  }
  void Forget(const std::vector<HeldAttempt>& attempts);
  // These records are on disk.
  void Recorded(const std::vector<AttemptId>& ids);
  // They could not be written: the attempts end without having begun.
  void NotRecorded(const std::vector<AttemptId>& ids, const std::string& why, Now now);
  // Asks functions to stop whose timeout has ended, and places what waits.
  void Tick(Now now);
  SteadyTime NextTick() const;

  // ---- what to do; each is returned once
  struct Outgoing {
    std::optional<Session> welcome;
    std::vector<StartHandler> runs;
    std::map<SteadyTime, std::vector<WorkerTicket>> leases;  // by their end
    std::vector<WorkerAsk> asks;
    std::vector<WorkerTicket> done_stored;
    bool drained = false;               // after all runs
    std::vector<SteadyTime> deadlines;  // of runs
  };
  std::map<Session, Outgoing> TakeOutgoing() { return std::exchange(outgoing_, {}); }
  std::vector<AttemptEvent> TakeEvents() { return std::exchange(events_, {}); }
  std::vector<StartRecord> TakeRecords() { return std::exchange(records_, {}); }
  std::vector<AttemptId> TakeRemovals() { return std::exchange(removals_, {}); }
  // Sessions that were replaced; their streams must be closed.
  std::vector<Session> TakeReplaced() { return std::exchange(replaced_, {}); }
  std::shared_ptr<const HandlerOffers> offers() const { return offers_; }
  // Workers whose death must be noticed, with the images of their processes.
  std::map<WorkerId, uint64_t> Workers() const {
    std::map<WorkerId, uint64_t> workers;
    for (const auto& [id, worker] : workers_) workers[id] = worker.image;
    return workers;
  }
  std::optional<Session> SessionOf(const WorkerId& id) const {
    const auto worker = workers_.find(id);
    if (worker == workers_.end() || worker->second.session == 0) return std::nullopt;
    return worker->second.session;
  }

 private:
  struct Worker {
    Session session = 0;      // 0: none at the moment
    SteadyTime away_since{};  // session == 0
    uint64_t image = 0;
    int open = 0;  // attempts that are placed here and not done
    std::string app;
    std::map<std::string, int> offers;  // by "app/name"
    std::map<std::string, int> busy;    // likewise
    bool draining = false;
    UnknownEnds unknown;
  };
  enum class Stage { kWaiting, kRecording, kRecorded, kSent, kDone };
  struct Attempt {
    StartHandler start;
    Stage stage = Stage::kWaiting;
    WorkerId worker;  // from kRecording on
    WallTime started;
    SteadyTime deadline = SteadyTime::max();
    SteadyTime give_up = SteadyTime::max();  // kWaiting
    bool cancel_asked = false;
    bool timeout_asked = false;
    bool silent = false;
    FunctionLog log;
    std::set<std::string> dropped;  // kinds of items that were left out and noted
    std::shared_ptr<const SecretPatterns> patterns;
  };

  Attempt* Find(const HeldAttempt& held);
  Attempt* FindOf(const WorkerId& worker, const WorkerTicket& ticket);
  Worker& Away(const WorkerId& id, SteadyTime since);
  void DropIfOver(const WorkerId& id);
  bool IsUnknown(const WorkerTicket& ticket) const {
    const std::optional<HeldAttempt> held = AttemptOf(ticket);
    return held && !attempts_.contains(IdOf(*held)) && !forgotten_.contains(ticket);
  }
  void TakeUnknownDone(const WorkerId& id, const HeldAttempt& held, WorkerDone done, Now now);
  void TakeUnnamed(const WorkerId& id, const std::set<const Attempt*>& named, Now now);
  void Drain(const WorkerId& id, Now now);
  void SetSilent(Attempt& attempt, bool silent, Now now);
  void TakeAbsences(Now now);
  bool Place(Attempt& attempt, Now now);
  void SendRun(Attempt& attempt);
  Outgoing* To(const WorkerId& id);
  void TakeSaves(const WorkerId& id, std::vector<WorkerSave> saves);
  void TakeDone(const WorkerId& id, WorkerDone done, Now now);
  void TakeDropped(const WorkerId& id, const std::vector<WorkerDropped>& dropped, Now now);
  void TakeLogs(const WorkerId& id, std::vector<WorkerLogLine> lines, Now now);
  void Release(Attempt& attempt);
  void End(Attempt& attempt, AttemptResult result, Now now);
  void Lose(Attempt& attempt, std::string_view why, std::string error, Now now) {
    End(attempt, {.state = RunState::kLost, .reason = std::string(why), .error = std::move(error)},
        now);
  }
  void Note(Attempt& attempt, std::string text, Now now);
  void Emit(Attempt& attempt, const std::vector<LogEntry>& entries, bool last, Now now);
  void RebuildOffers();

  size_t log_bytes_max_;
  std::map<WorkerId, Worker> workers_;
  std::map<Session, WorkerId> sessions_;
  ForgottenTickets forgotten_;
  std::set<std::pair<SteadyTime, WorkerId>> away_;  // without a session, not yet silent
  std::map<AttemptId, Attempt> attempts_;
  std::vector<AttemptId> waiting_;                        // in kWaiting, or until lately
  std::set<std::pair<SteadyTime, AttemptId>> deadlines_;  // of those that are not asked yet
  std::shared_ptr<const HandlerOffers> offers_ = std::make_shared<HandlerOffers>();
  std::map<Session, Outgoing> outgoing_;
  std::vector<AttemptEvent> events_;
  std::vector<StartRecord> records_;
  std::vector<AttemptId> removals_;
  std::vector<Session> replaced_;
};

}  // namespace carillon::executor
