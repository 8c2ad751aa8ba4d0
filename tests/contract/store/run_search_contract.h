// The contract of RunStore::ListRuns for filters that require examining runs one by one.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class RunSearchContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(RunSearchContract, StoreFactories);

TYPED_TEST(RunSearchContract, RunsAreFoundByWhatMadeThemAndWhoseJobTheyAre) {
  StoreDriver s = this->driver();
  JobDefinition annas = s.Every(10s);
  annas.user_id = "anna";
  annas.name_space = "pay";
  const StoredJob hers = s.Create("hers", annas);
  const StoredJob his = s.Create("his", s.Manual());
  s.Plan(kT0 + 25s, s.Take());
  const RunRow by_hand = s.Execute(hers, kT0 + 1s);
  s.Execute(his, kT0 + 2s);
  const auto fires = [&](RunFilter filter) {
    std::vector<std::string> found;
    for (const RunDetail& run : s.v(s.runs.ListRuns(filter, kT0 + 1h)).runs) {
      found.push_back(run.job_id.value() + " " +
                      std::to_string((run.row.key.fire - kT0) / Duration(1s)));
    }
    return found;
  };
  using Found = std::vector<std::string>;
  const Found planned = {"hers 20", "hers 10"};
  EXPECT_EQ(fires({.kinds = {RunKind::kManual}}), (Found{"his 2", "hers 1"}));
  EXPECT_EQ(fires({.kinds = {RunKind::kCron}}), planned);
  EXPECT_EQ(fires({.kinds = {RunKind::kCron, RunKind::kManual}}).size(), 4u);
  EXPECT_EQ(fires({.kinds = {RunKind::kOnce}}), Found{});
  EXPECT_EQ(fires({.user_id = "anna"}), (Found{"hers 20", "hers 10", "hers 1"}));
  EXPECT_EQ(fires({.user_id = "anna", .limit = 1}), Found{"hers 20"});
  EXPECT_EQ(fires({.user_id = "bob"}), Found{});
  EXPECT_EQ(fires({.namespaces = {"pay"}}), (Found{"hers 20", "hers 10", "hers 1"}));
  EXPECT_EQ(fires({.namespaces = {"default", "pay"}}).size(), 4u);
  EXPECT_EQ(fires({.namespaces = {"other"}}), Found{});
  EXPECT_EQ(fires({.states = {RunState::kPending}, .kinds = {RunKind::kManual}, .user_id = "anna"}),
            Found{"hers 1"});
  EXPECT_EQ(fires({.job_id = his.job_id, .user_id = "anna"}), Found{});
  EXPECT_EQ(fires({.job_id = hers.job_id, .kinds = {RunKind::kManual}}), Found{"hers 1"});
}

TYPED_TEST(RunSearchContract, RunsAreFoundByTheNameAndTheLabelsOfTheirJob) {
  StoreDriver s = this->driver();
  JobDefinition nightly = s.Manual();
  nightly.name = "Nightly export";
  nightly.labels = {{"team", "etl"}, {"env", "prod"}};
  JobDefinition odd = s.Manual();
  odd.name = "odd";
  odd.labels = {{"team", "Etl \"例\" \\ / ' %"}};
  const StoredJob first = s.Create("first", nightly);
  const StoredJob other = s.Create("other", odd);
  const StoredJob plain = s.Create("nightly-2", s.Manual());
  s.Execute(first, kT0 + 1s);
  s.Execute(other, kT0 + 2s);
  s.Execute(plain, kT0 + 3s);
  const auto jobs = [&](const RunFilter& filter) {
    std::vector<std::string> found;
    const RunPage page = s.v(s.runs.ListRuns(filter, kT0 + 1h));
    for (const RunDetail& run : page.runs) found.push_back(run.job_id.value());
    EXPECT_EQ(s.v(s.runs.CountRuns(filter, kT0 + 1h)).seen, found.size());
    return found;
  };
  using Found = std::vector<std::string>;
  EXPECT_EQ(jobs({.name_contains = "NIGHTLY"}), (Found{"nightly-2", "first"}));
  EXPECT_EQ(jobs({.name_contains = "t-2"}), Found{});
  EXPECT_EQ(jobs({.name_contains = "y-2"}), Found{"nightly-2"});
  EXPECT_EQ(jobs({.name_contains = "%"}), Found{});
  EXPECT_EQ(jobs({.labels = {{"team", {"etl"}}}}), Found{"first"});
  EXPECT_EQ(jobs({.labels = {{"team", {"etl", odd.labels["team"]}}}}), (Found{"other", "first"}));
  EXPECT_EQ(jobs({.labels = {{"team", {"etl"}}, {"env", {"prod"}}}}), Found{"first"});
  EXPECT_EQ(jobs({.labels = {{"team", {"etl"}}, {"env", {"test"}}}}), Found{});
  EXPECT_EQ(jobs({.labels = {{"team", {"ETL"}}}}), Found{});
  EXPECT_EQ(jobs({.name_contains = "night", .labels = {{"env", {"prod"}}}}), Found{"first"});
  EXPECT_EQ(jobs({.states = {RunState::kPending}, .labels = {{"env", {"prod"}}}}), Found{"first"});
  // The filter uses the job as it is now, not as it was when the run was created.
  nightly.labels = {{"team", "web"}};
  s.Replace(first, nightly, kT0 + 4s);
  EXPECT_EQ(jobs({.labels = {{"team", {"etl"}}}}), Found{});
  EXPECT_EQ(jobs({.labels = {{"team", {"web"}}}}), Found{"first"});
}

// Its fire is in the future, but it is not only planned.
TYPED_TEST(RunSearchContract, RunThatIsCancelledBeforeItsFireIsListed) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  s.Create("a", s.Every(10s));
  s.Plan(kT0 + 20s, fence);
  const RunKey key = s.OnlyPending(kT0 + 10s).key;
  const auto listed = [&](WallTime now) {
    std::vector<RunKey> keys;
    const RunPage page = s.v(s.runs.ListRuns({}, now));
    for (const RunDetail& run : page.runs) keys.push_back(run.row.key);
    EXPECT_EQ(s.v(s.runs.CountRuns({}, now)).seen, keys.size());
    return keys;
  };
  EXPECT_EQ(listed(kT0 + 1s), std::vector<RunKey>{});
  s.v(s.runs.CancelRun(key, {.now = kT0 + 1s}));
  EXPECT_EQ(listed(kT0 + 1s), std::vector<RunKey>{key});
  s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 2s}));
  const RunRow run = s.Start(s.Get(key).row, 1, fence, kT0 + 3s);
  s.Apply(s.ReportOf(run, RunState::kCompleted), fence, kT0 + 4s);
  EXPECT_EQ(listed(kT0 + 10s), std::vector<RunKey>{key});
}

// A run that waits for runs of other jobs is due later than at any time.
TYPED_TEST(RunSearchContract, RunThatIsCancelledWhileItWaitsIsListed) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  s.Create("up", s.Every(10h));
  JobDefinition waiting = s.Every(10s);
  waiting.waits_for = {{.job = JobId("up"), .window = {.day = 0}}};
  waiting.wait_limit_s = 3'600;
  const StoredJob job = s.Create("a", waiting);
  s.Plan(kT0 + 35s, fence);
  const auto key = [&](Duration after) {
    return RunKey{kT0 + after, job.schedules[0].schedule_id, 0};
  };
  const auto listed = [&](WallTime now) {
    std::vector<RunKey> keys;
    const RunPage page = s.v(s.runs.ListRuns({}, now));
    for (const RunDetail& run : page.runs) keys.push_back(run.row.key);
    EXPECT_EQ(s.v(s.runs.CountRuns({}, now)).seen, keys.size());
    return keys;
  };
  EXPECT_EQ(listed(kT0 + 1s), std::vector<RunKey>{});
  s.v(s.runs.CancelRun(key(20s), {.now = kT0 + 1s}));
  EXPECT_EQ(s.Get(key(20s)).row.due, kAwaiting);
  EXPECT_EQ(listed(kT0 + 1s), std::vector<RunKey>{key(20s)});
  s.v(s.runs.CancelRun(key(30s), {.now = kT0 + 2s}));
  EXPECT_EQ(listed(kT0 + 2s), (std::vector<RunKey>{key(30s), key(20s)}));
  EXPECT_EQ(listed(kT0 + 10s), (std::vector<RunKey>{key(30s), key(20s), key(10s)}));
}

// With any bound of one search, continuing where the search ended finds each run once and in order.
TYPED_TEST(RunSearchContract, BoundedSearchFindsEveryRunInTheEnd) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  JobDefinition annas = s.Manual();
  annas.user_id = "anna";
  annas.name = "Other";
  annas.labels = {{"team", "etl"}};
  const StoredJob other = s.Create("b", annas);
  for (int i = 0; i < 20; ++i) {
    const RunRow run =
        s.Start(s.Execute(i % 3 == 0 ? other : job, kT0), i % 7 == 0 ? 2 : 1, fence, kT0 + 1s);
    const RunState end = i % 5 == 0 ? RunState::kFailed : RunState::kCompleted;
    s.Apply(s.ReportOf(run, end), fence, kT0 + 2s);
  }
  const std::vector<RunFilter> filters = {
      {.executor = ExecutorId("e2")},
      {.executor = ExecutorId("e2"), .states = {RunState::kFailed, RunState::kCompleted}},
      {.executor = ExecutorId("e9")},
      {.states = {RunState::kCompleted}},
      {.job_id = JobId("b"), .states = {RunState::kFailed}},
      {.job_id = JobId("b"), .executor = ExecutorId("e1"), .states = {RunState::kCompleted}},
      {.executor = ExecutorId("e1"), .states = {RunState::kFailed, RunState::kTimedOut}},
      {.kinds = {RunKind::kManual}},
      {.states = {RunState::kFailed}, .kinds = {RunKind::kCron}},
      {.user_id = "anna"},
      {.name_contains = "other"},
      {.labels = {{"team", {"etl"}}}},
      {.states = {RunState::kFailed}, .kinds = {RunKind::kManual}, .user_id = "anna"},
      {},
      {.job_id = JobId("b")},
      {.states = {RunState::kFailed}}};
  for (size_t i = 0; i < 2 * filters.size(); ++i) {
    RunFilter all = filters[i / 2];
    all.oldest_first = i % 2 == 1;
    all.limit = 100;
    std::vector<RunKey> expected;
    for (const RunDetail& run : s.v(s.runs.ListRuns(all, kT0 + 1h)).runs) {
      expected.push_back(run.row.key);
    }
    EXPECT_TRUE(all.oldest_first ? std::is_sorted(expected.begin(), expected.end())
                                 : std::is_sorted(expected.rbegin(), expected.rend()));
    for (const size_t search_max : {1, 2, 3, 7}) {
      RunFilter bounded = filters[i / 2];
      bounded.oldest_first = all.oldest_first;
      bounded.limit = 3;
      bounded.search_max = search_max;
      std::vector<RunKey> found;
      for (int page = 0; page < 100; ++page) {
        const RunPage some = s.v(s.runs.ListRuns(bounded, kT0 + 1h));
        for (const RunDetail& run : some.runs) found.push_back(run.row.key);
        if (some.searched_to) {
          bounded.before = some.searched_to;
        } else if (some.runs.size() == bounded.limit) {
          bounded.before = found.back();
        } else {
          break;
        }
      }
      EXPECT_EQ(found, expected) << i << " " << search_max;
    }
  }
  EXPECT_TRUE(s.v(s.runs.ListRuns({.executor = ExecutorId("e9"), .search_max = 3}, kT0 + 1h))
                  .searched_to.has_value());
}

}  // namespace carillon::test
