#include "scheduler/liveness/executor_registry.h"

#include <algorithm>

#include "common/adapters/memory/memory_link.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class ExecutorRegistryTest : public test::RoomTest {
 protected:
  void SetUp() override {
    for (const char* id : {"x1", "x2"}) {
      const auto stored = stores_.executors.RegisterExecutor({.id = ExecutorId(id),
                                                              .incarnation = Incarnation("e1"),
                                                              .last_heartbeat = clock_.Wall(),
                                                              .registered = clock_.Wall()});
      ASSERT_TRUE(stored.ok());
      known_.Accept(*stored, clock_.Steady());
    }
    registry_.Step(clock_.Steady());
  }
  bool Beat(const char* id, bool leaving = false) {
    return known_.HeartbeatFrom(ExecutorId(id), Incarnation("e1"),
                                {.running_count = 3, .leaving = leaving}, clock_.Wall(),
                                clock_.Steady());
  }
  ExecutorRecord Stored(const char* id) {
    return stores_.executors.GetExecutor(ExecutorId(id)).value();
  }

  memory::MemorySwitchboard switchboard_;
  std::unique_ptr<ExecutorHub> hub_ = switchboard_.OpenHub(MemberId("m1"));
  ExecutorTable known_{{}};
  RegisterQueue registers_{"registers", 256};
  ClaimQueue claims_{"claims", 16};
  SaveQueue progress_{"progress", 16};
  SaveQueue checkpoints_{"checkpoints", 4};
  LinkService link_{{.clock = clock_,
                     .hub = *hub_,
                     .cluster = cluster_,
                     .leases = leases_,
                     .executors = known_,
                     .applied = applied_,
                     .settings = settings_,
                     .claims = claims_,
                     .registers = registers_,
                     .progress = progress_,
                     .checkpoints = checkpoints_,
                     .metrics = metrics_},
                    {}};
  bool leads_ = true;
  ExecutorRegistry registry_{{.clock = clock_,
                              .store = faults_.executors,
                              .hub = *hub_,
                              .cluster = cluster_,
                              .executors = known_,
                              .registers = registers_,
                              .settings = settings_,
                              .metrics = metrics_,
                              .writes_health = [this] { return leads_; }},
                             {.write_every = 1h}};
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

// The executor's warden kept its runs alive. They need leases before the store is available again.
TEST_F(ExecutorRegistryTest, KnownExecutorThatCameBackIsRegisteredWithoutTheStore) {
  const auto x1 = switchboard_.OpenLink(ExecutorId("x1"), Incarnation("e2"));
  const auto x9 = switchboard_.OpenLink(ExecutorId("x9"), Incarnation("e2"));
  clock_.Advance(7s);
  faults_.plan.ArmAlways("RegisterExecutors", ErrorCode::kUnavailable);
  for (ExecutorLink* link : {x1.get(), x9.get()}) {
    ASSERT_TRUE(link->Send(MemberId("m1"), Register{}).ok());
  }
  link_.Step(clock_.Steady());
  registry_.Step(clock_.Steady());
  EXPECT_EQ(known_.IncarnationOf(ExecutorId("x1")), Incarnation("e2"));
  const auto answers = x1->Receive(10);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_TRUE(std::get<Registered>(answers[0].message).accepted);
  EXPECT_TRUE(x9->Receive(10).empty()) << "the store has to tell whether it may work";
  EXPECT_EQ(Stored("x1").incarnation, Incarnation("e1"));

  faults_.plan.Recover();
  clock_.Advance(2s);
  registry_.Step(clock_.Steady());
  EXPECT_EQ(Stored("x1").incarnation, Incarnation("e2"));
  EXPECT_EQ(known_.IncarnationOf(ExecutorId("x9")), std::nullopt) << "it asks again by itself";
}

// The executor is refused even if it is known, because the store would refuse its row every time.
TEST_F(ExecutorRegistryTest, OneWithATextThatTheStoreCannotKeepIsToldSo) {
  const auto x1 = switchboard_.OpenLink(ExecutorId("x1"), Incarnation("e1"));
  const auto x9 = switchboard_.OpenLink(ExecutorId("x9"), Incarnation("e1"));
  const auto registered = [&](ExecutorLink& link, ExecutorRecord record) {
    EXPECT_TRUE(link.Send(MemberId("m1"), Register{std::move(record)}).ok());
    link_.Step(clock_.Steady());
    registry_.Step(clock_.Steady());
    const auto answers = link.Receive(10);
    EXPECT_FALSE(answers.empty());
    return answers.empty() ? Registered{} : std::get<Registered>(answers.back().message);
  };
  for (ExecutorLink* link : {x1.get(), x9.get()}) {
    const Registered version = registered(*link, {.version = std::string(65, '1')});
    EXPECT_FALSE(version.accepted);
    EXPECT_NE(version.refusal.find("version"), std::string::npos) << version.refusal;
    const Registered host = registered(*link, {.host = std::string(256, 'h')});
    EXPECT_FALSE(host.accepted);
    EXPECT_NE(host.refusal.find("host"), std::string::npos) << host.refusal;
  }
  EXPECT_EQ(known_.IncarnationOf(ExecutorId("x9")), std::nullopt);
  EXPECT_TRUE(
      registered(*x9, {.host = std::string(255, 'h'), .version = std::string(64, '1')}).accepted);
}

TEST_F(ExecutorRegistryTest, OneThatTheStoreRefusesIsToldWhyAndHoldsUpNobody) {
  const auto x8 = switchboard_.OpenLink(ExecutorId("x8"), Incarnation("e1"));
  const auto x9 = switchboard_.OpenLink(ExecutorId("x9"), Incarnation("e1"));
  faults_.plan.Refuse<ExecutorRecord>(
      [](const ExecutorRecord& record) { return record.id == ExecutorId("x8"); });
  for (ExecutorLink* link : {x8.get(), x9.get()}) {
    ASSERT_TRUE(link->Send(MemberId("m1"), Register{}).ok());
  }
  link_.Step(clock_.Steady());
  registry_.Step(clock_.Steady());
  EXPECT_EQ(known_.IncarnationOf(ExecutorId("x9")), Incarnation("e1"));
  const auto answers = x8->Receive(10);
  ASSERT_EQ(answers.size(), 1u);
  const auto& refused = std::get<Registered>(answers[0].message);
  EXPECT_FALSE(refused.accepted);
  EXPECT_NE(refused.refusal.find(test::FaultPlan::kText), std::string::npos) << refused.refusal;
}

// Many executors register at once, for example, after a restart of the member in a large cluster.
TEST_F(ExecutorRegistryTest, ManyThatComeAtOnceAreRegisteredWithoutAWait) {
  for (int i = 0; i < 200; ++i) {
    const LeaseHolder from{ExecutorId("many-" + std::to_string(i)), Incarnation("e1")};
    ASSERT_TRUE(registers_
                    .Push({.from = from,
                           .record = {.id = from.executor,
                                      .incarnation = from.incarnation,
                                      .last_heartbeat = clock_.Wall(),
                                      .registered = clock_.Wall()}})
                    .ok());
  }
  int steps = 1;
  while (registry_.Step(clock_.Steady()) <= clock_.Steady()) ASSERT_LT(++steps, 10);
  EXPECT_EQ(known_.IncarnationOf(ExecutorId("many-199")), Incarnation("e1"));
  EXPECT_EQ(registers_.size(), 0u);
}

// A member that was restarted hears of its whole fleet at once, and the store knows it already.
TEST_F(ExecutorRegistryTest, RestartOfTheMemberCostsNoWrites) {
  std::map<std::string, int> calls;
  faults_.plan.OnCall([&calls](const std::string& call) { ++calls[call]; });
  ExecutorTable known{{}};
  ExecutorRegistry registry{{.clock = clock_,
                             .store = faults_.executors,
                             .hub = *hub_,
                             .cluster = cluster_,
                             .executors = known,
                             .registers = registers_,
                             .settings = settings_,
                             .metrics = metrics_,
                             .writes_health = [] { return true; }},
                            {.write_every = 1h}};
  const auto x1 = switchboard_.OpenLink(ExecutorId("x1"), Incarnation("e1"));
  const auto come = [&](const std::string& id, const std::string& incarnation, int slots = 0) {
    ASSERT_TRUE(registers_
                    .Push({.from = {ExecutorId(id), Incarnation(incarnation)},
                           .record = {.id = ExecutorId(id),
                                      .incarnation = Incarnation(incarnation),
                                      .slots = slots,
                                      .last_heartbeat = clock_.Wall(),
                                      .registered = clock_.Wall()}})
                    .ok());
    registry.Step(clock_.Steady());
  };
  registry.Step(clock_.Steady());
  come("x1", "e1");
  EXPECT_EQ(known.IncarnationOf(ExecutorId("x1")), Incarnation("e1"));
  const auto answers = x1->Receive(10);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_TRUE(std::get<Registered>(answers[0].message).accepted);
  EXPECT_EQ(calls["RegisterExecutors"], 0);
  EXPECT_EQ(calls["UpdateExecutors"], 0);
  come("x2", "e1", 8);
  EXPECT_EQ(calls["RegisterExecutors"], 1) << "it has other slots";
  EXPECT_EQ(Stored("x2").slots, 8);
  come("x2", "e1", 8);
  EXPECT_EQ(calls["RegisterExecutors"], 1);
  come("x1", "e2");
  EXPECT_EQ(calls["RegisterExecutors"], 2) << "another process";
  come("x3", "e1");
  EXPECT_EQ(calls["RegisterExecutors"], 3) << "a new one";
}

TEST_F(ExecutorRegistryTest, LostOneThatComesBackAsItWasIsOnlineInTheStore) {
  ExecutorRecord lost = Stored("x1");
  lost.state = ExecutorState::kLost;
  ASSERT_TRUE(stores_.executors.UpdateExecutors({lost}).ok());
  ExecutorTable known{{}};
  ExecutorRegistry registry{{.clock = clock_,
                             .store = faults_.executors,
                             .hub = *hub_,
                             .cluster = cluster_,
                             .executors = known,
                             .registers = registers_,
                             .settings = settings_,
                             .metrics = metrics_,
                             .writes_health = [] { return true; }},
                            {.write_every = 1h}};
  ASSERT_TRUE(registers_.Push({.from = {lost.id, lost.incarnation}, .record = lost}).ok());
  registry.Step(clock_.Steady());
  EXPECT_EQ(Stored("x1").state, ExecutorState::kOnline);
}

// Of a large fleet a stored heartbeat may be 45 s old, and the executor is heard by other members.
TEST_F(ExecutorRegistryTest, OneThatIsOnlyInTheStoreIsLostAfterAMinuteAndAHalf) {
  ExecutorTable known{{}};
  ExecutorRegistry registry{{.clock = clock_,
                             .store = faults_.executors,
                             .hub = *hub_,
                             .cluster = cluster_,
                             .executors = known,
                             .registers = registers_,
                             .settings = settings_,
                             .metrics = metrics_,
                             .writes_health = [] { return true; }},
                            {.write_every = 5s}};
  const auto state_after = [&](Duration time) {
    for (Duration passed{}; passed < time; passed += 5s) {
      clock_.Advance(5s);
      SampleClock();
      registry.Step(clock_.Steady());
    }
    return Stored("x1").state;
  };
  EXPECT_EQ(state_after(85s), ExecutorState::kOnline);
  EXPECT_EQ(state_after(10s), ExecutorState::kLost);
}

// After an outage of all members all heartbeats are old, and no executor has come yet.
TEST_F(ExecutorRegistryTest, AMemberThatHasJustStartedCallsNobodyLost) {
  clock_.Advance(10min);
  ExecutorTable known{{}};
  ExecutorRegistry registry{{.clock = clock_,
                             .store = faults_.executors,
                             .hub = *hub_,
                             .cluster = cluster_,
                             .executors = known,
                             .registers = registers_,
                             .settings = settings_,
                             .metrics = metrics_,
                             .writes_health = [] { return true; }},
                            {.write_every = 5s}};
  for (int second = 0; second < 30; ++second) {
    SampleClock();
    registry.Step(clock_.Steady());
    clock_.Advance(1s);
  }
  EXPECT_EQ(Stored("x1").state, ExecutorState::kOnline);
  clock_.Advance(5s);
  SampleClock();
  registry.Step(clock_.Steady());
  EXPECT_EQ(Stored("x1").state, ExecutorState::kLost);
}

TEST_F(ExecutorRegistryTest, ManyAreReadAndWrittenLessOften) {
  std::vector<ExecutorRecord> many;
  for (int i = 0; i < 2'498; ++i) {
    many.push_back({.id = ExecutorId("many-" + std::to_string(i)),
                    .incarnation = Incarnation("e1"),
                    .last_heartbeat = clock_.Wall(),
                    .registered = clock_.Wall()});
  }
  ASSERT_TRUE(stores_.executors.RegisterExecutors(many).ok());
  for (const ExecutorRecord& record : many) known_.Accept(record, clock_.Steady());
  ExecutorRegistry registry{{.clock = clock_,
                             .store = faults_.executors,
                             .hub = *hub_,
                             .cluster = cluster_,
                             .executors = known_,
                             .registers = registers_,
                             .settings = settings_,
                             .metrics = metrics_,
                             .writes_health = [] { return true; }},
                            {.write_every = 5s}};
  const auto beat_and_step = [&] {
    for (const ExecutorRecord& record : known_.Records()) {
      known_.HeartbeatFrom(record.id, record.incarnation, {.running_count = 3}, clock_.Wall(),
                           clock_.Steady());
    }
    registry.Step(clock_.Steady());
    const auto all = stores_.executors.ListExecutors().value();
    return std::count_if(all.begin(), all.end(),
                         [](const ExecutorRecord& one) { return one.running == 3; });
  };
  int reads = 0;
  faults_.plan.OnCall([&reads](const std::string& call) { reads += call == "ListExecutors"; });
  EXPECT_EQ(beat_and_step(), 1000);
  clock_.Advance(2s);
  EXPECT_EQ(beat_and_step(), 1000);
  EXPECT_EQ(reads, 1) << "a thousand rows a second";
  clock_.Advance(3s);
  EXPECT_EQ(beat_and_step(), 2000);
  EXPECT_EQ(reads, 2);
  clock_.Advance(5s);
  EXPECT_EQ(beat_and_step(), 2500) << "all";
}

TEST_F(ExecutorRegistryTest, AbilitiesAreWrittenWhenTheyChange) {
  ExecutorRegistry registry{{.clock = clock_,
                             .store = faults_.executors,
                             .hub = *hub_,
                             .cluster = cluster_,
                             .executors = known_,
                             .registers = registers_,
                             .settings = settings_,
                             .metrics = metrics_,
                             .writes_health = [this] { return leads_; }},
                            {.write_every = 5s}};
  int writes = 0;
  faults_.plan.OnCall([&writes](const std::string& call) { writes += call == "UpdateAbilities"; });
  const auto beat_and_step = [&](const std::map<std::string, HandlerSlots>& handlers) {
    ASSERT_TRUE(known_.HeartbeatFrom(ExecutorId("x1"), Incarnation("e1"),
                                     {.features = {Feature::kShards}, .handlers = handlers},
                                     clock_.Wall(), clock_.Steady()));
    clock_.Advance(5s);
    registry.Step(clock_.Steady());
  };
  leads_ = false;
  beat_and_step({});
  EXPECT_EQ(writes, 0);
  leads_ = true;
  beat_and_step({{"app/a", {.slots = 1, .free = 1}}});
  EXPECT_EQ(Stored("x1").abilities,
            (ExecutorAbilities{.features = {Feature::kShards}, .handlers = {"app/a"}}));
  EXPECT_EQ(Stored("x2").abilities, ExecutorAbilities{}) << "it has not been heard";
  beat_and_step({{"app/a", {.slots = 1, .free = 0}}});
  EXPECT_EQ(writes, 1) << "only the free slots differ";
  faults_.plan.ArmAlways("UpdateAbilities", ErrorCode::kUnavailable);
  beat_and_step({});
  faults_.plan.Disarm("UpdateAbilities");
  EXPECT_EQ(Stored("x1").abilities.handlers.size(), 1u);
  beat_and_step({});
  EXPECT_TRUE(Stored("x1").abilities.handlers.empty());
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
