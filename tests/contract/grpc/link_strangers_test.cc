// Connections to the control link on which nobody attaches: few of an address, and not for long.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

#include "common/adapters/grpc/link_strangers.h"
#include "common/base/metrics/metrics.h"
#include "tests/contract/grpc/link_fixture.h"

namespace carillon::test {
namespace {

class LinkStrangersTest : public GrpcLinkTest {
 protected:
  LinkStrangersTest() {
    rpc::HubOptions options = HubOf("m1");
    options.metrics = &metrics_;
    options.strangers_max = 8;
    hub_ = Hub(options);
  }
  ~LinkStrangersTest() override {
    for (const int fd : open_) close(fd);
  }
  void Connect(size_t count) {
    sockaddr_in to{.sin_family = AF_INET,
                   .sin_port = htons(PortOf(*hub_)),
                   .sin_addr = {htonl(INADDR_LOOPBACK)}};
    for (size_t i = 0; i < count; ++i) {
      const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      ASSERT_GE(fd, 0);
      open_.insert(fd);
      ASSERT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    }
  }
  // Closes the connections that the hub has ended; returns how many are left.
  size_t Left() {
    std::erase_if(open_, [](int fd) {
      pollfd one{.fd = fd, .events = POLLRDHUP, .revents = 0};
      const bool ended =
          poll(&one, 1, 0) > 0 && (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
      if (ended) close(fd);
      return ended;
    });
    return open_.size();
  }
  uint64_t Refused() {
    return metrics_.counter("carillon_link_refused_total", "connections").value();
  }

  Metrics metrics_;
  std::unique_ptr<rpc::GrpcHub> hub_;
  std::set<int> open_;
};

// The member sends no keepalives of HTTP/2. Without those of the kernel the connection of a host
// that has lost its power would stay for ever, if nobody has registered on it.
TEST_F(LinkStrangersTest, KernelLooksAfterEachConnection) {
  Connect(1);
  const auto looked_after = [this](int fd) {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    int on = 0;
    socklen_t on_size = sizeof(on);
    const bool of_hub = getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
                        ntohs(address.sin_port) == PortOf(*hub_) &&
                        getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    return of_hub && getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, &on_size) == 0 && on != 0;
  };
  EXPECT_TRUE(WaitUntil([&] {
    for (int fd = 0; fd < 1024; ++fd) {
      if (looked_after(fd)) return true;
    }
    return false;
  }));
}

TEST_F(LinkStrangersTest, AnAddressHasFewOfThemAndTheyAreSoonClosed) {
  Connect(300);
  EXPECT_TRUE(WaitUntil([&] { return Refused() == 300 - 64; }));
  EXPECT_TRUE(WaitUntil([&] { return Left() == 64; }));
  EXPECT_EQ(Refused(), 300u - 64) << "eight times as many as may stay";
  EXPECT_TRUE(WaitUntil([&] { return Left() == 0; })) << "without a handshake";
  const auto link = Link("m1", hub_->endpoint());
  EXPECT_TRUE(Up(*link));
}

// A fleet behind one address that comes back at once after a restart of the member.
TEST(LinkStrangersRuleTest, ManyMayBeNewAndFewMayStay) {
  rpc::LinkStrangers strangers(3, 10);
  const auto come = [&](int count, int64_t now) {
    int came = 0;
    for (int i = 0; i < count && strangers.MayCome("n", now); ++i, ++came) {
      strangers.Add("n", "at " + std::to_string(now) + ": " + std::to_string(i), now);
    }
    return came;
  };
  EXPECT_EQ(come(100, 1), 10);
  EXPECT_TRUE(strangers.MayCome("other", 1));
  for (int i = 0; i < 7; ++i) strangers.Remove("n", "at 1: " + std::to_string(i), 1);
  EXPECT_EQ(come(5, 4), 5) << "the others have executors";
  EXPECT_EQ(come(100, 6), 2) << "they are new for five whole seconds at least";
  EXPECT_EQ(come(100, 7), 0) << "three are there for 6 s";
  strangers.Remove("n", "at 1: 9", 1);
  EXPECT_EQ(come(100, 7), 1);
  EXPECT_EQ(strangers.Of("n").size(), 10u);
  EXPECT_EQ(strangers.Of("other").size(), 0u);
}

// Thousands of executors may share an address.
TEST_F(LinkStrangersTest, AnExecutorThatHasAttachedTakesNoPlaceOfTheirs) {
  std::vector<std::unique_ptr<rpc::GrpcLink>> links;
  for (int i = 0; i < 70; ++i) {
    links.push_back(rpc::GrpcLink::Make({.executor = ExecutorId("e" + std::to_string(i)),
                                         .incarnation = Incarnation("x"),
                                         .join_secret = "secret"},
                                        clock_));
    links.back()->SetMembers({Info("m1", hub_->endpoint())});
    ASSERT_TRUE(Up(*links.back())) << i;
  }
  EXPECT_EQ(Refused(), 0u);
}

TEST_F(LinkStrangersTest, AnAddressOfVersionSixIsInBrackets) {
  rpc::HubOptions options = HubOf("m1");
  options.address = "[::1]";
  options.allow_beyond_loopback = true;
  auto hub = rpc::GrpcHub::Start(options, clock_);
  if (!hub.ok()) {  // a host without version six
    EXPECT_NE(hub.error().message.find("assign requested address"), std::string::npos)
        << hub.error().message;
    return;
  }
  const auto link = Link("m1", (*hub)->endpoint());
  EXPECT_TRUE(Up(*link));
}

}  // namespace
}  // namespace carillon::test
