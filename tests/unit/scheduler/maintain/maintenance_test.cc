#include "scheduler/maintain/maintenance.h"

#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class MaintenanceTest : public test::RoomTest {
 protected:
  void Step(Duration ahead) {
    clock_.Advance(ahead);
    maintenance_.Step(clock_.Steady());
    overdue_.Step(clock_.Steady());
  }
  // Advances the clock by `ahead`, during which every read of the store fails.
  void StepAway(Duration ahead) {
    faults_.plan.ArmAlways("ReadOverdue", ErrorCode::kUnavailable);
    for (Duration gone{}; gone < ahead; gone += 1s) Step(1s);
    faults_.plan.Recover();
  }
  double Gauge(const char* name) { return metrics_.gauge(name).value(); }

  OverdueWatch overdue_{clock_, metrics_, 6s};
  Maintenance maintenance_{{.clock = clock_,
                            .housekeeping = stores_.housekeeping,
                            .firing = faults_.firing,
                            .cluster = cluster_,
                            .overdue = overdue_,
                            .metrics = metrics_},
                           {}};
};

TEST_F(MaintenanceTest, ShowsTheOldestOverdueRunAndFire) {
  Step(0s);
  EXPECT_EQ(overdue_.Ages().overdue, 0s);
  Execute(CreateNoop("job"));
  CreateRate("tick", 1s);
  Step(10s);
  EXPECT_EQ(overdue_.Ages().overdue, 10s + 1ms);
  EXPECT_EQ(overdue_.Ages().unplanned, 9s);
  EXPECT_NEAR(Gauge("carillon_oldest_overdue_seconds"), 10, 0.1);
  EXPECT_NEAR(Gauge("carillon_unplanned_overdue_seconds"), 9, 0.1);
}

TEST_F(MaintenanceTest, JobsThatAreNotPlannedForAMinuteAreKnown) {
  CreateRate("tick", 1s);
  Step(10s);
  EXPECT_TRUE(overdue_.UnplannedJobs().empty());
  Step(60s);
  ASSERT_EQ(overdue_.UnplannedJobs().size(), 1u);
  EXPECT_EQ(overdue_.UnplannedJobs()[0].job_id, JobId("tick"));
}

TEST_F(MaintenanceTest, AgesGrowWhileTheStoreIsAway) {
  Execute(CreateNoop("job"));
  Step(10s);
  StepAway(60s);
  EXPECT_GE(overdue_.Ages().overdue, 70s);
  EXPECT_NEAR(Gauge("carillon_oldest_overdue_seconds"), 70, 1);
  const Duration before = overdue_.Ages().overdue;
  clock_.Advance(5s);  // the ages grow even while a read hangs
  EXPECT_EQ(overdue_.Ages().overdue, before + 5s);
}

TEST_F(MaintenanceTest, WhatBecameDueUnseenCountsFromTheLastLook) {
  Step(0s);
  StepAway(60s);
  EXPECT_GE(overdue_.Ages().overdue, 59s);
  EXPECT_GE(overdue_.Ages().unplanned, 59s);
  Step(2s);
  EXPECT_EQ(overdue_.Ages().overdue, 0s);
  EXPECT_EQ(Gauge("carillon_oldest_overdue_seconds"), 0);
}

// A store with more rows to delete than one call deletes.
class BehindStore final : public Housekeeping {
 public:
  int calls = 0;
  int behind = 0;  // the number of calls after which rows are still left
  bool away = false;
  Result<Upkeep> Maintain(WallTime, const Retention&) override {
    if (away) return Error{ErrorCode::kUnavailable, "away by the test"};
    return ++calls <= behind ? Upkeep::kBehind : Upkeep::kDone;
  }
};

TEST_F(MaintenanceTest, DeletesOnWhileThereIsMoreAndSaysSo) {
  BehindStore store;
  store.behind = 3;
  Maintenance maintenance({.clock = clock_,
                           .housekeeping = store,
                           .firing = faults_.firing,
                           .cluster = cluster_,
                           .overdue = overdue_,
                           .metrics = metrics_},
                          {});
  maintenance.Step(clock_.Steady());
  EXPECT_EQ(Gauge("carillon_retention_behind"), 1);
  for (int i = 0; i < 10; ++i) {
    clock_.Advance(1s);
    maintenance.Step(clock_.Steady());
  }
  EXPECT_EQ(store.calls, 4);  // the fourth call was enough; the next one is five minutes later
  EXPECT_EQ(Gauge("carillon_retention_behind"), 0);
}

TEST_F(MaintenanceTest, StoreThatDoesNotAnswerIsNotSaidToHaveCaughtUp) {
  BehindStore store;
  store.behind = 1;
  Maintenance maintenance({.clock = clock_,
                           .housekeeping = store,
                           .firing = faults_.firing,
                           .cluster = cluster_,
                           .overdue = overdue_,
                           .metrics = metrics_},
                          {});
  maintenance.Step(clock_.Steady());
  store.away = true;
  clock_.Advance(1s);
  maintenance.Step(clock_.Steady());
  EXPECT_EQ(Gauge("carillon_retention_behind"), 1);
  store.away = false;
  clock_.Advance(1min);
  maintenance.Step(clock_.Steady());
  EXPECT_EQ(Gauge("carillon_retention_behind"), 0);
}

TEST_F(MaintenanceTest, NothingIsDeletedFromAStoreThatIsNotTrusted) {
  BehindStore store;
  bool trusted = false;
  Maintenance maintenance({.clock = clock_,
                           .housekeeping = store,
                           .firing = faults_.firing,
                           .cluster = cluster_,
                           .overdue = overdue_,
                           .metrics = metrics_,
                           .store_trusted = [&trusted] { return trusted; }},
                          {});
  for (int i = 0; i < 10; ++i) {
    clock_.Advance(1min);
    maintenance.Step(clock_.Steady());
  }
  EXPECT_EQ(store.calls, 0);
  trusted = true;
  maintenance.Step(clock_.Steady());
  EXPECT_EQ(store.calls, 1);
}

TEST_F(MaintenanceTest, OneMissedLookIsNoOutage) {
  Step(0s);
  StepAway(4s);
  EXPECT_EQ(overdue_.Ages().overdue, 0s);
}

}  // namespace
}  // namespace carillon::scheduler
