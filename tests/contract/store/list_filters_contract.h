// The contract of filters of lists: a row that differs from the filter in only one field is not
// listed and not counted, whatever else the filter asks, in each order and with each bound.
//
// Each case lists its fields, and names all members of the filter beside them: a new member does
// not compile until it is one of the cases.
#pragma once

#include <bit>
#include <functional>
#include <map>

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

inline std::string Joined(const std::vector<std::string>& ids) {
  std::string all;
  for (const std::string& id : ids) all += " " + id;
  return all;
}

template <typename Factory>
class JobFiltersContract : public StoreContract<Factory> {
 protected:
  struct Field {
    std::string id;  // of the job that differs in this field only
    std::function<void(JobDefinition&)> differ;
    std::function<void(JobFilter&)> ask;
  };
  // Every field but order, cursor and bounds.
  static std::vector<Field> Fields() {
    return {
        {"enabled", [](JobDefinition& job) { job.enabled = false; },
         [](JobFilter& filter) { filter.enabled = true; }},
        {"user", [](JobDefinition& job) { job.user_id = "bob"; },
         [](JobFilter& filter) { filter.user_id = "anna"; }},
        {"spaces", [](JobDefinition& job) { job.name_space = "ops"; },
         [](JobFilter& filter) {
           filter.namespaces = {"pay", "web"};
         }},
        {"space", [](JobDefinition& job) { job.name_space = "web"; },
         [](JobFilter& filter) { filter.namespaces = {"pay"}; }},
        {"name", [](JobDefinition& job) { job.name = "Nightly backup 2"; },
         [](JobFilter& filter) { filter.name = "Nightly backup"; }},
        {"text", [](JobDefinition& job) { job.name = "Weekly report"; },
         [](JobFilter& filter) { filter.name_contains = "NIGHT"; }},
        {"type", [](JobDefinition& job) { job.type = JobType::kNoop, job.command.clear(); },
         [](JobFilter& filter) { filter.type = JobType::kShell; }},
    };
  }
  static bool AsksForEveryField(const JobFilter& filter) {
    // streak_contract.h asks for paused_by_failures, which no definition says.
    const auto& [enabled, paused_by_failures, user_id, namespaces, name, name_contains, type, order,
                 descending, after, limit, unreadable, search_max] = filter;
    return enabled && user_id && !namespaces.empty() && !name.empty() && !name_contains.empty() &&
           type;
  }
  static bool Matches(const JobDefinition& job, const JobFilter& filter) {
    const auto& spaces = filter.namespaces;
    return (!filter.enabled || job.enabled == *filter.enabled) &&
           (!filter.user_id || job.user_id == *filter.user_id) &&
           (spaces.empty() || std::ranges::find(spaces, job.name_space) != spaces.end()) &&
           (filter.name.empty() || job.name == filter.name) &&
           (filter.name_contains.empty() || job.name.starts_with("Nightly")) &&
           (!filter.type || job.type == *filter.type);
  }
  static std::vector<std::string> Walk(StoreDriver& s, JobFilter filter) {
    std::vector<std::string> ids;
    for (int round = 0; round < 100; ++round) {
      const JobPage page = s.v(s.jobs.ListJobs(filter));
      for (const StoredJob& job : page.jobs) ids.push_back(job.job_id.value());
      filter.after = PlaceAfter(page, filter);
      if (!filter.after) break;
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }
};
TYPED_TEST_SUITE(JobFiltersContract, StoreFactories);

TYPED_TEST(JobFiltersContract, AJobThatDiffersInOneFieldOnlyIsNotListed) {
  StoreDriver s = this->driver();
  JobDefinition base = s.Manual();
  base.name = "Nightly backup";
  base.user_id = "anna";
  base.name_space = "pay";
  std::map<std::string, JobDefinition> jobs = {{"base", base}};
  const auto fields = this->Fields();
  JobFilter every;
  for (const auto& field : fields) {
    field.differ(jobs.emplace(field.id, base).first->second);
    field.ask(every);
  }
  ASSERT_TRUE(this->AsksForEveryField(every)) << "a field of the filter is not among the cases";
  int at = 0;
  for (const auto& [id, job] : jobs) s.Create(id, job, kT0 + (++at * 5 % 7) * 1s);
  const size_t whole = (size_t{1} << fields.size()) - 1;
  for (size_t asked = 0; asked <= whole; ++asked) {
    // Each field alone and beside each other one, and all together: the statements have no part
    // for three.
    if (std::popcount(asked) > 2 && asked != whole) continue;
    JobFilter filter;
    for (size_t i = 0; i < fields.size(); ++i) {
      if ((asked >> i & 1) != 0) fields[i].ask(filter);
    }
    std::vector<std::string> expected;
    for (const auto& [id, job] : jobs) {
      if (this->Matches(job, filter)) expected.push_back(id);
    }
    const BoundedCount count = s.v(s.jobs.CountJobs(filter));
    EXPECT_TRUE(count.all);
    EXPECT_EQ(count.seen, expected.size()) << asked;
    for (const JobOrder order :
         {JobOrder::kJobId, JobOrder::kName, JobOrder::kCreated, JobOrder::kUpdated}) {
      for (const size_t search_max : {size_t{1}, size_t{12}, kJobSearchMax}) {
        filter.order = order;
        filter.descending = search_max == 12;
        filter.search_max = search_max;
        EXPECT_EQ(Joined(this->Walk(s, filter)), Joined(expected))
            << asked << " " << static_cast<int>(order) << " " << search_max;
      }
    }
  }
}

template <typename Factory>
class RunFiltersContract : public StoreContract<Factory> {
 protected:
  // What decides whether a run is found. The default is the run that every filter finds.
  struct Case {
    std::string job = "base";
    JobDefinition of = {};
    RunKind kind = RunKind::kManual;
    uint64_t executor = 1;
    RunState state = RunState::kFailed;
    WallTime fire = kT0 + 1h;
  };
  struct Field {
    std::string id;
    std::function<void(Case&)> differ;
    std::function<void(RunFilter&)> ask;
  };
  // Every field but order, cursor and bounds.
  static std::vector<Field> Fields() {
    return {
        {"job", [](Case& run) { run.job = "job"; },
         [](RunFilter& filter) { filter.job_id = JobId("base"); }},
        {"executor", [](Case& run) { run.executor = 2; },
         [](RunFilter& filter) { filter.executor = ExecutorId("e1"); }},
        {"state", [](Case& run) { run.state = RunState::kTimedOut; },
         [](RunFilter& filter) {
           filter.states = {RunState::kFailed, RunState::kLost};
         }},
        {"completed", [](Case& run) { run.state = RunState::kCompleted; },
         [](RunFilter& filter) { filter.states = {RunState::kFailed}; }},
        {"kind", [](Case& run) { run.kind = RunKind::kCron; },
         [](RunFilter& filter) {
           filter.kinds = {RunKind::kManual, RunKind::kAfter};
         }},
        {"space", [](Case& run) { run.job = "space", run.of.name_space = "ops"; },
         [](RunFilter& filter) {
           filter.namespaces = {"pay", "web"};
         }},
        {"user", [](Case& run) { run.job = "user", run.of.user_id = "bob"; },
         [](RunFilter& filter) { filter.user_id = "anna"; }},
        {"text", [](Case& run) { run.job = "text", run.of.name = "Weekly report"; },
         [](RunFilter& filter) { filter.name_contains = "NIGHT"; }},
        {"label",
         [](Case& run) {
           run.job = "label", run.of.labels = {{"team", "web"}};
         },
         [](RunFilter& filter) {
           filter.labels = {{"team", {"etl", "ops"}}};
         }},
        {"early", [](Case& run) { run.fire = kT0 + 30min; },
         [](RunFilter& filter) { filter.since = kT0 + 1h; }},
        {"late", [](Case& run) { run.fire = kT0 + 2h; },
         [](RunFilter& filter) { filter.until = kT0 + 2h; }},
    };
  }
  static bool AsksForEveryField(const RunFilter& filter) {
    // parts_readers_contract.h asks for parts, due_values_contract.h for runs that wait.
    const auto& [job_id, executor, states, kinds, namespaces, user_id, name_contains, labels, since,
                 until, parts, awaiting, opened, oldest_first, before, limit, search_max] = filter;
    return job_id && executor && !states.empty() && !kinds.empty() && !namespaces.empty() &&
           user_id && !name_contains.empty() && !labels.empty() && since && until;
  }
  static bool Matches(const Case& run, const RunFilter& filter) {
    const auto any = [](const auto& list, const auto& value) {
      return list.empty() || std::ranges::find(list, value) != list.end();
    };
    return (!filter.job_id || run.job == filter.job_id->value()) &&
           (!filter.executor || run.executor == 1) && any(filter.states, run.state) &&
           any(filter.kinds, run.kind) && any(filter.namespaces, run.of.name_space) &&
           (!filter.user_id || run.of.user_id == *filter.user_id) &&
           (filter.name_contains.empty() || run.of.name.starts_with("Nightly")) &&
           (filter.labels.empty() || run.of.labels.at("team") == "etl") &&
           (!filter.since || run.fire >= *filter.since) &&
           (!filter.until || run.fire < *filter.until);
  }
  static void Make(StoreDriver& s, const Case& run, const Fence& fence) {
    const auto known = s.jobs.GetJob(JobId(run.job));
    const StoredJob job = known.ok() ? *known : s.Create(run.job, run.of);
    RunRow row;
    if (run.kind == RunKind::kManual) {
      row = s.Execute(job, run.fire);
    } else {
      const RunKey key{run.fire, job.schedules.front().schedule_id, 0};
      ASSERT_OK(s.firing.Plan({.runs = {{.key = key,
                                         .job_no = job.job_no,
                                         .segment = job.segment,
                                         .kind = run.kind,
                                         .due = run.fire,
                                         .def_version = job.version}}},
                              fence, kT0));
      row = s.Get(key).row;
    }
    ClaimRequest claim = s.ClaimOf(row, run.executor);
    claim.executor = ExecutorId("e" + std::to_string(run.executor));
    claim.incarnation = Incarnation("x" + std::to_string(run.executor));
    ASSERT_EQ(s.Claim(claim, fence, run.fire + 500ms).verdict, ClaimVerdict::kAccepted);
    s.Apply(s.ReportOf(s.Get(row.key).row, run.state, run.fire + 1s), fence, run.fire + 1s);
    ASSERT_EQ(s.Get(row.key).row.state, run.state);
  }
  static std::vector<std::string> Walk(StoreDriver& s, RunFilter filter,
                                       const std::map<RunKey, std::string>& ids) {
    std::vector<std::string> found;
    for (int round = 0; round < 200; ++round) {
      const RunPage page = s.v(s.runs.ListRuns(filter, kT0 + 1h * 24));
      for (const RunDetail& run : page.runs) found.push_back(ids.at(run.row.key));
      if (page.searched_to) {
        filter.before = page.searched_to;
      } else if (page.runs.size() == filter.limit) {
        filter.before = page.runs.back().row.key;
      } else {
        break;
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }
};
TYPED_TEST_SUITE(RunFiltersContract, StoreFactories);

TYPED_TEST(RunFiltersContract, ARunThatDiffersInOneFieldOnlyIsNotListed) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition job = s.Every(10h);
  job.name = "Nightly backup";
  job.user_id = "anna";
  job.name_space = "pay";
  job.labels = {{"team", "etl"}};
  std::map<std::string, typename TestFixture::Case> runs = {{"base", {.of = job}}};
  const auto fields = this->Fields();
  RunFilter every;
  for (const auto& field : fields) {
    field.differ(runs.emplace(field.id, typename TestFixture::Case{.of = job}).first->second);
    field.ask(every);
  }
  ASSERT_TRUE(this->AsksForEveryField(every)) << "a field of the filter is not among the cases";
  std::map<RunKey, std::string> ids;
  for (const auto& [id, run] : runs) {
    this->Make(s, run, fence);
    for (const RunDetail& made : s.v(s.runs.ListRuns({}, kT0 + 1h * 24)).runs) {
      ids.emplace(made.row.key, id);
    }
  }
  ASSERT_EQ(ids.size(), runs.size());
  for (size_t first = 0; first < fields.size(); ++first) {
    for (size_t second = first; second < fields.size(); ++second) {
      RunFilter filter;
      fields[first].ask(filter);
      fields[second].ask(filter);
      std::vector<std::string> expected;
      for (const auto& [id, run] : runs) {
        if (this->Matches(run, filter)) expected.push_back(id);
      }
      const std::string asked = fields[first].id + " and " + fields[second].id;
      const BoundedCount count = s.v(s.runs.CountRuns(filter, kT0 + 1h * 24));
      EXPECT_TRUE(count.all);
      EXPECT_EQ(count.seen, expected.size()) << asked;
      for (const bool oldest_first : {false, true}) {
        for (const size_t search_max : {size_t{2}, kRunSearchMax}) {
          filter.oldest_first = oldest_first;
          filter.search_max = search_max;
          EXPECT_EQ(Joined(this->Walk(s, filter, ids)), Joined(expected))
              << asked << " " << search_max;
        }
      }
    }
  }
}

template <typename Factory>
using OtherFiltersContract = StoreContract<Factory>;
TYPED_TEST_SUITE(OtherFiltersContract, StoreFactories);

TYPED_TEST(OtherFiltersContract, EachFieldOfAListOfGapsLeavesOut) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Every(1h));
  const StoredJob other = s.Create("b", s.Every(1h));
  const auto gap = [&](const StoredJob& of, WallTime from, GapReason reason) {
    ASSERT_OK(s.firing.Plan({.gaps = {{of.schedules.front().schedule_id,
                                       of.job_no,
                                       {.from = from, .to = from, .count = 1, .reason = reason}}}},
                            fence, kT0));
  };
  gap(job, kT0 + 1h, GapReason::kMisfire);
  gap(other, kT0 + 1h, GapReason::kMisfire);
  gap(job, kT0 + 1min, GapReason::kMisfire);
  gap(job, kT0 + 2h, GapReason::kMisfire);
  gap(job, kT0 + 1h, GapReason::kPaused);
  const auto expect = [&](const GapFilter& filter, size_t found) {
    EXPECT_EQ(s.v(s.runs.ListGaps(filter)).gaps.size(), found);
    EXPECT_EQ(s.v(s.runs.CountGaps(filter)).seen, found);
  };
  GapFilter every{.job_id = job.job_id,
                  .since = kT0 + 30min,
                  .until = kT0 + 2h,
                  .reasons = {GapReason::kMisfire, GapReason::kDeleted}};
  const auto& [job_id, since, until, reasons, before_id, limit] = every;
  ASSERT_TRUE(job_id && since && until && !reasons.empty());
  expect({}, 5);
  expect({.job_id = job_id}, 4);
  expect({.since = since}, 4);
  expect({.until = until}, 4);
  expect({.reasons = reasons}, 4);
  expect(every, 1);
}

TYPED_TEST(OtherFiltersContract, EachFieldOfAListOfBulkActionsLeavesOut) {
  StoreDriver s = this->driver();
  const auto create = [&](const std::string& id, const std::string& user) {
    s.v(s.bulk.CreateBulk({.bulk_id = id,
                           .action = "run",
                           .kind = "job",
                           .user_id = user,
                           .role = "user",
                           .created = kT0},
                          {"a", "b"}, std::nullopt));
  };
  create("bulk-1", "anna");
  create("bulk-2", "bob");
  create("bulk-3", "anna");
  s.v(s.bulk.CancelBulk("bulk-3", kT0));
  const auto expect = [&](const BulkFilter& filter, size_t found) {
    EXPECT_EQ(s.v(s.bulk.ListBulk(filter)).size(), found);
    EXPECT_EQ(s.v(s.bulk.CountBulk(filter)).seen, found);
  };
  BulkFilter every{.state = BulkState::kRunning, .user_id = "anna", .open = true};
  const auto& [state, user_id, open, before_number, limit] = every;
  ASSERT_TRUE(state && user_id && open);
  expect({}, 3);
  expect({.state = state}, 2);
  expect({.user_id = user_id}, 2);
  expect({.open = open}, 2);
  expect(every, 1);
  EXPECT_EQ(s.v(s.bulk.ListBulkItems("bulk-3", {.result = BulkResult::kPending})).size(), 0u);
  EXPECT_EQ(s.v(s.bulk.CountBulkItems("bulk-3", {.result = BulkResult::kPending})).seen, 0u);
}

TYPED_TEST(OtherFiltersContract, EachFieldOfAListOfDeliveriesAndDeadLettersLeavesOut) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  for (const std::string id : {"a", "b"}) {
    const RunRow run = s.Start(s.Execute(s.Create(id, s.Manual()), kT0), 1, fence, kT0 + 1s);
    s.Apply(s.ReportOf(run, RunState::kFailed), fence, kT0 + 9s);
  }
  for (const OpenNotice& open : s.v(s.notices.ScanNotices(s.All(), 10))) {
    ASSERT_OK(s.notices.DecideNotices({{.notice = open.notice,
                                        .verdict = NoticeVerdict::kTell,
                                        .deliveries = {{.message = "{}"}}}},
                                      fence, kT0 + 5min));
  }
  const auto expect = [&](const DeliveryFilter& filter, size_t found) {
    EXPECT_EQ(s.v(s.notices.ListDeliveries(filter)).size(), found);
    EXPECT_EQ(s.v(s.notices.CountDeliveries(filter)).seen, found);
  };
  DeliveryFilter every{
      .state = DeliveryState::kPending, .kind = NoticeKind::kFailed, .job_id = JobId("a")};
  const auto& [state, kind, job_id, before_id, limit] = every;
  ASSERT_TRUE(state && kind && job_id);
  expect({}, 2);
  expect({.state = state}, 2);
  expect({.state = DeliveryState::kDelivered}, 0);
  expect({.kind = kind}, 2);
  expect({.kind = NoticeKind::kLate}, 0);
  expect({.job_id = job_id}, 1);
  expect(every, 1);
  EXPECT_EQ(s.v(s.runs.ListDeadLetters({})).size(), 2u);
  EXPECT_EQ(s.v(s.runs.ListDeadLetters({.job_id = JobId("a")})).size(), 1u);
  EXPECT_EQ(s.v(s.runs.CountDeadLetters({.job_id = JobId("a")})).seen, 1u);
}

}  // namespace carillon::test
