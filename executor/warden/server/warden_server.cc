#include "executor/warden/server/warden_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "executor/warden/container/container_record.h"

namespace carillon::executor {
namespace {

constexpr uint64_t kListenerToken = 0;
constexpr uint64_t kConnectionToken = 1;
constexpr uint64_t kSignalsToken = 2;
constexpr uint64_t kDeviceToken = 3;
constexpr int kEventsPerTurnMax = 256;
constexpr size_t kListingsMax = 16;
constexpr Duration kReadyCheck = 1s;
constexpr Duration kReadyAgain = 20ms;
constexpr int kWaitMillisMax = 1000;

Error WardenError(const std::string& what) {
  return {ErrorCode::kUnavailable, fmt::format("warden: {}: {}", what, std::strerror(errno))};
}

}  // namespace

Result<std::unique_ptr<WardenServer>> WardenServer::Create(const Clock& clock,
                                                           WardenOptions options) {
  std::unique_ptr<WardenServer> server(new WardenServer(clock, std::move(options)));
  CARILLON_TRY(server->Lock());
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return WardenError("subreaper");
  server->epoll_ = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  if (!server->epoll_.open()) return WardenError("epoll");
  CARILLON_TRY(server->PrepareSignals());
  warden_message::Welcome welcome{.pid = getpid()};
  CARILLON_TRY(server->PrepareCore(&welcome));
  CARILLON_ASSIGN_OR_RETURN(const int listener,
                            ListenInDirectory(server->directory_.get(), kWardenSocket));
  server->channel_ = std::make_unique<DaemonChannel>(FileDescriptor(listener), std::move(welcome));
  CARILLON_TRY(server->Watch(listener, kListenerToken, EPOLLIN));
  server->idle_since_ = clock.Steady();
  return server;
}

// Takes a record lock. Unlike flock, a record lock is not shared with forked processes.
Status WardenServer::Lock() {
  directory_ = FileDescriptor(open(options_.directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory_.open()) return WardenError("open " + options_.directory);
  lock_ = FileDescriptor(
      openat(directory_.get(), kWardenLock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock_.open()) return WardenError("open the lock in " + options_.directory);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (fcntl(lock_.get(), F_SETLK, &whole) == 0) return {};
  if (errno == EACCES || errno == EAGAIN) {
    return {ErrorCode::kConflict, "another warden holds " + options_.directory};
  }
  return WardenError("lock " + options_.directory);
}

Status WardenServer::PrepareSignals() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // exceeding a file size limit is a write error, not fatal
  signal(SIGHUP, SIG_IGN);
  sigset_t handled;
  sigemptyset(&handled);
  for (const int wanted : {SIGCHLD, SIGTERM, SIGINT}) sigaddset(&handled, wanted);
  sigset_t blocked = handled;
  // These are blocked because keepers inherit the mask: a signal that arrives before a keeper waits
  // for it must stay pending, not kill the keeper.
  for (const int wanted : {SIGUSR1, SIGUSR2}) sigaddset(&blocked, wanted);
  if (sigprocmask(SIG_BLOCK, &blocked, nullptr) != 0) return WardenError("sigprocmask");
  signals_ = FileDescriptor(signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_.open()) return WardenError("signalfd");
  return Watch(signals_.get(), kSignalsToken, EPOLLIN);
}

Status WardenServer::PrepareCore(warden_message::Welcome* welcome) {
  CARILLON_ASSIGN_OR_RETURN(auto device, ThreadDevice::Create(options_.execute));
  CARILLON_TRY(Watch(device->done_fd(), kDeviceToken, EPOLLIN | EPOLLET));
  WardenJournal::Contents contents;
  CARILLON_ASSIGN_OR_RETURN(
      auto journal, WardenJournal::Open(options_.directory + "/journal", options_.journal_bytes_max,
                                        std::move(device), &contents));
  welcome->unreadable = contents.unreadable;
  if (contents.unreadable > 0) {
    std::fprintf(stderr, "warden: %zu unreadable places in the journal\n", contents.unreadable);
  }
  rlimit open_files{};
  if (getrlimit(RLIMIT_NOFILE, &open_files) != 0) return WardenError("getrlimit");
  const rlimit raised{open_files.rlim_max, open_files.rlim_max};
  if (options_.open_files > 0)
    open_files.rlim_cur = std::min<rlim_t>(options_.open_files, open_files.rlim_max);
  setrlimit(RLIMIT_NOFILE, &raised);  // a run needs three descriptors; on failure fewer fit
  const std::string work = options_.directory + "/work";
  const std::string old = options_.directory + "/work.old";
  const bool had_work = rename(work.c_str(), old.c_str()) == 0 || errno == ENOTEMPTY;
  if (mkdir(work.c_str(), 0700) != 0 && errno != EEXIST) return WardenError("mkdir " + work);
  const std::string containers = RecordsIn(options_.directory);
  if (mkdir(containers.c_str(), 0700) != 0 && errno != EEXIST)
    return WardenError("mkdir " + containers);
  CARILLON_ASSIGN_OR_RETURN(const std::string id, WardenIdOf(options_.directory));
  journal->SetWardenId(id);
  const HostIsolation isolation = PrepareIsolation(options_.directory, options_.run_directory);
  core_ = std::make_unique<WardenCore>(
      clock_, std::move(journal), std::move(contents),
      WardenCore::Options{.work_directory = work,
                          .epoll = epoll_.get(),
                          .open_files = open_files,
                          .read_outputs = options_.read_outputs,
                          .isolation = isolation,
                          .containers = std::filesystem::absolute(containers),
                          .warden_id = id});
  welcome->features =
      isolation.features.With({Feature::kWorkingDirectory, Feature::kOutputEncoding}).bits();
  welcome->checks = isolation.checks;
  if (had_work) core_->running().RemoveInBackground({old});
  if (!isolation.leftovers.empty()) core_->running().RemoveInBackground({isolation.leftovers});
  return {};
}

Status WardenServer::Watch(int fd, uint64_t token, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = token;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return WardenError("epoll_ctl");
  return {};
}

void WardenServer::Run() {
  do {
    Turn();
  } while (!Done(clock_.Steady()));
  unlinkat(directory_.get(), kWardenSocket, 0);
}

void WardenServer::Turn() {
  std::array<epoll_event, kEventsPerTurnMax> events;
  const int count = epoll_wait(epoll_.get(), events.data(), kEventsPerTurnMax, WaitMillis());
  for (int i = 0; i < count; ++i) {
    Dispatch(events[static_cast<size_t>(i)].data.u64, events[static_cast<size_t>(i)].events);
  }
  core_->running().Continue();
  core_->Tick(clock_.Steady());
  core_->Commit(clock_.Steady());
  CheckReady(clock_.Steady());
  Tell(clock_.Steady());
  core_->StepJournal(clock_.Steady());
}

int WardenServer::WaitMillis() const {
  if (core_->running().wants_turn()) return 0;
  const SteadyTime now = clock_.Steady();
  SteadyTime next = std::min(core_->NextTick(), next_ready_check_);
  if (channel_->attached() && channel_->CanSend()) next = std::min(next, core_->NextOutput());
  if (next <= now) return 0;
  const int64_t millis = (next - now + 999us) / 1ms;
  return static_cast<int>(std::min<int64_t>(millis, kWaitMillisMax));
}

void WardenServer::Dispatch(uint64_t token, uint32_t events) {
  if (token >= RunningAttempts::kFirstToken) {
    core_->running().OnReady(token, (events & (EPOLLHUP | EPOLLERR)) != 0);
  } else if (token == kListenerToken) {
    Attach();
  } else if (token == kConnectionToken) {
    OnConnection(events);
  } else if (token == kSignalsToken) {
    OnSignals();
  }  // kDeviceToken: every turn checks the device
}

void WardenServer::OnSignals() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    if (info.ssi_signo == SIGCHLD || stopping_) continue;
    stopping_ = true;
    core_->Stop();
  }
  core_->running().ReapChildren();
}

void WardenServer::Attach() {
  if (!channel_->Accept()) return;
  listings_.clear();
  core_->DropReports();
  ready_sent_ = false;
  listed_ = false;
  watching_writes_ = false;
  if (!Watch(channel_->connection(), kConnectionToken, EPOLLIN).ok()) Detach();
}

void WardenServer::Detach() {
  if (channel_->attached()) idle_since_ = clock_.Steady();
  channel_->Close();
  listings_.clear();
  core_->DropReports();
}

void WardenServer::OnConnection(uint32_t events) {
  if (channel_->connection() < 0) return;
  if ((events & EPOLLOUT) != 0 && !channel_->Flush()) return Detach();
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return;
  const bool open = channel_->Read();
  WardenMessage message;
  while (channel_->Next(&message)) Handle(std::move(message));
  if (const std::string why = channel_->TakeComplaint(); !why.empty()) core_->Complain(why);
  if (!open || channel_->connection() < 0) Detach();
}

void WardenServer::Handle(WardenMessage message) {
  using namespace warden_message;
  if (auto* start = std::get_if<Start>(&message)) {
    core_->Start(std::move(start->start));
  } else if (const auto* renew = std::get_if<Renew>(&message)) {
    core_->Renew(renew->attempts, renew->lease_end);
  } else if (const auto* cancel = std::get_if<Cancel>(&message)) {
    core_->Cancel(cancel->attempt, cancel->mode);
  } else if (const auto* note = std::get_if<Note>(&message)) {
    core_->Note(note->attempt, note->text);
  } else if (const auto* forget = std::get_if<Forget>(&message)) {
    core_->reporter().Forget(forget->attempts);
  } else if (const auto* list = std::get_if<List>(&message)) {
    listed_ = true;
    if (listings_.size() < kListingsMax) listings_.push_back({list->request, core_->Names()});
  } else if (const auto* follow = std::get_if<Follow>(&message)) {
    core_->Follow(follow->log_bytes_max);
  } else if (const auto* kept = std::get_if<OutputKept>(&message)) {
    core_->ConfirmOutput(kept->confirmed);
  } else if (std::holds_alternative<Ping>(message)) {
    channel_->Send(Pong{});
  } else if (auto* engine = std::get_if<UseEngine>(&message)) {
    core_->UseEngine(std::move(engine->engine));
  } else if (std::holds_alternative<Leave>(message)) {
    left_ = true;
  } else if (std::holds_alternative<Hello>(message)) {
    left_ = false;
    next_ready_check_ = {};  // a new daemon needs the readiness now
  }
}

void WardenServer::CheckReady(SteadyTime now) {
  if (now < next_ready_check_) return;
  next_ready_check_ = now + kReadyCheck;
  if (!channel_->attached()) return;
  const Result<bool> known = stopping_
                                 ? Result<bool>(ErrorCode::kUnavailable, "the warden is stopping")
                                 : core_->Ready(now);
  if (known.ok() && !*known) {  // a request to the disk is under way
    next_ready_check_ = now + kReadyAgain;
    return;
  }
  if (ready_sent_ && known.ok() == ready_) return;
  ready_ = known.ok();
  ready_sent_ = true;
  channel_->Send(
      warden_message::Readiness{ready_, known.ok() ? std::string() : known.error().message});
}

void WardenServer::Tell(SteadyTime now) {
  if (channel_->connection() < 0) return;
  if (channel_->attached()) {
    // The first list repeats all events, so none is sent before it.
    while (listed_ && channel_->CanSend()) {
      const std::optional<WardenMessage> event = core_->reporter().TakeEvent();
      if (!event) break;
      channel_->Send(*event);
    }
    while (channel_->CanSend()) {
      const std::optional<WardenMessage> output = core_->TakeOutput(now);
      if (!output) break;
      channel_->Send(*output);
    }
    SendList();
  }
  if (!channel_->Flush()) return Detach();
  if (channel_->unsent() == watching_writes_) return;
  watching_writes_ = channel_->unsent();
  epoll_event event{};
  event.events = EPOLLIN | (watching_writes_ ? uint32_t{EPOLLOUT} : 0u);
  event.data.u64 = kConnectionToken;
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, channel_->connection(), &event);
}

void WardenServer::SendList() {
  while (!listings_.empty() && channel_->CanSend()) {
    Listing& listing = listings_.front();
    if (listing.names.empty()) {
      // A daemon starts to claim after the end of the list, so it must know the readiness by then.
      if (!ready_sent_) return;
      channel_->Send(warden_message::ListEnd{listing.request});
      listings_.erase(listings_.begin());
      continue;
    }
    const AttemptName name = listing.names.back();
    if (!core_->reporter().Fetch(name)) return;  // continues when it has been read
    listing.names.pop_back();
    const auto item = core_->reporter().Describe(name, listing.request);
    if (item) channel_->Send(*item);
  }
}

bool WardenServer::Done(SteadyTime now) {
  if (!core_->running().empty() || !core_->clean()) return false;
  if (stopping_) return true;
  // A caller that was not greeted, such as a daemon of another version, does not keep the warden.
  if (channel_->attached() || !core_->empty()) {
    idle_since_ = now;
    return false;
  }
  return channel_->connection() < 0 && (left_ || now - idle_since_ >= options_.idle_exit);
}

}  // namespace carillon::executor
