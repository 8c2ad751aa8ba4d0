#include "executor/warden/client/warden_client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/domain/job_text.h"
#include "executor/warden/channel/daemon_channel.h"
#include "executor/warden/channel/frames_of.h"
#include "executor/warden/client/warden_launcher.h"
#include "executor/warden/server/warden_server.h"

namespace carillon::executor {
namespace {
using namespace warden_message;

constexpr std::string_view kRoom = "warden";
constexpr size_t kAnswerReadBytes = 256u << 10;
constexpr Duration kConnectAgain = 10ms;
constexpr int kConnectsPerLaunch = 200;
constexpr Duration kLaunchAgain = 1s;
// The reason becomes a part of heartbeats, whose texts are limited UTF-8.
constexpr size_t kRefusalBytesMax = 500;

// The process that listens at the other end.
pid_t ListenerOf(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

}  // namespace

WardenClient::WardenClient(Options options, const Clock& clock, Metrics& metrics)
    : options_(std::move(options)),
      clock_(clock),
      restarts_metric_(metrics.counter("carillon_warden_restarts_total")),
      answers_metric_(metrics.gauge("carillon_warden_answers")),
      unreadable_metric_(metrics.gauge("carillon_unreadable_records", "warden")),
      poke_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      ready_(ErrorCode::kUnavailable, "no warden is attached yet"),
      engine_(options_.container_engine) {
  CARILLON_CHECK(poke_.open(), "eventfd");
  thread_ = std::thread([this] { Run(); });
}

WardenClient::~WardenClient() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  Poke();
  thread_.join();
}

void WardenClient::Poke() {
  const uint64_t one = 1;
  // The write fails only if an earlier wake-up has not been seen yet.
  static_cast<void>(!write(poke_.get(), &one, sizeof(one)));
}

void WardenClient::WaitForPoke(Duration at_most) {
  pollfd waited{poke_.get(), POLLIN, 0};
  if (poll(&waited, 1, static_cast<int>(at_most / 1ms)) <= 0) return;
  uint64_t pokes = 0;
  static_cast<void>(!read(poke_.get(), &pokes, sizeof(pokes)));  // the next wait is one again
}

// ---- port Warden -------------------------------------------------------------------------------

Status WardenClient::CanStart() {
  MutexLock lock(mu_);
  if (!attached_) {
    return {ErrorCode::kUnavailable, refusal_.empty() ? "no warden is attached" : refusal_};
  }
  if (silent_) return {ErrorCode::kUnavailable, "the warden does not respond"};
  return ready_;
}

Status WardenClient::Enqueue(const WardenMessage& message) {
  if (!attached_) return {ErrorCode::kUnavailable, "no warden is attached"};
  if (unsent_.bytes() > kUnsentBytesMax) {
    return {ErrorCode::kUnavailable, "the warden does not read"};
  }
  unsent_.Add(message);
  return {};
}

// A warden of the version before cannot read the frame, and would start the process elsewhere or
// lose its output.
Status WardenClient::EnqueueStart(const StartAttempt& start) {
  Features needed;
  if (!start.working_directory.empty()) needed.Add(Feature::kWorkingDirectory);
  if (!start.output_encoding.empty()) needed.Add(Feature::kOutputEncoding);
  const Features offered = welcome_ ? Features::FromBits(welcome_->features) : Features{};
  if (!offered.HasAll(needed)) {
    return {ErrorCode::kUnavailable, fmt::format("the warden is of a version without {}",
                                                 fmt::join(needed.Without(offered).Names(), ", "))};
  }
  return Enqueue(warden_message::Start{start});
}

Status WardenClient::Start(const StartAttempt& start) {
  {
    MutexLock lock(mu_);
    const AttemptName name = NameOf(start.attempt);
    if (unanswered_.count(name) > 0) return {};
    if (unanswered_.size() >= kUnansweredStartsMax) {
      return {ErrorCode::kUnavailable, "the warden does not respond"};
    }
    CARILLON_TRY(EnqueueStart(start));
    unanswered_.emplace(name, start);
  }
  Poke();
  return {};
}

Features WardenClient::Isolation() {
  MutexLock lock(mu_);
  return welcome_ ? Features::FromBits(welcome_->features) : Features{};
}

std::optional<std::vector<HostCheck>> WardenClient::WaitForHostChecks(Duration at_most) {
  MutexLock lock(mu_);
  listed_.wait_for(mu_, at_most, [this]() REQUIRES(mu_) { return welcome_.has_value(); });
  if (!welcome_) return std::nullopt;
  return welcome_->checks;
}

Status WardenClient::RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) {
  {
    MutexLock lock(mu_);
    for (const HeldAttempt& held : attempts) {
      const auto found = unanswered_.find(NameOf(held));
      if (found == unanswered_.end()) continue;
      found->second.lease_end = std::max(found->second.lease_end, lease_end);
    }
    for (auto& part : FramesOf(attempts)) CARILLON_TRY(Enqueue(Renew{lease_end, std::move(part)}));
  }
  Poke();
  return {};
}

Status WardenClient::Cancel(const HeldAttempt& attempt, CancelMode mode) {
  {
    MutexLock lock(mu_);
    CARILLON_TRY(Enqueue(warden_message::Cancel{attempt, mode}));
  }
  Poke();
  return {};
}

Status WardenClient::Forget(const std::vector<HeldAttempt>& attempts) {
  {
    MutexLock lock(mu_);
    for (const HeldAttempt& held : attempts) unanswered_.erase(NameOf(held));
    for (auto& part : FramesOf(attempts))
      CARILLON_TRY(Enqueue(warden_message::Forget{std::move(part)}));
  }
  Poke();
  return {};
}

Status WardenClient::Note(const HeldAttempt& attempt, const std::string& text) {
  {
    MutexLock lock(mu_);
    CARILLON_TRY(Enqueue(warden_message::Note{attempt, text}));
  }
  Poke();
  return {};
}

Status WardenClient::ConfirmOutput(const std::vector<StoredOutput>& confirmed) {
  {
    MutexLock lock(mu_);
    for (auto& part : FramesOf(confirmed)) CARILLON_TRY(Enqueue(OutputKept{std::move(part)}));
  }
  Poke();
  return {};
}

Result<Warden::Inventory> WardenClient::List() {
  MutexLock lock(mu_);
  if (silent_) return {ErrorCode::kUnavailable, "the warden does not respond"};
  const uint64_t request = next_request_++;
  CARILLON_TRY(Enqueue(warden_message::List{request}));
  listings_[request];
  Poke();
  listed_.wait_for(mu_, options_.list_timeout, [this, request]() REQUIRES(mu_) {
    return !attached_ || listings_[request].done;
  });
  Listing listing = std::move(listings_[request]);
  listings_.erase(request);
  if (!listing.done)
    return {ErrorCode::kUnavailable, "the warden did not respond to a list request"};
  return std::move(listing.inventory);
}

std::vector<AttemptEvent> WardenClient::Receive(size_t max) {
  std::vector<AttemptEvent> taken;
  bool was_full = false;
  {
    MutexLock lock(mu_);
    was_full = events_.size() >= kEventsMax;
    taken = TakeOldest(events_, max);
  }
  if (was_full) Poke();
  return taken;
}

void WardenClient::OnReadable(std::function<void()> wake) {
  MutexLock lock(mu_);
  wake_ = std::move(wake);
}

void WardenClient::Leave() {
  MutexLock lock(mu_);
  // Without an attached warden there is nobody to notify.
  static_cast<void>(Enqueue(warden_message::Leave{}).ok());
  Poke();
}

int64_t WardenClient::warden_pid() const {
  MutexLock lock(mu_);
  return attached_ ? welcome_->pid : 0;
}

bool WardenClient::answers() const {
  MutexLock lock(mu_);
  return attached_ && !silent_;
}

uint64_t WardenClient::restarts() const {
  MutexLock lock(mu_);
  return restarts_;
}

// ---- the socket's thread -----------------------------------------------------------------------

void WardenClient::Run() {
  for (;;) {
    if (Connect()) Serve();
    Disconnect();
    bool useless = false;
    {
      MutexLock lock(mu_);
      useless = !stopping_ && !refusal_.empty();
    }
    if (useless) WaitForPoke(kLaunchAgain);
    MutexLock lock(mu_);
    if (stopping_) return;
  }
}

// Connects, and starts a warden if none listens. Returns false if that did not succeed within a
// short wait.
bool WardenClient::Connect() {
  mkdir(options_.directory.c_str(), 0700);
  FileDescriptor directory(open(options_.directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  Result<int> connected = ConnectInDirectory(directory.get(), kWardenSocket);
  if (!connected.ok()) {
    {
      MutexLock lock(mu_);
      refusal_.clear();  // the warden that refused is gone
    }
    const Status launched =
        LaunchWarden({.executable = options_.executable.empty() ? DefaultWardenExecutable()
                                                                : options_.executable,
                      .directory = options_.directory,
                      .run_directory = options_.run_directory,
                      .open_files = options_.open_files,
                      .idle_exit = options_.idle_exit});
    if (!launched.ok()) {
      log::Error(kRoom, "{}", launched.error().message);
      WaitForPoke(kLaunchAgain);
      return false;
    }
  }
  for (int i = 0; !connected.ok() && i < kConnectsPerLaunch; ++i) {
    {
      MutexLock lock(mu_);
      if (stopping_) return false;
    }
    WaitForPoke(kConnectAgain);
    connected = ConnectInDirectory(directory.get(), kWardenSocket);
  }
  if (!connected.ok()) {
    log::Error(kRoom, "the warden of {} does not listen: {}", options_.directory,
               connected.error().message);
    return false;
  }
  socket_ = FileDescriptor(*connected);
  MutexLock lock(mu_);
  unsent_.Add(Hello{});
  return true;
}

void WardenClient::Disconnect() {
  MutexLock lock(mu_);
  if (socket_.open() && !stopping_ && (!attached_ || !complaint_.empty())) KeepRefusal();
  complaint_.clear();
  socket_.Close();
  reader_ = FrameReader();
  attached_ = false;
  silent_ = false;
  welcome_.reset();
  answers_metric_.Set(0);
  ready_ = Status(ErrorCode::kUnavailable, "no warden is attached");
  unsent_ = FrameWriter();
  listed_.notify_all();
}

// Keeps why the connection was of no use, and logs it, unless the one before ended alike.
void WardenClient::KeepRefusal() {
  const pid_t warden = ListenerOf(socket_.get());
  if (complaint_.empty()) complaint_ = "hung up before it had listed its attempts";
  std::string why =
      fmt::format("warden {} {}; if it does so again, stop process {} when nothing runs on it",
                  warden, complaint_, warden);
  if (why == refusal_) return;
  log::Error(kRoom, "{} directory={}", why, options_.directory);
  refusal_ = std::move(why);
}

void WardenClient::Serve() {
  pulse_.Begin(clock_.Steady());
  for (;;) {
    pollfd waited[2] = {{socket_.get(), 0, 0}, {poke_.get(), POLLIN, 0}};
    {
      MutexLock lock(mu_);
      if (stopping_ && (unsent_.empty() || silent_)) return;
      if (events_.size() < kEventsMax) {
        waited[0].events |= POLLIN;
      } else {
        // The queue of events is full and the socket is not read, so silence proves nothing.
        pulse_.Heard();
      }
      if (!unsent_.empty()) waited[0].events |= POLLOUT;
    }
    if (poll(waited, 2, WaitMillis()) < 0 && errno != EINTR) return;
    uint64_t pokes = 0;
    if (waited[1].revents != 0) static_cast<void>(!read(poke_.get(), &pokes, sizeof(pokes)));
    if ((waited[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !Read()) return;
    Feel();
    if (!Write()) return;
  }
}

int WardenClient::WaitMillis() {
  const Duration left = std::max(pulse_.next() - clock_.Steady(), Duration{});
  return static_cast<int>(left / 1ms) + 1;
}

// Sends a ping if one is due, and logs when the warden stops answering or answers again.
void WardenClient::Feel() {
  MutexLock lock(mu_);
  const bool due = pulse_.Due(clock_.Steady());
  if (!welcome_) {
    pulse_.Heard();
  } else if (due) {
    unsent_.Add(Ping{});
  }
  answers_metric_.Set(attached_ && !pulse_.silent() ? 1 : 0);
  if (pulse_.silent() == silent_) return;
  silent_ = pulse_.silent();
  if (silent_) {
    log::Error(kRoom, "warden {} does not respond; nothing is started until it does",
               welcome_->pid);
  } else {
    log::Info(kRoom, "warden {} responds again", welcome_->pid);
  }
}

bool WardenClient::Write() {
  MutexLock lock(mu_);
  return unsent_.Write(socket_.get());
}

bool WardenClient::Read() {
  static thread_local char buffer[kAnswerReadBytes];
  const ssize_t n = read(socket_.get(), buffer, sizeof(buffer));
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) return false;
  reader_.Feed(std::string_view(buffer, static_cast<size_t>(n)));
  pulse_.Heard();
  std::function<void()> wake;
  {
    MutexLock lock(mu_);
    WardenMessage message;
    for (;;) {
      const Result<bool> next = reader_.Next(&message);
      if (!next.ok()) {
        complaint_ = fmt::format("cannot be understood ({})", next.error().message);
        return false;
      }
      if (!*next) break;
      if (Handle(std::move(message))) wake = wake_;
    }
  }
  if (wake) wake();
  return true;
}

bool WardenClient::Handle(WardenMessage message) {
  if (auto* welcome = std::get_if<Welcome>(&message)) {
    OnWelcome(std::move(*welcome));
  } else if (const auto* refused = std::get_if<Refused>(&message)) {
    const std::string text = refused->text.substr(0, kRefusalBytesMax);
    complaint_ = CountUtf8(text) ? "refused: " + text : "refused";
  } else if (const auto* readiness = std::get_if<Readiness>(&message)) {
    ready_ = readiness->ready ? Status() : Status(ErrorCode::kExhausted, readiness->text);
    if (!readiness->ready) log::Error(kRoom, "no new starts: {}", readiness->text);
    return true;
  } else if (const auto* started = std::get_if<Started>(&message)) {
    unanswered_.erase(NameOf(started->started.attempt));
    events_.push_back(started->started);
    return true;
  } else if (auto* ended = std::get_if<Ended>(&message)) {
    unanswered_.erase(NameOf(ended->ended.attempt));
    events_.push_back(std::move(ended->ended));
    return true;
  } else if (auto* output = std::get_if<Output>(&message)) {
    events_.push_back(std::move(output->output));
    return true;
  } else if (auto* running = std::get_if<ListRunning>(&message)) {
    unanswered_.erase(NameOf(running->running.attempt));
    const auto listing = listings_.find(running->request);
    if (listing != listings_.end()) listing->second.inventory.running.push_back(running->running);
  } else if (auto* over = std::get_if<ListEnded>(&message)) {
    unanswered_.erase(NameOf(over->ended.attempt));
    const auto listing = listings_.find(over->request);
    if (listing != listings_.end()) {
      listing->second.inventory.ended.push_back(std::move(over->ended));
    }
  } else if (const auto* end = std::get_if<ListEnd>(&message)) {
    OnListEnd(end->request);
    return true;
  }
  return false;
}

void WardenClient::OnWelcome(Welcome welcome) {
  if (last_pid_ != 0 && last_pid_ != welcome.pid) {
    ++restarts_;
    restarts_metric_.Add();
    log::Warn(kRoom, "warden {} replaced {}", welcome.pid, last_pid_);
  }
  unreadable_metric_.Set(static_cast<double>(welcome.unreadable));
  if (welcome.unreadable > 0 && last_pid_ != welcome.pid) {
    log::Error(kRoom,
               "{} places in {}/journal cannot be read by this version; they stay there, but the "
               "attempts of which they tell are not reported",
               welcome.unreadable, options_.directory);
  }
  last_pid_ = welcome.pid;
  welcome_ = std::move(welcome);
  listed_.notify_all();
  ready_ = Status();
  listings_[0] = Listing{};
  if (!engine_.empty()) unsent_.Add(warden_message::UseEngine{engine_});
  unsent_.Add(warden_message::List{0});
  unsent_.Add(warden_message::Follow{options_.log_bytes_max});
}

void WardenClient::OnListEnd(uint64_t request) {
  const auto listing = listings_.find(request);
  if (listing == listings_.end()) return;
  listing->second.done = true;
  if (request != 0) {
    listed_.notify_all();
    return;
  }
  // This was the first list after a connect: report the events that were missed, and repeat the
  // starts that the warden never received.
  Inventory inventory = std::move(listing->second.inventory);
  listings_.erase(listing);
  for (const AttemptStarted& running : inventory.running) {
    if (running.started != WallTime{}) events_.push_back(running);
  }
  for (AttemptEnded& ended : inventory.ended) events_.push_back(std::move(ended));
  attached_ = true;
  refusal_.clear();
  std::erase_if(unanswered_, [this](const auto& unanswered) REQUIRES(mu_) {
    // A start that cannot be sent is dropped. The core passes it again and then gets the error.
    return !EnqueueStart(unanswered.second).ok();
  });
}

}  // namespace carillon::executor
