#include "scheduler/plan/plan_pace.h"

#include <gtest/gtest.h>

namespace carillon::scheduler {
namespace {

constexpr Duration kHorizon = 30s;
const WallTime kNow = FromUnixMicros(1'772'323'200'000'000);

PlanPace Grown() {
  PlanPace pace(2s);
  pace.Grow({}, kHorizon, false);
  return pace;
}

TEST(PlanPaceTest, LeadIsHalfTheHorizonWhenAllIsWell) {
  PlanPace pace = Grown();
  EXPECT_EQ(pace.lead(), 15s);
  const PlanTimes times = pace.Times(kNow, 14s, false);
  EXPECT_EQ(times.look, 15s);
  EXPECT_EQ(times.horizon, 30s);
}

TEST(PlanPaceTest, NearestSecondsComeFirstWhenThereIsMoreThanOneScanShows) {
  PlanPace pace = Grown();
  const PlanTimes times = pace.Times(kNow, 1s, true);
  EXPECT_EQ(times.look, 3s);
  EXPECT_EQ(times.horizon, 5s);
  EXPECT_EQ(pace.Times(kNow, -5s, true).look, 2s)
      << "what is due already is planned to the near as well";
}

TEST(PlanPaceTest, ManySchedulesAtTheEndOfTheLeadAreNoReasonToFallBack) {
  PlanPace pace = Grown();
  EXPECT_EQ(pace.Times(kNow, 14500ms, true).look, 15s);
}

TEST(PlanPaceTest, LeadGrowsByHalfOfTheTimeAndByAnEighthWhileRunsWait) {
  PlanPace pace = Grown();
  pace.Times(kNow, {}, true);
  ASSERT_EQ(pace.lead(), 2s);
  pace.Grow(500ms, kHorizon, false);
  EXPECT_EQ(pace.lead(), 2250ms);
  pace.Grow(500ms, kHorizon, true);
  EXPECT_EQ(pace.lead(), 2312500us);
  pace.Grow(1h, kHorizon, false);
  EXPECT_EQ(pace.lead(), 2812500us) << "nothing was planned in that hour";
  for (int i = 0; i < 30; ++i) pace.Grow(1s, kHorizon, false);
  EXPECT_EQ(pace.lead(), 15s);
  pace.Grow({}, 10s, false);
  EXPECT_EQ(pace.lead(), 5s) << "a shorter horizon";
  pace.Grow({}, 60s, false);
  EXPECT_EQ(pace.lead(), 30s) << "a longer one, where nothing is behind";
}

TEST(PlanPaceTest, RestIsAsLongAsTheTransactionAndNoneForWhatIsNear) {
  PlanPace pace = Grown();
  pace.Times(kNow, 15s, true);
  EXPECT_EQ(pace.Rest(30ms), 30ms);
  pace.Times(kNow, 5s, true);
  EXPECT_EQ(pace.Rest(30ms), 10ms);
  pace.Times(kNow, 900ms, true);
  EXPECT_TRUE(pace.urgent());
  EXPECT_EQ(pace.Rest(30ms), Duration{});
  pace.Times(kNow, -1h, true);
  EXPECT_TRUE(pace.urgent());
}

TEST(PlanPaceTest, ShortHorizonHasAShortNear) {
  PlanPace pace(2s);
  pace.Grow({}, 2s, false);
  EXPECT_EQ(pace.lead(), 1s);
  const PlanTimes times = pace.Times(kNow, {}, true);
  EXPECT_EQ(times.look, 1s);
  EXPECT_EQ(times.horizon, 2s);
}

}  // namespace
}  // namespace carillon::scheduler
