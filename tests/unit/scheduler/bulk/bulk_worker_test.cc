// The bulk worker of a member, stepped on a manual clock.
#include <map>
#include <set>
#include <utility>

#include "scheduler/bulk/bulk_worker.h"
#include "tests/support/faults/fault_stores.h"
#include "tests/support/manual_clock.h"
#include "tests/twins/memory_stores.h"

namespace carillon::test {
namespace {

using scheduler::BulkItemRunner;
using scheduler::BulkWorker;
using scheduler::Caller;
using scheduler::EarlierAttempt;
using scheduler::Grant;
using scheduler::ItemOutcome;
using scheduler::Resumed;
using Verdict = ItemOutcome::Verdict;

class FakeItemRunner final : public BulkItemRunner {
 public:
  ItemOutcome Do(const BulkOrder& order, const Caller& caller, const BulkItem& item,
                 EarlierAttempt tried) override {
    ++acts[item.id];
    order_of_acts.push_back(order.bulk_id);
    roles.insert(caller.role);
    if (tried == EarlierAttempt::kPossibly) possibly.insert(item.id);
    if (on_act) on_act();
    const auto fixed = outcomes.find(item.id);
    return fixed == outcomes.end() ? ItemOutcome{.run_id = "R" + item.id} : fixed->second;
  }
  std::optional<ItemOutcome> Precheck(const BulkOrder& /*order*/, const Caller& /*caller*/,
                                      const BulkItem& item) override {
    ++looks;
    if (on_precheck) on_precheck();
    if (prechecked.contains(item.id)) return ItemOutcome{Verdict::kFailed, "", "{}"};
    return std::nullopt;
  }
  std::string ErrorOf(const BulkOrder& /*order*/, scheduler::Undone undone) override {
    return undone == scheduler::Undone::kNotBegun ? R"({"code":"forbidden"})"
                                                  : R"({"code":"outcome_unknown"})";
  }
  size_t total() const { return order_of_acts.size(); }

  std::map<std::string, int> acts;
  std::vector<std::string> order_of_acts;
  std::set<std::string> roles;
  std::set<std::string> possibly;
  std::map<std::string, ItemOutcome> outcomes;
  std::set<std::string> prechecked;
  int looks = 0;
  std::function<void()> on_act;
  std::function<void()> on_precheck;
};

class BulkWorkerTest : public ::testing::Test {
 protected:
  std::unique_ptr<BulkWorker> Worker() {
    return std::make_unique<BulkWorker>(
        BulkWorker::Ports{.clock = clock_,
                          .store = bulk_,
                          .cluster_now = [this] { return stores_.segments.Now(); },
                          .store_trusted = [this] { return trusted_; },
                          .resume = [this](const Grant& grant) { return resume_(grant); },
                          .runner = runner_,
                          .metrics = metrics_});
  }
  void Create(const std::string& id, int items, const std::string& user = "user-anna") {
    std::vector<std::string> ids;
    for (int i = 0; i < items; ++i) ids.push_back(id + std::to_string(i));
    ASSERT_TRUE(stores_.bulk
                    .CreateBulk({.bulk_id = id,
                                 .action = "run",
                                 .kind = "job",
                                 .user_id = user,
                                 .role = "user",
                                 .created = clock_.Wall()},
                                ids, {})
                    .ok());
  }
  BulkAction Get(const std::string& id) { return *stores_.bulk.GetBulk(id); }
  // Steps `worker` until `done`, advancing the clock to its next wake-up.
  void Run(BulkWorker& worker, const std::function<bool()>& done) {
    for (int turns = 0; turns < 10'000; ++turns) {
      if (done()) return;
      const SteadyTime next = worker.Step(clock_.Steady());
      if (next > clock_.Steady()) clock_.Advance(next - clock_.Steady());
    }
    FAIL() << "it does not get there";
  }
  void RunToEnd(BulkWorker& worker, const std::string& id) {
    Run(worker, [&] { return HasEnded(Get(id)); });
  }
  void RunActs(BulkWorker& worker, size_t acts) {
    Run(worker, [&, until = runner_.total() + acts] { return runner_.total() >= until; });
  }
  static std::string Sum(const BulkAction& action) {
    return std::to_string(action.done) + "+" + std::to_string(action.failed) + "+" +
           std::to_string(action.skipped);
  }
  uint64_t Count(const std::string& result) {
    return metrics_.counter("carillon_bulk_items_total", result).value();
  }

  ManualClock clock_;
  memory::MemoryStores stores_{clock_, {}};
  FaultPlan plan_;
  FaultBulkStore bulk_{stores_.bulk, plan_};
  FakeItemRunner runner_;
  Metrics metrics_;
  bool trusted_ = true;
  std::function<Result<Resumed>(const Grant&)> resume_ = [](const Grant& grant) {
    return Resumed{.caller = Caller{.name = "anna", .role = grant.role, .user_id = grant.user_id}};
  };
};

TEST_F(BulkWorkerTest, DoesEachItemOnce) {
  Create("b", 120);
  runner_.outcomes["b7"] = {Verdict::kFailed, "", "{\"code\":\"not_found\"}"};
  const auto worker = Worker();
  RunToEnd(*worker, "b");
  EXPECT_EQ(Get("b").state, BulkState::kDone);
  EXPECT_EQ(Sum(Get("b")), "119+1+0");
  EXPECT_EQ(runner_.acts.size(), 120u);
  EXPECT_EQ(runner_.total(), 120u);
  EXPECT_TRUE(runner_.possibly.empty());
  const auto items = *stores_.bulk.ListBulkItems("b", {.after_position = 5, .limit = 2});
  EXPECT_EQ(items[0].run_id, "Rb6");
  EXPECT_EQ(items[1].error_json, "{\"code\":\"not_found\"}");
  EXPECT_EQ(Count("done"), 119u);
  EXPECT_EQ(Count("error"), 1u);
  EXPECT_EQ(worker->Step(clock_.Steady()), clock_.Steady() + BulkWorker::kLookEvery);
}

TEST_F(BulkWorkerTest, ShowsHowFarItIs) {
  Create("b", 40);
  runner_.on_act = [&] { clock_.Advance(300ms); };
  const auto worker = Worker();
  RunActs(*worker, 10);
  EXPECT_GE(Get("b").done, 6);
  EXPECT_FALSE(HasEnded(Get("b")));
}

TEST_F(BulkWorkerTest, ANudgeIsFasterThanTheNextLook) {
  const auto worker = Worker();
  EXPECT_GT(worker->Step(clock_.Steady()), clock_.Steady());
  Create("b", 1);
  EXPECT_GT(worker->Step(clock_.Steady()), clock_.Steady());
  worker->Nudge();
  EXPECT_EQ(worker->Step(clock_.Steady()), clock_.Steady());
  RunToEnd(*worker, "b");
}

TEST_F(BulkWorkerTest, TheNextMemberGoesOnWhereADeadOneStopped) {
  Create("b", 120);
  auto dead = Worker();
  RunActs(*dead, 60);  // ten items of the second piece are executed but not recorded
  dead.reset();
  EXPECT_EQ(Get("b").done, 50);
  const auto next = Worker();
  next->Step(clock_.Steady());
  EXPECT_EQ(runner_.total(), 60u);  // the lease has not expired
  RunToEnd(*next, "b");
  EXPECT_EQ(Sum(Get("b")), "120+0+0");
  EXPECT_EQ(runner_.total(), 130u);
  EXPECT_EQ(runner_.possibly.size(), 50u);  // items that were begun may have been executed
  EXPECT_TRUE(runner_.possibly.contains("b50"));
  EXPECT_FALSE(runner_.possibly.contains("b100"));
}

TEST_F(BulkWorkerTest, WhoLeavesHandsOverAtOnce) {
  Create("b", 20);
  const auto first = Worker();
  RunActs(*first, 5);
  first->Leave();
  EXPECT_EQ(Get("b").done, 5);
  const auto next = Worker();
  next->Step(clock_.Steady());
  next->Step(clock_.Steady());
  RunToEnd(*next, "b");
  EXPECT_EQ(runner_.total(), 20u);
}

TEST_F(BulkWorkerTest, WhoLostTheLeaseRecordsNothing) {
  Create("b", 20);
  const auto slow = Worker();
  const auto quick = Worker();
  RunActs(*slow, 5);
  clock_.Advance(BulkWorker::kLease + 1s);  // like a member that was stopped
  RunToEnd(*quick, "b");
  EXPECT_EQ(runner_.total(), 25u);
  for (int i = 0; i < 5; ++i) slow->Step(clock_.Steady());
  EXPECT_EQ(runner_.total(), 25u);
  EXPECT_EQ(Sum(Get("b")), "20+0+0");
  EXPECT_EQ(Count("done"), 20u);
}

TEST_F(BulkWorkerTest, ALongPieceKeepsItsLease) {
  Create("b", 50);
  runner_.on_act = [&] { clock_.Advance(3s); };
  const auto slow = Worker();
  const auto other = Worker();
  Run(*slow, [&] {
    other->Step(clock_.Steady());
    return HasEnded(Get("b"));
  });
  EXPECT_EQ(runner_.total(), 50u);
}

TEST_F(BulkWorkerTest, ALeaseIsRenewedFromWhenAnItemHasEnded) {
  Create("b", 2);
  runner_.on_act = [&] { clock_.Advance(20s); };
  runner_.outcomes["b0"] = {Verdict::kAgain, "", "{}"};
  const auto slow = Worker();
  RunActs(*slow, 1);
  clock_.Advance(BulkWorker::kLease - 1s);
  const auto other = Worker();
  for (int i = 0; i < 5; ++i) {
    other->Step(clock_.Steady());
    clock_.Advance(BulkWorker::kRest);
  }
  EXPECT_EQ(runner_.total(), 1u);
}

TEST_F(BulkWorkerTest, ALongLookAheadKeepsItsLease) {
  Create("b", 50);
  const auto slow = Worker();
  const auto other = Worker();
  bool within = false;  // true during the precheck of the other worker
  runner_.on_precheck = [&] {
    clock_.Advance(3s);
    if (std::exchange(within, true)) return;
    other->Step(clock_.Steady());
    within = false;
  };
  RunToEnd(*slow, "b");
  EXPECT_EQ(runner_.looks, 50);
  EXPECT_EQ(runner_.total(), 50u);
}

TEST_F(BulkWorkerTest, ACancelLeavesTheRest) {
  Create("b", 120);
  const auto worker = Worker();
  RunActs(*worker, 10);
  const BulkAction cancelled = *stores_.bulk.CancelBulk("b", clock_.Wall());
  EXPECT_EQ(Sum(cancelled), "0+0+70");
  RunToEnd(*worker, "b");
  EXPECT_EQ(Get("b").state, BulkState::kCancelled);
  EXPECT_EQ(Sum(Get("b")), "50+0+70");
  EXPECT_EQ(runner_.total(), 50u);
}

TEST_F(BulkWorkerTest, NobodyActsForOneWhoMayNot) {
  Create("b", 120);
  int asked = 0;
  resume_ = [&](const Grant& grant) -> Result<Resumed> {
    EXPECT_EQ(grant.user_id, "user-anna");
    if (++asked > 1) return Resumed{.ended = "The user who started it was disabled."};
    return Resumed{.caller = Caller{.role = "read_only"}};
  };
  RunToEnd(*Worker(), "b");
  EXPECT_EQ(Get("b").state, BulkState::kStopped);
  EXPECT_EQ(Get("b").error, "The user who started it was disabled.");
  EXPECT_EQ(Sum(Get("b")), "50+0+70");
  EXPECT_EQ(runner_.roles, (std::set<std::string>{"read_only"}));
}

TEST_F(BulkWorkerTest, RightsOfBeforeALongWaitAreNotUsed) {
  Create("b", 60);
  const auto worker = Worker();
  RunActs(*worker, 10);
  resume_ = [](const Grant&) { return Resumed{.caller = Caller{.role = "read_only"}}; };
  RunActs(*worker, 1);
  EXPECT_FALSE(runner_.roles.contains("read_only"));
  trusted_ = false;
  worker->Step(clock_.Steady());
  clock_.Advance(BulkWorker::kRightsFor);
  trusted_ = true;
  RunActs(*worker, 1);
  EXPECT_TRUE(runner_.roles.contains("read_only"));
  resume_ = [](const Grant&) { return Resumed{.ended = "disabled"}; };
  clock_.Advance(BulkWorker::kRightsFor);
  RunToEnd(*worker, "b");
  EXPECT_EQ(Get("b").state, BulkState::kStopped);
  EXPECT_EQ(Sum(Get("b")), "12+38+10");
  EXPECT_EQ(runner_.total(), 12u);
  const auto items = *stores_.bulk.ListBulkItems("b", {.result = BulkResult::kError, .limit = 1});
  ASSERT_EQ(items.size(), 1u);
  EXPECT_NE(items[0].error_json.find("forbidden"), std::string::npos) << items[0].error_json;
}

TEST_F(BulkWorkerTest, AStopTellsWhatADeadMemberMayHaveDone) {
  Create("b", 60);
  auto dead = Worker();
  RunActs(*dead, 3);
  dead.reset();
  resume_ = [](const Grant&) { return Resumed{.ended = "gone"}; };
  RunToEnd(*Worker(), "b");
  EXPECT_EQ(Sum(Get("b")), "0+50+10");
  const auto items = *stores_.bulk.ListBulkItems("b", {.limit = 1});
  EXPECT_NE(items[0].error_json.find("outcome_unknown"), std::string::npos);
}

TEST_F(BulkWorkerTest, WhileTheStoreIsAwayItWaits) {
  Create("b", 30);
  const auto worker = Worker();
  RunActs(*worker, 5);
  runner_.outcomes["b5"] = {Verdict::kAgain, "", "{}"};
  plan_.Arm("RecordBulkItems", Fault::kUnavailable, 1000);
  for (int i = 0; i < 20; ++i) {
    const SteadyTime next = worker->Step(clock_.Steady());
    EXPECT_GE(next - clock_.Steady(), BulkWorker::kRetry);
    clock_.Advance(next - clock_.Steady());
  }
  EXPECT_EQ(Get("b").failed, 0);
  plan_.Disarm("RecordBulkItems");
  runner_.outcomes.clear();
  RunToEnd(*worker, "b");
  EXPECT_EQ(Sum(Get("b")), "30+0+0");
  EXPECT_TRUE(runner_.possibly.contains("b5"));
  EXPECT_EQ(runner_.acts["b4"], 1);
}

TEST_F(BulkWorkerTest, AnUntrustedStoreIsLeftAlone) {
  Create("b", 3);
  trusted_ = false;
  const auto worker = Worker();
  for (int i = 0; i < 5; ++i) worker->Step(clock_.Steady() + i * 1s);
  EXPECT_EQ(runner_.total(), 0u);
  trusted_ = true;
  RunToEnd(*worker, "b");
}

TEST_F(BulkWorkerTest, LostAnswersOfTheStoreChangeNothing) {
  Create("b", 60);
  for (const char* call : {"TakeBulk", "BeginBulkItems", "RecordBulkItems", "ListBulkItems"}) {
    plan_.Arm(call, Fault::kTimeoutAfter);
  }
  RunToEnd(*Worker(), "b");
  EXPECT_EQ(Sum(Get("b")), "60+0+0");
  for (const auto& [id, acts] : runner_.acts) EXPECT_EQ(acts, 1) << id;
  EXPECT_EQ(Count("done"), 60u);
}

TEST_F(BulkWorkerTest, AnItemThatNeverWorksDoesNotKeepTheOthersWaiting) {
  Create("b", 3);
  runner_.outcomes["b1"] = {Verdict::kAgain, "", "{\"code\":\"exhausted\"}"};
  RunToEnd(*Worker(), "b");
  EXPECT_EQ(Sum(Get("b")), "2+1+0");
  EXPECT_EQ(runner_.acts["b1"], BulkWorker::kTriesMax);
}

TEST_F(BulkWorkerTest, WhatCanBeForeseenIsNotBegun) {
  Create("b", 3);
  runner_.prechecked = {"b1"};
  RunToEnd(*Worker(), "b");
  EXPECT_EQ(Sum(Get("b")), "2+1+0");
  EXPECT_FALSE(runner_.acts.contains("b1"));
}

TEST_F(BulkWorkerTest, LargeOnesTakeTurns) {
  Create("x", 1200);
  Create("y", 600, "user-bert");
  const auto worker = Worker();
  RunToEnd(*worker, "y");
  EXPECT_FALSE(HasEnded(Get("x")));
  RunToEnd(*worker, "x");
  EXPECT_EQ(runner_.total(), 1800u);
  EXPECT_EQ(runner_.order_of_acts[499], "x");
  EXPECT_EQ(runner_.order_of_acts[500], "y");
}

}  // namespace
}  // namespace carillon::test
