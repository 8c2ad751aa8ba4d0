// Daemon and warden of different versions, and records of another version.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/journal/attempt_codec.h"
#include "executor/journal/segment_log.h"
#include "executor/warden/channel/daemon_channel.h"
#include "executor/warden/server/warden_server.h"
#include "tests/unit/executor/warden/warden_fixture.h"

namespace carillon::executor {
namespace {

using WardenVersionTest = WardenFixture;

TEST_F(WardenVersionTest, WardenRefusesAnotherVersionAndStays) {
  const pid_t warden = pid();
  Detach();
  const FileDescriptor place(open(directory().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Result<int> connected = ConnectInDirectory(place.get(), kWardenSocket);
  ASSERT_TRUE(connected.ok());
  const FileDescriptor daemon(*connected);
  FrameWriter hello;
  hello.Add(warden_message::Hello{kWardenProtocolVersion + 1});
  ASSERT_TRUE(hello.Write(daemon.get()));
  FrameReader reader;
  ASSERT_TRUE(test::WaitUntil([&] {
    char bytes[4096];
    const ssize_t size = recv(daemon.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (size > 0) reader.Feed(std::string_view(bytes, static_cast<size_t>(size)));
    return size == 0;
  })) << "hung up";
  WardenMessage message;
  ASSERT_TRUE(reader.Next(&message).value_or(false));
  EXPECT_EQ(std::get<warden_message::Refused>(message).text,
            "this warden speaks protocol version 1, its executor version 2");
  Attach();
  EXPECT_EQ(pid(), warden);
}

// A listener in the place of a warden; the test answers the client.
class WardenStandInTest : public ::testing::Test {
 protected:
  void SetUp() override {
    mkdir(directory_.c_str(), 0700);
    place_ = FileDescriptor(open(directory_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const Result<int> listening = ListenInDirectory(place_.get(), kWardenSocket);
    ASSERT_TRUE(listening.ok());
    listener_ = FileDescriptor(*listening);
    client_ = std::make_unique<WardenClient>(
        WardenClient::Options{.directory = directory_, .executable = "/nonexistent"}, clock_,
        metrics_);
  }
  // Answers the client's next call with these bytes and hangs up.
  void Answer(const std::string& bytes) {
    FileDescriptor caller;
    ASSERT_TRUE(test::WaitUntil([&] {
      caller = FileDescriptor(accept(listener_.get(), nullptr, nullptr));
      return caller.open();
    }));
    EXPECT_GE(clock_.Steady() - answered_, 900ms) << "a loop without a pause";
    char hello[64];
    ASSERT_TRUE(test::WaitUntil(
        [&] { return recv(caller.get(), hello, sizeof(hello), MSG_DONTWAIT) > 0; }));
    ASSERT_EQ(send(caller.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    answered_ = clock_.Steady();
  }
  bool Says(const std::string& why) {
    return test::WaitUntil([&] { return client_->CanStart().error().message == why; });
  }
  std::string Told(const std::string& what) {
    const std::string pid = std::to_string(getpid());
    return "warden " + pid + " " + what + "; if it does so again, stop process " + pid +
           " when nothing runs on it";
  }

  SystemClock clock_;
  Metrics metrics_;
  test::ScratchDirectory scratch_;
  const std::string directory_ = scratch_ / "other";
  FileDescriptor place_;
  FileDescriptor listener_;
  SteadyTime answered_ = clock_.Steady() - 10s;
  std::unique_ptr<WardenClient> client_;
};

TEST_F(WardenStandInTest, ConnectionOfNoUseIsExplainedAndRepeatedAfterAPause) {
  Answer(EncodeFrame(warden_message::Refused{"another version"}));
  EXPECT_TRUE(Says(Told("refused: another version")));
  EXPECT_EQ(client_->List().code(), ErrorCode::kUnavailable);
  Answer(EncodeFrame(warden_message::Refused{std::string(600, '\xff')}));
  EXPECT_TRUE(Says(Told("refused"))) << "no text";
  Answer(std::string("\x01\0\0\0\x7f", 5));
  EXPECT_TRUE(Says(Told("cannot be understood (warden: malformed frame of type 127)")));
  Answer(EncodeFrame(warden_message::Welcome{.pid = getpid()}));
  EXPECT_TRUE(Says(Told("hung up before it had listed its attempts")));
  Answer(EncodeFrame(warden_message::Welcome{.pid = getpid()}) +
         EncodeFrame(warden_message::ListEnd{0}) + std::string("\x01\0\0\0\x7f", 5));
  EXPECT_TRUE(Says(Told("cannot be understood (warden: malformed frame of type 127)")));
  listener_.Close();
  EXPECT_TRUE(Says("no warden is attached")) << "the one that refused is gone";
}

// A warden of the version before, which would close the connection on a longer frame.
TEST_F(WardenStandInTest, StartThatItCannotReadIsNotSent) {
  FileDescriptor caller;
  ASSERT_TRUE(test::WaitUntil([&] {
    caller = FileDescriptor(accept(listener_.get(), nullptr, nullptr));
    return caller.open();
  }));
  const std::string welcome = EncodeFrame(warden_message::Welcome{.pid = getpid()}) +
                              EncodeFrame(warden_message::ListEnd{0});
  ASSERT_EQ(send(caller.get(), welcome.data(), welcome.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(welcome.size()));
  ASSERT_TRUE(test::WaitUntil([&] { return client_->warden_pid() == getpid(); }));
  StartAttempt start;
  start.command = "true";
  EXPECT_TRUE(client_->Start(start).ok());
  start.attempt.attempt = 2;
  start.working_directory = "/srv";
  EXPECT_EQ(client_->Start(start).code(), ErrorCode::kUnavailable);
  start.working_directory.clear();
  start.output_encoding = "gb18030";
  const Status refused = client_->Start(start);
  EXPECT_EQ(refused.code(), ErrorCode::kUnavailable);
  EXPECT_EQ(refused.error().message, "the warden is of a version without output_encoding");
}

class WardenIdleTest : public WardenFixture {
 protected:
  void SetUp() override {
    idle_exit_ = 1s;
    Attach();
  }
};

TEST_F(WardenIdleTest, RefusedDaemonsDoNotKeepAWardenThatHoldsNothing) {
  const pid_t warden = pid();
  const FileDescriptor place(open(directory().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  FrameWriter hello;
  Detach();
  EXPECT_TRUE(test::WaitUntil(
      [&] {
        const Result<int> connected = ConnectInDirectory(place.get(), kWardenSocket);
        const FileDescriptor caller(connected.ok() ? *connected : -1);
        hello.Add(warden_message::Hello{kWardenProtocolVersion + 1});
        hello.Write(caller.get());
        poll(nullptr, 0, 100);
        return !test::ProcessAlive(warden);
      },
      30s));
}

// Records of another version: a start and an end.
TEST_F(WardenVersionTest, JournalOfAnotherVersionStaysAndIsCounted) {
  Gauge& unreadable = metrics_.gauge("carillon_unreadable_records", "warden");
  EXPECT_EQ(unreadable.value(), 0);
  const pid_t warden = pid();
  Detach();
  kill(warden, SIGKILL);
  ASSERT_TRUE(test::WaitUntil([&] { return !test::ProcessAlive(warden); }));
  {
    auto log = SegmentLog::Open({.directory = directory() + "/journal"});
    ASSERT_TRUE(log.ok());
    for (const char kind : {'S', 'E'}) {
      ByteWriter later;
      later.U8(static_cast<uint8_t>(kind));
      later.U32(kAttemptCodecVersion + 1);
      ASSERT_TRUE((*log)->Append(later.Take()).ok());
    }
    ASSERT_TRUE((*log)->Commit().ok());
  }
  Attach();
  EXPECT_EQ(unreadable.value(), 2);
  EXPECT_EQ(Run(Command("true")).state, RunState::kCompleted);
}

}  // namespace
}  // namespace carillon::executor
