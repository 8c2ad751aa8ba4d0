// The acceptor of the control link: which connections count as ones without an executor, while
// streams begin and end on them.
#include "common/adapters/grpc/link_acceptor.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "common/base/mutex.h"
#include "tests/support/process_wait.h"

namespace carillon::test {
namespace {

constexpr size_t kStrangers = 8;

sockaddr_in Loopback(uint16_t port) {
  return {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

uint16_t LocalPort(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

uint16_t PeerPort(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  EXPECT_EQ(getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

// Holds the connections that it takes, as gRPC does.
class Holder final : public rpc::LinkAcceptor::Taker {
 public:
  ~Holder() override {
    for (const auto& [port, fd] : held_) close(fd);
  }
  void Take(int fd) override {
    const uint16_t port = PeerPort(fd);
    MutexLock lock(mu_);
    held_[port] = fd;
    ++told_;
  }
  void Refused() override {
    MutexLock lock(mu_);
    ++told_;
  }
  bool Holds(uint16_t port) {
    MutexLock lock(mu_);
    return held_.contains(port);
  }
  void End(uint16_t port) {
    MutexLock lock(mu_);
    close(held_.at(port));
    held_.erase(port);
  }
  size_t told() {
    MutexLock lock(mu_);
    return told_;
  }

 private:
  Mutex mu_;
  std::map<uint16_t, int> held_ GUARDED_BY(mu_);  // by the port of the peer
  size_t told_ GUARDED_BY(mu_) = 0;
};

class LinkAcceptorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // As few may be new as may stay: so time does not matter.
    auto made = rpc::LinkAcceptor::Listen(
        {.address = "127.0.0.1", .strangers_max = kStrangers, .connections_max = 4 * kStrangers},
        holder_);
    ASSERT_TRUE(made.ok()) << made.error().message;
    acceptor_ = std::move(made).value();
    acceptor_->Start();
    for (size_t i = 0; i < kStrangers; ++i) {
      ports_.push_back(Connect());
      ASSERT_TRUE(holder_.Holds(ports_.back()));
    }
    ASSERT_FALSE(OneMoreMayCome());
  }
  void TearDown() override {
    if (acceptor_) acceptor_->Stop();
    for (const int fd : clients_) close(fd);
  }

  // Returns the port of the new connection, when it is held or was refused. `from`: 0 = any port.
  uint16_t Connect(uint16_t from = 0) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_GE(fd, 0);
    clients_.insert(fd);
    const int on = 1;
    EXPECT_EQ(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
    const linger at_once{.l_onoff = 1, .l_linger = 0};  // so that its port can be used again
    EXPECT_EQ(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)), 0);
    const sockaddr_in here = Loopback(from);
    EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&here), sizeof(here)), 0);
    const size_t told = holder_.told();
    const sockaddr_in to = Loopback(static_cast<uint16_t>(acceptor_->port()));
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    EXPECT_TRUE(WaitUntil([&] { return holder_.told() > told; }));
    return LocalPort(fd);
  }
  bool OneMoreMayCome() { return holder_.Holds(Connect()); }
  // Both ends close it.
  void End(uint16_t port) {
    for (const int fd : clients_) {
      if (LocalPort(fd) != port) continue;
      close(fd);
      clients_.erase(fd);
      break;
    }
    holder_.End(port);
  }
  static std::string NameOf(uint16_t port) { return "ipv4:127.0.0.1:" + std::to_string(port); }
  void Know(uint16_t port) { acceptor_->Know(NameOf(port)); }
  void Forget(uint16_t port) { acceptor_->Forget(NameOf(port)); }

  Holder holder_;
  std::unique_ptr<rpc::LinkAcceptor> acceptor_;
  std::set<int> clients_;
  std::vector<uint16_t> ports_;  // of those that were there first, as many as may be
};

TEST_F(LinkAcceptorTest, OneWithAnExecutorMakesRoomUntilItsLastStreamEnds) {
  Know(ports_[0]);
  Know(ports_[0]);  // the end of the last stream is noticed later
  EXPECT_TRUE(OneMoreMayCome());
  EXPECT_FALSE(OneMoreMayCome());
  Forget(ports_[0]);
  End(ports_[1]);
  EXPECT_TRUE(OneMoreMayCome()) << "the first one has a stream";
  EXPECT_FALSE(OneMoreMayCome());
  Forget(ports_[0]);
  End(ports_[2]);
  EXPECT_FALSE(OneMoreMayCome()) << "the first one has none any more";
  End(ports_[3]);
  EXPECT_TRUE(OneMoreMayCome());
}

TEST_F(LinkAcceptorTest, AnEndThatIsToldTwiceOrOfAnotherConnectionCountsForNothing) {
  Forget(ports_[0]);
  Forget(1);
  Know(1);
  acceptor_->Know("unix:");
  acceptor_->Forget("");
  EXPECT_FALSE(OneMoreMayCome());
  Know(ports_[0]);
  Forget(ports_[0]);
  Forget(ports_[0]);
  EXPECT_FALSE(OneMoreMayCome());
  Know(ports_[0]);
  EXPECT_TRUE(OneMoreMayCome());
  EXPECT_FALSE(OneMoreMayCome());
}

TEST_F(LinkAcceptorTest, OneThatFailsGivesItsPlaceBackOnce) {
  End(ports_[0]);
  EXPECT_TRUE(OneMoreMayCome());
  EXPECT_FALSE(OneMoreMayCome());
  // With a stream, whose end is told after that of the connection.
  Know(ports_[1]);
  EXPECT_TRUE(OneMoreMayCome());
  End(ports_[1]);
  Forget(ports_[1]);
  EXPECT_FALSE(OneMoreMayCome());
}

TEST_F(LinkAcceptorTest, ALaterConnectionOfTheSameNameHasNoneOfItsStreams) {
  Know(ports_[0]);
  EXPECT_TRUE(OneMoreMayCome());
  End(ports_[0]);
  End(ports_[1]);
  EXPECT_EQ(Connect(ports_[0]), ports_[0]);
  ASSERT_TRUE(holder_.Holds(ports_[0]));
  EXPECT_FALSE(OneMoreMayCome()) << "it is one without an executor";
  Forget(ports_[0]);  // the stream of the connection before
  EXPECT_FALSE(OneMoreMayCome());
  Know(ports_[0]);
  EXPECT_TRUE(OneMoreMayCome());
}

}  // namespace
}  // namespace carillon::test
