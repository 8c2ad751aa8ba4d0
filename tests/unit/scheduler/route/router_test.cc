#include <set>

#include "tests/unit/scheduler/route/router_fixture.h"

namespace carillon::scheduler {
namespace {

TEST_F(RouterTest, RoundRobinTakesTurnsAmongThoseWithRoom) {
  const auto a = Add("a", 2);
  Add("b", 0);
  const auto c = Add("c", 1);
  EXPECT_EQ(Pick({}), a);
  credits_.Published(a, kProcess);
  EXPECT_EQ(Pick({}), c);
  credits_.Published(c, kProcess);
  EXPECT_EQ(Pick({}), a);
  credits_.Published(a, kProcess);
  EXPECT_FALSE(Pick({}).has_value());
}

TEST_F(RouterTest, LightRunsOfARoundShareAnExecutorUpToAGroup) {
  const auto a = Add("a", 2);
  const auto b = Add("b", 2);
  const RouteRequest light{.slots = SlotClass::kLight};
  for (const auto expected : {a, b, a}) {
    router_.BeginRound();
    EXPECT_EQ(Pick(light), expected);
    EXPECT_EQ(Pick(light), expected);
  }
  router_.BeginRound();
  EXPECT_EQ(Picks(light, 96), (std::map<std::string, int>{{"a", 32}, {"b", 64}}));
}

TEST_F(RouterTest, ALightGroupEndsWhereThereIsNoRoom) {
  const auto a = Add("a", 2);
  const auto b = Add("b", 2);
  const RouteRequest light{.slots = SlotClass::kLight};
  EXPECT_EQ(Pick(light), a);
  EXPECT_EQ(Pick({.slots = SlotClass::kLight, .avoid = a}), b) << "the run was there before";
  for (int i = 0; i < 10; ++i) credits_.Published(b, SlotClass::kLight);
  EXPECT_EQ(Pick(light), a) << "full";
  EXPECT_EQ(Pick({.slots = SlotClass::kLight, .avoid = a}), a) << "there is no other";
}

TEST_F(RouterTest, RandomPicksEachOfThoseWithRoomAboutAsOften) {
  Add("a", 1);
  Add("b", 0);
  Add("c", 5);
  const auto avoided = Add("d", 5);
  Add("e", 2);
  const auto counts = Picks({.routing = Routing::kRandom, .avoid = avoided}, 3000);
  ASSERT_EQ(counts.size(), 3u);
  for (const char* id : {"a", "c", "e"}) EXPECT_NEAR(counts.at(id), 1000, 120) << id;
}

TEST_F(RouterTest, LeastLoadedPicksTheLeastShareOfTakenSlotsAndTakesTurnsAmongEquals) {
  const auto large = Add("large", 30, true, 64);
  const auto small = Add("small", 3, true, 4);
  const RouteRequest request{.routing = Routing::kLeastLoaded};
  EXPECT_EQ(Pick(request), small) << "a quarter taken against a half";
  credits_.Published(small, kProcess);
  credits_.Published(small, kProcess);
  EXPECT_EQ(Pick(request), large) << "what is on its way counts";
  const auto one = Add("one", 8);
  const auto two = Add("two", 8);
  EXPECT_EQ(Picks(request, 10), (std::map<std::string, int>{{"one", 5}, {"two", 5}}));
  credits_.Published(one, SlotClass::kLight);
  credits_.Published(large, SlotClass::kLight);
  credits_.Published(small, SlotClass::kLight);
  EXPECT_EQ(Pick({.slots = SlotClass::kLight, .routing = Routing::kLeastLoaded}), two);
}

TEST_F(RouterTest, FirstHealthyGoesByTheNameAndOverflowsToTheNext) {
  Add("c", 5);
  const auto b = Add("b", 1);
  const auto a = Add("a", 5, false);
  const RouteRequest request{.routing = Routing::kFirstHealthy};
  EXPECT_EQ(Pick(request), b);
  Add("a", 5);
  EXPECT_EQ(Pick(request), a);
  Add("a", 5, false);
  credits_.Published(b, kProcess);
  EXPECT_EQ(credits_.id(*Pick(request)), ExecutorId("c"));
}

TEST_F(RouterTest, SelectorLeavesOutWhomItDoesNotMatchUnderEveryRouting) {
  Add("a", 5, true, 8, {{"zone", "x"}});
  Add("b", 5, true, 8, {{"zone", "y"}});
  Add("c", 5);
  const auto selector = Selector::Parse("zone = y");
  ASSERT_TRUE(selector.ok());
  for (const Routing routing :
       {Routing::kRoundRobin, Routing::kRandom, Routing::kLeastLoaded, Routing::kFirstHealthy,
        Routing::kWeighted, Routing::kConsistentHash}) {
    const RouteRequest request{.routing = routing, .selector = &*selector};
    EXPECT_EQ(Picks(request, 20), (std::map<std::string, int>{{"b", 20}})) << Name(routing);
    const RouteRequest avoiding{
        .routing = routing, .selector = &*selector, .avoid = credits_.Find(ExecutorId("a"))};
    Add("b", 0, true, 8, {{"zone", "y"}});
    EXPECT_EQ(Picks(avoiding, 1), (std::map<std::string, int>{{"", 1}})) << Name(routing);
    Add("b", 5, true, 8, {{"zone", "y"}});
  }
}

TEST_F(RouterTest, SecretsGoOnlyToExecutorsThatTakeThem) {
  const auto old = Add("a", 5);
  const auto fresh = Add("b", 5);
  credits_.Update({.id = ExecutorId("b"),
                   .incarnation = Incarnation("i"),
                   .usable = true,
                   .slots = 8,
                   .free_slots = 5,
                   .heartbeats = ++beats_,
                   .features = {Feature::kSecrets}});
  for (const Routing routing :
       {Routing::kRoundRobin, Routing::kRandom, Routing::kLeastLoaded, Routing::kFirstHealthy,
        Routing::kWeighted, Routing::kConsistentHash}) {
    const auto counts = Picks({.routing = routing, .needs = {Feature::kSecrets}}, 20);
    EXPECT_EQ(counts, (std::map<std::string, int>{{"b", 20}}));
  }
  EXPECT_EQ(Pick({.pinned = ExecutorId("b"), .needs = {Feature::kSecrets}}), fresh);
  EXPECT_EQ(Pick({.pinned = ExecutorId("a"), .needs = {Feature::kSecrets}}), std::nullopt);
  EXPECT_EQ(Pick({.pinned = ExecutorId("a")}), old);
  EXPECT_EQ(Pick({.needs = {Feature::kSecrets}, .avoid = old}), fresh);
}

TEST_F(RouterTest, BookDoesNotGrowAsExecutorsComeAndGo) {
  for (int i = 0; i < 1000; ++i) {
    const std::string id = "e" + std::to_string(i);
    Add(id, 4);
    credits_.Forget(ExecutorId(id));
    credits_.RemoveForgotten();
    EXPECT_EQ(credits_.Find(ExecutorId(id)), ExecutorCredits::kNone);
  }
  EXPECT_EQ(credits_.size(), 1u);
  EXPECT_FALSE(Pick({}).has_value());
}

TEST_F(RouterTest, IndexOfAForgottenExecutorIsGivenAwayWhenItsLastRunIsOver) {
  const auto a = Add("a", 4);
  credits_.Published(a, kProcess);
  credits_.Published(a, kProcess);
  Charge charge;
  credits_.Claimed(a, kProcess, charge, 1ms, kStart);
  credits_.Forget(ExecutorId("a"));
  credits_.Forget(ExecutorId("a"));
  EXPECT_FALSE(Pick({}).has_value());
  credits_.Returned(a, kProcess);
  credits_.RemoveForgotten();
  EXPECT_NE(Add("b", 1), a);
  credits_.Ended(a, kProcess, charge);
  EXPECT_EQ(credits_.Find(ExecutorId("a")), a);
  credits_.RemoveForgotten();
  EXPECT_EQ(credits_.Find(ExecutorId("a")), ExecutorCredits::kNone);
  EXPECT_EQ(Add("c", 3), a);
  EXPECT_EQ(credits_.Available(a, kProcess), 3);
  EXPECT_EQ(credits_.size(), 2u);
}

TEST_F(RouterTest, ForgottenExecutorThatRegistersAgainKeepsItsIndex) {
  const auto a = Add("a", 4);
  credits_.Published(a, kProcess);
  credits_.Forget(ExecutorId("a"));
  EXPECT_EQ(Add("a", 4), a);
  credits_.RemoveForgotten();
  credits_.Returned(a, kProcess);
  credits_.RemoveForgotten();
  EXPECT_EQ(credits_.Find(ExecutorId("a")), a);
  EXPECT_EQ(Pick({}), a);
}

TEST_F(RouterTest, UnusableExecutorHasNoCredit) {
  Add("a", 5, false);
  EXPECT_FALSE(Pick({}).has_value());
  EXPECT_FALSE(Pick({.pinned = ExecutorId("a")}).has_value());
}

TEST_F(RouterTest, PinnedRunGoesToItsExecutorOnly) {
  Add("a", 5);
  const auto b = Add("b", 1);
  EXPECT_EQ(Pick({.pinned = ExecutorId("b")}), b);
  credits_.Published(b, kProcess);
  EXPECT_FALSE(Pick({.pinned = ExecutorId("b")}).has_value());
  EXPECT_FALSE(Pick({.pinned = ExecutorId("nobody")}).has_value());
}

TEST_F(RouterTest, AvoidsTheOneThatTimedOutUnlessItIsTheOnlyOne) {
  const auto a = Add("a", 5);
  EXPECT_EQ(Pick({.avoid = a}), a);
  const auto b = Add("b", 5);
  EXPECT_EQ(Pick({.avoid = a}), b);
  EXPECT_EQ(Pick({.avoid = a}), b);
}

// ---- many executors -----------------------------------------------------------------------------

// A plain implementation of the rules: looks at every executor.
struct Plain {
  const ExecutorCredits& credits;
  const RouteRequest& request;

  bool May(ExecutorCredits::Index at) const {
    return credits.Available(at, request.slots) > 0 && credits.HasAll(at, request.needs) &&
           (request.selector == nullptr || credits.Matches(at, *request.selector));
  }
  // Those among which the router must choose.
  std::set<ExecutorCredits::Index> Eligible() const {
    std::set<ExecutorCredits::Index> eligible;
    for (const auto& [id, at] : credits.by_id()) {
      if (at != request.avoid && May(at)) eligible.insert(at);
    }
    if (eligible.empty() && request.avoid < credits.size() && May(request.avoid)) {
      eligible.insert(request.avoid);
    }
    return eligible;
  }
};

TEST_F(RouterTest, AgreesWithAPlainSearchWhileExecutorsComeGoAndFill) {
  Rng rng(11);
  const auto selector = Selector::Parse("zone = y");
  Candidates candidates[2][2];  // by selector and needs, as lanes keep them
  for (int step = 0; step < 20'000; ++step) {
    const std::string id = "e" + std::to_string(rng.Below(150));
    const auto at = credits_.Find(ExecutorId(id));
    const auto slots = rng.Chance(0.5) ? SlotClass::kProcess : SlotClass::kLight;
    switch (rng.Below(6)) {
      case 0:
        credits_.Forget(ExecutorId(id));
        credits_.RemoveForgotten();
        break;
      case 1:
        if (at != ExecutorCredits::kNone) credits_.Published(at, slots);
        break;
      case 2:
        if (at != ExecutorCredits::kNone) {
          credits_.Published(at, slots);
          credits_.TimedOut(at, slots);
        }
        break;
      case 3:
        if (at != ExecutorCredits::kNone) credits_.Answers(at);
        break;
      default:
        credits_.Update({.id = ExecutorId(id),
                         .incarnation = Incarnation("i"),
                         .usable = rng.Chance(0.9),
                         .labels = {{"zone", rng.Chance(0.5) ? "x" : "y"}},
                         .slots = 4,
                         .free_slots = static_cast<int>(rng.Below(3)),
                         .free_light_slots = static_cast<int>(rng.Below(3)),
                         .heartbeats = ++beats_,
                         .features = Features::FromBits(rng.Below(4))});
    }
    const bool selects = rng.Chance(0.5);
    const bool needs = rng.Chance(0.5);
    const RouteRequest request{.slots = slots,
                               .routing = static_cast<Routing>(rng.Below(6)),
                               .selector = selects ? &*selector : nullptr,
                               .needs = needs ? Features{Feature::kScriptSh} : Features{},
                               .avoid = rng.Chance(0.3) ? rng.Below(150) : ExecutorCredits::kNone,
                               .place = rng.Next()};
    const auto picked = router_.Pick(credits_, request, candidates[selects][needs]);
    const std::set<ExecutorCredits::Index> eligible = Plain{credits_, request}.Eligible();
    ASSERT_EQ(picked.has_value(), !eligible.empty()) << "step " << step;
    if (!picked) continue;
    ASSERT_TRUE(eligible.contains(*picked)) << "step " << step;
    if (request.routing == Routing::kFirstHealthy) {
      for (const auto other : eligible) ASSERT_LE(credits_.id(*picked), credits_.id(other));
    }
    const bool exact = eligible.size() <= Router::kExactMax / 2;
    if (request.routing == Routing::kWeighted && exact) {
      for (const auto other : eligible) {
        ASSERT_LE(credits_.WeightedLoad(*picked, slots), credits_.WeightedLoad(other, slots));
      }
    }
    if (request.routing == Routing::kLeastLoaded && exact) {
      for (const auto other : eligible) {
        ASSERT_LE(credits_.Busy(*picked, slots), credits_.Busy(other, slots)) << "step " << step;
      }
    }
  }
}

TEST_F(RouterTest, ManyExecutorsShareTheLoadUnderEveryRouting) {
  constexpr int kExecutors = 200;
  for (int i = 0; i < kExecutors; ++i) Add("e" + std::to_string(i), 50, true, 50);
  for (const Routing routing :
       {Routing::kRoundRobin, Routing::kRandom, Routing::kLeastLoaded, Routing::kWeighted}) {
    Candidates candidates;
    std::map<ExecutorCredits::Index, int> given;
    for (int i = 0; i < kExecutors * 25; ++i) {
      const auto at = router_.Pick(credits_, {.routing = routing}, candidates);
      ASSERT_TRUE(at);
      ++given[*at];
      credits_.Published(*at, kProcess);
    }
    ASSERT_EQ(given.size(), static_cast<size_t>(kExecutors)) << Name(routing);
    for (const auto& [at, count] : given) {
      // Random picks have a deviation of five.
      const int allowed = routing == Routing::kRoundRobin ? 0
                          : routing == Routing::kRandom   ? 22
                                                          : 6;
      EXPECT_NEAR(count, 25, allowed) << Name(routing);
      for (int i = 0; i < count; ++i) credits_.Returned(at, kProcess);
    }
  }
}

}  // namespace
}  // namespace carillon::scheduler
