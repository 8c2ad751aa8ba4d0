// The contracts of bus, link and coordinator on the in-process adapters, and what only these
// adapters promise.
#include "common/adapters/memory/memory_bus.h"
#include "common/adapters/memory/memory_coordinator.h"
#include "common/adapters/memory/memory_directory.h"
#include "common/adapters/memory/memory_link.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "common/wire/messages/record_sender.h"
#include "tests/contract/messaging/link_bus_factory.h"
#include "tests/support/manual_clock.h"

namespace carillon::test {

struct MemoryBusFactory {
  static constexpr int kPartitions = 4;
  static constexpr bool kConfirms = true;
  std::unique_ptr<BusProducer> Producer() { return bus.NewProducer(); }
  std::unique_ptr<BusConsumer> Consumer(std::string_view topic, std::string_view group,
                                        std::optional<BusBegin> begin = {}) {
    return bus.NewConsumer(topic, group, {}, begin);
  }
  WallTime Mark() {
    clock.Advance(1ms);
    return clock.Wall();
  }
  void Settle(const std::function<bool()>& seen) {
    for (int i = 0; i < 100 && !seen(); ++i) continue;
  }
  ManualClock clock;
  memory::MemoryBus bus{{.partitions = kPartitions, .records_max = 1000}, &clock};
};

struct SwitchboardOwner {
  memory::MemorySwitchboard board;
};
struct MemoryLinkBusFactory : SwitchboardOwner, LinkBusFactory {
  MemoryLinkBusFactory()
      : LinkBusFactory(board.OpenHub(MemberId("m1")),
                       board.OpenLink(TheExecutor().executor, TheExecutor().incarnation)) {}
  void Settle(const std::function<bool()>& seen) {
    for (int i = 0; i < 100 && !Pump(seen); ++i) continue;
  }
};
using BusFactories = ::testing::Types<MemoryBusFactory, MemoryLinkBusFactory>;

struct MemoryLinkFactory {
  std::unique_ptr<ExecutorHub> Hub(const MemberId& member) { return board.OpenHub(member); }
  std::unique_ptr<ExecutorLink> Link(const ExecutorId& id, const Incarnation& incarnation) {
    return board.OpenLink(id, incarnation);
  }
  void Settle(const std::function<bool()>& seen) {
    for (int i = 0; i < 100 && !seen(); ++i) continue;
  }
  memory::MemorySwitchboard board;
};
using LinkFactories = ::testing::Types<MemoryLinkFactory>;

struct MemoryCoordinatorFactory {
  std::unique_ptr<Coordinator> Client() { return ensemble.NewClient(); }
  void Expire(const Incarnation& incarnation) { ensemble.Expire(incarnation); }
  void Settle(const std::function<bool()>& seen) {
    for (int i = 0; i < 100 && !seen(); ++i) continue;
  }
  memory::MemoryEnsemble ensemble;
};
using CoordinatorFactories = ::testing::Types<MemoryCoordinatorFactory>;

struct MemoryDirectoryFactory : MemoryCoordinatorFactory {
  std::unique_ptr<MemberDirectory> Directory() { return memory::NewDirectory(ensemble); }
  std::unique_ptr<Coordinator> Member() { return Client(); }
};
using DirectoryFactories = ::testing::Types<MemoryDirectoryFactory>;

}  // namespace carillon::test

#include "tests/contract/messaging/bus_contract.h"
#include "tests/contract/messaging/coordinator_contract.h"
#include "tests/contract/messaging/directory_contract.h"
#include "tests/contract/messaging/link_contract.h"

namespace carillon::test {
namespace {

TEST(MemoryBusTest, FullPartitionPushesBackUntilItsConsumersCommit) {
  memory::MemoryBus bus({.partitions = 1, .records_max = 3});
  const auto producer = bus.NewProducer();
  const auto consumer = bus.NewConsumer(kTasksTopic, "g");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(producer->Send(kTasksTopic, 0, {"x", {}}).ok());
  EXPECT_EQ(producer->Send(kTasksTopic, 0, {"x", {}}).code(), ErrorCode::kExhausted);
  const auto got = consumer->Poll(2);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(producer->Send(kTasksTopic, 0, {"x", {}}).code(), ErrorCode::kExhausted);
  ASSERT_TRUE(consumer->Commit(*got).ok());
  EXPECT_EQ(bus.size(), 1u);
  EXPECT_TRUE(producer->Send(kTasksTopic, 0, {"x", {}}).ok());
}

TEST(MemoryBusTest, PartitionIsFullByItsBytesToo) {
  memory::MemoryBus bus({.partitions = 1, .bytes_max = 10});
  const auto producer = bus.NewProducer();
  const auto consumer = bus.NewConsumer(kTasksTopic, "g");
  ASSERT_TRUE(producer->Send(kTasksTopic, 0, {std::string(8, 'x'), {}}).ok());
  EXPECT_EQ(producer->Send(kTasksTopic, 0, {"abc", {}}).code(), ErrorCode::kExhausted);
  ASSERT_TRUE(consumer->Commit(*consumer->Poll(1)).ok());
  EXPECT_TRUE(producer->Send(kTasksTopic, 0, {std::string(20, 'x'), {}}).ok())
      << "a record that is larger than the limit fits if it is alone";
  EXPECT_EQ(producer->Send(kTasksTopic, 0, {"", {}}).code(), ErrorCode::kExhausted);
}

void Accept(link_bus::CarryingHub& member) {
  ASSERT_TRUE(member.Send(TheExecutor().executor, TheExecutor().incarnation, Registered{}).ok());
}

// An executor is believed only once it has registered, and only for itself.
TEST(LinkBusTest, RecordsAreOfTheExecutorThatSentThemAndIsRegistered) {
  memory::MemorySwitchboard board;
  const auto hub = board.OpenHub(MemberId("m1"));
  const auto link = board.OpenLink(TheExecutor().executor, TheExecutor().incarnation);
  memory::MemoryBus at_member;
  const auto member_side = at_member.NewProducer();
  const auto results = at_member.NewConsumer(kResultsTopic, "g");
  Metrics metrics;
  link_bus::CarryingHub member_end(*hub, *member_side, metrics);
  const auto arrives = [&] {
    BusRecord record{.payload = "x"};
    SetSender(record, ExecutorId("other"));
    EXPECT_TRUE(
        link->Send(MemberId("m1"), CarriedRecord{std::string(kResultsTopic), 0, std::move(record)})
            .ok());
    EXPECT_TRUE(member_end.Receive(10).empty());
    const auto received = results->Poll(10);
    EXPECT_TRUE(received.ok() && results->Commit(*received).ok());
    for (const ReceivedRecord& one : *received)
      EXPECT_EQ(SenderOf(one.record), TheExecutor().executor);
    return !received->empty();
  };
  const auto answer = [&](const Incarnation& incarnation, ToExecutor message) {
    static_cast<void>(
        member_end.Send(TheExecutor().executor, incarnation, std::move(message)).ok());
  };
  EXPECT_FALSE(arrives());
  answer(Incarnation("another process"), Registered{});
  EXPECT_FALSE(arrives());
  answer(TheExecutor().incarnation, Registered{.accepted = false});
  EXPECT_FALSE(arrives());
  answer(TheExecutor().incarnation, Registered{});
  EXPECT_TRUE(arrives());
  answer(TheExecutor().incarnation, HeartbeatReply{});
  EXPECT_TRUE(arrives());
  answer(TheExecutor().incarnation, HeartbeatReply{.registered = false});
  EXPECT_FALSE(arrives()) << "the member was restarted";
  EXPECT_EQ(metrics.counter("carillon_rejected_messages_total", "unregistered").value(), 4u);
}

// An executor must not act as a member, nor a member as an executor.
TEST(LinkBusTest, EachEndTakesTheTopicsOfTheOtherOnly) {
  memory::MemorySwitchboard board;
  const auto hub = board.OpenHub(MemberId("m1"));
  const auto link = board.OpenLink(TheExecutor().executor, TheExecutor().incarnation);
  memory::MemoryBus at_member;
  memory::MemoryBus at_executor;
  const auto member_side = at_member.NewProducer();
  const auto executor_side = at_executor.NewProducer();
  Metrics metrics;
  link_bus::CarryingHub member_end(*hub, *member_side, metrics);
  link_bus::CarryingLink executor_end(*link, *executor_side, metrics);
  Accept(member_end);
  ASSERT_EQ(link->Receive(10).size(), 1u);
  for (const std::string_view topic : {kTasksTopic, kDeadLettersTopic, kLogsTopic}) {
    ASSERT_TRUE(executor_end.Send(topic, 0, {"x", {}}).ok());
  }
  ASSERT_TRUE(link->Send(MemberId("m1"), Heartbeat{.sent_us = 5}).ok());
  const auto others = member_end.Receive(10);
  ASSERT_EQ(others.size(), 1u) << "records are taken out";
  EXPECT_EQ(std::get<Heartbeat>(others[0].message).sent_us, 5);
  EXPECT_EQ(at_member.size(), 1u) << "the log only";
  for (const std::string_view topic : {kResultsTopic, kTasksTopic}) {
    ASSERT_TRUE(hub->Send(TheExecutor().executor, TheExecutor().incarnation,
                          CarriedRecord{std::string(topic), 0, {"x", {}}})
                    .ok());
  }
  EXPECT_TRUE(executor_end.Receive(10).empty());
  EXPECT_EQ(at_executor.size(), 1u) << "the task only";
}

// Receive must not end before the queue is empty without waking its caller again.
TEST(LinkBusTest, MessagesBehindManyRecordsAreNotForgotten) {
  memory::MemorySwitchboard board;
  const auto hub = board.OpenHub(MemberId("m1"));
  const auto link = board.OpenLink(TheExecutor().executor, TheExecutor().incarnation);
  memory::MemoryBus at_member;
  const auto member_side = at_member.NewProducer();
  Metrics metrics;
  link_bus::CarryingHub member_end(*hub, *member_side, metrics);
  Accept(member_end);
  for (size_t i = 0; i < link_bus::kRecordsPerReceive + 1; ++i) {
    ASSERT_TRUE(
        link->Send(MemberId("m1"), CarriedRecord{std::string(kLogsTopic), 0, {"", {}}}).ok());
  }
  ASSERT_TRUE(link->Send(MemberId("m1"), Heartbeat{}).ok());
  int woken = 0;
  member_end.OnReadable([&woken] { ++woken; });
  EXPECT_TRUE(member_end.Receive(1).empty());
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(member_end.Receive(1).size(), 1u);
  EXPECT_EQ(woken, 1) << "as many as were asked for: the caller comes again by itself";
}

TEST(LinkBusTest, AnExecutorSaysThatItExpectsRecordsUntilAHubTakesThem) {
  memory::MemorySwitchboard board;
  const auto hub = board.OpenHub(MemberId("m1"));
  const auto link = board.OpenLink(ExecutorId("e1"), Incarnation("x"));
  memory::MemoryBus bus;
  const auto local = bus.NewProducer();
  Metrics metrics;
  link_bus::CarryingLink executor_end(*link, *local, metrics);
  ASSERT_TRUE(executor_end.Send(MemberId("m1"), Register{}).ok());
  EXPECT_TRUE(std::get<Register>(hub->Receive(1).at(0).message).carries_records);
  ASSERT_TRUE(executor_end.Send(MemberId("m1"), Register{}).ok());
  link_bus::CarryingHub member_end(*hub, *local, metrics);
  EXPECT_FALSE(std::get<Register>(member_end.Receive(1).at(0).message).carries_records);
}

TEST(LinkBusTest, AnExecutorInsideTheProcessReadsTheLocalBus) {
  memory::MemorySwitchboard board;
  const auto hub = board.OpenHub(MemberId("m1"));
  memory::MemoryBus bus;
  const auto local = bus.NewProducer();
  link_bus::HubProducer producer(*hub, *local, TheExecutor());
  BusRecord task{.payload = "t",
                 .headers = {{"carillon-target", "e1"}, {"carillon-incarnation", "x"}}};
  EXPECT_TRUE(producer.Send(kTasksTopic, 0, task).ok());
  EXPECT_EQ(bus.size(), 1u);
  task.headers["carillon-incarnation"] = "y";
  EXPECT_TRUE(producer.Send(kTasksTopic, 0, task).ok())
      << "an executor that cannot be reached must not stop the dispatch to others";
  EXPECT_EQ(producer.Send(kTasksTopic, 0, {"t", {}}).code(), ErrorCode::kInvalid);
  EXPECT_EQ(bus.size(), 1u);
}

TEST(MemoryBusTest, WithoutConsumersTheNewestRecordsAreKept) {
  memory::MemoryBus bus({.partitions = 1, .records_max = 3});
  const auto producer = bus.NewProducer();
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(producer->Send(kTasksTopic, 0, {std::to_string(i), {}}).ok());
  }
  EXPECT_EQ(bus.size(), 3u);
  const auto consumer = bus.NewConsumer(kTasksTopic, "late");
  const auto got = consumer->Poll(10);
  ASSERT_TRUE(got.ok());
  ASSERT_EQ(got->size(), 3u);
  EXPECT_EQ(got->front().record.payload, "7");
}

TEST(MemoryBusTest, OnePartitionForOneConsumer) {
  memory::MemoryBus bus({.partitions = 4, .records_max = 10});
  const auto producer = bus.NewProducer();
  const auto consumer = bus.NewConsumer(kTasksTopic, "g", {2});
  for (uint64_t key = 0; key < 8; ++key) {
    ASSERT_TRUE(producer->Send(kTasksTopic, key, {std::to_string(key), {}}).ok());
  }
  const auto got = consumer->Poll(100);
  ASSERT_TRUE(got.ok());
  ASSERT_EQ(got->size(), 2u);
  EXPECT_EQ(got->at(1).record.payload, "6");
}

TEST(MemoryBusTest, SendingWakesTheConsumer) {
  memory::MemoryBus bus;
  const auto producer = bus.NewProducer();
  const auto consumer = bus.NewConsumer(kTasksTopic, "g");
  int wakes = 0;
  consumer->OnReadable([&wakes] { ++wakes; });
  ASSERT_TRUE(producer->Send(kTasksTopic, 1, {"x", {}}).ok());
  EXPECT_EQ(wakes, 1);
}

TEST(MemoryBusTest, ManyThreadsLoseNothing) {
  memory::MemoryBus bus({.partitions = 4, .records_max = 100'000});
  const auto consumer = bus.NewConsumer(kTasksTopic, "g");
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&bus, t] {
      const auto producer = bus.NewProducer();
      for (uint64_t i = 0; i < 1000; ++i) {
        EXPECT_TRUE(producer->Send(kTasksTopic, t + i, {"x", {}}).ok());
      }
    });
  }
  size_t count = 0;
  while (count < 4000) {
    const auto got = consumer->Poll(100);
    ASSERT_TRUE(got.ok());
    ASSERT_TRUE(consumer->Commit(*got).ok());
    count += got->size();
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 4000u);
  EXPECT_EQ(bus.size(), 0u);
}

TEST(MemoryLinkTest, FullQueuePushesBack) {
  memory::MemorySwitchboard board({.messages_max = 2});
  const auto hub = board.OpenHub(MemberId("m"));
  const auto link = board.OpenLink(ExecutorId("e"), Incarnation("x"));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(link->Send(MemberId("m"), Heartbeat{}).ok());
  EXPECT_EQ(link->Send(MemberId("m"), Heartbeat{}).code(), ErrorCode::kExhausted);
  EXPECT_EQ(hub->Receive(1).size(), 1u);
  EXPECT_TRUE(link->Send(MemberId("m"), Heartbeat{}).ok());
}

TEST(MemoryCoordinatorTest, SuspendedClientGoesOnWithItsLastView) {
  memory::MemoryEnsemble ensemble;
  const auto a = ensemble.NewClient();
  const auto b = ensemble.NewClient();
  ASSERT_TRUE(a->Join({.id = MemberId("a"), .incarnation = Incarnation("ia")}).ok());
  ASSERT_TRUE(b->Join({.id = MemberId("b"), .incarnation = Incarnation("ib")}).ok());
  ensemble.Suspend(Incarnation("ia"));
  ensemble.Expire(Incarnation("ia"));
  EXPECT_EQ(a->State(), SessionState::kSuspended);
  EXPECT_EQ(a->Members().size(), 2u);
  EXPECT_EQ(a->ProveSession().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(a->WriteAssignment({Generation(1), {}}).code(), ErrorCode::kUnavailable);
  EXPECT_TRUE(b->IsLeader());
  ensemble.Restore(Incarnation("ia"));
  EXPECT_EQ(a->State(), SessionState::kExpired);
  EXPECT_FALSE(a->IsLeader());
}

TEST(MemoryCoordinatorTest, ClientThatLeavesWhileSuspendedIsRestoredToo) {
  memory::MemoryEnsemble ensemble;
  const auto a = ensemble.NewClient();
  ASSERT_TRUE(a->Join({.id = MemberId("a"), .incarnation = Incarnation("ia")}).ok());
  ensemble.Suspend(Incarnation("ia"));
  a->Leave();
  ensemble.Restore(Incarnation("ia"));
  EXPECT_TRUE(a->Join({.id = MemberId("a"), .incarnation = Incarnation("ia")}).ok());
}

TEST(MemoryCoordinatorTest, NodesOfADeadProcessStayUntilItsSessionExpires) {
  memory::MemoryEnsemble ensemble;
  auto a = ensemble.NewClient();
  const auto b = ensemble.NewClient();
  ASSERT_TRUE(a->Join({.id = MemberId("a"), .incarnation = Incarnation("ia")}).ok());
  ASSERT_TRUE(b->Join({.id = MemberId("b"), .incarnation = Incarnation("ib")}).ok());
  ensemble.Abandon(Incarnation("ia"));
  a.reset();
  EXPECT_EQ(b->Leader(), MemberId("a"));
  ensemble.Expire(Incarnation("ia"));
  EXPECT_TRUE(b->IsLeader());
}

}  // namespace
}  // namespace carillon::test
