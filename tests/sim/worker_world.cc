#include "tests/sim/worker_world.h"

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "common/base/failpoint.h"
#include "common/base/rng.h"
#include "executor/worker/worker_table.h"
#include "executor/worker/worker_ticket.h"

namespace carillon::sim {
namespace {

using executor::AttemptId;
using executor::IdOf;
using executor::StartRecord;
using executor::WorkerId;
using executor::WorkerProcess;
using executor::WorkerTable;

constexpr int kSteps = 3000;
constexpr int kStepsToRest = 20'000;
constexpr size_t kProcesses = 2;
constexpr size_t kWorkersOfOne = 2;
constexpr size_t kWorkers = kProcesses * kWorkersOfOne;
constexpr int kAttemptsMax = 60;

// One connection. What was sent before it broke may still arrive.
struct StreamModel {
  WorkerTable::Session session = 0;
  bool open = true;
  std::deque<WorkerTable::Outgoing> to_worker;
  std::deque<FromWorkerMessage> to_daemon;
};

// A process, which may execute another program in place of its own.
struct ProcessModel {
  WorkerProcess process;
  uint64_t image = 0;  // 0: the daemon may not see it
  bool alive = true;
};

// A worker in a process, as an SDK makes it. worker.proto has the rules.
struct WorkerModel {
  WorkerId id;
  std::optional<WorkerTable::Session> session;
  std::set<WorkerTicket> held;
  std::set<WorkerTicket> unconfirmed;
  std::set<WorkerTicket> recent;
};

// One attempt, as an observer knows it.
struct WorkerFate {
  HeldAttempt held;
  int calls = 0;
  int64_t runs_in = -1;  // the process in which its function runs
  bool returned = false;
  bool silent = false;
  std::optional<AttemptResult> result = {};
};

class WorkerWorld {
 public:
  explicit WorkerWorld(uint64_t seed) : rng_(seed), book_(std::make_unique<WorkerTable>()) {
    workers_.resize(kWorkers);
    for (size_t i = 0; i < kProcesses; ++i) StartProcess(i);
  }

  WorkerOutcome Run() {
    for (int i = 0; i < kSteps && !outcome_.violation; ++i) Step();
    Rest();
    return outcome_;
  }

 private:
  void Step() {
    const size_t worker = rng_.Below(kWorkers);
    switch (rng_.Below(17)) {
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
      case 13: return rng_.Chance(0.1) ? End(worker) : Look();
      case 14: return rng_.Chance(0.1) ? CrashDaemon() : Store();
      case 15: return Pass(10s);
      default: return Store();
    }
  }

  // What is under way ends, or is silent because its worker does not come back. That ends with
  // its process.
  void Rest() {
    Settle();
    for (const auto& [id, fate] : fates_) {
      if (!fate.result && !fate.silent) Fail("is neither over nor silent", fate);
      outcome_.silent += fate.silent;
    }
    for (size_t i = 0; i < kProcesses; ++i) Kill(i);
    Settle();
    for (const auto& [id, fate] : fates_) {
      if (!fate.result) Fail("has no result", fate);
    }
    if (!disk_.empty()) Fail("left a record on the disk", fates_.at(disk_.begin()->first));
    for (const WorkerModel& worker : workers_) {
      if (!worker.unconfirmed.empty())
        Fail("was never confirmed", FateOf(*worker.unconfirmed.begin()));
    }
  }

  void Settle() {
    for (int i = 0; i < kStepsToRest && !outcome_.violation && !AtRest(); ++i) {
      const size_t worker = rng_.Below(kWorkers);
      Connect(worker);
      WriteRecords();
      ReadAtWorker(worker);
      Return(worker);
      ReadAtDaemon(worker);
      Pass(1s);
      Look();
      Store();
    }
  }

  bool AtRest() const {
    for (const auto& [id, fate] : fates_) {
      if (!fate.result && !fate.silent) return false;
      if (fate.result && disk_.contains(id)) return false;
    }
    for (const WorkerModel& worker : workers_) {
      if (!worker.unconfirmed.empty()) return false;
    }
    return true;
  }

  // ---- the daemon
  WorkerTable::Now Now() const { return {SteadyTime(at_), FromUnixMicros(1'000'000'000) + at_}; }

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
    for (AttemptEvent& event : book_->TakeEvents()) {
      if (auto* ended = std::get_if<AttemptEnded>(&event)) TakeEnd(std::move(*ended));
      if (const auto* word = std::get_if<AttemptSilent>(&event))
        fates_.at(IdOf(word->attempt)).silent = word->silent;
    }
  }

  void Pass(Duration time) {
    at_ += time;
    Decide([&] { book_->Tick(Now()); });
  }

  // What the daemon sees of the processes of its workers.
  void Look() {
    for (const auto& [id, image] : book_->Workers()) {
      const ProcessModel* process = Find(id.process);
      const bool other =
          process != nullptr && image != 0 && process->image != 0 && process->image != image;
      if (process == nullptr || other) Decide([&] { book_->Died(id, Now()); });
    }
  }

  void StartAttempt() {
    if (fates_.size() >= kAttemptsMax) return;
    HeldAttempt held{
        .key = {.fire = FromUnixMicros(1'000'000), .schedule_id = ScheduleId(++started_)},
        .attempt = 1,
        .token = {started_, 1}};
    fates_[IdOf(held)].held = held;
    Decide([&] {
      book_->Start({.attempt = held,
                    .job_id = JobId("job"),
                    .handler = "app/work",
                    .timeout = 3600s,
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

  // The next daemon has the records on the disk. The scheduler counts all else without a result
  // as lost.
  void CrashDaemon() {
    ++outcome_.crashes;
    for (size_t worker = 0; worker < kWorkers; ++worker) Break(worker);
    to_write_.clear();
    book_ = std::make_unique<WorkerTable>();
    for (auto& [id, fate] : fates_) fate.silent = false;
    Decide([&] {
      for (const auto& [id, record] : disk_) book_->Adopt(record, Now());
    });
    for (auto& [id, fate] : fates_) {
      if (!disk_.contains(id) && !fate.result)
        Judge(fate, {.state = RunState::kLost, .reason = "daemon"});
    }
    Look();
  }

  void TakeEnd(AttemptEnded ended) {
    WorkerFate& fate = fates_.at(IdOf(ended.attempt));
    if (!fate.result) Judge(fate, std::move(ended.result));  // a repeated end is no news
  }

  // ---- the workers
  static size_t ProcessOf(size_t worker) { return worker / kWorkersOfOne; }

  void StartProcess(size_t number) {
    processes_[number] = {.process = {.pid = ++last_pid_, .start_ticks = 1, .boot_id = "b"},
                          .image = rng_.Chance(0.7) ? ++last_image_ : 0};
    for (size_t i = 0; i < kWorkersOfOne; ++i) MakeWorker(number * kWorkersOfOne + i);
  }
  // In place of the one before, which nobody has any more.
  void MakeWorker(size_t number) {
    const WorkerProcess& process = processes_[ProcessOf(number)].process;
    workers_[number] = {
        .id = {.process = process, .instance = fmt::format("{}", ++last_instance_)}};
    streams_.erase(number);
    std::erase_if(old_, [&](const auto& entry) { return entry.first == number; });
  }
  const ProcessModel* Find(const WorkerProcess& process) const {
    for (const ProcessModel& one : processes_) {
      if (one.process == process && one.alive) return &one;
    }
    return nullptr;
  }

  void Connect(size_t number) {
    if (!processes_[ProcessOf(number)].alive) StartProcess(ProcessOf(number));
    WorkerModel& worker = workers_[number];
    if (const auto stream = streams_.find(number); stream != streams_.end() && stream->second->open)
      return;
    if (const auto stream = streams_.find(number); stream != streams_.end())
      old_.push_back({number, stream->second});
    worker.session.reset();
    WorkerHello hello{
        .app = "app", .handlers = {{"work", 4}}, .held = {worker.held.begin(), worker.held.end()}};
    for (const WorkerTicket& ticket : worker.unconfirmed) hello.done.push_back({.ticket = ticket});
    auto stream = std::make_shared<StreamModel>();
    stream->session = ++last_session_;
    streams_[number] = stream;
    const uint64_t image = processes_[ProcessOf(number)].image;
    Decide([&] { book_->Attach(stream->session, worker.id, image, std::move(hello), Now()); });
  }

  void Break(size_t number) {
    const auto found = streams_.find(number);
    if (found == streams_.end() || !found->second->open) return;
    ++outcome_.breaks;
    found->second->open = false;
    found->second->to_daemon.resize(rng_.Below(found->second->to_daemon.size() + 1));
    while (!found->second->to_daemon.empty()) TakeOne(*found->second);
    workers_[number].session.reset();
    Decide([&] { book_->Detach(found->second->session, Now()); });
  }

  void End(size_t number) {
    switch (rng_.Below(3)) {
      case 0: return Kill(ProcessOf(number));
      case 1: return Execute(ProcessOf(number));
      default: return Drop(number);
    }
  }

  void EndFunctions(size_t process) {
    for (auto& [id, fate] : fates_) {
      if (fate.runs_in == processes_[process].process.pid) fate.runs_in = -1;
    }
    for (size_t i = 0; i < kWorkersOfOne; ++i) Break(process * kWorkersOfOne + i);
  }
  void Kill(size_t number) {
    if (!processes_[number].alive) return;
    EndFunctions(number);
    processes_[number].alive = false;
    for (size_t i = 0; i < kWorkersOfOne; ++i) MakeWorker(number * kWorkersOfOne + i);
    Look();
  }
  // The process executes another program, which begins with new workers.
  void Execute(size_t number) {
    if (!processes_[number].alive) return;
    EndFunctions(number);
    if (processes_[number].image != 0) processes_[number].image = ++last_image_;
    for (size_t i = 0; i < kWorkersOfOne; ++i) MakeWorker(number * kWorkersOfOne + i);
  }
  // The program gives up a worker and makes another one. Functions go on, and nobody hears of
  // their ends.
  void Drop(size_t number) {
    if (!processes_[ProcessOf(number)].alive) return;
    Break(number);
    MakeWorker(number);
  }

  void ReadAtWorker(size_t number) {
    WorkerModel& worker = workers_[number];
    if (!processes_[ProcessOf(number)].alive) return;
    // What an earlier stream has brought may be looked at only now.
    for (auto& [of, stream] : old_) {
      if (of == number && !stream->to_worker.empty() && rng_.Chance(0.5))
        return Take(worker, *stream);
    }
    const auto found = streams_.find(number);
    if (found != streams_.end() && !found->second->to_worker.empty()) Take(worker, *found->second);
  }

  void Take(WorkerModel& worker, StreamModel& stream) {
    const WorkerTable::Outgoing outgoing = std::move(stream.to_worker.front());
    stream.to_worker.pop_front();
    if (outgoing.welcome && stream.open) worker.session = outgoing.welcome;
    for (const StartHandler& start : outgoing.runs) {
      const bool current = worker.session == stream.session || failpoint::Broken("worker.session");
      const WorkerTicket ticket = executor::TicketOf(start.attempt);
      if (!current || !worker.recent.insert(ticket).second) continue;
      WorkerFate& fate = FateOf(ticket);
      ++outcome_.calls;
      if (++fate.calls > 1) Fail("was called twice", fate);
      if (fate.result) Fail("was called after its end", fate);
      fate.runs_in = worker.id.process.pid;
      worker.held.insert(ticket);
    }
    for (const WorkerTicket& ticket : outgoing.done_stored) worker.unconfirmed.erase(ticket);
  }

  void Return(size_t number) {
    WorkerModel& worker = workers_[number];
    if (!processes_[ProcessOf(number)].alive || worker.held.empty()) return;
    const WorkerTicket ticket = *worker.held.begin();
    worker.held.erase(ticket);
    worker.unconfirmed.insert(ticket);
    WorkerFate& fate = FateOf(ticket);
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
    if (found != streams_.end() && found->second->open && !found->second->to_daemon.empty())
      TakeOne(*found->second);
  }
  void TakeOne(StreamModel& stream) {
    FromWorkerMessage message = std::move(stream.to_daemon.front());
    stream.to_daemon.pop_front();
    Decide([&] { book_->Take(stream.session, std::move(message), Now()); });
  }

  // ---- the judge
  WorkerFate& FateOf(const WorkerTicket& ticket) {
    return fates_.at(IdOf(*executor::AttemptOf(ticket)));
  }

  void Judge(WorkerFate& fate, AttemptResult result) {
    if (fate.runs_in >= 0) Fail("ended while its function ran: " + result.reason, fate);
    if (result.state == RunState::kCompleted && !fate.returned)
      Fail("is COMPLETED, but never returned", fate);
    if (result.reason == reason::kNotStarted && fate.calls > 0)
      Fail("did not begin, but was called", fate);
    fate.result = std::move(result);
  }
  void Fail(const std::string& what, const WorkerFate& fate) {
    if (!outcome_.violation) {
      outcome_.violation = fmt::format("attempt {} {}", fate.held.key.schedule_id.value(), what);
    }
  }

  Rng rng_;
  Duration at_{};
  std::unique_ptr<WorkerTable> book_;
  std::array<ProcessModel, kProcesses> processes_;
  std::vector<WorkerModel> workers_;
  std::map<size_t, std::shared_ptr<StreamModel>> streams_;
  std::vector<std::pair<size_t, std::shared_ptr<StreamModel>>> old_;
  std::vector<StartRecord> to_write_;
  std::map<AttemptId, StartRecord> disk_;
  std::map<AttemptId, WorkerFate> fates_;
  uint64_t started_ = 0;
  int64_t last_pid_ = 100;
  uint64_t last_image_ = 0;
  uint64_t last_instance_ = 0;
  WorkerTable::Session last_session_ = 0;
  WorkerOutcome outcome_;
};

}  // namespace

WorkerOutcome SimulateWorkers(uint64_t seed) { return WorkerWorld(seed).Run(); }

}  // namespace carillon::sim
