// The contract of the bus on a control link over gRPC, and what a link of records promises.
#include <gtest/gtest.h>

#include "common/adapters/grpc/stream_outbox.h"
#include "common/wire/messages/link_pieces.h"
#include "tests/contract/grpc/link_authority.h"
#include "tests/contract/grpc/link_fixture.h"
#include "tests/contract/messaging/link_bus_factory.h"

namespace carillon::test {

// A hub and a link that are connected with TLS. The link knows only the address of the hub.
struct ConnectedEnds {
  ConnectedEnds() {
    auto started = rpc::GrpcHub::Start({.member = MemberId("m1"),
                                        .public_key = std::string(32, 'k'),
                                        .identity = TheAuthority().Member("m1")},
                                       clock);
    EXPECT_TRUE(started.ok()) << started.error().message;
    const tls::Identity identity = TheAuthority().Executor(TheExecutor().executor.value());
    auto dialled = rpc::GrpcLink::Make(
        {.executor = TheExecutor().executor, .incarnation = TheExecutor().incarnation}, clock,
        [identity] { return identity; });
    dialled->SetMembers({{MemberId(), Incarnation(), "", (*started)->endpoint()}});
    EXPECT_TRUE(WaitUntil([&] { return dialled->Members().size() == 1; }));
    EXPECT_EQ(dialled->Members(), std::vector<MemberId>{MemberId("m1")});
    hub = std::move(started).value();
    link = std::move(dialled);
  }
  SystemClock clock;
  std::unique_ptr<ExecutorHub> hub;
  std::unique_ptr<ExecutorLink> link;
};

struct GrpcLinkBusFactory : ConnectedEnds, LinkBusFactory {
  GrpcLinkBusFactory() : LinkBusFactory(std::move(hub), std::move(link)) {}
  void Settle(const std::function<bool()>& seen) {
    WaitUntil([&] { return Pump(seen); });
  }
};
using BusFactories = ::testing::Types<GrpcLinkBusFactory>;

}  // namespace carillon::test

#include "tests/contract/messaging/bus_contract.h"

namespace carillon::test {
namespace {

// Writes the outbox until it is empty, and returns the messages.
std::vector<std::string> Written(rpc::StreamOutbox& outbox) {
  std::vector<std::string> all;
  while (const grpc::ByteBuffer* next = outbox.Next()) all.push_back(rpc::ToBytes(*next));
  return all;
}

TEST(StreamOutboxTest, AHeartbeatIsBehindOnePieceOfACheckpointAtMost) {
  rpc::StreamOutbox outbox({.messages_max = 100, .bytes_max = 100, .bulk_bytes_max = 1 << 20});
  outbox.CutBulk();
  const std::string checkpoint(kPieceBytes * 3, 'c');
  const auto first = outbox.Put(checkpoint, rpc::OutboxLane::kBulk);
  ASSERT_TRUE(first.ok());
  EXPECT_LT((*first)->Length(), kPieceBytes + 100);
  ASSERT_TRUE(outbox.Put("record", rpc::OutboxLane::kRecords).ok());
  ASSERT_TRUE(outbox.Put("heartbeat").ok());
  EXPECT_EQ(outbox.Put(std::string(1 << 20, 'd'), rpc::OutboxLane::kBulk).code(),
            ErrorCode::kExhausted);
  PieceJoiner joiner;
  EXPECT_EQ(joiner.Take(rpc::ToBytes(**first)).value(), std::nullopt);
  std::vector<std::string> others;
  std::optional<std::string> whole;
  for (const std::string& bytes : Written(outbox)) {
    auto taken = joiner.Take(bytes).value();
    if (taken == bytes) others.push_back(bytes);
    if (taken && *taken != bytes) whole = std::move(taken);
  }
  EXPECT_EQ(others, (std::vector<std::string>{"heartbeat", "record"}));
  EXPECT_EQ(whole, checkpoint);
}

TEST(StreamOutboxTest, RecordsAndBulkTakeTurnsAndAnOlderPeerGetsBulkWhole) {
  rpc::StreamOutbox outbox({.messages_max = 100, .bytes_max = 100});
  ASSERT_TRUE(outbox.Put("r1", rpc::OutboxLane::kRecords).ok());
  for (const char* bulk : {"b1", "b2"}) ASSERT_TRUE(outbox.Put(bulk, rpc::OutboxLane::kBulk).ok());
  for (const char* record : {"r2", "r3"})
    ASSERT_TRUE(outbox.Put(record, rpc::OutboxLane::kRecords).ok());
  EXPECT_EQ(Written(outbox), (std::vector<std::string>{"b1", "r2", "b2", "r3"}));
}

TEST_F(GrpcLinkTest, CheckpointsOfAMebibyteCrossInBothDirections) {
  const auto hub = Hub(HubOf("m1"));
  const auto link = Link("m1", hub->endpoint());
  ASSERT_TRUE(Up(*link));
  std::string state(1 << 20, 's');
  for (size_t i = 0; i < state.size(); ++i) state[i] = static_cast<char>(i * 7 >> 3);
  RunSave save{.key = {FromUnixMicros(1), ScheduleId(1), 0}, .token = {1, 2}, .seq = 3};
  save.checkpoint = state;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(link->Send(MemberId("m1"), AttemptSave{save}).ok());
    ASSERT_TRUE(link->Send(MemberId("m1"), Heartbeat{.sent_us = i}).ok());
  }
  std::vector<std::string> saved;
  int heartbeats = 0;
  EXPECT_TRUE(WaitUntil([&] {
    for (const ExecutorMessage& message : hub->Receive(10)) {
      const auto* taken = std::get_if<AttemptSave>(&message.message);
      if (taken != nullptr) {
        saved.push_back(*taken->save.checkpoint);
      } else {
        EXPECT_EQ(std::get<Heartbeat>(message.message).sent_us, heartbeats++);
      }
    }
    return saved.size() == 3 && heartbeats == 3;
  }));
  EXPECT_EQ(saved, std::vector<std::string>(3, state));
  ClaimBatchReply reply{.batch_id = 1, .lease = 20s};
  reply.items.push_back({.key = save.key,
                         .token = save.token,
                         .verdict = ClaimVerdict::kAccepted,
                         .checkpoint = state});
  ASSERT_TRUE(hub->Send(ExecutorId("e1"), Incarnation("x"), reply).ok());
  std::optional<std::string> given;
  EXPECT_TRUE(WaitUntil([&] {
    for (const MemberMessage& message : link->Receive(10)) {
      given = std::get<ClaimBatchReply>(message.message).items.at(0).checkpoint;
    }
    return given.has_value();
  }));
  EXPECT_EQ(given, state);
}

TEST(StreamOutboxTest, ControlMessagesOvertakeRecords) {
  rpc::StreamOutbox outbox({.messages_max = 10, .bytes_max = 100, .record_bytes_max = 10});
  const auto first = outbox.Put("record-1", rpc::OutboxLane::kRecords);
  ASSERT_TRUE(first.ok());
  ASSERT_NE(*first, nullptr) << "nothing else is being written";
  EXPECT_EQ(outbox.Put("record-2", rpc::OutboxLane::kRecords).code(), ErrorCode::kExhausted);
  ASSERT_TRUE(outbox.Put("r2", rpc::OutboxLane::kRecords).ok());
  const auto heartbeat = outbox.Put(std::string(50, 'h'));
  ASSERT_TRUE(heartbeat.ok()) << "full records leave room for control messages";
  EXPECT_EQ(*heartbeat, nullptr);
  const grpc::ByteBuffer* next = outbox.Next();
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(rpc::ToBytes(*next), std::string(50, 'h'));
  next = outbox.Next();
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(rpc::ToBytes(*next), "r2");
  EXPECT_EQ(outbox.Next(), nullptr);
  EXPECT_FALSE(outbox.writing());
}

TEST_F(GrpcLinkTest, AnAddressIsEnoughToFindAMember) {
  const auto hub = Hub(HubOf("m1"));
  const auto link = Link("", hub->endpoint());
  ASSERT_TRUE(Up(*link));
  EXPECT_EQ(link->Members(), std::vector<MemberId>{MemberId("m1")});
  ASSERT_TRUE(link->Send(MemberId("m1"), Heartbeat{.sent_us = 7}).ok());
  EXPECT_TRUE(WaitUntil([&] { return hub->Receive(1).size() == 1; }));
  ASSERT_TRUE(hub->Send(ExecutorId("e1"), Incarnation("x"), ResultsApplied{}).ok());
  std::vector<MemberMessage> got;
  ASSERT_TRUE(WaitUntil([&] { return !(got = link->Receive(1)).empty(); }));
  EXPECT_EQ(got[0].member, MemberId("m1"));
}

// Another server may take over an address.
TEST_F(GrpcLinkTest, TheMemberBehindAnAddressMayChange) {
  auto hub = Hub(HubOf("m1"));
  const uint16_t port = PortOf(*hub);
  const auto link = Link("", hub->endpoint());
  ASSERT_TRUE(Up(*link));
  hub.reset();
  ASSERT_TRUE(Down(*link));
  hub = Hub(HubOf("m2", port));
  ASSERT_TRUE(Up(*link));
  EXPECT_EQ(link->Members(), std::vector<MemberId>{MemberId("m2")});
  EXPECT_EQ(link->Send(MemberId("m1"), Heartbeat{}).code(), ErrorCode::kUnavailable);
  EXPECT_EQ(link->public_keys(), std::vector<std::string>{std::string(32, '2')});
}

TEST_F(GrpcLinkTest, TwoAddressesOfOneMemberAreOneStream) {
  rpc::HubOptions options = HubOf("m1");
  const auto hub = Hub(options);
  const std::string port = std::to_string(PortOf(*hub));
  auto link = Link("", "127.0.0.1:" + port);
  ASSERT_TRUE(Up(*link));
  link->SetMembers({Info("", "127.0.0.1:" + port), Info("", "localhost:" + port)});
  const auto other = Link("m1", hub->endpoint());
  ASSERT_TRUE(WaitUntil([&] { return link->Members().size() == 1; }));
  ASSERT_TRUE(link->Send(MemberId("m1"), Heartbeat{.sent_us = 1}).ok());
  EXPECT_TRUE(WaitUntil([&] { return !hub->Receive(1).empty(); }));
}

}  // namespace
}  // namespace carillon::test
