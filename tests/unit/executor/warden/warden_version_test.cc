// Daemon and warden of different protocol versions.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

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
            "this warden speaks protocol version 1, its executor version 2; stop process " +
                std::to_string(warden) + " when nothing runs on it");
  Attach();
  EXPECT_EQ(pid(), warden);
}

TEST_F(WardenVersionTest, RefusedDaemonStartsNothingAndSaysWhy) {
  const std::string other = scratch_ / "other";
  mkdir(other.c_str(), 0700);
  const FileDescriptor place(open(other.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Result<int> listening = ListenInDirectory(place.get(), kWardenSocket);
  ASSERT_TRUE(listening.ok());
  const FileDescriptor listener(*listening);
  WardenClient client({.directory = other}, clock_, metrics_);
  FileDescriptor daemon;
  ASSERT_TRUE(test::WaitUntil([&] {
    daemon = FileDescriptor(accept(listener.get(), nullptr, nullptr));
    return daemon.open();
  }));
  FrameWriter refusal;
  refusal.Add(warden_message::Refused{"another version"});
  ASSERT_TRUE(refusal.Write(daemon.get()));
  daemon.Close();
  EXPECT_TRUE(
      test::WaitUntil([&] { return client.CanStart().error().message == "another version"; }));
  EXPECT_EQ(client.Start(Command("true")).code(), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace carillon::executor
