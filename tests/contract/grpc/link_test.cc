// The contract of the control link over gRPC on loopback, and faults that only a network has.
#include <gtest/gtest.h>

#include "common/adapters/grpc/grpc_hub.h"
#include "common/adapters/grpc/grpc_link.h"
#include "common/adapters/system/system_clock.h"
#include "common/base/metrics/metrics.h"
#include "tests/contract/grpc/link_authority.h"
#include "tests/contract/grpc/link_fixture.h"
#include "tests/support/process_wait.h"
#include "tests/support/tcp_proxy.h"

namespace carillon::test {

// Announces every hub to every link, as the coordinator does.
struct GrpcLinkFactory {
  std::unique_ptr<ExecutorHub> Hub(const MemberId& member) {
    auto hub = rpc::GrpcHub::Start(
        {.member = member, .public_key = std::string(32, 'k'), .join_secret = "secret"}, clock);
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
  void Settle(const std::function<bool()>& seen) { WaitUntil(seen); }

  SystemClock clock;
  std::vector<MemberInfo> members;
};

// The same over TLS: one authority has signed the certificates of both ends, each for its own name.
struct GrpcTlsLinkFactory : GrpcLinkFactory {
  std::unique_ptr<ExecutorHub> Hub(const MemberId& member) {
    auto hub = rpc::GrpcHub::Start({.member = member,
                                    .public_key = std::string(32, 'k'),
                                    .identity = TheAuthority().Member(member.value())},
                                   clock);
    EXPECT_TRUE(hub.ok()) << hub.error().message;
    members.push_back({.id = member,
                       .incarnation = Incarnation("m"),
                       .rest_url = "",
                       .grpc_address = (*hub)->endpoint()});
    return std::move(hub).value();
  }
  std::unique_ptr<ExecutorLink> Link(const ExecutorId& id, const Incarnation& incarnation) {
    const tls::Identity identity = TheAuthority().Executor(id.value());
    auto link = rpc::GrpcLink::Make({.executor = id, .incarnation = incarnation}, clock,
                                    [identity] { return identity; });
    link->SetMembers(members);
    return link;
  }
};
using LinkFactories = ::testing::Types<GrpcLinkFactory, GrpcTlsLinkFactory>;

}  // namespace carillon::test

#include "tests/contract/messaging/link_contract.h"

namespace carillon::test {
namespace {

TEST_F(GrpcLinkTest, KeysComeWithTheWelcome) {
  const auto hub = Hub(HubOf("m1"));
  const auto link = Link("m1", hub->endpoint());
  ASSERT_TRUE(Up(*link));
  EXPECT_EQ(link->public_keys(), std::vector<std::string>{std::string(32, '1')});
}

// A member's session may have expired while it still owns segments.
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
  ASSERT_TRUE(Up(*other));  // so the first one has had enough time as well
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
  ASSERT_TRUE(Up(*other));  // so the first one has had enough time as well
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

TEST_F(GrpcLinkTest, EitherEndCanEndAStreamThatIsThenOpenedAnew) {
  const auto hub = Hub(HubOf("m1"));
  const auto link = Link("m1", hub->endpoint());
  const ExecutorProcess executor{ExecutorId("e1"), Incarnation("x")};
  const auto ended = [&] { return hub->TakeEnded() == std::vector{executor}; };
  ASSERT_TRUE(Up(*link));
  hub->Close(executor);
  EXPECT_TRUE(WaitUntil(ended));
  ASSERT_TRUE(WaitUntil(
      [&] { return hub->Send(executor.executor, executor.incarnation, Registered{}).ok(); }));
  ASSERT_TRUE(Up(*link));
  link->Close(MemberId("m1"));
  EXPECT_TRUE(WaitUntil(ended));
  EXPECT_TRUE(Up(*link));
}

// Many executors without work come back one after the other.
TEST_F(GrpcLinkTest, OneThatMayWaitDialsAtOnceWhenItGetsWork) {
  auto hub = Hub(HubOf("m1"));
  const uint16_t port = PortOf(*hub);
  const auto link = Link("m1", hub->endpoint());
  ASSERT_TRUE(Up(*link));
  link->MayWait(24h * 365);  // a random part of it is longer than this test
  hub.reset();
  ASSERT_TRUE(Down(*link));
  hub = Hub(HubOf("m1", port));
  const auto other = Link("m1", hub->endpoint());
  ASSERT_TRUE(Up(*other));  // so the first one has had enough time as well
  EXPECT_TRUE(link->Members().empty());
  link->MayWait({});
  EXPECT_TRUE(Up(*link));
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

// The network drops everything without an error. The executor notices it, and the member hears
// nothing any more, and so gives up the stream.
TEST_F(GrpcLinkTest, StreamOnASilentNetworkIsEndedByBothEnds) {
  const auto hub = Hub(HubOf("m1"));
  TcpProxy proxy(PortOf(*hub));
  const auto link = Link("m1", "127.0.0.1:" + std::to_string(proxy.port()));
  ASSERT_TRUE(Up(*link));
  proxy.Freeze(true);
  EXPECT_TRUE(Down(*link));
  EXPECT_TRUE(hub->Send(ExecutorId("e1"), Incarnation("x"), Registered{}).ok());
  hub->Close({ExecutorId("e1"), Incarnation("x")});
  EXPECT_TRUE(
      WaitUntil([&] { return !hub->Send(ExecutorId("e1"), Incarnation("x"), Registered{}).ok(); }));
  proxy.Cut();
  proxy.Freeze(false);
  EXPECT_TRUE(Up(*link));
}

// If a member does not read, the sender's queue fills up and refuses more messages. No accepted
// message is lost.
TEST_F(GrpcLinkTest, FullEndsPushBackAndLoseNothing) {
  rpc::HubOptions options = HubOf("m1");
  options.inbox_max = 4;
  const auto hub = Hub(options);
  const auto link = Link("m1", hub->endpoint(), "secret", /*outbox_max=*/4);
  ASSERT_TRUE(Up(*link));
  // Large messages, so that the buffers of the connection fill up as well.
  Register large;
  for (int i = 0; i < 60; ++i) large.record.labels[std::to_string(i)] = std::string(1000, 'x');
  int taken = 0;
  Status sent;
  for (; taken < 10'000; ++taken) {
    large.record.slots = taken;
    sent = link->Send(MemberId("m1"), large);
    if (sent.code() != ErrorCode::kExhausted && !sent.ok()) break;
    // A queue of four may be full for a moment, because the connection is slower than this loop.
    if (!sent.ok() && !WaitUntil([&] { return link->Send(MemberId("m1"), large).ok(); }, 300ms)) {
      break;
    }
  }
  ASSERT_EQ(sent.code(), ErrorCode::kExhausted);
  ASSERT_GT(taken, 8);
  int next = 0;
  EXPECT_TRUE(WaitUntil([&] {
    for (const ExecutorMessage& message : hub->Receive(3)) {
      EXPECT_EQ(std::get<Register>(message.message).record.slots, next++);
    }
    return next == taken;
  }));
}

// Few large messages: the queue is limited in bytes too.
TEST_F(GrpcLinkTest, EndsAreFullOfBytesAndLoseNothing) {
  constexpr size_t kBytesMax = 256 << 10;
  Metrics metrics;
  rpc::HubOptions options = HubOf("m1");
  options.queue_bytes_max = kBytesMax;
  options.metrics = &metrics;
  const auto hub = Hub(options);
  const auto link = rpc::GrpcLink::Make({.executor = ExecutorId("e1"),
                                         .incarnation = Incarnation("x"),
                                         .join_secret = "secret",
                                         .queue_bytes_max = kBytesMax},
                                        clock_);
  link->SetMembers({Info("m1", hub->endpoint())});
  ASSERT_TRUE(Up(*link));
  const auto send = [&](int number) {
    ResultsApplied large;
    large.applied.resize(
        1'000,
        HeldAttempt{.key = {.fire = FromUnixMicros(1)}, .attempt = number + 1, .token = {1, 2}});
    return hub->Send(ExecutorId("e1"), Incarnation("x"), std::move(large));
  };
  int taken = 0;
  Status sent;
  for (; taken < 10'000; ++taken) {
    sent = send(taken);
    if (sent.code() != ErrorCode::kExhausted && !sent.ok()) break;
    if (!sent.ok() && !WaitUntil([&] { return send(taken).ok(); }, 300ms)) break;
  }
  ASSERT_EQ(sent.code(), ErrorCode::kExhausted);
  EXPECT_GT(metrics.counter("carillon_queue_rejections_total", "link").value(), 0u);
  int next = 0;
  EXPECT_TRUE(WaitUntil([&] {
    for (const MemberMessage& message : link->Receive(3)) {
      EXPECT_EQ(std::get<ResultsApplied>(message.message).applied.at(0).attempt, ++next);
    }
    return next == taken;
  }));
}

TEST_F(GrpcLinkTest, NewerStreamOfTheSameProcessReplacesTheOlder) {
  const auto hub = Hub(HubOf("m1"));
  const auto older = Link("m1", hub->endpoint());
  ASSERT_TRUE(Up(*older));
  std::atomic<int> ends = 0;
  older->OnReadable([&ends] { ++ends; });
  const auto newer = Link("m1", hub->endpoint());
  // The two links replace each other: each is notified of its end, and none of them hangs.
  EXPECT_TRUE(WaitUntil([&] { return ends.load() > 0; }));
  EXPECT_TRUE(WaitUntil([&] { return newer->Members().size() == 1; }));
}

TEST(GrpcHubTest, RefusesWhatIsUnsafeOrTaken) {
  const SystemClock clock;
  rpc::HubOptions options{.member = MemberId("m1"), .public_key = std::string(32, 'k')};
  EXPECT_EQ(rpc::GrpcHub::Start(options, clock).code(), ErrorCode::kInvalid) << "no join secret";
  options.join_secret = "s";
  options.address = "0.0.0.0";
  EXPECT_EQ(rpc::GrpcHub::Start(options, clock).code(), ErrorCode::kInvalid);
  options.address = "127.0.0.1";
  const auto first = rpc::GrpcHub::Start(options, clock);
  ASSERT_TRUE(first.ok());
  const std::string endpoint = (*first)->endpoint();
  options.port = static_cast<uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
  EXPECT_EQ(rpc::GrpcHub::Start(options, clock).code(), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace carillon::test
