#include "scheduler/liveness/executor_registry.h"

#include "common/adapters/memory/memory_link.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class ExecutorRegistryTest : public test::RoomTest {
 protected:
  void SetUp() override {
    for (const char* id : {"x1", "x2"}) {
      const auto stored = store_.RegisterExecutor({.id = ExecutorId(id),
                                                   .incarnation = Incarnation("e1"),
                                                   .last_heartbeat = clock_.Wall(),
                                                   .registered = clock_.Wall()});
      ASSERT_TRUE(stored.ok());
      known_.Accept(*stored, clock_.Steady());
    }
    registry_.Step(clock_.Steady());
  }
  bool Beat(const char* id, bool leaving = false) {
    return known_.Heard(ExecutorId(id), Incarnation("e1"), {.running_count = 3, .leaving = leaving},
                        clock_.Wall(), clock_.Steady());
  }
  ExecutorRecord Stored(const char* id) { return store_.GetExecutor(ExecutorId(id)).value(); }

  memory::MemorySwitchboard switchboard_;
  std::unique_ptr<ExecutorHub> hub_ = switchboard_.OpenHub(MemberId("m1"));
  ExecutorTable known_{{}};
  RegisterQueue registers_{"registers", 16};
  LiveSettings settings_;
  bool leads_ = true;
  ExecutorRegistry registry_{{.clock = clock_,
                              .store = store_,
                              .hub = *hub_,
                              .cluster = cluster_,
                              .executors = known_,
                              .registers = registers_,
                              .settings = settings_,
                              .metrics = metrics_},
                             {.write_every = 1h, .writes_health = [this] { return leads_; }}};
};

TEST_F(ExecutorRegistryTest, StateThatChangedIsWrittenWithTheNextStep) {
  clock_.Advance(11s);
  ASSERT_TRUE(Beat("x2"));
  ASSERT_TRUE(known_.JudgeHealth(clock_.Steady()));
  EXPECT_EQ(Stored("x1").state, ExecutorState::kOnline);
  registry_.Step(clock_.Steady());
  EXPECT_EQ(Stored("x1").state, ExecutorState::kLost);
  EXPECT_EQ(Stored("x2").running, 0) << "the load of the others waits for the next write of all";
  ASSERT_TRUE(Beat("x2", /*leaving=*/true));
  registry_.Step(clock_.Steady());
  EXPECT_EQ(Stored("x2").state, ExecutorState::kOffline);
  ASSERT_TRUE(Beat("x1"));
  registry_.Step(clock_.Steady());
  EXPECT_EQ(Stored("x1").state, ExecutorState::kOnline);
}

TEST_F(ExecutorRegistryTest, OnlyTheLeaderWritesAndItWritesNothingOld) {
  leads_ = false;
  clock_.Advance(11s);
  ASSERT_TRUE(known_.JudgeHealth(clock_.Steady()));
  registry_.Step(clock_.Steady());
  EXPECT_EQ(Stored("x1").state, ExecutorState::kOnline);
  leads_ = true;
  registry_.Step(clock_.Steady());
  EXPECT_EQ(Stored("x1").state, ExecutorState::kOnline) << "who leads by then has written it";
}

}  // namespace
}  // namespace carillon::scheduler
