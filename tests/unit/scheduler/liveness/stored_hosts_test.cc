#include "scheduler/liveness/stored_hosts.h"

#include <gtest/gtest.h>

namespace carillon::scheduler::stored_hosts_test {
namespace {

const SteadyTime kNow{1h};
constexpr Features kParts = {Feature::kShards};

ExecutorRecord Host(const std::string& id) {
  ExecutorRecord record{.id = ExecutorId(id)};
  record.abilities = {.features = kParts, .handlers = {"app/job"}};
  return record;
}

TEST(StoredHostsTest, OnlyAHostThatTakesRunsCanTakeOne) {
  StoredHosts hosts;
  EXPECT_FALSE(hosts.CanTake(ExecutorId("a"), {}, "", kNow).has_value());
  std::vector<ExecutorRecord> all = {Host("a"), Host("off"), Host("drains"), Host("lost"),
                                     Host("late")};
  all[1].enabled = false;
  all[2].draining = true;
  all[3].state = ExecutorState::kLost;
  all[4].state = ExecutorState::kUnhealthy;
  hosts.Publish(all, kNow + 4s);
  EXPECT_EQ(hosts.CanTake(ExecutorId("a"), kParts, "app/job", kNow), true);
  EXPECT_EQ(hosts.CanTake(ExecutorId("a"), kParts, "", kNow), true);
  EXPECT_EQ(hosts.CanTake(ExecutorId("a"), {Feature::kHttp}, "", kNow), false);
  EXPECT_EQ(hosts.CanTake(ExecutorId("a"), kParts, "app/other", kNow), false);
  for (const char* id : {"off", "drains", "lost", "late", "unknown"}) {
    EXPECT_EQ(hosts.CanTake(ExecutorId(id), {}, "", kNow), false) << id;
  }
}

TEST(StoredHostsTest, AnOldListSaysNothing) {
  StoredHosts hosts;
  hosts.Publish({Host("a")}, kNow + 4s);
  EXPECT_EQ(hosts.CanTake(ExecutorId("b"), {}, "", kNow + 4s), false);
  EXPECT_FALSE(hosts.CanTake(ExecutorId("b"), {}, "", kNow + 5s).has_value());
  EXPECT_FALSE(hosts.CanTake(ExecutorId("a"), {}, "", kNow + 5s).has_value());
}

}  // namespace
}  // namespace carillon::scheduler::stored_hosts_test
