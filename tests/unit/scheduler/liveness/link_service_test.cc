#include "scheduler/liveness/link_service.h"

#include <algorithm>

#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class FakeHub final : public ExecutorHub {
 public:
  Status Send(const ExecutorId& executor, const Incarnation&, ToExecutor message) override {
    if (const auto* told = std::get_if<Registered>(&message)) {
      quiet[executor] = told->quiet_heartbeat;
      ++registered;
    }
    return {};
  }
  std::vector<ExecutorMessage> Receive(size_t) override { return std::exchange(inbox, {}); }
  std::vector<ExecutorProcess> TakeEnded() override { return std::exchange(ended, {}); }
  void OnReadable(std::function<void()>) override {}
  void Close(const ExecutorProcess& process) override { closed.push_back(process); }

  std::vector<ExecutorMessage> inbox;
  std::vector<ExecutorProcess> ended;
  std::vector<ExecutorProcess> closed;
  std::map<ExecutorId, Duration> quiet;  // as last told
  int registered = 0;
};

class LinkServiceTest : public test::RoomTest {
 protected:
  static ExecutorId Id(int number) { return ExecutorId("x" + std::to_string(number)); }
  void Accept(int number) {
    known_.Accept({.id = Id(number), .incarnation = life_}, clock_.Steady());
  }
  void Beat(int number, Duration next_in = {}) {
    hub_.inbox.push_back({Id(number), life_, Heartbeat{.free_slots = 4, .next_in = next_in}});
  }
  void Pass(Duration span) {
    for (const SteadyTime end = clock_.Steady() + span; clock_.Steady() < end;) {
      clock_.Advance(500ms);
      link_.Step(clock_.Steady());
    }
  }
  bool Woken() {
    link_.Step(clock_.Steady());
    known_.TakeChanges();
    return std::exchange(woken_, false);
  }

  const Incarnation life_{"e1"};
  FakeHub hub_;
  ExecutorTable known_{{.quiet_each = 1s}};
  RegisterQueue registers_{"registers", 256};
  ClaimQueue claims_{"claims", 16};
  SaveQueue progress_{"progress", 16};
  SaveQueue checkpoints_{"checkpoints", 4};
  bool woken_ = false;
  LinkService link_{{.clock = clock_,
                     .hub = hub_,
                     .cluster = cluster_,
                     .leases = leases_,
                     .executors = known_,
                     .applied = applied_,
                     .settings = settings_,
                     .claims = claims_,
                     .registers = registers_,
                     .progress = progress_,
                     .checkpoints = checkpoints_,
                     .metrics = metrics_,
                     .executors_changed = [this] { woken_ = true; }},
                    {}};
};

TEST_F(LinkServiceTest, BeatWithoutNewsDoesNotWakeTheFiringLoop) {
  Accept(1);
  EXPECT_TRUE(Woken());
  Beat(1);
  EXPECT_TRUE(Woken());
  Beat(1);
  EXPECT_FALSE(Woken());
  hub_.inbox.push_back({Id(1), life_, ClaimBatch{}});
  EXPECT_FALSE(Woken());
  Beat(1);
  EXPECT_TRUE(Woken()) << "the report after a claim";
}

TEST_F(LinkServiceTest, ExecutorThatIsLostHasItsStreamEndedOnce) {
  Accept(1);
  Pass(9s);
  EXPECT_TRUE(hub_.closed.empty());
  Pass(5s);
  ASSERT_EQ(hub_.closed.size(), 1u);
  EXPECT_EQ(hub_.closed[0], (ExecutorProcess{Id(1), life_}));
}

TEST_F(LinkServiceTest, StopOfTheMemberIsNoSilenceOfItsExecutors) {
  Accept(1);
  Accept(2);
  Pass(1s);
  clock_.Advance(20s);
  link_.Step(clock_.Steady());  // before anything is read from the network
  Beat(1);
  Pass(500ms);
  for (const int number : {1, 2}) {
    EXPECT_EQ(known_.Find(Id(number))->state, ExecutorState::kOnline);
  }
  Pass(500ms);
  EXPECT_EQ(known_.Find(Id(1))->state, ExecutorState::kOnline);
  EXPECT_EQ(known_.Find(Id(2))->state, ExecutorState::kLost);
}

TEST_F(LinkServiceTest, SilenceIsJudgedWhenAllMessagesAreRead) {
  Accept(1);
  Pass(9s);
  clock_.Advance(1500ms);
  for (int i = 0; i < 1024; ++i) Beat(2);
  link_.Step(clock_.Steady());
  EXPECT_NE(known_.Find(Id(1))->state, ExecutorState::kLost) << "there may be more";
  Beat(1);
  link_.Step(clock_.Steady());
  EXPECT_EQ(known_.Find(Id(1))->state, ExecutorState::kOnline);
}

TEST_F(LinkServiceTest, QuietOneWhoseStreamEndsIsLostSooner) {
  for (const int number : {1, 2}) {
    Accept(number);
    Beat(number, 15s);
  }
  hub_.ended.push_back({Id(1), life_});
  Pass(18s);
  EXPECT_EQ(known_.Find(Id(1))->state, ExecutorState::kUnhealthy);
  Pass(1500ms);
  EXPECT_EQ(known_.Find(Id(1))->state, ExecutorState::kLost);
  EXPECT_EQ(known_.Find(Id(2))->state, ExecutorState::kUnhealthy)
      << "silent for longer than it said";
  EXPECT_EQ(hub_.closed.size(), 1u);
}

TEST_F(LinkServiceTest, GrowingFleetIsToldTheLongerIntervalBitByBit) {
  for (int number = 0; number < 20; ++number) Accept(number);
  Pass(500ms);
  const auto told = [this] {
    return std::count_if(hub_.quiet.begin(), hub_.quiet.end(),
                         [](const auto& entry) { return entry.second == 15s; });
  };
  EXPECT_EQ(told(), 0);
  const auto beats = [this](Duration span) {
    for (Duration passed{}; passed < span; passed += 500ms) {
      for (int number = 0; number < 20; ++number) Beat(number);
      Pass(500ms);
    }
  };
  beats(5s);
  EXPECT_EQ(told(), 10);
  beats(5s);
  EXPECT_EQ(told(), 20);
  EXPECT_EQ(hub_.registered, 20);
  beats(30s);
  EXPECT_EQ(hub_.registered, 20) << "they know it";
}

}  // namespace
}  // namespace carillon::scheduler
