// The contract of RunStore::ListGaps: which gaps a filter finds.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class GapContract : public StoreContract<Factory> {
 protected:
  // A gap of `job`; `from` and `to` are seconds after kT0.
  static PlannedGap Of(const StoredJob& job, int from, int to, GapReason reason) {
    return {
        ScheduleId(9), job.job_no, {kT0 + from * 1s, kT0 + to * 1s, (to - from) / 10 + 1, reason}};
  }
  // The job_id and the first second of each gap, in the order of the list.
  static std::vector<std::string> Found(StoreDriver& s, const GapFilter& filter) {
    std::vector<std::string> found;
    for (const GapRecord& gap : StoreDriver::v(s.runs.ListGaps(filter)).gaps) {
      found.push_back(gap.job_id.value() + " " +
                      std::to_string((gap.range.from - kT0) / Duration(1s)));
    }
    return found;
  }
};
TYPED_TEST_SUITE(GapContract, StoreFactories);

TYPED_TEST(GapContract, FoundByTimeReasonAndJob) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.Manual());
  PlanBatch batch;
  batch.gaps = {
      this->Of(a, 100, 200, GapReason::kMisfire), this->Of(b, 150, 160, GapReason::kPaused),
      // Gaps are recorded when they are noticed, which may be long after their fires.
      this->Of(a, 10, 40, GapReason::kEdited), this->Of(a, 300, 300, GapReason::kCatchUpLimit)};
  ASSERT_OK(s.firing.Plan(batch, fence, kT0));
  const auto found = [&](const GapFilter& filter) { return this->Found(s, filter); };
  using Gaps = std::vector<std::string>;
  EXPECT_EQ(found({}), (Gaps{"a 300", "a 10", "b 150", "a 100"}));
  EXPECT_EQ(found({.since = kT0 + 41s}), (Gaps{"a 300", "b 150", "a 100"}));
  EXPECT_EQ(found({.until = kT0 + 150s}), (Gaps{"a 10", "a 100"}));
  // The first and the last second of a gap are fires. `since` is inclusive, `until` is exclusive.
  EXPECT_EQ(found({.since = kT0 + 200s}), (Gaps{"a 300", "a 100"}));
  EXPECT_EQ(found({.since = kT0 + 200s + 1us}), Gaps{"a 300"});
  EXPECT_EQ(found({.until = kT0 + 10s}), Gaps{});
  EXPECT_EQ(found({.until = kT0 + 10s + 1us}), Gaps{"a 10"});
  // The span lies inside the gap and contains none of its ends.
  EXPECT_EQ(found({.since = kT0 + 120s, .until = kT0 + 130s}), Gaps{"a 100"});
  EXPECT_EQ(found({.since = kT0 + 300s, .until = kT0 + 300s + 1us}), Gaps{"a 300"});
  EXPECT_EQ(found({.reasons = {GapReason::kPaused}}), Gaps{"b 150"});
  EXPECT_EQ(found({.reasons = {GapReason::kEdited, GapReason::kMisfire}}), (Gaps{"a 10", "a 100"}));
  EXPECT_EQ(found({.reasons = {GapReason::kDeleted}}), Gaps{});
  EXPECT_EQ(found({.job_id = JobId("a"), .until = kT0 + 150s, .reasons = {GapReason::kMisfire}}),
            Gaps{"a 100"});
  EXPECT_EQ(found({.job_id = JobId("b"), .since = kT0 + 161s}), Gaps{});
}

TYPED_TEST(GapContract, PagesHoldAllThatIsFound) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob a = s.Create("a", s.Manual());
  PlanBatch batch;
  for (int i = 0; i < 20; ++i) {
    batch.gaps.push_back(
        this->Of(a, i * 10, i * 10 + 5, i % 2 == 0 ? GapReason::kMisfire : GapReason::kPaused));
  }
  ASSERT_OK(s.firing.Plan(batch, fence, kT0));
  GapFilter filter{
      .since = kT0 + 50s, .until = kT0 + 150s, .reasons = {GapReason::kMisfire}, .limit = 2};
  std::vector<std::string> all;
  for (int page = 0; page < 10; ++page) {
    const GapPage found = s.v(s.runs.ListGaps(filter));
    EXPECT_LE(found.gaps.size(), 2u);
    for (const std::string& gap : this->Found(s, filter)) all.push_back(gap);
    if (!found.next) break;
    filter.before_id = *found.next;
  }
  EXPECT_EQ(all, (std::vector<std::string>{"a 140", "a 120", "a 100", "a 80", "a 60"}));
}

TYPED_TEST(GapContract, CountedAsTheyAreListed) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.Manual());
  PlanBatch batch;
  for (int i = 0; i < 30; ++i) {
    batch.gaps.push_back(this->Of(i % 3 == 0 ? a : b, i * 10, i * 10 + 15,
                                  i % 2 == 0 ? GapReason::kMisfire : GapReason::kPaused));
  }
  ASSERT_OK(s.firing.Plan(batch, fence, kT0));
  const std::vector<GapFilter> filters = {
      {},
      {.since = kT0 + 100s},
      {.until = kT0 + 100s},
      {.since = kT0 + 100s, .until = kT0 + 200s},
      {.reasons = {GapReason::kPaused}},
      {.since = kT0 + 100s, .reasons = {GapReason::kPaused, GapReason::kMisfire}},
      {.job_id = JobId("a"), .since = kT0 + 100s},
      {.job_id = JobId("a"), .until = kT0 + 100s, .reasons = {GapReason::kMisfire}},
      {.job_id = JobId("none"), .since = kT0 + 100s},
      {.since = kT0 + 1h}};
  for (size_t i = 0; i < filters.size(); ++i) {
    GapFilter paged = filters[i];  // counting ignores the position and size of the page
    paged.before_id = 1;
    paged.limit = 1;
    const BoundedCount counted = s.v(s.runs.CountGaps(paged));
    EXPECT_TRUE(counted.all) << i;
    EXPECT_EQ(counted.seen, this->Found(s, filters[i]).size()) << i;
  }
}

}  // namespace carillon::test
