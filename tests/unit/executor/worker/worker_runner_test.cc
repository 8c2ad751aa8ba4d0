// WorkerRunner with a door of the test: who may attach, and what outlives the daemon.
#include "executor/worker/worker_runner.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>

#include "common/adapters/system/system_clock.h"
#include "executor/worker/worker_ticket.h"
#include "tests/support/full_table.h"
#include "tests/support/process_wait.h"

namespace carillon::executor::worker_runner_test {
namespace {

constexpr auto kPatience = std::chrono::seconds(120);

class FakeStream final : public WorkerStream {
 public:
  void Send(FromWorkerMessage message) { SendBytes(EncodeFromWorker(message)); }
  void SendBytes(std::string bytes) {
    std::lock_guard lock(mu_);
    incoming_.push_back(std::move(bytes));
    changed_.notify_all();
  }
  bool Read(std::string* bytes) override {
    std::unique_lock lock(mu_);
    changed_.wait(lock, [this] { return closed_ || !incoming_.empty(); });
    if (incoming_.empty()) return false;
    *bytes = std::move(incoming_.front());
    incoming_.pop_front();
    changed_.notify_all();
    return true;
  }
  bool Write(const std::string& bytes) override {
    std::unique_lock lock(mu_);
    is_writing_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return closed_ || !is_full_; });
    is_writing_ = false;
    written_.push_back(bytes);
    changed_.notify_all();
    return !closed_;
  }
  // From now on the other end reads nothing.
  void Fill() {
    std::lock_guard lock(mu_);
    is_full_ = true;
  }
  // Waits until a message is in the hands of its writer.
  bool AwaitWriting() {
    std::unique_lock lock(mu_);
    return changed_.wait_for(lock, kPatience, [&] { return is_writing_; });
  }
  bool closed() {
    std::lock_guard lock(mu_);
    return closed_;
  }
  bool AwaitUnread(size_t count) {
    std::unique_lock lock(mu_);
    return changed_.wait_for(lock, kPatience, [&] { return incoming_.size() <= count; });
  }
  void Close() override {
    std::lock_guard lock(mu_);
    closed_ = true;
    changed_.notify_all();
  }
  void Know() override { known_ = true; }
  bool known() const { return known_; }
  bool AwaitWritten(size_t count) {
    std::unique_lock lock(mu_);
    return changed_.wait_for(lock, kPatience, [&] { return written_.size() >= count; });
  }

 private:
  std::mutex mu_;
  std::condition_variable changed_;
  std::deque<std::string> incoming_;
  std::vector<std::string> written_;
  bool closed_ = false;
  bool is_full_ = false;
  bool is_writing_ = false;
  std::atomic<bool> known_ = false;
};

class WorkerRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "/worker-runner-XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    folder_ = path;
    Boot();
  }
  void TearDown() override {
    Stop();
    std::filesystem::remove_all(folder_);
  }
  void Boot() {
    auto runner = WorkerRunner::Open(
        {.socket = folder_ + "/s",
         .directory = folder_ + "/starts",
         .users = {{"4294967", "good|fine"}},
         .outbox_bytes_max = 1 << 20},
        [this](const std::string&, bool, WorkerHost& host) -> Result<std::unique_ptr<WorkerDoor>> {
          host_ = &host;
          return std::make_unique<WorkerDoor>();
        },
        clock_, metrics_);
    ASSERT_TRUE(runner.ok()) << runner.error().message;
    runner_ = *std::move(runner);
  }
  void Stop() {
    stream_.Close();
    if (serving_.joinable()) serving_.join();
    runner_.reset();
  }
  Status Serve(const WorkerPeer& peer, FromWorkerMessage first) {
    FakeStream stream;
    stream.Send(std::move(first));
    stream.Close();  // ends it after the first message
    const Status served = host_->Serve(peer, stream);
    EXPECT_EQ(stream.known(), served.ok());
    return served;
  }
  static FromWorkerMessage Hello(const std::string& app = "good") {
    FromWorkerMessage message;
    message.hello =
        WorkerHello{.app = app, .instance = std::string(16, 'i'), .handlers = {{"work", 2}}};
    return message;
  }
  // A worker in this process, until Stop.
  void Attach(pid_t pid) {
    stream_.Send(Hello());
    serving_ = std::thread(
        [this, pid] { served_ = host_->Serve({.uid = geteuid(), .pid = pid}, stream_); });
    ASSERT_TRUE(stream_.AwaitWritten(1));  // Welcome
  }
  static HeldAttempt Held(uint64_t number = 1) {
    return {
        .key = {.fire = FromUnixMicros(1'000'000), .schedule_id = ScheduleId(number), .shard = 0},
        .segment = SegmentId(1),
        .job_no = JobNo(5),
        .attempt = 1,
        .token = {1, 2}};
  }
  void Start(uint64_t number = 1) {
    runner_->Start({.attempt = Held(number),
                    .job_id = JobId("job"),
                    .handler = "good/work",
                    .lease_end = clock_.Steady() + 20s});
  }
  template <typename Event>
  std::optional<Event> Await() {
    std::mutex mu;
    std::condition_variable changed;
    bool woken = true;
    runner_->OnReadable([&] {
      std::lock_guard lock(mu);
      woken = true;
      changed.notify_all();
    });
    const auto found = [&]() -> std::optional<Event> {
      const SteadyTime end = clock_.Steady() + Duration(kPatience);
      while (clock_.Steady() < end) {
        for (AttemptEvent& event : runner_->Receive(100)) received_.push_back(std::move(event));
        while (!received_.empty()) {
          AttemptEvent event = std::move(received_.front());
          received_.pop_front();
          if (auto* wanted = std::get_if<Event>(&event)) return std::move(*wanted);
        }
        std::unique_lock lock(mu);
        changed.wait_for(lock, std::chrono::seconds(1), [&] { return woken; });
        woken = false;
      }
      return std::nullopt;
    }();
    runner_->OnReadable({});
    return found;
  }

  static pid_t Child() {
    const pid_t child = fork();
    if (child == 0) {
      pause();
      _exit(0);
    }
    return child;
  }
  static void Kill(pid_t child) {
    ASSERT_EQ(kill(child, SIGKILL), 0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
  }
  void ExpectLost() {
    const auto ended = Await<AttemptEnded>();
    ASSERT_TRUE(ended.has_value());
    EXPECT_EQ(ended->attempt.token, Held().token);
    EXPECT_EQ(ended->result.state, RunState::kLost);
    EXPECT_EQ(ended->result.reason, reason::kWorkerDied);
  }

  SystemClock clock_;
  Metrics metrics_;
  std::string folder_;
  WorkerHost* host_ = nullptr;
  std::deque<AttemptEvent> received_;  // and not yet looked at
  FakeStream stream_;
  std::thread serving_;
  Status served_;
  std::unique_ptr<WorkerRunner> runner_;
};

TEST_F(WorkerRunnerTest, OnlyAllowedUsersMayOfferAnApplication) {
  const uid_t stranger = 4'294'968;  // has no name, and is not listed
  const uid_t listed = 4'294'967;
  EXPECT_EQ(Serve({.uid = stranger, .pid = getpid()}, Hello()).code(), ErrorCode::kDenied);
  EXPECT_EQ(Serve({.uid = listed, .pid = getpid()}, Hello("other")).code(), ErrorCode::kDenied);
  EXPECT_TRUE(Serve({.uid = listed, .pid = getpid()}, Hello("fine")).ok());
  EXPECT_TRUE(Serve({.uid = geteuid(), .pid = getpid()}, Hello("other")).ok());
  EXPECT_EQ(Serve({.uid = geteuid(), .pid = 0}, Hello()).code(), ErrorCode::kDenied)
      << "its process cannot be seen";
  EXPECT_TRUE(runner_->Offers()->empty()) << "none is attached any more";
  EXPECT_FALSE(host_->Admits(stranger));
  EXPECT_TRUE(host_->Admits(listed));
  EXPECT_TRUE(host_->Admits(geteuid()));
}

TEST_F(WorkerRunnerTest, AWrongHelloIsRefused) {
  const WorkerPeer peer{.uid = geteuid(), .pid = getpid()};
  EXPECT_EQ(Serve(peer, {}).code(), ErrorCode::kInvalid);
  FromWorkerMessage message = Hello();
  message.hello->instance = "short";
  EXPECT_EQ(Serve(peer, message).code(), ErrorCode::kInvalid);
  for (const uint32_t unknown : {kWorkerProtocol - 1, kWorkerProtocol + 1}) {
    message = Hello();
    message.hello->protocol = unknown;
    message.hello->instance = "other";  // another protocol may have another layout
    EXPECT_EQ(Serve(peer, message).code(), ErrorCode::kConflict);
  }
  message = Hello("Not An App");
  EXPECT_EQ(Serve(peer, message).code(), ErrorCode::kInvalid);
}

TEST_F(WorkerRunnerTest, ABadItemEndsNeitherTheStreamNorTheOthers) {
  Attach(getpid());
  Start();
  ASSERT_TRUE(stream_.AwaitWritten(2));
  const WorkerTicket ticket = TicketOf(Held());
  FromWorkerMessage message;
  message.saves.push_back(
      {.ticket = ticket, .progress = std::string(5000, 'x'), .checkpoint = "kept"});
  message.saves.push_back({.ticket = std::string(1000, 't'), .progress = "1"});
  message.logs.push_back({.ticket = std::string(1000, 't'), .text = "no such ticket"});
  message.done.push_back({.ticket = ticket});
  stream_.Send(std::move(message));
  const auto saved = Await<AttemptContent>();
  ASSERT_TRUE(saved.has_value());
  EXPECT_EQ(saved->checkpoint, "kept");
  EXPECT_FALSE(saved->progress.has_value());
  EXPECT_TRUE(Await<AttemptEnded>().has_value());
  stream_.SendBytes("no message");
  serving_.join();
  EXPECT_EQ(served_.code(), ErrorCode::kUnavailable) << "it may try again";
}

TEST_F(WorkerRunnerTest, WhatTheLoopDoesNotTakeIsNotReadAnyMore) {
  Attach(getpid());
  Start();
  ASSERT_TRUE(stream_.AwaitWritten(2));
  FromWorkerMessage message;
  message.saves.push_back({.ticket = TicketOf(Held()), .checkpoint = std::string(1 << 20, 'c')});
  constexpr size_t kSaves = 100;
  constexpr size_t kTaken = WorkerRunner::kEventBytesMax >> 20;
  for (size_t i = 0; i < kSaves; ++i) stream_.Send(message);
  FromWorkerMessage other = Hello("fine");
  other.hello->instance = std::string(16, 'o');
  ASSERT_TRUE(stream_.AwaitUnread(kSaves - kTaken - 1))
      << "one message is in the hands of its reader";
  EXPECT_EQ(Serve({.uid = geteuid(), .pid = getpid()}, other).code(), ErrorCode::kUnavailable);
  size_t received = runner_->Receive(2 * kSaves).size();
  EXPECT_LE(received, kTaken + 1);
  while (received < kSaves && Await<AttemptContent>()) ++received;
  EXPECT_EQ(received, kSaves);
  EXPECT_TRUE(Serve({.uid = geteuid(), .pid = getpid()}, other).ok());
}

// Of each worker one message is being written, and one waits: 7 times 200 KB are more than all of
// them may have.
TEST_F(WorkerRunnerTest, WhatWorkersDoNotReadIsLimitedForAllTogether) {
  std::deque<FakeStream> streams(7);
  std::deque<std::thread> serving;
  for (size_t i = 0; i < streams.size(); ++i) {
    FromWorkerMessage hello = Hello();
    hello.hello->instance = std::string(16, static_cast<char>('a' + i));
    streams[i].Send(hello);
    serving.emplace_back(
        [&, i] { std::ignore = host_->Serve({.uid = geteuid(), .pid = getpid()}, streams[i]); });
    ASSERT_TRUE(streams[i].AwaitWritten(1));
    streams[i].Fill();
  }
  const auto start = [&](uint64_t number) {
    runner_->Start({.attempt = Held(number),
                    .job_id = JobId("job"),
                    .handler = "good/work",
                    .lease_end = clock_.Steady() + 20s,
                    .checkpoint = std::string(200'000, 'c')});
  };
  // Each first one is being written before the next comes: of those that wait, two are over a
  // quarter, whatever they wait for.
  for (uint64_t i = 0; i < streams.size(); ++i) {
    start(i);
    ASSERT_TRUE(streams[i].AwaitWriting());
  }
  for (uint64_t i = 0; i < streams.size(); ++i) start(streams.size() + i);
  EXPECT_TRUE(test::WaitUntil([&] {
    return std::any_of(streams.begin(), streams.end(),
                       [](FakeStream& one) { return one.closed(); });
  }));
  EXPECT_LT(
      std::count_if(streams.begin(), streams.end(), [](FakeStream& one) { return one.closed(); }),
      7)
      << "the others have less than a quarter";
  for (FakeStream& stream : streams) stream.Close();
  for (std::thread& thread : serving) thread.join();
}

TEST_F(WorkerRunnerTest, AWorkerMayComeBackWhileItDrains) {
  FromWorkerMessage hello = Hello();
  hello.draining = true;
  stream_.Send(std::move(hello));
  serving_ =
      std::thread([this] { served_ = host_->Serve({.uid = geteuid(), .pid = getpid()}, stream_); });
  ASSERT_TRUE(stream_.AwaitWritten(1));
  EXPECT_TRUE(runner_->Offers()->empty());
}

TEST_F(WorkerRunnerTest, AStartOutlivesTheDaemon) {
  Attach(getpid());
  EXPECT_EQ(runner_->Offers()->at("good/work"), 2);
  Start();
  ASSERT_TRUE(stream_.AwaitWritten(2));  // Run
  Stop();
  Boot();
  const auto adopted = Await<AttemptStarted>();
  ASSERT_TRUE(adopted.has_value());
  EXPECT_EQ(adopted->attempt.token, Held().token);
  EXPECT_EQ(adopted->handler, "good/work");
}

TEST_F(WorkerRunnerTest, TheDeathOfAWorkerEndsItsAttempts) {
  const pid_t child = Child();
  Attach(child);
  Start();
  ASSERT_TRUE(stream_.AwaitWritten(2));
  Kill(child);
  stream_.Close();  // as the kernel does
  ExpectLost();
}

TEST_F(WorkerRunnerTest, AWorkerThatCannotBeWatchedIsAlive) {
  const pid_t child = Child();
  {
    const test::FullTable full;
    EXPECT_EQ(Serve({.uid = geteuid(), .pid = child}, Hello()).code(), ErrorCode::kUnavailable)
        << "it may try again";
  }
  {
    const test::FullTable full(1);  // enough to see who it is
    Attach(child);
    Start();
    ASSERT_TRUE(stream_.AwaitWritten(2));
    Start(2);  // its record is written after a look at the process
    ASSERT_TRUE(stream_.AwaitWritten(3));
  }
  FromWorkerMessage message;
  message.done.push_back({.ticket = TicketOf(Held())});
  stream_.Send(std::move(message));
  const auto ended = Await<AttemptEnded>();
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->result.state, RunState::kCompleted) << ended->result.reason;
  Kill(child);  // is watched by now, or will be
  stream_.Close();
  const auto lost = Await<AttemptEnded>();
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(lost->result.reason, reason::kWorkerDied);
}

TEST_F(WorkerRunnerTest, ALaterDaemonNoticesTheDeathOfAWorker) {
  const pid_t child = Child();
  Attach(child);
  Start();
  ASSERT_TRUE(stream_.AwaitWritten(2));
  Stop();
  Kill(child);
  Boot();
  ExpectLost();
}

}  // namespace
}  // namespace carillon::executor::worker_runner_test
