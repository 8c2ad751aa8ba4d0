// Routing by load and weight, and by the ring of hashes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "common/base/rng.h"
#include "common/base/stable_hash.h"
#include "scheduler/route/router.h"

namespace carillon::scheduler::hash_and_weight_test {
namespace {

using Index = ExecutorCredits::Index;

class HashAndWeightTest : public testing::Test {
 protected:
  struct Host {
    int free = 8;
    int weight = 1;
    ExecutorLoad load = {};
  };
  Index Add(const std::string& id, const Host& host) {
    credits_.Update({.id = ExecutorId(id),
                     .incarnation = Incarnation("i"),
                     .usable = true,
                     .labels = {{"weight", std::to_string(host.weight)}},
                     .slots = 8,
                     .free_slots = host.free,
                     .free_light_slots = 100,
                     .heartbeats = ++beats_,
                     .load = host.load});
    return credits_.Find(ExecutorId(id));
  }
  std::string Pick(Routing routing, uint64_t place = 0, SlotClass slots = SlotClass::kProcess,
                   Index avoid = ExecutorCredits::kNone) {
    const auto at =
        router_.Pick(credits_, {.slots = slots, .routing = routing, .avoid = avoid, .place = place},
                     candidates_);
    return at ? credits_.id(*at).value() : "";
  }
  // The executor of each of `count` keys.
  std::vector<std::string> Places(int count) {
    std::vector<std::string> places;
    for (int i = 0; i < count; ++i) {
      places.push_back(
          Pick(Routing::kConsistentHash, MixBits(StableHash("key-" + std::to_string(i)))));
    }
    return places;
  }

  ExecutorCredits credits_{0};
  Router router_{1};
  Candidates candidates_;
  uint64_t beats_ = 0;
};

TEST_F(HashAndWeightTest, TheLoadOfAHostCounts) {
  Add("a", {.load = {.cpu = 0.9}});
  Add("b", {.load = {.cpu = 0.2, .memory = 0.5}});
  Add("c", {.load = {.cpu = 0.2, .memory = 0.1}});
  EXPECT_EQ(Pick(Routing::kWeighted), "c");
  Add("c", {.free = 2, .load = {.cpu = 0.2, .memory = 0.1}});
  EXPECT_EQ(Pick(Routing::kWeighted), "b") << "its slots are taken";
  Add("a", {.weight = 10, .load = {.cpu = 0.9}});
  EXPECT_EQ(Pick(Routing::kWeighted), "a") << "it can do ten times as much";
}

TEST_F(HashAndWeightTest, ADispatchCountsAtOnce) {
  const Index a = Add("a", {.load = {.cpu = 0.1}});
  Add("b", {.load = {.cpu = 0.2}});
  EXPECT_EQ(Pick(Routing::kWeighted), "a");
  credits_.Published(a, SlotClass::kProcess);
  EXPECT_EQ(Pick(Routing::kWeighted), "b");
  EXPECT_EQ(Pick(Routing::kWeighted, 0, SlotClass::kLight), "a") << "slots of another kind";
}

TEST_F(HashAndWeightTest, AFullHostComesLastButComes) {
  Add("full", {.weight = 100, .load = {.memory = 0.96}});
  Add("disk", {.weight = 100, .load = {.disk = 0.99}});
  Add("busy", {.free = 1, .load = {.cpu = 1, .memory = 0.9, .io = 1}});
  EXPECT_EQ(Pick(Routing::kWeighted), "busy");
  Add("busy", {.free = 0});
  EXPECT_NE(Pick(Routing::kWeighted), "");
}

TEST_F(HashAndWeightTest, AKeyStaysAndOverflowsToTheNext) {
  for (const char* id : {"a", "b", "c", "d"}) Add(id, {});
  const uint64_t place = MixBits(StableHash("shop-7"));
  const std::string first = Pick(Routing::kConsistentHash, place);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Pick(Routing::kConsistentHash, place), first);
  Add(first, {.free = 0});
  const std::string second = Pick(Routing::kConsistentHash, place);
  EXPECT_NE(second, first);
  EXPECT_NE(second, "");
  EXPECT_EQ(Pick(Routing::kConsistentHash, place), second);
  Add(first, {});
  EXPECT_EQ(Pick(Routing::kConsistentHash, place), first) << "it has room again";
  const Index avoided = credits_.Find(ExecutorId(first));
  EXPECT_EQ(Pick(Routing::kConsistentHash, place, SlotClass::kProcess, avoided), second);
}

TEST_F(HashAndWeightTest, EveryMemberHasTheSameRing) {
  for (const char* id : {"a", "b", "c", "d", "e"}) Add(id, {.weight = id[0] == 'c' ? 3 : 1});
  const auto here = Places(500);
  ExecutorCredits other(0);
  Router router(99);
  Candidates candidates;
  for (const char* id : {"e", "d", "x", "c", "b", "a"}) {
    other.Update({.id = ExecutorId(id),
                  .incarnation = Incarnation("j"),
                  .usable = true,
                  .labels = {{"weight", id[0] == 'c' ? "3" : "1"}},
                  .slots = 8,
                  .free_slots = 5,
                  .heartbeats = 1});
  }
  other.Forget(ExecutorId("x"));
  other.RemoveForgotten();
  for (int i = 0; i < 500; ++i) {
    const auto at = router.Pick(other,
                                {.routing = Routing::kConsistentHash,
                                 .place = MixBits(StableHash("key-" + std::to_string(i)))},
                                candidates);
    ASSERT_TRUE(at);
    EXPECT_EQ(other.id(*at).value(), here[static_cast<size_t>(i)]);
  }
}

TEST_F(HashAndWeightTest, AHostMoreTakesOnlyItsShare) {
  constexpr int kKeys = 20'000;
  for (int n = 1; n <= 30; ++n) Add("host-" + std::to_string(n), {});
  const auto before = Places(kKeys);
  Add("host-new", {});
  const auto after = Places(kKeys);
  int moved = 0;
  for (int i = 0; i < kKeys; ++i) {
    const auto at = static_cast<size_t>(i);
    if (before[at] == after[at]) continue;
    ++moved;
    EXPECT_EQ(after[at], "host-new") << "no key moves between the others";
  }
  EXPECT_GT(moved, kKeys / 31 / 2);
  EXPECT_LT(moved, 1.3 * kKeys / 31);
  credits_.Forget(ExecutorId("host-new"));
  credits_.RemoveForgotten();
  EXPECT_EQ(Places(kKeys), before);
}

TEST_F(HashAndWeightTest, SharesFollowTheWeights) {
  constexpr int kKeys = 50'000;
  for (int n = 1; n <= 10; ++n) Add("host-" + std::to_string(n), {.weight = n == 1 ? 5 : 1});
  std::map<std::string, int> counts;
  for (const std::string& id : Places(kKeys)) ++counts[id];
  ASSERT_EQ(counts.size(), 10u);
  for (const auto& [id, count] : counts) {
    const double share = (id == "host-1" ? 5.0 : 1.0) / 14;
    // 160 points have a deviation of 8 %.
    EXPECT_NEAR(count, kKeys * share, kKeys * share * 0.3) << id;
  }
}

TEST_F(HashAndWeightTest, OneWithRoomAmongManyIsFound) {
  for (int n = 0; n < 2'000; ++n) Add("host-" + std::to_string(n), {.free = n == 1234 ? 1 : 0});
  for (const std::string& id : Places(50)) EXPECT_EQ(id, "host-1234");
}

TEST_F(HashAndWeightTest, OneThatIsTriedGetsOneRunAtATime) {
  const ExecutorCredits::Report report{.id = ExecutorId("a"),
                                       .incarnation = Incarnation("i"),
                                       .usable = true,
                                       .one_at_a_time = true,
                                       .slots = 8,
                                       .free_slots = 8,
                                       .free_light_slots = 100,
                                       .heartbeats = 1};
  credits_.Update(report);
  const Index a = credits_.Find(ExecutorId("a"));
  EXPECT_EQ(credits_.Available(a, SlotClass::kProcess), 1);
  credits_.Published(a, SlotClass::kProcess);
  EXPECT_EQ(Pick(Routing::kRoundRobin), "");
  EXPECT_EQ(Pick(Routing::kRoundRobin, 0, SlotClass::kLight), "");
  Charge charge;
  credits_.Claimed(a, SlotClass::kProcess, charge, 1ms, SteadyTime{});
  EXPECT_EQ(Pick(Routing::kRoundRobin), "a") << "a long run must not keep others waiting";
}

}  // namespace
}  // namespace carillon::scheduler::hash_and_weight_test
