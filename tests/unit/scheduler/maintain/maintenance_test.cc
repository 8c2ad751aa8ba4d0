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
  // Through a stretch in which every look fails.
  void StepAway(Duration ahead) {
    for (Duration gone{}; gone < ahead; gone += 1s) {
      faulty_.FailNext("overdue", ErrorCode::kUnavailable);
      Step(1s);
    }
    faulty_.Clear("overdue");
  }
  double Gauge(const char* name) { return metrics_.gauge(name).value(); }

  OverdueWatch overdue_{clock_, metrics_, 6s};
  Maintenance maintenance_{{.clock = clock_,
                            .admin = store_,
                            .firing = faulty_,
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

TEST_F(MaintenanceTest, AgesGrowWhileTheStoreIsAway) {
  Execute(CreateNoop("job"));
  Step(10s);
  StepAway(60s);
  EXPECT_GE(overdue_.Ages().overdue, 70s);
  EXPECT_NEAR(Gauge("carillon_oldest_overdue_seconds"), 70, 1);
  const Duration before = overdue_.Ages().overdue;
  clock_.Advance(5s);  // a look that hangs: the ages do not wait for it
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

TEST_F(MaintenanceTest, OneMissedLookIsNoOutage) {
  Step(0s);
  StepAway(4s);
  EXPECT_EQ(overdue_.Ages().overdue, 0s);
}

}  // namespace
}  // namespace carillon::scheduler
