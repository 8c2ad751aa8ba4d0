// The control link's contract over gRPC on loopback, and what only a network does to it.
#include <gtest/gtest.h>

#include "common/adapters/grpc/grpc_hub.h"
#include "common/adapters/grpc/grpc_link.h"
#include "common/adapters/system/system_clock.h"
#include "common/base/metrics.h"
#include "common/tls/certificates.h"
#include "tests/support/process_wait.h"
#include "tests/support/tcp_proxy.h"

namespace carillon::test {

// Signs for both ends.
class LinkAuthority {
 public:
  LinkAuthority()
      : authority_(
            tls::Authority::Create("carillon link", {.from = Now() - 1h, .until = Now() + 24h})) {}

  tls::Identity Member(const std::string& name) const { return Issue(name, tls::Purpose::kServer); }
  tls::Identity Executor(const std::string& name, Duration life = 1h) const {
    return Issue(name, tls::Purpose::kClient, life);
  }

 private:
  static WallTime Now() { return SystemClock().Wall(); }
  tls::Identity Issue(const std::string& name, tls::Purpose purpose, Duration life = 1h) const {
    const std::string key = tls::NewKey();
    auto issued = authority_.IssueFor(
        key,
        {.common_name = name, .purpose = purpose, .from = Now() - 30min, .until = Now() + life});
    EXPECT_TRUE(issued.ok()) << issued.error().message;
    return {.authority = authority_.certificate(), .certificate = *issued, .key = key};
  }

  const tls::Authority authority_;
};

// The one that all of this file trust.
const LinkAuthority& TheAuthority() {
  static const LinkAuthority authority;
  return authority;
}

// Hubs are announced to every link, as the coordinator does.
struct GrpcLinkFactory {
  std::unique_ptr<ExecutorHub> Hub(const MemberId& member) {
    auto hub = rpc::GrpcHub::Start(
        {.member = member, .public_key = std::string(32, 'k'), .join_secret = "secret"});
    EXPECT_TRUE(hub.ok()) << hub.error().message;
    members.push_back({.id = member,
                       .incarnation = Incarnation("m"),
                       .rest_url = "",
                       .grpc_address = (*hub)->endpoint()});
    return std::move(hub).value();
  }
  std::unique_ptr<ExecutorLink> Link(const ExecutorId& id, const Incarnation& incarnation) {
    auto link = rpc::GrpcLink::Make(
        {.executor = id, .incarnation = incarnation, .join_secret = "secret"}, clock);
    link->SetMembers(members);
    return link;
  }
  void Settle(const std::function<bool()>& seen) { WaitUntil(seen, 20s); }

  SystemClock clock;
  std::vector<MemberInfo> members;
};

// The same over TLS: each with a certificate of one authority for its own name.
struct GrpcTlsLinkFactory : GrpcLinkFactory {
  std::unique_ptr<ExecutorHub> Hub(const MemberId& member) {
    auto hub = rpc::GrpcHub::Start({.member = member,
                                    .public_key = std::string(32, 'k'),
                                    .identity = TheAuthority().Member(member.value())});
    EXPECT_TRUE(hub.ok()) << hub.error().message;
    members.push_back({.id = member,
                       .incarnation = Incarnation("m"),
                       .rest_url = "",
                       .grpc_address = (*hub)->endpoint()});
    return std::move(hub).value();
  }
  std::unique_ptr<ExecutorLink> Link(const ExecutorId& id, const Incarnation& incarnation) {
    const tls::Identity identity = TheAuthority().Executor(id.value());
    auto link = rpc::GrpcLink::Make(
        {.executor = id, .incarnation = incarnation, .identity = [identity] { return identity; }},
        clock);
    link->SetMembers(members);
    return link;
  }
};
using LinkFactories = ::testing::Types<GrpcLinkFactory, GrpcTlsLinkFactory>;

}  // namespace carillon::test

#include "tests/contract/link_contract.h"

namespace carillon::test {
namespace {

class GrpcLinkTest : public ::testing::Test {
 protected:
  static rpc::HubOptions HubOf(const std::string& member, uint16_t port = 0) {
    return {.member = MemberId(member),
            .public_key = std::string(32, member.back()),
            .join_secret = "secret",
            .port = port};
  }
  static std::unique_ptr<rpc::GrpcHub> Hub(const rpc::HubOptions& options) {
    auto hub = rpc::GrpcHub::Start(options);
    EXPECT_TRUE(hub.ok()) << hub.error().message;
    return std::move(hub).value();
  }
  std::unique_ptr<rpc::GrpcLink> Link(const std::string& member, const std::string& address,
                                      const std::string& secret = "secret",
                                      size_t outbox_max = 16'384) {
    auto link = rpc::GrpcLink::Make({.executor = ExecutorId("e1"),
                                     .incarnation = Incarnation("x"),
                                     .join_secret = secret,
                                     .outbox_max = outbox_max},
                                    clock_);
    link->SetMembers({Info(member, address)});
    return link;
  }
  static MemberInfo Info(const std::string& member, const std::string& address) {
    return {MemberId(member), Incarnation("m"), "", address};
  }
  static uint16_t PortOf(const rpc::GrpcHub& hub) {
    const std::string endpoint = hub.endpoint();
    return static_cast<uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
  }
  static bool Up(rpc::GrpcLink& link) {
    return WaitUntil([&] { return link.Members().size() == 1; }, 20s);
  }
  static bool Down(rpc::GrpcLink& link) {
    return WaitUntil([&] { return link.Members().empty(); }, 20s);
  }

  SystemClock clock_;
};

TEST_F(GrpcLinkTest, KeysComeWithTheWelcome) {
  const auto hub = Hub(HubOf("m1"));
  const auto link = Link("m1", hub->endpoint());
  ASSERT_TRUE(Up(*link));
  EXPECT_EQ(link->public_keys(), std::vector<std::string>{std::string(32, '1')});
}

// Its session may have expired while it still owns segments.
TEST_F(GrpcLinkTest, StreamToADepartedMemberStaysUntilItEnds) {
  auto hub = Hub(HubOf("m1"));
  const uint16_t port = PortOf(*hub);
  const auto link = Link("m1", hub->endpoint());
  ASSERT_TRUE(Up(*link));
  link->SetMembers({});
  ASSERT_TRUE(link->Send(MemberId("m1"), Heartbeat{.sent_us = 7}).ok());
  EXPECT_TRUE(WaitUntil([&] { return hub->Receive(1).size() == 1; }));
  hub.reset();
  ASSERT_TRUE(Down(*link));
  EXPECT_TRUE(WaitUntil([&] { return link->public_keys().empty(); }));
  hub = Hub(HubOf("m1", port));
  const auto other = Link("m1", hub->endpoint());
  ASSERT_TRUE(Up(*other));  // so the first would have had its time, too
  EXPECT_TRUE(link->Members().empty());
}

TEST_F(GrpcLinkTest, DepartedMemberThatDoesNotAnswerIsForgotten) {
  const auto hub = Hub(HubOf("m2"));
  const auto link = Link("m1", hub->endpoint());
  link->SetMembers({});
  link->SetMembers({Info("m2", hub->endpoint())});
  EXPECT_TRUE(Up(*link));
}

TEST_F(GrpcLinkTest, WithoutTheSecretNothingGetsThrough) {
  const auto hub = Hub(HubOf("m1"));
  const auto link = Link("m1", hub->endpoint(), "wrong");
  const auto other = Link("m1", hub->endpoint(), "secret");
  ASSERT_TRUE(Up(*other));  // so the first has had its time, too
  EXPECT_TRUE(link->Members().empty());
  EXPECT_TRUE(link->public_keys().empty());
  EXPECT_EQ(link->Send(MemberId("m1"), Heartbeat{}).code(), ErrorCode::kUnavailable);
}

TEST_F(GrpcLinkTest, AnotherMemberBehindTheAddressIsNotTalkedTo) {
  const auto hub = Hub(HubOf("m2"));
  const auto link = Link("m1", hub->endpoint());
  const auto other = Link("m2", hub->endpoint());
  ASSERT_TRUE(Up(*other));
  EXPECT_TRUE(link->Members().empty());
  EXPECT_TRUE(link->public_keys().empty());
}

TEST_F(GrpcLinkTest, RestartedMemberIsFoundAgain) {
  auto hub = Hub(HubOf("m1"));
  const uint16_t port = PortOf(*hub);
  const auto link = Link("m1", hub->endpoint());
  ASSERT_TRUE(Up(*link));
  hub.reset();
  ASSERT_TRUE(Down(*link));
  hub = Hub(HubOf("m1", port));
  ASSERT_TRUE(Up(*link));
  ASSERT_TRUE(link->Send(MemberId("m1"), Heartbeat{.sent_us = 7}).ok());
  EXPECT_TRUE(WaitUntil([&] { return hub->Receive(1).size() == 1; }));
}

TEST_F(GrpcLinkTest, MovedMemberIsDialledAtItsNewAddress) {
  auto hub = Hub(HubOf("m1"));
  const auto link = Link("m1", hub->endpoint());
  ASSERT_TRUE(Up(*link));
  const auto moved = Hub(HubOf("m1"));
  link->SetMembers({Info("m1", moved->endpoint())});
  EXPECT_TRUE(WaitUntil(
      [&] { return moved->Send(ExecutorId("e1"), Incarnation("x"), Registered{}).ok(); }));
  ASSERT_TRUE(Up(*link));
  EXPECT_TRUE(
      WaitUntil([&] { return !hub->Send(ExecutorId("e1"), Incarnation("x"), Registered{}).ok(); }));
}

// A network that swallows everything: neither end is told, and both find out.
TEST_F(GrpcLinkTest, SilentNetworkIsFoundOutByBothEnds) {
  const auto hub = Hub(HubOf("m1"));
  TcpProxy proxy(PortOf(*hub));
  const auto link = Link("m1", "127.0.0.1:" + std::to_string(proxy.port()));
  ASSERT_TRUE(Up(*link));
  proxy.Freeze(true);
  EXPECT_TRUE(Down(*link));
  EXPECT_TRUE(WaitUntil(
      [&] { return !hub->Send(ExecutorId("e1"), Incarnation("x"), Registered{}).ok(); }, 20s));
  proxy.Cut();
  proxy.Freeze(false);
  EXPECT_TRUE(Up(*link));
}

// A member that does not read: the sender's queue fills up and says so, and nothing is lost of
// what it took.
TEST_F(GrpcLinkTest, FullEndsPushBackAndLoseNothing) {
  rpc::HubOptions options = HubOf("m1");
  options.inbox_max = 4;
  const auto hub = Hub(options);
  const auto link = Link("m1", hub->endpoint(), "secret", /*outbox_max=*/4);
  ASSERT_TRUE(Up(*link));
  // Large ones, so that the buffers of the connection fill up as well.
  Register large;
  for (int i = 0; i < 60; ++i) large.record.labels[std::to_string(i)] = std::string(1000, 'x');
  int taken = 0;
  Status sent;
  for (; taken < 10'000; ++taken) {
    large.record.slots = taken;
    sent = link->Send(MemberId("m1"), large);
    if (sent.code() != ErrorCode::kExhausted && !sent.ok()) break;
    // A queue of four is full for a moment whenever the connection is slower than this loop.
    if (!sent.ok() && !WaitUntil([&] { return link->Send(MemberId("m1"), large).ok(); }, 300ms)) {
      break;
    }
  }
  ASSERT_EQ(sent.code(), ErrorCode::kExhausted);
  ASSERT_GT(taken, 8);
  int next = 0;
  EXPECT_TRUE(WaitUntil(
      [&] {
        for (const ExecutorMessage& message : hub->Receive(3)) {
          EXPECT_EQ(std::get<Register>(message.message).record.slots, next++);
        }
        return next == taken;
      },
      30s));
}

TEST_F(GrpcLinkTest, NewerStreamOfTheSameProcessReplacesTheOlder) {
  const auto hub = Hub(HubOf("m1"));
  const auto older = Link("m1", hub->endpoint());
  ASSERT_TRUE(Up(*older));
  std::atomic<int> ends = 0;
  older->OnReadable([&ends] { ++ends; });
  const auto newer = Link("m1", hub->endpoint());
  // Two of them take turns; each is told, none hangs.
  EXPECT_TRUE(WaitUntil([&] { return ends.load() > 0; }));
  EXPECT_TRUE(WaitUntil([&] { return newer->Members().size() == 1; }));
}

class GrpcTlsTest : public GrpcLinkTest {
 protected:
  GrpcTlsTest() {
    rpc::HubOptions options = HubOf("m1");
    options.join_secret.clear();
    options.identity = TheAuthority().Member("m1");
    options.metrics = &metrics_;
    hub_ = Hub(options);
  }
  std::unique_ptr<rpc::GrpcLink> LinkWith(const tls::Identity& identity,
                                          const std::string& member = "m1") {
    auto link = rpc::GrpcLink::Make({.executor = ExecutorId("e1"),
                                     .incarnation = Incarnation("x"),
                                     .join_secret = "secret",
                                     .identity = [identity] { return identity; }},
                                    clock_);
    link->SetMembers({Info(member, hub_->endpoint())});
    return link;
  }
  // One that is welcome has come and gone meanwhile, so that the other has had its time, too.
  void ExpectRefused(rpc::GrpcLink& link) {
    const tls::Identity good = TheAuthority().Executor("e2");
    auto other = rpc::GrpcLink::Make({.executor = ExecutorId("e2"),
                                      .incarnation = Incarnation("x"),
                                      .identity = [good] { return good; }},
                                     clock_);
    other->SetMembers({Info("m1", hub_->endpoint())});
    EXPECT_TRUE(Up(*other));
    EXPECT_TRUE(link.Members().empty());
    EXPECT_TRUE(link.public_keys().empty());
    EXPECT_TRUE(hub_->Receive(1).empty());
  }
  uint64_t Refused() {
    return metrics_.counter("carillon_link_refused_total", "certificate").value();
  }

  Metrics metrics_;
  std::unique_ptr<rpc::GrpcHub> hub_;
};

TEST_F(GrpcTlsTest, ItsOwnCertificateIsWelcome) {
  const auto link = LinkWith(TheAuthority().Executor("e1"));
  EXPECT_TRUE(Up(*link));
  EXPECT_EQ(Refused(), 0u);
}

TEST_F(GrpcTlsTest, TheCertificateOfAnotherExecutorIsRefusedAndCounted) {
  const auto link = LinkWith(TheAuthority().Executor("e3"));
  EXPECT_TRUE(WaitUntil([&] { return Refused() > 0; }, 20s));
  ExpectRefused(*link);
}

TEST_F(GrpcTlsTest, NoCertificateIsRefusedAndCounted) {
  tls::Identity none = TheAuthority().Executor("e1");
  none.certificate.clear();
  none.key.clear();
  const auto link = LinkWith(none);
  EXPECT_TRUE(WaitUntil([&] { return Refused() > 0; }, 20s));
  ExpectRefused(*link);
}

TEST_F(GrpcTlsTest, ACertificateOfAnotherAuthorityIsRefused) {
  const LinkAuthority others;
  tls::Identity mixed = others.Executor("e1");
  mixed.authority = TheAuthority().Executor("e1").authority;  // so that it trusts the member
  const auto link = LinkWith(mixed);
  ExpectRefused(*link);
}

TEST_F(GrpcTlsTest, AnExpiredCertificateIsRefused) {
  const auto link = LinkWith(TheAuthority().Executor("e1", -1min));
  ExpectRefused(*link);
}

TEST_F(GrpcTlsTest, TheCertificateOfAMemberIsNotOneOfAnExecutor) {
  const auto link = LinkWith(TheAuthority().Member("e1"));
  ExpectRefused(*link);
}

TEST_F(GrpcTlsTest, InTheClearNothingGetsThrough) {
  const auto link = LinkWith({});
  ExpectRefused(*link);
}

TEST_F(GrpcTlsTest, AnExecutorTrustsNoMemberOfAnotherAuthorityOrName) {
  const LinkAuthority others;
  tls::Identity mixed = TheAuthority().Executor("e1");
  mixed.authority = others.Executor("e1").authority;
  const auto link = LinkWith(mixed);
  ExpectRefused(*link);
  const auto named = LinkWith(TheAuthority().Executor("e1"), "m2");
  ExpectRefused(*named);
}

// Nobody with an executor's certificate can stand in for a member.
TEST_F(GrpcTlsTest, TheCertificateOfAnExecutorIsNotOneOfAMember) {
  rpc::HubOptions options = HubOf("m3");
  options.identity = TheAuthority().Executor("m3");
  const auto false_member = Hub(options);
  const auto link = LinkWith(TheAuthority().Executor("e1"));
  link->SetMembers({Info("m3", false_member->endpoint())});
  ExpectRefused(*link);
}

TEST_F(GrpcTlsTest, ANewStreamTakesTheNewCertificate) {
  std::atomic<bool> renewed = false;
  auto link = rpc::GrpcLink::Make({.executor = ExecutorId("e1"),
                                   .incarnation = Incarnation("x"),
                                   .identity =
                                       [&renewed] {
                                         return renewed ? TheAuthority().Executor("e1")
                                                        : TheAuthority().Executor("e3");
                                       }},
                                  clock_);
  link->SetMembers({Info("m1", hub_->endpoint())});
  EXPECT_TRUE(WaitUntil([&] { return Refused() > 0; }, 20s));
  renewed = true;
  EXPECT_TRUE(Up(*link));
}

TEST(GrpcHubTest, TlsLiftsTheRuleOfLoopbackAndNeedsAPair) {
  rpc::HubOptions options{.member = MemberId("m1"),
                          .public_key = std::string(32, 'k'),
                          .identity = TheAuthority().Member("m1"),
                          .address = "0.0.0.0"};
  EXPECT_TRUE(rpc::GrpcHub::Start(options).ok());
  options.identity.key = tls::NewKey();
  EXPECT_EQ(rpc::GrpcHub::Start(options).code(), ErrorCode::kInvalid);
}

TEST(GrpcHubTest, RefusesWhatIsUnsafeOrTaken) {
  rpc::HubOptions options{.member = MemberId("m1"), .public_key = std::string(32, 'k')};
  EXPECT_EQ(rpc::GrpcHub::Start(options).code(), ErrorCode::kInvalid) << "no join secret";
  options.join_secret = "s";
  options.address = "0.0.0.0";
  EXPECT_EQ(rpc::GrpcHub::Start(options).code(), ErrorCode::kInvalid);
  options.address = "127.0.0.1";
  const auto first = rpc::GrpcHub::Start(options);
  ASSERT_TRUE(first.ok());
  const std::string endpoint = (*first)->endpoint();
  options.port = static_cast<uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
  EXPECT_EQ(rpc::GrpcHub::Start(options).code(), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace carillon::test
