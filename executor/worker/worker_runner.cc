#include "executor/worker/worker_runner.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "executor/worker/worker_result.h"
#include "executor/worker/worker_ticket.h"

namespace carillon::executor {
namespace {

constexpr Duration kTickEvery = 1s;
constexpr Duration kWarnEvery = 60s;
// After this time the stream of a dead process is closed, in case a child holds its other end open.
constexpr Duration kLastWords = 2s;
constexpr size_t kMessageBytes = 4u << 20;  // a message with more is split

}  // namespace

// The messages that a session has yet to write, for its writing thread.
struct WorkerRunner::Outbox {
  // `all` counts the bytes of all outboxes, which may be `all_max`.
  Outbox(WorkerStream& to, std::atomic<size_t>& all, size_t all_max)
      : stream(to), all_bytes(all), all_bytes_max(all_max) {}

  void Put(std::string bytes) {
    std::lock_guard lock(mu);
    if (over) return;
    waiting_bytes += bytes.size();
    all_bytes += bytes.size();
    waiting.push_back(std::move(bytes));
    const size_t max =
        all_bytes > all_bytes_max ? all_bytes_max / WorkerTable::kWorkersMax : all_bytes_max / 4;
    // The worker has not read for long. What it missed it gets with its next connection, but
    // no Run.
    if (waiting_bytes > max) {
      stream.Close();
      Drop();
    }
    changed.notify_one();
  }
  void End() {
    std::lock_guard lock(mu);
    Drop();
    changed.notify_one();
  }
  // Closes the stream while it exists.
  void Close() {
    std::lock_guard lock(mu);
    if (!over) stream.Close();
    Drop();
    changed.notify_one();
  }
  void Drop() {
    over = true;
    all_bytes -= std::exchange(waiting_bytes, 0);
    waiting.clear();
  }
  void WriteAll() {
    while (true) {
      std::string bytes;
      {
        std::unique_lock lock(mu);
        changed.wait(lock, [this] { return over || !waiting.empty(); });
        if (over) return;
        bytes = std::move(waiting.front());
        waiting.pop_front();
        waiting_bytes -= bytes.size();
        all_bytes -= bytes.size();
      }
      if (!stream.Write(bytes)) return;
    }
  }

  WorkerStream& stream;
  std::atomic<size_t>& all_bytes;
  const size_t all_bytes_max;
  std::mutex mu;
  std::condition_variable changed;
  std::deque<std::string> waiting;
  size_t waiting_bytes = 0;
  bool over = false;
};

Result<std::unique_ptr<WorkerRunner>> WorkerRunner::Open(const Options& options,
                                                         const OpenWorkerDoor& open_door,
                                                         const Clock& clock, Metrics& metrics) {
  CARILLON_ASSIGN_OR_RETURN(auto records, StartRecords::Open(options.directory));
  CARILLON_ASSIGN_OR_RETURN(const std::vector<StartRecord> found, records->Load());
  std::unique_ptr<WorkerRunner> runner(
      new WorkerRunner(options, clock, metrics, std::move(records)));
  {
    MutexLock lock(runner->mu_);
    for (const StartRecord& record : found) runner->book_.Adopt(record, runner->Now());
    runner->Flush();
  }
  runner->thread_ = std::thread([self = runner.get()] { self->Run(); });
  CARILLON_ASSIGN_OR_RETURN(runner->door_,
                            open_door(options.socket, !options.users.empty(), runner->host_));
  return runner;
}

WorkerRunner::WorkerRunner(const Options& options, const Clock& clock, Metrics& metrics,
                           std::unique_ptr<StartRecords> records)
    : clock_(clock),
      workers_(metrics.gauge("carillon_workers")),
      users_(options.users),
      outbox_bytes_max_(options.outbox_bytes_max),
      records_(std::move(records)),
      wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      book_(options.log_bytes_max) {}

WorkerRunner::~WorkerRunner() {
  {
    MutexLock lock(mu_);
    closing_ = true;
    room_.notify_all();
  }
  door_.reset();  // closes all streams; their functions go on
  {
    MutexLock lock(mu_);
    stop_ = true;
  }
  WakeThread();
  if (thread_.joinable()) thread_.join();
}

WorkerTable::Now WorkerRunner::Now() const { return {clock_.Steady(), clock_.Wall()}; }

int64_t WorkerRunner::MonotonicOf(SteadyTime time) const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto monotonic = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(time - clock_.Steady());
  return std::max<int64_t>(0, (monotonic + left).count());
}

std::shared_ptr<const HandlerOffers> WorkerRunner::Offers() {
  MutexLock lock(mu_);
  return book_.offers();
}

void WorkerRunner::Start(StartHandler start) {
  MutexLock lock(mu_);
  book_.Start(std::move(start), Now());
  Flush();
}

Status WorkerRunner::RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) {
  MutexLock lock(mu_);
  book_.RenewLeases(attempts, lease_end);
  Flush();
  return {};
}

Status WorkerRunner::Cancel(const HeldAttempt& attempt, CancelMode) {
  MutexLock lock(mu_);
  book_.Cancel(attempt, Now());
  Flush();
  return {};
}

Status WorkerRunner::Note(const HeldAttempt& attempt, const std::string& text) {
  MutexLock lock(mu_);
  book_.Note(attempt, text, Now());
  Flush();
  return {};
}

Status WorkerRunner::Forget(const std::vector<HeldAttempt>& attempts) {
  MutexLock lock(mu_);
  book_.Forget(attempts);
  Flush();
  return {};
}

std::vector<AttemptEvent> WorkerRunner::Receive(size_t max) {
  MutexLock lock(mu_);
  std::vector<AttemptEvent> taken = TakeOldest(events_, max);
  for (const AttemptEvent& event : taken) event_bytes_ -= BytesOf(event);
  if (HasRoom()) room_.notify_all();
  return taken;
}

void WorkerRunner::OnReadable(std::function<void()> wake) {
  MutexLock lock(mu_);
  wake_ = std::move(wake);
}

// Reads and checks the first message.
Result<FromWorkerMessage> WorkerRunner::Greet(const WorkerPeer& peer, WorkerStream& stream) const {
  std::string bytes;
  if (!stream.Read(&bytes)) return Error{ErrorCode::kUnavailable, "the stream ended before Hello"};
  CARILLON_ASSIGN_OR_RETURN(FromWorkerMessage first, DecodeFromWorker(bytes));
  if (!first.hello) return Error{ErrorCode::kInvalid, "the first message must be Hello"};
  if (first.hello->protocol != kWorkerProtocol) {
    return Error{ErrorCode::kConflict,
                 fmt::format("this executor speaks protocol {}, the worker {}", kWorkerProtocol,
                             first.hello->protocol)};
  }
  const std::string name = users_.NameOf(peer.uid);
  switch (users_.MayOffer(peer.uid, first.hello->app)) {
    case WorkerUsers::Answer::kYes: return first;
    case WorkerUsers::Answer::kUnknown:
      return Error{
          ErrorCode::kUnavailable,
          fmt::format(
              "whether the user {} may run the application {} is not known at the moment: the user "
              "directory does not know all of executor.worker_users",
              name, first.hello->app)};
    case WorkerUsers::Answer::kNo: break;
  }
  return Error{ErrorCode::kDenied,
               fmt::format("the user {} may not run the application {} (executor.worker_users)",
                           name, first.hello->app)};
}

Status WorkerRunner::Serve(const WorkerPeer& peer, WorkerStream& stream) {
  auto first = Greet(peer, stream);
  if (!first.ok()) {
    log::Warn("worker", "refused a worker of user {}: {}", users_.NameOf(peer.uid),
              first.error().message);
    const bool corrupt = first.error().code == ErrorCode::kCorrupt;
    return {corrupt ? ErrorCode::kInvalid : first.error().code, first.error().message};
  }
  const auto outbox = std::make_shared<Outbox>(stream, outbox_bytes_, outbox_bytes_max_);
  std::thread writer;
  try {
    writer = std::thread([outbox] { outbox->WriteAll(); });
  } catch (const std::system_error& error) {
    return {ErrorCode::kExhausted, fmt::format("no thread can be started: {}", error.what())};
  }
  WorkerTable::Session session = 0;
  Status ended = Admit(peer, *std::move(first), outbox, &session);
  if (ended.ok()) stream.Know();
  if (ended.ok()) ended = ReadAll(session, stream);
  outbox->End();
  stream.Close();  // a write may still wait for room
  writer.join();
  MutexLock lock(mu_);
  book_.Detach(session, Now());
  sessions_.erase(session);
  Flush();
  return ended;
}

Status WorkerRunner::Admit(const WorkerPeer& peer, FromWorkerMessage first,
                           std::shared_ptr<Outbox> outbox, WorkerTable::Session* session) {
  if (peer.pid <= 0) {
    return {ErrorCode::kDenied,
            "the executor cannot see the worker's process; it must not be in a container with "
            "processes of its own"};
  }
  const Result<SeenProcess> seen = LookAtProcess(peer.pid);
  if (!seen.ok()) return {ErrorCode::kUnavailable, seen.error().message};
  WorkerHello& hello = *first.hello;
  const WorkerId id{.process = seen->process, .instance = hello.instance};
  MutexLock lock(mu_);
  if (stop_ || closing_) return {ErrorCode::kUnavailable, "the executor stops"};
  // Its Hello may name many ends.
  if (!HasRoom())
    return {ErrorCode::kUnavailable, "the executor has much to read from other workers"};
  if (!book_.Knows(id) && book_.full()) {
    return {ErrorCode::kExhausted,
            fmt::format("this executor has {} workers", WorkerTable::kWorkersMax)};
  }
  *session = ++last_session_;
  sessions_[*session] = std::move(outbox);
  log::Info("worker", "{} attached, process {}, {} handlers", hello.app, peer.pid,
            hello.handlers.size());
  hello.draining = first.draining;
  book_.Attach(*session, id, seen->image, std::move(hello), Now());
  Flush();
  WakeThread();  // watches the process
  return {};
}

void WorkerRunner::TellDropped(const WorkerDropped& item) {
  if (clock_.Steady() < next_dropped_) return;
  next_dropped_ = clock_.Steady() + kWarnEvery;
  log::Warn("worker", "dropped {} of a worker", item.what);
}

Status WorkerRunner::ReadAll(WorkerTable::Session session, WorkerStream& stream) {
  std::string bytes;
  while (stream.Read(&bytes)) {
    auto message = DecodeFromWorker(bytes);
    // The worker repeats what counts in its next Hello.
    if (!message.ok()) return {ErrorCode::kUnavailable, message.error().message};
    MutexLock lock(mu_);
    // The executor's loop does not take them while the spool of its results cannot be read.
    while (!HasRoom() && !closing_) room_.wait(mu_);
    if (!message->dropped.empty()) TellDropped(message->dropped.front());
    book_.Take(session, *std::move(message), Now());
    Flush();
  }
  return {};
}

std::vector<std::string> WorkerRunner::Encode(WorkerTable::Session session,
                                              WorkerTable::Outgoing outgoing) const {
  std::vector<std::string> encoded;
  ToWorkerMessage message{.welcome = outgoing.welcome,
                          .done_stored = std::move(outgoing.done_stored)};
  size_t bytes = 0;
  for (size_t i = 0; i < outgoing.runs.size(); ++i) {
    StartHandler& start = outgoing.runs[i];
    bytes += start.parameters_json.size();
    for (const auto& [name, value] : start.env) bytes += name.size() + value.size();
    if (start.checkpoint) bytes += start.checkpoint->size();
    if (bytes > kMessageBytes || message.runs.size() >= kWorkerBatchMax) {
      encoded.push_back(EncodeToWorker(std::exchange(message, {})));
      bytes = 0;
    }
    message.runs.push_back({.session = session,
                            .ticket = TicketOf(start.attempt),
                            .handler = start.handler.substr(start.handler.find('/') + 1),
                            .key = start.attempt.key,
                            .attempt = start.attempt.attempt,
                            .job_id = start.job_id,
                            .shard_total = start.shard_total,
                            .parameters_json = std::move(start.parameters_json),
                            .env = std::move(start.env),
                            .deadline_us = MonotonicOf(outgoing.deadlines[i]),
                            .lease_end_us = MonotonicOf(start.lease_end),
                            .trace_id = std::move(start.trace_id),
                            .masked = std::move(start.masked),
                            .checkpoint = std::move(start.checkpoint)});
  }
  for (auto& [end, tickets] : outgoing.leases) {
    message.leases.push_back({.tickets = std::move(tickets), .end_us = MonotonicOf(end)});
  }
  message.asks = std::move(outgoing.asks);  // after the runs that they are about
  message.drained = outgoing.drained;       // likewise
  encoded.push_back(EncodeToWorker(message));
  return encoded;
}

void WorkerRunner::Flush() {
  for (auto& [session, outgoing] : book_.TakeOutgoing()) {
    const auto found = sessions_.find(session);
    if (found == sessions_.end()) continue;
    for (const std::string& bytes : Encode(session, std::move(outgoing))) found->second->Put(bytes);
  }
  for (const WorkerTable::Session session : book_.TakeReplaced()) {
    const auto found = sessions_.find(session);
    if (found != sessions_.end()) found->second->Close();
  }
  std::vector<AttemptEvent> events = book_.TakeEvents();
  const bool news = !events.empty();
  for (AttemptEvent& event : events) {
    event_bytes_ += BytesOf(event);
    events_.push_back(std::move(event));
  }
  if (news && wake_) wake_();
  std::vector<StartRecord> records = book_.TakeRecords();
  std::vector<AttemptId> removals = book_.TakeRemovals();
  const bool writes = !records.empty();
  for (StartRecord& record : records) to_write_.push_back(std::move(record));
  to_remove_.insert(to_remove_.end(), removals.begin(), removals.end());
  if (writes) WakeThread();
  workers_.Set(static_cast<double>(sessions_.size()));
}

void WorkerRunner::WakeThread() {
  const uint64_t one = 1;
  static_cast<void>(write(wake_fd_.get(), &one, sizeof(one)));
}

void WorkerRunner::Run() {
  while (true) {
    {
      MutexLock lock(mu_);
      if (stop_) return;
      book_.Tick(Now());
      Flush();
    }
    WatchProcesses();
    WriteRecords();
    TakeDeaths();
    Wait();
  }
}

// All records that came together are written with one sync.
void WorkerRunner::WriteRecords() {
  std::vector<StartRecord> records;
  std::vector<AttemptId> removals;
  {
    MutexLock lock(mu_);
    removals = std::exchange(to_remove_, {});
    records = std::exchange(to_write_, {});
  }
  const Status written = records_->Save(records, removals);
  if (records.empty()) return;
  std::vector<AttemptId> ids;
  ids.reserve(records.size());
  for (const StartRecord& record : records) ids.push_back(IdOf(record.attempt));
  MutexLock lock(mu_);
  if (written.ok()) {
    book_.Recorded(ids);
  } else {
    log::Error("worker", "starts cannot be recorded: {}", written.error().message);
    book_.NotRecorded(ids, "its start could not be recorded on the executor's disk", Now());
  }
  Flush();
}

// A process that cannot be looked at is looked at again later. A program that made room for another
// one in its process is noticed within kTickEvery.
void WorkerRunner::WatchProcesses() {
  std::map<WorkerId, uint64_t> workers;
  {
    MutexLock lock(mu_);
    workers = book_.Workers();
  }
  const SteadyTime now = clock_.Steady();
  const bool look = now >= next_look_;
  if (look) next_look_ = now + kTickEvery;
  std::set<WorkerProcess> processes;
  for (const auto& [id, image] : workers) {
    processes.insert(id.process);
    if (dead_.contains(id)) continue;
    Life life = Life::kAlive;
    if (!watch_.Watches(id.process)) life = watch_.Add(id.process);
    if (life == Life::kAlive && look) life = LifeOf(id.process, image);
    if (life == Life::kDead) dead_.try_emplace(id, now);
    if (life == Life::kUnknown && now >= next_warning_) {
      next_warning_ = now + kWarnEvery;
      log::Warn("worker",
                "process {} of a worker cannot be watched at the moment; it counts as alive",
                id.process.pid);
    }
  }
  watch_.Keep(processes);
}

// The last messages of a dead process are read first: they may have results.
void WorkerRunner::TakeDeaths() {
  MutexLock lock(mu_);
  std::erase_if(dead_, [&](const auto& entry) {
    const auto& [id, since] = entry;
    const auto session = book_.SessionOf(id);
    if (session && clock_.Steady() >= since + kLastWords) sessions_.at(*session)->Close();
    if (session) return false;
    log::Info("worker", "the program of process {} of a worker has ended", id.process.pid);
    book_.Died(id, Now());
    return true;
  });
  Flush();
}

void WorkerRunner::Wait() {
  std::vector<pollfd> fds{{.fd = wake_fd_.get(), .events = POLLIN, .revents = 0}};
  const auto watched = watch_.Descriptors();
  for (const auto& [fd, process] : watched) {
    // One that is known to be dead would end each wait.
    const auto dead = dead_.lower_bound({.process = process, .instance = {}});
    const bool known = dead != dead_.end() && dead->first.process == process;
    fds.push_back({.fd = known ? -1 : fd, .events = POLLIN, .revents = 0});
  }
  SteadyTime next = clock_.Steady() + (dead_.empty() ? kTickEvery : 20ms);
  {
    MutexLock lock(mu_);
    if (!to_write_.empty()) return;
    next = std::min(next, book_.NextTick());
  }
  const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(next - clock_.Steady());
  poll(fds.data(), fds.size(), static_cast<int>(std::clamp<int64_t>(wait.count() + 1, 0, 1000)));
  uint64_t count = 0;
  static_cast<void>(read(wake_fd_.get(), &count, sizeof(count)));
  std::map<WorkerId, uint64_t> workers;
  for (size_t i = 1; i < fds.size(); ++i) {
    if (fds[i].revents == 0) continue;
    if (workers.empty()) {
      MutexLock lock(mu_);
      workers = book_.Workers();
    }
    for (const auto& [id, image] : workers) {
      if (id.process == watched[i - 1].second) dead_.try_emplace(id, clock_.Steady());
    }
  }
}

}  // namespace carillon::executor
