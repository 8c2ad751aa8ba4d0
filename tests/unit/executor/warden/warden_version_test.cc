// A current daemon with a warden of an earlier version that was running before an upgrade.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "executor/warden/channel/daemon_channel.h"
#include "executor/warden/server/warden_server.h"
#include "tests/unit/executor/warden/warden_fixture.h"

namespace carillon::executor {
namespace {

// Plays a warden of the earlier version with an empty inventory, and records the types of the
// messages that it gets.
class OldWarden {
 public:
  OldWarden(const std::string& directory, uint32_t version) : version_(version) {
    mkdir(directory.c_str(), 0700);
    directory_ = FileDescriptor(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    auto listening = ListenInDirectory(directory_.get(), kWardenSocket);
    EXPECT_TRUE(listening.ok());
    listener_ = FileDescriptor(*listening);
    thread_ = std::thread([this] { Serve(); });
  }
  ~OldWarden() {
    stop_ = true;
    thread_.join();
  }
  int starts() const { return starts_; }
  int masked_starts() const { return masked_starts_; }
  int script_starts() const { return script_starts_; }
  int isolated_starts() const { return isolated_starts_; }
  int cancels() const { return cancels_; }
  int kills() const { return kills_; }
  int asked_for_outputs() const { return asked_for_outputs_; }

 private:
  void Serve() {
    while (!stop_) {
      pollfd waited{connection_.open() ? connection_.get() : listener_.get(), POLLIN, 0};
      if (poll(&waited, 1, 10) <= 0) continue;
      if (!connection_.open()) {
        connection_ = FileDescriptor(accept(listener_.get(), nullptr, nullptr));
        continue;
      }
      char buffer[4096];
      const ssize_t size = read(connection_.get(), buffer, sizeof(buffer));
      if (size <= 0) return;
      reader_.Feed(std::string_view(buffer, static_cast<size_t>(size)));
      WardenMessage message;
      while (reader_.Next(&message).value_or(false)) Answer(message);
    }
  }
  void Answer(const WardenMessage& message) {
    if (std::holds_alternative<warden_message::Hello>(message)) {
      Say(warden_message::Welcome{.version = version_, .pid = getpid()});
    } else if (const auto* list = std::get_if<warden_message::List>(&message)) {
      Say(warden_message::ListEnd{list->request});
    } else if (std::holds_alternative<warden_message::Start>(message)) {
      ++starts_;
    } else if (std::holds_alternative<warden_message::StartMasked>(message)) {
      ++masked_starts_;
    } else if (std::holds_alternative<warden_message::StartScript>(message)) {
      ++script_starts_;
    } else if (std::holds_alternative<warden_message::StartIsolated>(message)) {
      ++isolated_starts_;
    } else if (std::holds_alternative<warden_message::AskIsolation>(message)) {
      Say(warden_message::Isolation{Features{Feature::kLimits}.bits(), {{.name = "cgroup"}}});
    } else if (std::holds_alternative<warden_message::Cancel>(message)) {
      ++cancels_;
    } else if (std::holds_alternative<warden_message::Kill>(message)) {
      ++kills_;
    } else if (std::holds_alternative<warden_message::TakeOutputs>(message)) {
      ++asked_for_outputs_;
    }
  }
  void Say(const WardenMessage& message) {
    const std::string frame = EncodeFrame(message);
    EXPECT_EQ(send(connection_.get(), frame.data(), frame.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(frame.size()));
  }

  const uint32_t version_;
  FileDescriptor directory_;
  FileDescriptor listener_;
  FileDescriptor connection_;
  FrameReader reader_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> starts_ = 0;
  std::atomic<int> masked_starts_ = 0;
  std::atomic<int> script_starts_ = 0;
  std::atomic<int> isolated_starts_ = 0;
  std::atomic<int> cancels_ = 0;
  std::atomic<int> kills_ = 0;
  std::atomic<int> asked_for_outputs_ = 0;
  std::thread thread_;
};

class WardenVersionTest : public ::testing::Test {
 protected:
  static StartAttempt Attempt(uint64_t number, const std::string& masked) {
    StartAttempt start;
    start.attempt.key = {.fire = FromUnixMicros(1'772'323'200'000'000),
                         .schedule_id = ScheduleId(number)};
    start.attempt.token = {.high = 1, .low = number};
    start.command = "true";
    if (!masked.empty()) start.masked = {masked};
    return start;
  }
  std::unique_ptr<WardenClient> Attach() {
    auto client = std::make_unique<WardenClient>(WardenClient::Options{.directory = directory()},
                                                 clock_, metrics_);
    EXPECT_TRUE(test::WaitUntil([&] { return client->CanStart().ok(); }));
    return client;
  }
  std::string directory() const { return scratch_ / "warden"; }

  SystemClock clock_;
  Metrics metrics_;
  test::ScratchDirectory scratch_;
};

TEST_F(WardenVersionTest, OneThatCannotMaskIsNeverSentASecret) {
  OldWarden warden(directory(), kWardenReportsLogs);
  const auto client = Attach();
  EXPECT_EQ(client->Start(Attempt(1, "hunter22")).code(), ErrorCode::kInvalid);
  EXPECT_TRUE(client->Start(Attempt(2, "")).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return warden.starts() == 1; }));
  EXPECT_EQ(warden.masked_starts(), 0);
}

TEST_F(WardenVersionTest, OneThatCanIsSentItAsSuch) {
  OldWarden warden(directory(), kWardenMasks);
  const auto client = Attach();
  EXPECT_TRUE(client->Start(Attempt(1, "hunter22")).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return warden.masked_starts() == 1; }));
  EXPECT_EQ(warden.starts(), 0);
}

TEST_F(WardenVersionTest, OnlyOneThatHasOutputsIsAskedForThem) {
  {
    OldWarden warden(directory(), kWardenAnswers);
    Attach();
    EXPECT_EQ(warden.asked_for_outputs(), 0);
  }
  OldWarden warden(directory(), kWardenSendsOutputs);
  Attach();
  EXPECT_EQ(warden.asked_for_outputs(), 1);
}

TEST_F(WardenVersionTest, OneThatCannotKillGivesTheGrace) {
  OldWarden warden(directory(), kWardenMasks);
  const auto client = Attach();
  EXPECT_TRUE(client->Cancel(Attempt(1, "").attempt, CancelMode::kKill).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return warden.cancels() == 1; }));
  EXPECT_EQ(warden.kills(), 0);
}

TEST_F(WardenVersionTest, OneThatCanIsToldToKill) {
  OldWarden warden(directory(), kWardenKills);
  const auto client = Attach();
  EXPECT_TRUE(client->Cancel(Attempt(1, "").attempt, CancelMode::kGraceful).ok());
  EXPECT_TRUE(client->Cancel(Attempt(1, "").attempt, CancelMode::kKill).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return warden.kills() == 1; }));
  EXPECT_EQ(warden.cancels(), 1);
}

TEST_F(WardenVersionTest, OnlyOneThatRunsScriptsIsSentThem) {
  StartAttempt script = Attempt(1, "");
  script.script = {.interpreter = "/bin/sh", .suffix = ".sh", .args = {"a"}};
  {
    OldWarden warden(directory(), kWardenSendsOutputs);
    const auto client = Attach();
    EXPECT_FALSE(client->RunsScripts());
    EXPECT_EQ(client->Start(script).code(), ErrorCode::kInvalid);
  }
  OldWarden warden(directory(), kWardenRunsScripts);
  const auto client = Attach();
  EXPECT_TRUE(client->RunsScripts());
  EXPECT_TRUE(client->Start(script).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return warden.script_starts() == 1; }));
  EXPECT_EQ(warden.starts(), 0);
}

TEST_F(WardenVersionTest, OnlyOneThatIsolatesIsSentLimitsAndUsers) {
  StartAttempt limited = Attempt(1, "");
  limited.limits = Limits{.open_files = 64};
  StartAttempt other_user = Attempt(2, "hunter22");
  other_user.script = {.interpreter = "/bin/sh", .suffix = ".sh", .args = {}};
  other_user.user = ProcessUser{.name = "alice", .uid = 1000, .gid = 1000};
  {
    OldWarden warden(directory(), kWardenSendsUsage);
    const auto client = Attach();
    EXPECT_EQ(client->Isolation(), Features());
    EXPECT_EQ(client->WaitForHostChecks(0s), std::nullopt);
    EXPECT_EQ(client->Start(limited).code(), ErrorCode::kInvalid);
    EXPECT_EQ(client->Start(other_user).code(), ErrorCode::kInvalid);
  }
  OldWarden warden(directory(), kWardenIsolates);
  const auto client = Attach();
  ASSERT_TRUE(client->WaitForHostChecks(test::kPatience));
  EXPECT_EQ(client->Isolation(), Features{Feature::kLimits});
  EXPECT_TRUE(client->Start(limited).ok());
  EXPECT_TRUE(client->Start(other_user).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return warden.isolated_starts() == 2; }));
  EXPECT_EQ(warden.starts() + warden.masked_starts() + warden.script_starts(), 0);
}

}  // namespace
}  // namespace carillon::executor
