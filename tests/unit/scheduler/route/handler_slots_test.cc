// Slots of handlers: counted apart, per executor, without prefetch.
#include <gtest/gtest.h>

#include "scheduler/route/router.h"

namespace carillon::scheduler::handler_slots_test {
namespace {

class HandlerSlotsTest : public testing::Test {
 protected:
  ExecutorCredits::Index Hear(const std::string& id, std::map<std::string, int> handlers) {
    credits_.Update({.id = ExecutorId(id),
                     .incarnation = Incarnation("i"),
                     .usable = true,
                     .slots = 8,
                     .free_slots = 8,
                     .free_light_slots = 8,
                     .free_handler_slots = std::move(handlers),
                     .heartbeats = ++beats_});
    return credits_.Find(ExecutorId(id));
  }
  std::string Pick(const std::string& handler) {
    const auto at = router_.Pick(credits_, {.slots = credits_.HandlerSlots(handler)}, candidates_);
    return at ? credits_.id(*at).value() : "";
  }

  ExecutorCredits credits_{100};
  Router router_{1};
  Candidates candidates_;
  uint64_t beats_ = 0;
};

TEST_F(HandlerSlotsTest, OnlyExecutorsThatOfferTheHandlerAreChosen) {
  EXPECT_EQ(Pick("app/a"), "") << "a handler that nobody ever offered";
  Hear("one", {});
  Hear("two", {{"app/a", 1}});
  EXPECT_EQ(Pick("app/a"), "two");
  EXPECT_EQ(Pick("app/b"), "");
  Hear("one", {{"app/b", 1}});
  EXPECT_EQ(Pick("app/b"), "one");
  Hear("two", {});
  EXPECT_EQ(Pick("app/a"), "") << "its worker has left";
}

TEST_F(HandlerSlotsTest, ARunGoesToAFreeSlotOnly) {
  const auto two = Hear("two", {{"app/a", 1}, {"app/b", 1}});
  const SlotClass a = credits_.HandlerSlots("app/a");
  Charge charge;
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(Pick("app/a"), "two");
    credits_.Published(two, a);
    EXPECT_EQ(Pick("app/a"), "");
    EXPECT_EQ(Pick("app/b"), "two");
    EXPECT_EQ(credits_.Available(two, SlotClass::kProcess), 8);
    charge = {};
    credits_.Claimed(two, a, charge, 1ms, SteadyTime(100ms * i));
    EXPECT_EQ(Pick("app/a"), "") << "no prefetch, however short its runs are";
    credits_.Ended(two, a, charge);
  }
}

TEST_F(HandlerSlotsTest, ASilentExecutorGetsOneTaskOfAllKinds) {
  const auto two = Hear("two", {{"app/a", 4}});
  const SlotClass a = credits_.HandlerSlots("app/a");
  for (int i = 0; i < ExecutorCredits::kSilentAfter; ++i) {
    credits_.Published(two, a);
    credits_.TimedOut(two, a);
  }
  EXPECT_EQ(credits_.Available(two, a), 1);
  credits_.Published(two, SlotClass::kProcess);
  EXPECT_EQ(Pick("app/a"), "");
}

}  // namespace
}  // namespace carillon::scheduler::handler_slots_test
