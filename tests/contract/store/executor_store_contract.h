// The contract of ExecutorStore.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class ExecutorStoreContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(ExecutorStoreContract, StoreFactories);

inline ExecutorRecord Executor(const std::string& id, const std::string& incarnation = "x1") {
  return {.id = ExecutorId(id),
          .incarnation = Incarnation(incarnation),
          .host = "host-" + id,
          .ops_port = 8642,
          .labels = {{"zone", "a"}},
          .slots = 8,
          .last_heartbeat = kT0,
          .registered = kT0,
          .version = "1.0"};
}

TYPED_TEST(ExecutorStoreContract, RegistrationIsReadBack) {
  StoreDriver s = this->driver();
  const ExecutorRecord made = s.v(s.executors.RegisterExecutor(Executor("e1")));
  EXPECT_TRUE(made.enabled);
  EXPECT_FALSE(made.draining);
  const ExecutorRecord read = s.v(s.executors.GetExecutor(ExecutorId("e1")));
  EXPECT_EQ(read.incarnation, Incarnation("x1"));
  EXPECT_EQ(read.host, "host-e1");
  EXPECT_EQ(read.ops_port, 8642);
  EXPECT_EQ(read.slots, 8);
  EXPECT_EQ(read.version, "1.0");
  EXPECT_EQ(read.labels.at("zone"), "a");
  EXPECT_EQ(read.registered, kT0);
  EXPECT_CODE(s.executors.GetExecutor(ExecutorId("e9")), ErrorCode::kNotFound);
}

TYPED_TEST(ExecutorStoreContract, RegisteringAgainKeepsWhatPeopleSet) {
  StoreDriver s = this->driver();
  const ExecutorId id("e1");
  s.v(s.executors.RegisterExecutor(Executor("e1")));
  s.v(s.executors.SetExecutorEnabled(id, false));
  s.v(s.executors.SetExecutorDraining(id, true));
  s.v(s.executors.SetExecutorLabels({id, {{"zone", "b"}}, {{"zone", "a"}}}));
  ExecutorRecord again = Executor("e1", "x2");
  again.slots = 16;
  const ExecutorRecord record = s.v(s.executors.RegisterExecutor(again));
  EXPECT_EQ(record.incarnation, Incarnation("x2"));
  EXPECT_EQ(record.slots, 16);
  EXPECT_FALSE(record.enabled);
  EXPECT_TRUE(record.draining);
  EXPECT_EQ(record.labels.at("zone"), "b");
  this->Reopen();
  StoreDriver reopened = this->driver();
  EXPECT_FALSE(reopened.v(reopened.executors.GetExecutor(id)).enabled);
}

TYPED_TEST(ExecutorStoreContract, ManyAreRegisteredAtOnceAndReturnedInOrder) {
  StoreDriver s = this->driver();
  s.v(s.executors.RegisterExecutor(Executor("e2")));
  s.v(s.executors.SetExecutorDraining(ExecutorId("e2"), true));
  ExecutorRecord loaded = Executor("e3", "x2");
  loaded.labels = {{"a \"quoted\" name", "größer"}};
  loaded.load = {.cpu = 0.5, .memory = 0.25};
  const std::vector<ExecutorRecord> made =
      s.v(s.executors.RegisterExecutors({loaded, Executor("e1"), Executor("e2", "x2")}));
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(made[0].id, ExecutorId("e3"));
  EXPECT_EQ(made[0].labels, loaded.labels);
  EXPECT_DOUBLE_EQ(made[0].load.cpu, 0.5);
  EXPECT_EQ(made[1].id, ExecutorId("e1"));
  EXPECT_EQ(made[1].last_heartbeat, kT0);
  EXPECT_EQ(made[2].incarnation, Incarnation("x2"));
  EXPECT_TRUE(made[2].draining);
  EXPECT_EQ(s.v(s.executors.ListExecutors()).size(), 3u);
  EXPECT_TRUE(s.v(s.executors.RegisterExecutors({})).empty());
}

TYPED_TEST(ExecutorStoreContract, UpdatesTouchStateAndLoadOfKnownOnesOnly) {
  StoreDriver s = this->driver();
  s.v(s.executors.RegisterExecutor(Executor("e1")));
  s.v(s.executors.SetExecutorEnabled(ExecutorId("e1"), false));
  ExecutorRecord update = Executor("e1");
  update.state = ExecutorState::kLost;
  update.slots = 12;
  update.running = 3;
  update.load = {.cpu = 0.5, .memory = 0.25, .disk = 0.75, .io = 0.125};
  update.last_heartbeat = kT0 + 5s;
  update.enabled = true;
  ExecutorRecord before = Executor("e1");  // a report of the executor's previous process
  before.incarnation = Incarnation("older");
  before.state = ExecutorState::kOffline;
  ASSERT_OK(s.executors.UpdateExecutors({update, Executor("e9")}));
  ASSERT_OK(s.executors.UpdateExecutors({before}));
  const std::vector<ExecutorRecord> all = s.v(s.executors.ListExecutors());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].state, ExecutorState::kLost);
  EXPECT_EQ(all[0].slots, 12);
  EXPECT_EQ(all[0].running, 3);
  EXPECT_DOUBLE_EQ(all[0].load.cpu, 0.5);
  EXPECT_DOUBLE_EQ(all[0].load.io, 0.125);
  EXPECT_EQ(all[0].last_heartbeat, kT0 + 5s);
  EXPECT_FALSE(all[0].enabled);
}

TYPED_TEST(ExecutorStoreContract, AbilitiesAreThoseOfTheLastWriteOfTheSameProcess) {
  StoreDriver s = this->driver();
  ExecutorRecord one = Executor("e1");
  one.abilities = {.features = {Feature::kHttp}};
  EXPECT_EQ(s.v(s.executors.RegisterExecutor(one)).abilities, ExecutorAbilities{});
  s.v(s.executors.RegisterExecutor(Executor("e2")));
  one.abilities = {.features = {Feature::kShards, Feature::kHttp},
                   .handlers = {"billing/close_day", "billing/open.day-2", "zoo/feed"}};
  ExecutorRecord other = Executor("e2", "older");
  other.abilities = one.abilities;
  ASSERT_OK(s.executors.UpdateAbilities({other, one, Executor("e9")}));
  EXPECT_EQ(s.v(s.executors.GetExecutor(ExecutorId("e1"))).abilities, one.abilities);
  EXPECT_EQ(s.v(s.executors.GetExecutor(ExecutorId("e2"))).abilities, ExecutorAbilities{});
  EXPECT_EQ(s.v(s.executors.RegisterExecutor(Executor("e1", "x2"))).abilities, one.abilities);
  ExecutorRecord fewer = Executor("e1", "x2");
  fewer.abilities = {.features = {Feature::kHttp}};
  ASSERT_OK(s.executors.UpdateAbilities({fewer}));
  ASSERT_OK(s.executors.UpdateAbilities({}));
  EXPECT_EQ(s.v(s.executors.ListExecutors())[0].abilities, fewer.abilities);
}

TYPED_TEST(ExecutorStoreContract, SettersNeedAKnownExecutor) {
  StoreDriver s = this->driver();
  const ExecutorId id("e9");
  EXPECT_CODE(s.executors.SetExecutorEnabled(id, true), ErrorCode::kNotFound);
  EXPECT_CODE(s.executors.SetExecutorDraining(id, true), ErrorCode::kNotFound);
  EXPECT_CODE(s.executors.SetExecutorLabels({id, {}, {}}), ErrorCode::kNotFound);
}

TYPED_TEST(ExecutorStoreContract, LabelsTakeThePlaceOfThoseThatWereRead) {
  StoreDriver s = this->driver();
  using Labels = std::map<std::string, std::string>;
  const ExecutorId id("e1");
  const Labels a = {{"zone", "a"}}, b = {{"zone", "b"}, {"disk", "ssd"}};
  s.v(s.executors.RegisterExecutor(Executor("e1")));
  EXPECT_EQ(s.v(s.executors.SetExecutorLabels({id, b, a})).labels, b);
  EXPECT_CODE(s.executors.SetExecutorLabels({id, {}, a}), ErrorCode::kConflict);
  EXPECT_EQ(s.v(s.executors.GetExecutor(id)).labels, b);
  // The same call again, as after a lost answer.
  EXPECT_EQ(s.v(s.executors.SetExecutorLabels({id, b, a})).labels, b);
  EXPECT_EQ(s.v(s.executors.SetExecutorLabels({id, {}, b})).labels, Labels{});
}

}  // namespace carillon::test
