#include "tests/sim/worker_world.h"

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "common/base/failpoint.h"
#include "common/base/rng.h"
#include "executor/worker/worker_book.h"

namespace carillon::sim {
namespace {

using executor::AttemptId;
using executor::IdOf;
using executor::StartRecord;
using executor::WorkerBook;
using executor::WorkerProcess;

constexpr int kSteps = 3000;
constexpr int kStepsToRest = 20'000;
constexpr int kWorkers = 3;
constexpr int kAttemptsMax = 60;

// One connection. What was sent before it broke may still arrive.
struct StreamModel {
  WorkerBook::Session session = 0;
  bool open = true;
  std::deque<WorkerBook::Outgoing> to_worker;
  std::deque<FromWorkerMessage> to_daemon;
};

// A process with an SDK. worker.proto has the rules.
struct WorkerModel {
  WorkerProcess process;
  bool alive = true;
  std::optional<WorkerBook::Session> session;
  std::set<WorkerTicket> held;
  std::set<WorkerTicket> unconfirmed;
  std::set<WorkerTicket> recent;
};

// One attempt, as an observer knows it.
struct Fate {
  HeldAttempt held;
  int calls = 0;
  int runs_in = -1;  // the worker in which its function runs
  bool returned = false;
  std::optional<AttemptResult> result = {};
};

class WorkerWorld {
 public:
  explicit WorkerWorld(uint64_t seed) : rng_(seed), book_(std::make_unique<WorkerBook>()) {
    for (int i = 0; i < kWorkers; ++i) StartWorker(i);
  }

  WorkerOutcome Run() {
    for (int i = 0; i < kSteps && !outcome_.violation; ++i) Step();
    Rest();
    return outcome_;
  }

 private:
  void Step() {
    const size_t worker = rng_.Below(kWorkers);
    switch (rng_.Below(16)) {
      case 0: return StartAttempt();
      case 1: return WriteRecords();
      case 2:
      case 3:
      case 4: return ReadAtWorker(worker);
      case 5:
      case 6:
      case 7: return ReadAtDaemon(worker);
      case 8:
      case 9: return Return(worker);
      case 10:
      case 11: return Connect(worker);
      case 12: return rng_.Chance(0.3) ? Break(worker) : Store();
      case 13: return rng_.Chance(0.1) ? Kill(worker) : Store();
      case 14: return rng_.Chance(0.1) ? CrashDaemon() : Store();
      default: return Store();
    }
  }

  // Everything that is under way ends; then nothing may be left.
  void Rest() {
    for (int i = 0; i < kStepsToRest && !outcome_.violation && !AtRest(); ++i) {
      const size_t worker = rng_.Below(kWorkers);
      Connect(worker);
      WriteRecords();
      ReadAtWorker(worker);
      Return(worker);
      ReadAtDaemon(worker);
      at_ += 1s;
      Decide([&] { book_->Tick(Now()); });
      Store();
    }
    for (const auto& [id, fate] : fates_) {
      if (!fate.result) Fail("has no result", fate);
    }
    if (!disk_.empty()) Fail("left a record on the disk", fates_.at(disk_.begin()->first));
    for (const WorkerModel& worker : workers_) {
      if (!worker.unconfirmed.empty()) Fail("was never confirmed", FateOf(*worker.unconfirmed.begin()));
    }
  }

  bool AtRest() const {
    for (const auto& [id, fate] : fates_) {
      if (!fate.result) return false;
    }
    for (const WorkerModel& worker : workers_) {
      if (!worker.unconfirmed.empty()) return false;
    }
    return disk_.empty();
  }

  // ---- the daemon
  WorkerBook::Now Now() const { return {SteadyTime(at_), FromUnixMicros(1'000'000'000) + at_}; }

  template <typename Change>
  void Decide(const Change& change) {
    change();
    for (auto& [session, outgoing] : book_->TakeOutgoing()) {
      for (auto& [index, stream] : streams_) {
        if (stream->session == session && stream->open) stream->to_worker.push_back(outgoing);
      }
    }
    for (const auto session : book_->TakeReplaced()) {
      for (auto& [index, stream] : streams_) {
        if (stream->session == session) stream->open = false;
      }
    }
    for (StartRecord& record : book_->TakeRecords()) to_write_.push_back(std::move(record));
    for (const AttemptId& id : book_->TakeRemovals()) disk_.erase(id);
    for (HandlerEvent& event : book_->TakeEvents()) {
      if (auto* ended = std::get_if<AttemptEnded>(&event)) End(std::move(*ended));
    }
  }

  void StartAttempt() {
    if (fates_.size() >= kAttemptsMax) return;
    HeldAttempt held{.key = {.fire = FromUnixMicros(1'000'000), .schedule_id = ScheduleId(++started_)},
                     .attempt = 1,
                     .token = {started_, 1}};
    fates_[IdOf(held)].held = held;
    Decide([&] {
      book_->Start({.attempt = held, .job_id = JobId("job"), .handler = "app/work", .timeout = 3600s,
                    .lease_end = SteadyTime(at_ + 20s)},
                   Now());
    });
  }

  void WriteRecords() {
    std::vector<AttemptId> ids;
    for (StartRecord& record : std::exchange(to_write_, {})) {
      ids.push_back(IdOf(record.attempt));
      disk_[ids.back()] = std::move(record);
    }
    if (rng_.Chance(0.05)) return CrashDaemon();  // between the write and what follows it
    if (!ids.empty()) Decide([&] { book_->Recorded(ids); });
  }

  // The results that are known are in the database.
  void Store() {
    std::vector<HeldAttempt> stored;
    for (const auto& [id, fate] : fates_) {
      if (fate.result) stored.push_back(fate.held);
    }
    Decide([&] { book_->Forget(stored); });
  }

  // The next daemon has the records on the disk. The scheduler counts all else without a result as lost.
  void CrashDaemon() {
    ++outcome_.crashes;
    for (size_t worker = 0; worker < kWorkers; ++worker) Break(worker);
    to_write_.clear();
    book_ = std::make_unique<WorkerBook>();
    std::vector<WorkerProcess> gone;
    Decide([&] {
      for (const auto& [id, record] : disk_) {
        book_->Adopt(record);
        if (!IsAlive(record.process)) gone.push_back(record.process);
      }
    });
    for (auto& [id, fate] : fates_) {
      if (!disk_.contains(id) && !fate.result) Judge(fate, {.state = RunState::kLost, .reason = "daemon"});
    }
    for (const WorkerProcess& process : gone) Decide([&] { book_->Died(process, Now()); });
  }

  void End(AttemptEnded ended) {
    Fate& fate = fates_.at(IdOf(ended.attempt));
    if (!fate.result) Judge(fate, std::move(ended.result));  // a repeated end is no news
  }

  // ---- the workers
  void StartWorker(int number) {
    workers_.resize(kWorkers);
    workers_[static_cast<size_t>(number)] = {.process = {.pid = ++last_pid_, .start_ticks = 1, .boot_id = "b"}};
  }
  bool IsAlive(const WorkerProcess& process) const {
    for (const WorkerModel& worker : workers_) {
      if (worker.process == process) return worker.alive;
    }
    return false;
  }

  void Connect(size_t number) {
    WorkerModel& worker = workers_[number];
    if (!worker.alive) StartWorker(static_cast<int>(number));
    if (const auto stream = streams_.find(number); stream != streams_.end() && stream->second->open) return;
    if (const auto stream = streams_.find(number); stream != streams_.end()) old_.push_back({number, stream->second});
    worker.session.reset();
    WorkerHello hello{.app = "app", .handlers = {{"work", 4}}, .held = {worker.held.begin(), worker.held.end()}};
    for (const WorkerTicket& ticket : worker.unconfirmed) hello.done.push_back({.ticket = ticket});
    auto stream = std::make_shared<StreamModel>();
    stream->session = ++last_session_;
    streams_[number] = stream;
    Decide([&] { book_->Attach(stream->session, worker.process, std::move(hello), Now()); });
  }

  void Break(size_t number) {
    const auto found = streams_.find(number);
    if (found == streams_.end() || !found->second->open) return;
    ++outcome_.breaks;
    found->second->open = false;
    found->second->to_daemon.resize(rng_.Below(found->second->to_daemon.size() + 1));
    while (!found->second->to_daemon.empty()) TakeOne(*found->second);
    workers_[number].session.reset();
    Decide([&] { book_->Detach(found->second->session); });
  }

  void Kill(size_t number) {
    WorkerModel& worker = workers_[number];
    if (!worker.alive) return;
    worker.alive = false;
    for (auto& [id, fate] : fates_) {
      if (fate.runs_in == static_cast<int>(worker.process.pid)) fate.runs_in = -1;
    }
    worker.held.clear();
    worker.unconfirmed.clear();
    std::erase_if(old_, [&](const auto& entry) { return entry.first == number; });
    Break(number);
    streams_.erase(number);
    Decide([&] { book_->Died(worker.process, Now()); });
  }

  void ReadAtWorker(size_t number) {
    WorkerModel& worker = workers_[number];
    if (!worker.alive) return;
    // What an earlier stream has brought may be looked at only now.
    for (auto& [of, stream] : old_) {
      if (of == number && !stream->to_worker.empty() && rng_.Chance(0.5)) return Take(worker, *stream);
    }
    const auto found = streams_.find(number);
    if (found != streams_.end() && !found->second->to_worker.empty()) Take(worker, *found->second);
  }

  void Take(WorkerModel& worker, StreamModel& stream) {
    const WorkerBook::Outgoing outgoing = std::move(stream.to_worker.front());
    stream.to_worker.pop_front();
    if (outgoing.welcome && stream.open) worker.session = outgoing.welcome;
    for (const StartHandler& start : outgoing.runs) {
      const bool current = worker.session == stream.session || failpoint::Broken("worker.session");
      const WorkerTicket ticket = WorkerBook::TicketOf(start.attempt);
      if (!current || !worker.recent.insert(ticket).second) continue;
      Fate& fate = FateOf(ticket);
      ++outcome_.calls;
      if (++fate.calls > 1) Fail("was called twice", fate);
      if (fate.result) Fail("was called after its end", fate);
      fate.runs_in = static_cast<int>(worker.process.pid);
      worker.held.insert(ticket);
    }
    for (const WorkerTicket& ticket : outgoing.done_stored) worker.unconfirmed.erase(ticket);
  }

  void Return(size_t number) {
    WorkerModel& worker = workers_[number];
    if (!worker.alive || worker.held.empty()) return;
    const WorkerTicket ticket = *worker.held.begin();
    worker.held.erase(ticket);
    worker.unconfirmed.insert(ticket);
    Fate& fate = FateOf(ticket);
    fate.runs_in = -1;
    fate.returned = true;
    const auto found = streams_.find(number);
    if (found == streams_.end() || !found->second->open) return;
    FromWorkerMessage message;
    message.done.push_back({.ticket = ticket});
    found->second->to_daemon.push_back(std::move(message));
  }

  void ReadAtDaemon(size_t number) {
    const auto found = streams_.find(number);
    if (found != streams_.end() && found->second->open && !found->second->to_daemon.empty()) TakeOne(*found->second);
  }
  void TakeOne(StreamModel& stream) {
    FromWorkerMessage message = std::move(stream.to_daemon.front());
    stream.to_daemon.pop_front();
    Decide([&] { book_->Take(stream.session, std::move(message), Now()); });
  }

  // ---- the judge
  Fate& FateOf(const WorkerTicket& ticket) { return fates_.at(IdOf(*WorkerBook::AttemptOf(ticket))); }

  void Judge(Fate& fate, AttemptResult result) {
    if (fate.runs_in >= 0) Fail("ended while its function ran: " + result.reason, fate);
    if (result.state == RunState::kCompleted && !fate.returned) Fail("is COMPLETED, but never returned", fate);
    if (result.reason == reason::kNotStarted && fate.calls > 0) Fail("did not begin, but was called", fate);
    fate.result = std::move(result);
  }
  void Fail(const std::string& what, const Fate& fate) {
    if (!outcome_.violation) {
      outcome_.violation = fmt::format("attempt {} {}", fate.held.key.schedule_id.value(), what);
    }
  }

  Rng rng_;
  Duration at_{};
  std::unique_ptr<WorkerBook> book_;
  std::vector<WorkerModel> workers_;
  std::map<size_t, std::shared_ptr<StreamModel>> streams_;
  std::vector<std::pair<size_t, std::shared_ptr<StreamModel>>> old_;
  std::vector<StartRecord> to_write_;
  std::map<AttemptId, StartRecord> disk_;
  std::map<AttemptId, Fate> fates_;
  uint64_t started_ = 0;
  int64_t last_pid_ = 100;
  WorkerBook::Session last_session_ = 0;
  WorkerOutcome outcome_;
};

}  // namespace

WorkerOutcome SimulateWorkers(uint64_t seed) { return WorkerWorld(seed).Run(); }

}  // namespace carillon::sim
