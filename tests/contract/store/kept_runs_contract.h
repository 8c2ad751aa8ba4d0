// The contract of the runs that outlive their day (Retention::keep_last).
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

class KeptRunsDriver : public StoreDriver {
 public:
  explicit KeptRunsDriver(StoreHandle& store) : StoreDriver(store) {
    EXPECT_OK(housekeeping.Maintain(kT0, {.runs = kKeptFor}));
  }

  RunDetail Ended(const StoredJob& job, WallTime at, RunState state = RunState::kCompleted) {
    const RunRow row = Start(Execute(job, at), ++token_, fence, at);
    Apply(ReportOf(row, state, at + 1s), fence, at + 1s);
    return Get(row.key);
  }
  void Maintain(WallTime now, int keep_last) {
    // Members call it at any time, so a second call must do no harm.
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(v(housekeeping.Maintain(now, {.runs = kKeptFor, .keep_last = keep_last})),
                Upkeep::kDone);
    }
  }
  std::vector<RunKey> Listed(const RunFilter& filter, WallTime now = kT0 + 40 * 24h) {
    std::vector<RunKey> keys;
    for (const RunDetail& run : v(runs.ListRuns(filter, now)).runs) keys.push_back(run.row.key);
    EXPECT_EQ(v(runs.CountRuns(filter, now)).seen, keys.size());
    return keys;
  }

  static constexpr Duration kKeptFor = 14 * 24h;
  const Fence fence = Take();

 private:
  uint64_t token_ = 0;
};

template <typename Factory>
class KeptRunsContract : public StoreContract<Factory> {};
using KeptListing = std::vector<RunKey>;
TYPED_TEST_SUITE(KeptRunsContract, StoreFactories);

TYPED_TEST(KeptRunsContract, LastRunsOfAJobOutliveTheirDay) {
  KeptRunsDriver s(this->handle());
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.Manual());
  const RunDetail first = s.Ended(a, kT0 + 1h);
  const RunDetail second = s.Ended(a, kT0 + 25h, RunState::kFailed);
  const RunDetail third = s.Ended(a, kT0 + 26h);
  const RunDetail other = s.Ended(b, kT0 + 2h);
  s.Maintain(kT0 + 30 * 24h, 2);
  EXPECT_CODE(s.runs.GetRun(first.row.key), ErrorCode::kNotFound);
  const RunDetail kept = s.Get(second.row.key);
  EXPECT_TRUE(kept.kept);
  EXPECT_FALSE(second.kept);
  EXPECT_EQ(kept.row, second.row);
  EXPECT_EQ(kept.result, second.result);
  EXPECT_EQ(kept.job_id, a.job_id);
  EXPECT_EQ(kept.planned, second.planned);
  EXPECT_TRUE(s.Get(other.row.key).kept);
  // A new run takes the place of the oldest one.
  const RunDetail fourth = s.Ended(a, kT0 + 30 * 24h);
  s.Maintain(kT0 + 30 * 24h, 2);
  EXPECT_EQ(s.Listed({.job_id = a.job_id}), (KeptListing{fourth.row.key, third.row.key}));
  EXPECT_CODE(s.runs.GetRun(second.row.key), ErrorCode::kNotFound);
  s.Maintain(kT0 + 30 * 24h, 0);
  EXPECT_EQ(s.Listed({.job_id = a.job_id}), KeptListing{fourth.row.key});
  EXPECT_CODE(s.runs.GetRun(other.row.key), ErrorCode::kNotFound);
}

TYPED_TEST(KeptRunsContract, ListsOfTheirJobShowThem) {
  KeptRunsDriver s(this->handle());
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.Manual());
  const RunKey one = s.Ended(a, kT0 + 1h).row.key;
  const RunKey two = s.Ended(a, kT0 + 2h, RunState::kFailed).row.key;
  const RunKey late = s.Ended(a, kT0 + 20 * 24h).row.key;
  s.Ended(b, kT0 + 3h);
  s.Maintain(kT0 + 30 * 24h, 3);
  const JobId id = a.job_id;
  EXPECT_EQ(s.Listed({}), KeptListing{late});
  EXPECT_EQ(s.Listed({.job_id = id}), (KeptListing{late, two, one}));
  EXPECT_EQ(s.Listed({.job_id = id, .oldest_first = true}), (KeptListing{one, two, late}));
  EXPECT_EQ(s.Listed({.job_id = id, .states = {RunState::kFailed}}), KeptListing{two});
  EXPECT_EQ(s.Listed({.job_id = id, .kinds = {RunKind::kCron}}), KeptListing{});
  EXPECT_EQ(s.Listed({.job_id = id, .user_id = "nobody"}), KeptListing{});
  EXPECT_EQ(s.Listed({.job_id = id, .since = two.fire}), (KeptListing{late, two}));
  EXPECT_EQ(s.Listed({.job_id = id, .until = two.fire}), KeptListing{one});
  const WallTime now = kT0 + 40 * 24h;
  const RunPage page = s.v(s.runs.ListRuns({.job_id = id, .limit = 2}, now));
  ASSERT_EQ(page.runs.size(), 2u);
  EXPECT_EQ(page.runs[1].row.key, two);
  const RunPage next = s.v(s.runs.ListRuns({.job_id = id, .before = two, .limit = 2}, now));
  ASSERT_EQ(next.runs.size(), 1u);
  EXPECT_EQ(next.runs[0].row.key, one);
  EXPECT_TRUE(next.runs[0].kept);
  const auto recent = s.v(s.runs.ListRecentRuns({.job_ids = {b.job_id, id}, .until = now}));
  ASSERT_EQ(recent.size(), 2u);
  EXPECT_EQ(recent[0].runs.size(), 1u);
  ASSERT_EQ(recent[1].runs.size(), 3u);
  EXPECT_EQ(recent[1].runs[1].key, two);
  EXPECT_EQ(recent[1].runs[1].state, RunState::kFailed);
  EXPECT_EQ(recent[1].runs[2].ended, one.fire + 1s);
}

TYPED_TEST(KeptRunsContract, TheyCannotBeChanged) {
  KeptRunsDriver s(this->handle());
  const RunKey key = s.Ended(s.Create("a", s.Manual()), kT0 + 1h, RunState::kFailed).row.key;
  s.Maintain(kT0 + 30 * 24h, 1);
  const WriteContext context{.now = kT0 + 30 * 24h};
  EXPECT_CODE(s.runs.RetryRun({.key = key}, context), ErrorCode::kConflict);
  EXPECT_CODE(s.runs.CancelRun(key, context), ErrorCode::kConflict);
  EXPECT_EQ(s.Get(key).row.state, RunState::kFailed);
}

TYPED_TEST(KeptRunsContract, SkippedRunsAreNotKept) {
  KeptRunsDriver s(this->handle());
  const StoredJob a = s.Create("a", s.Manual());
  const RunKey ended = s.Ended(a, kT0 + 1h).row.key;
  const RunRow skipped = s.Execute(a, kT0 + 2h);
  EXPECT_EQ(s.v(s.firing.Skip({{skipped.key, skipped.segment, skipped.job_no, skipped.attempt,
                                skipped.def_version, reason::kMisfire}},
                              s.fence, kT0 + 2h))
                .size(),
            1u);
  s.Maintain(kT0 + 30 * 24h, 1);
  EXPECT_EQ(s.Listed({.job_id = a.job_id}), KeptListing{ended});
}

TYPED_TEST(KeptRunsContract, DeletedJobsAndThoseWithAShorterRetentionKeepNone) {
  KeptRunsDriver s(this->handle());
  const StoredJob deleted = s.Create("deleted", s.Manual());
  const StoredJob late = s.Create("late", s.Manual());
  JobDefinition definition = s.Manual();
  definition.retention_days = 3;
  const StoredJob brief = s.Create("brief", definition);
  const RunKey of_deleted = s.Ended(deleted, kT0 + 1h).row.key;
  const RunKey of_late = s.Ended(late, kT0 + 1h).row.key;
  const RunKey of_brief = s.Ended(brief, kT0 + 1h).row.key;
  ASSERT_OK(s.jobs.DeleteJob(deleted.job_id, deleted.version, {.now = kT0 + 2h}));
  s.Maintain(kT0 + 30 * 24h, 3);
  EXPECT_CODE(s.runs.GetRun(of_deleted), ErrorCode::kNotFound);
  EXPECT_CODE(s.runs.GetRun(of_brief), ErrorCode::kNotFound);
  EXPECT_TRUE(s.Get(of_late).kept);
  ASSERT_OK(s.jobs.DeleteJob(late.job_id, late.version, {.now = kT0 + 30 * 24h}));
  s.Maintain(kT0 + 30 * 24h, 3);
  EXPECT_CODE(s.runs.GetRun(of_late), ErrorCode::kNotFound);
}

// Its day stays because of an open run, while a later day is dropped.
TYPED_TEST(KeptRunsContract, KeptRunsMayBeNewerThanStoredOnes) {
  KeptRunsDriver s(this->handle());
  const StoredJob a = s.Create("a", s.Manual());
  const RunKey stays = s.Ended(a, kT0 + 1h).row.key;
  const RunRow open = s.Execute(a, kT0 + 2h);
  const RunKey kept = s.Ended(a, kT0 + 25h).row.key;
  s.Maintain(kT0 + 30 * 24h, 2);
  EXPECT_EQ(s.Listed({.job_id = a.job_id}), (KeptListing{kept, open.key, stays}));
  EXPECT_TRUE(s.Get(kept).kept);
  EXPECT_FALSE(s.Get(stays).kept);
  EXPECT_TRUE(s.v(s.runs.CancelRun(open.key, {.now = kT0 + 30 * 24h})));
  s.Maintain(kT0 + 30 * 24h, 2);
  EXPECT_EQ(s.Listed({.job_id = a.job_id}), (KeptListing{kept, open.key}));
}

}  // namespace carillon::test
