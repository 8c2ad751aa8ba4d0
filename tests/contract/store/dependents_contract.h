// Contract of jobs that start after other jobs: JobStore writes their dependencies, each write that
// ends a run tells of it, and CompletionStore starts the runs.
#pragma once

#include "common/domain/run/dependents.h"
#include "tests/contract/store/concurrent_store_contract.h"

namespace carillon::test {

// Short forms of what happens to a job "a" and the jobs after it.
class DependentsDriver : public StoreDriver {
 public:
  explicit DependentsDriver(StoreHandle& store) : StoreDriver(store), fence(Take()) {}

  static ScheduleSpec Behind(const std::string& upstream,
                             AfterOutcome on = AfterOutcome::kSuccess) {
    return {.kind = ScheduleKind::kAfter, .upstream = upstream, .on = on};
  }
  static JobDefinition After(const std::string& upstream,
                             AfterOutcome on = AfterOutcome::kSuccess) {
    JobDefinition definition = Manual();
    definition.schedules = {Behind(upstream, on)};
    return definition;
  }
  static JobDefinition Named(const std::string& name, JobDefinition definition) {
    definition.name = name;
    return definition;
  }

  RunRow Started(const RunRow& row, WallTime now) { return Start(row, ++token_, fence, now); }
  RunRow Ended(const RunRow& row, RunState state, WallTime ended) {
    Apply(ReportOf(row, state, ended), fence, ended + 1ms);
    return Get(row.key).row;
  }
  // Runs the job by hand until it has ended.
  RunRow RunOnce(const StoredJob& job, RunState state, WallTime now) {
    return Ended(Started(Execute(job, now), now + 1ms), state, now + 1s);
  }
  std::vector<RunCompletion> Ends() { return v(completions.ScanCompletions(All(), 100)); }
  // Acts on all completions; their effects together.
  CompletionEffect Act(WallTime now) {
    const std::vector<RunCompletion> ends = Ends();
    CompletionEffect all;
    for (CompletionEffect& one : v(completions.Apply(ends, fence, now))) {
      all.started.insert(all.started.end(), one.started.begin(), one.started.end());
      all.existing += one.existing;
      all.paused += one.paused;
    }
    EXPECT_TRUE(Ends().empty());
    return all;
  }
  Result<StoredJob> TryCreate(const std::string& id, const JobDefinition& definition) {
    return jobs.CreateJob(JobId(id), definition, {.now = kT0});
  }
  static std::string CodeOf(const Result<StoredJob>& result) {
    return result.ok() ? "" : std::string(DependencyCode(result.error()));
  }

  Fence fence;

 private:
  uint64_t token_ = 700;
};

template <typename Factory>
class DependentsContract : public ConcurrentStoreContract<Factory> {
 protected:
  DependentsDriver dependents() { return DependentsDriver(this->handle()); }
};
TYPED_TEST_SUITE(DependentsContract, StoreFactories);

TYPED_TEST(DependentsContract, SuccessStartsTheDependentWithItsFire) {
  DependentsDriver s = this->dependents();
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.After("a"));
  const RunRow ended = s.RunOnce(a, RunState::kCompleted, kT0 + 1s);
  ASSERT_EQ(s.Ends().size(), 1u);
  EXPECT_EQ(s.Ends()[0].target, CompletionTarget::kDependents);
  const CompletionEffect effect = s.Act(kT0 + 5s);
  ASSERT_EQ(effect.started.size(), 1u);
  const RunKey key{ended.key.fire, b.schedules[0].schedule_id, 0};
  EXPECT_EQ(effect.started[0].key, key);
  const RunDetail run = s.Get(key);
  EXPECT_EQ(run.row, effect.started[0]);
  EXPECT_EQ(run.row.kind, RunKind::kAfter);
  EXPECT_EQ(run.row.state, RunState::kPending);
  EXPECT_EQ(run.row.due, kT0 + 5s);
  EXPECT_EQ(run.row.segment, b.segment);
  EXPECT_EQ(run.row.def_version, b.version);
  EXPECT_EQ(run.row.flags, run_flag::kHasRequest | run_flag::kByHand);
  const RunTrigger trigger{.run = ended.key, .job_id = a.job_id, .state = RunState::kCompleted};
  ASSERT_TRUE(run.trigger.has_value());
  EXPECT_EQ(*run.trigger, trigger);
  EXPECT_EQ(s.v(s.firing.LoadRunRequest(key)).trigger, trigger);
  EXPECT_EQ(s.OnlyPending(kT0 + 1h).key, key);
}

TYPED_TEST(DependentsContract, EachOutcomeHasItsStates) {
  DependentsDriver s = this->dependents();
  const StoredJob a = s.Create("a", s.Manual());
  s.Create("success", s.After("a", AfterOutcome::kSuccess));
  s.Create("failure", s.After("a", AfterOutcome::kFailure));
  s.Create("done", s.After("a", AfterOutcome::kDone));
  const std::map<RunState, size_t> expected = {{RunState::kCompleted, 2},
                                               {RunState::kFailed, 2},
                                               {RunState::kTimedOut, 2},
                                               {RunState::kCancelled, 0}};
  WallTime now = kT0;
  for (const auto& [state, count] : expected) {
    SCOPED_TRACE(Name(state));
    now += 10s;
    s.RunOnce(a, state, now);
    EXPECT_EQ(s.Act(now + 5s).started.size(), count);
  }
  const RunRow lost = s.Started(s.Execute(a, now + 10s), now + 10s);
  s.Lose(lost, s.fence, now + 11s);
  const bool final = IsFinal(s.Get(lost.key).row.state);
  EXPECT_EQ(s.Act(now + 12s).started.size(), final ? 2u : 0u);
  const RunRow cancelled = s.Execute(a, now + 20s);
  ASSERT_OK(s.runs.CancelRun(cancelled.key, {.now = now + 20s}));
  EXPECT_TRUE(s.Act(now + 21s).started.empty());
}

TYPED_TEST(DependentsContract, EndsFromBeforeStartNothing) {
  DependentsDriver s = this->dependents();
  const StoredJob a = s.Create("a", s.Manual());
  s.RunOnce(a, RunState::kCompleted, kT0 + 1s);
  EXPECT_TRUE(s.Ends().empty());
  const StoredJob b = s.Create("b", s.After("a"));
  s.RunOnce(a, RunState::kCompleted, kT0 + 10s);
  const StoredJob c = s.Create("c", s.After("a"));  // after that end, which is not acted upon yet
  const CompletionEffect effect = s.Act(kT0 + 15s);
  ASSERT_EQ(effect.started.size(), 1u);
  EXPECT_EQ(effect.started[0].job_no, b.job_no);
  s.RunOnce(a, RunState::kCompleted, kT0 + 20s);
  EXPECT_EQ(s.Act(kT0 + 25s).started.size(), 2u);
}

TYPED_TEST(DependentsContract, RunsThatAreOpenWhenTheJobIsNamedTellTheirEnds) {
  DependentsDriver s = this->dependents();
  const StoredJob a = s.Create("a", s.Every(10s));
  s.Plan(kT0 + 10s, s.fence);
  const PlanBatch late = s.BatchOf(kT0 + 20s, kT0);
  const RunRow planned = s.OnlyPending(kT0 + 10s);
  const RunRow running = s.Started(s.Execute(a, kT0), kT0 + 1s);
  EXPECT_EQ(running.flags, 0u);
  s.Create("b", s.After("a"));
  EXPECT_EQ(s.Get(planned.key).row.flags, run_flag::kDependents);
  EXPECT_EQ(s.Get(running.key).row.flags, run_flag::kDependents);
  // A plan that was made before conflicts.
  EXPECT_CODE(s.firing.Plan(late, s.fence, kT0 + 1s), ErrorCode::kConflict);
  s.Plan(kT0 + 20s, s.fence);
  for (const RunRow& row : s.Pending(kT0 + 20s)) EXPECT_EQ(row.flags, run_flag::kDependents);
  s.Ended(running, RunState::kCompleted, kT0 + 2s);
  EXPECT_EQ(s.Act(kT0 + 3s).started.size(), 1u);
  // An edit keeps the mark.
  const StoredJob edited = s.Replace(s.v(s.jobs.GetJob(a.job_id)), s.Every(7s), kT0 + 3s);
  s.Plan(kT0 + 14s, s.fence, kT0 + 3s);
  for (const RunRow& row : s.Pending(kT0 + 14s)) {
    if (row.job_no != edited.job_no) continue;
    EXPECT_EQ(row.flags, run_flag::kDependents);
  }
}

TYPED_TEST(DependentsContract, RetryThatSucceedsStartsOnce) {
  DependentsDriver s = this->dependents();
  const StoredJob a = s.Create("a", s.Manual());
  s.Create("b", s.After("a"));
  s.Create("c", s.After("a", AfterOutcome::kDone));
  const RunRow failed = s.RunOnce(a, RunState::kFailed, kT0 + 1s);
  EXPECT_EQ(s.Act(kT0 + 5s).started.size(), 1u);
  const auto again = [&](RunState state, WallTime now) {
    const RunDetail retried = s.v(s.runs.RetryRun({.key = failed.key}, {.now = now}));
    s.Ended(s.Started(retried.row, now), state, now + 1s);
    return s.Act(now + 2s);
  };
  const CompletionEffect second = again(RunState::kFailed, kT0 + 10s);
  EXPECT_TRUE(second.started.empty());
  EXPECT_EQ(second.existing, 1);
  const CompletionEffect third = again(RunState::kCompleted, kT0 + 20s);
  EXPECT_EQ(third.started.size(), 1u);
  EXPECT_EQ(third.existing, 1);
}

TYPED_TEST(DependentsContract, RunThatEndedBeforeTellsTheEndOfItsRetry) {
  DependentsDriver s = this->dependents();
  const StoredJob a = s.Create("a", s.Manual());
  const RunRow failed = s.RunOnce(a, RunState::kFailed, kT0 + 1s);
  s.Create("b", s.After("a"));
  const RunDetail retried = s.v(s.runs.RetryRun({.key = failed.key}, {.now = kT0 + 5s}));
  EXPECT_EQ(retried.row.flags, run_flag::kDependents);
  s.Ended(s.Started(retried.row, kT0 + 5s), RunState::kCompleted, kT0 + 6s);
  EXPECT_EQ(s.Act(kT0 + 7s).started.size(), 1u);
}

TYPED_TEST(DependentsContract, LateResultStartsWhoeverWaitsSinceTheLoss) {
  DependentsDriver s = this->dependents();
  WallTime now = kT0;
  for (const RunState late : {RunState::kCompleted, RunState::kFailed}) {
    SCOPED_TRACE(Name(late));
    now += 1min;
    const std::string id(late == RunState::kCompleted ? "succeeds" : "fails");
    const RunRow running = s.Started(s.Execute(s.Create(id, s.Manual()), now), now);
    s.Lose(running, s.fence, now + 10s);
    ASSERT_EQ(s.Get(running.key).row.state, RunState::kLost);
    const StoredJob b = s.Create("after-" + id, s.After(id, AfterOutcome::kDone));
    EXPECT_EQ(s.Ended(running, late, now + 11s).state, late);
    const CompletionEffect effect = s.Act(now + 15s);
    ASSERT_EQ(effect.started.size(), 1u);
    EXPECT_EQ(effect.started[0].job_no, b.job_no);
  }
}

TYPED_TEST(DependentsContract, FirePassesDownAChain) {
  DependentsDriver s = this->dependents();
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.After("a"));
  const StoredJob c = s.Create("c", s.After("b"));
  const RunRow first = s.RunOnce(a, RunState::kCompleted, kT0 + 1s);
  const RunRow second = s.Act(kT0 + 5s).started.at(0);
  EXPECT_EQ(second.flags, run_flag::kHasRequest | run_flag::kDependents | run_flag::kByHand);
  s.Ended(s.Started(second, kT0 + 6s), RunState::kCompleted, kT0 + 7s);
  const RunRow third = s.Act(kT0 + 8s).started.at(0);
  EXPECT_EQ(third.key, (RunKey{first.key.fire, c.schedules[0].schedule_id, 0}));
  EXPECT_EQ(s.Get(third.key).trigger->job_id, b.job_id);
}

TYPED_TEST(DependentsContract, PausedDependentGetsAGap) {
  DependentsDriver s = this->dependents();
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.After("a"));
  s.Pause(b, kT0 + 1s);
  const RunRow ended = s.RunOnce(a, RunState::kCompleted, kT0 + 2s);
  const CompletionEffect effect = s.Act(kT0 + 5s);
  EXPECT_TRUE(effect.started.empty());
  EXPECT_EQ(effect.paused, 1);
  const std::vector<GapRecord> gaps = s.Gaps(b);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].range.from, ended.key.fire);
  EXPECT_EQ(gaps[0].range.count, 1);
  EXPECT_EQ(gaps[0].range.reason, GapReason::kPaused);
  s.Resume(b, kT0 + 6s);
  EXPECT_EQ(s.Gaps(b).size(), 1u);
  s.RunOnce(a, RunState::kCompleted, kT0 + 10s);
  EXPECT_EQ(s.Act(kT0 + 12s).started.size(), 1u);
}

TYPED_TEST(DependentsContract, EditAndDeleteOfTheDependentEndTheWait) {
  DependentsDriver s = this->dependents();
  const StoredJob a = s.Create("a", s.Manual());
  StoredJob b = s.Create("b", s.After("a"));
  const ScheduleId first = b.schedules[0].schedule_id;
  JobDefinition with_parameters = s.After("a");
  with_parameters.schedules[0].parameters["x"] = std::string("1");
  b = s.Replace(b, with_parameters, kT0 + 1s);
  EXPECT_EQ(b.schedules[0].schedule_id, first);
  s.RunOnce(a, RunState::kCompleted, kT0 + 2s);
  EXPECT_EQ(s.Act(kT0 + 4s).started.size(), 1u);
  b = s.Replace(b, s.After("a", AfterOutcome::kFailure), kT0 + 5s);
  EXPECT_NE(b.schedules[0].schedule_id, first);
  s.RunOnce(a, RunState::kCompleted, kT0 + 6s);
  EXPECT_TRUE(s.Act(kT0 + 8s).started.empty());
  b = s.Replace(b, s.Manual(), kT0 + 9s);
  EXPECT_TRUE(s.v(s.jobs.ListDependencies(a.job_id)).downstream.empty());
  s.RunOnce(a, RunState::kFailed, kT0 + 10s);
  EXPECT_TRUE(s.Act(kT0 + 12s).started.empty());
  b = s.Replace(b, s.After("a"), kT0 + 13s);
  ASSERT_OK(s.jobs.DeleteJob(b.job_id, b.version, {.now = kT0 + 14s}));
  s.RunOnce(a, RunState::kCompleted, kT0 + 15s);
  EXPECT_TRUE(s.Act(kT0 + 17s).started.empty());
  EXPECT_TRUE(s.v(s.jobs.ListDependencies(a.job_id)).downstream.empty());
}

TYPED_TEST(DependentsContract, AwaitedJobIsDeletedOnlyByForce) {
  DependentsDriver s = this->dependents();
  const StoredJob a = s.Create("a", s.Named("first", s.Manual()));
  const StoredJob b = s.Create("b", s.After("a", AfterOutcome::kDone));
  EXPECT_CODE(s.jobs.DeleteJob(a.job_id, a.version, {.now = kT0 + 1s}), ErrorCode::kExists);
  const JobDependency below{
      .job_id = b.job_id, .job_name = b.definition.name, .on = AfterOutcome::kDone};
  EXPECT_EQ(s.v(s.jobs.ListDependencies(a.job_id)).downstream, std::vector{below});
  ASSERT_OK(s.jobs.DeleteJob(a.job_id, a.version, {.now = kT0 + 2s, .force = true}));
  const JobDependency above{
      .job_id = a.job_id, .job_name = "first", .on = AfterOutcome::kDone, .deleted = true};
  EXPECT_EQ(s.v(s.jobs.ListDependencies(b.job_id)).upstream, std::vector{above});
  EXPECT_CODE(s.jobs.ListDependencies(a.job_id), ErrorCode::kNotFound);
  EXPECT_CODE(s.jobs.ListDependencies(JobId("none")), ErrorCode::kNotFound);
}

TYPED_TEST(DependentsContract, JobWhoseUpstreamWasDeletedCanBeEdited) {
  DependentsDriver s = this->dependents();
  const StoredJob a = s.Create("a", s.Manual());
  StoredJob b = s.Create("b", s.After("a"));
  ASSERT_OK(s.jobs.DeleteJob(a.job_id, a.version, {.now = kT0 + 1s, .force = true}));
  s.Create("c", s.Manual());
  JobDefinition edited = s.Named("edited", s.After("a"));
  edited.schedules.push_back(s.Behind("c"));
  b = s.Replace(b, edited, kT0 + 2s);
  EXPECT_EQ(s.v(s.jobs.ListDependencies(b.job_id)).upstream.size(), 2u);
  b = s.Replace(b, s.After("c"), kT0 + 3s);
  const auto back = s.jobs.ReplaceJob(b.job_id, b.version, s.After("a"), {.now = kT0 + 4s});
  EXPECT_EQ(s.CodeOf(back), "unknown_job");
}

TYPED_TEST(DependentsContract, UnknownJobsAndCyclesAreRefused) {
  DependentsDriver s = this->dependents();
  EXPECT_EQ(s.CodeOf(s.TryCreate("b", s.After("a"))), "unknown_job");
  EXPECT_EQ(s.CodeOf(s.TryCreate("b", s.After("b"))), "cycle");
  StoredJob a = s.Create("a", s.Named("nightly", s.Manual()));
  const StoredJob b = s.Create("b", s.Named("report", s.After("a")));
  s.Create("c", s.Named("mail", s.After("b")));
  const auto cycle =
      s.jobs.ReplaceJob(a.job_id, a.version, s.Named("nightly", s.After("c")), {.now = kT0 + 1s});
  EXPECT_EQ(s.CodeOf(cycle), "cycle");
  if (!cycle.ok()) {
    EXPECT_EQ(cycle.error().pointer, "/schedules/0/job");
    EXPECT_NE(cycle.error().message.find("nightly -> report -> mail -> nightly"), std::string::npos)
        << cycle.error().message;
  }
  EXPECT_EQ(s.v(s.jobs.GetJob(a.job_id)).version, a.version);
  ASSERT_OK(s.jobs.DeleteJob(b.job_id, b.version, {.now = kT0 + 2s, .force = true}));
  EXPECT_EQ(s.CodeOf(s.TryCreate("d", s.After("b"))), "unknown_job");
}

TYPED_TEST(DependentsContract, AJobHasAtMostAHundredDependents) {
  DependentsDriver s = this->dependents();
  s.Create("a", s.Manual());
  NewJobs many;
  for (size_t i = 0; i < kDependentsMax; ++i) {
    many.push_back({JobId("b" + std::to_string(i)), s.After("a")});
  }
  NewJobs too_many = many;
  too_many.push_back({JobId("one-more"), s.After("a")});
  const auto refused = s.jobs.CreateJobs(too_many, {.now = kT0});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(DependencyCode(refused.error()), "too_many_dependents");
  ASSERT_OK(s.jobs.CreateJobs(many, {.now = kT0}));
  EXPECT_EQ(s.CodeOf(s.TryCreate("c", s.After("a"))), "too_many_dependents");
  const StoredJob one = s.v(s.jobs.GetJob(JobId("b0")));
  s.Replace(one, s.After("a", AfterOutcome::kDone), kT0 + 1s);
}

TYPED_TEST(DependentsContract, ActingTwiceOnAnEndChangesNothing) {
  DependentsDriver s = this->dependents();
  const StoredJob a = s.Create("a", s.Manual());
  s.Create("b", s.After("a"));
  s.RunOnce(a, RunState::kCompleted, kT0 + 1s);
  const std::vector<RunCompletion> ends = s.Ends();
  EXPECT_EQ(s.Act(kT0 + 5s).started.size(), 1u);
  const auto again = s.v(s.completions.Apply(ends, s.fence, kT0 + 6s));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_TRUE(again[0].started.empty());
  EXPECT_EQ(again[0].existing, 1);
  EXPECT_EQ(s.Pending(kT0 + 1h).size(), 1u);
}

// Either the end comes first and starts nothing, or the dependent does and is started.
TYPED_TEST(DependentsContract, DependentThatIsMadeWhileARunEndsIsStartedOrTooLate) {
  DependentsDriver s = this->dependents();
  WallTime now = kT0;
  for (int round = 0; round < 5; ++round) {
    now += 1min;
    const std::string id = "a" + std::to_string(round);
    const StoredJob a = s.Create(id, s.Manual());
    const RunRow running = s.Started(s.Execute(a, now), now);
    this->AllAtOnce([&](StoreDriver& mine, int writer) {
      if (writer == 0) {
        EXPECT_OK(Persist(
            [&] { return mine.jobs.CreateJob(JobId("b" + id), s.After(id), {.now = now + 1s}); },
            false));
      } else if (writer == 1) {
        EXPECT_OK(Persist(
            [&] {
              return mine.firing.ApplyResults({s.ReportOf(running, RunState::kCompleted, now + 1s)},
                                              s.fence, now + 1s);
            },
            false));
      }
    });
    EXPECT_LE(s.Act(now + 2s).started.size(), 1u);
    // Whatever came first, the next end starts it.
    s.RunOnce(a, RunState::kCompleted, now + 10s);
    EXPECT_EQ(s.Act(now + 15s).started.size(), 1u);
  }
}

TYPED_TEST(DependentsContract, TwoWritersMakeNoCycleTogether) {
  DependentsDriver s = this->dependents();
  for (int round = 0; round < 5; ++round) {
    const std::string suffix = std::to_string(round);
    std::vector<StoredJob> jobs;
    for (int i = 0; i < 2; ++i) {
      jobs.push_back(s.Create(std::string(i == 0 ? "x" : "y") + suffix, s.Manual()));
    }
    std::atomic<int> refused{0};
    std::atomic<int> written{0};
    this->AllAtOnce([&](StoreDriver& mine, int writer) {
      if (writer > 1) return;
      const StoredJob& own = jobs[static_cast<size_t>(writer)];
      const StoredJob& other = jobs[static_cast<size_t>(1 - writer)];
      const auto result = Persist([&] {
        return mine.jobs.ReplaceJob(own.job_id, own.version, s.After(other.job_id.value()),
                                    {.now = kT0 + 1s});
      });
      if (result.ok()) {
        ++written;
      } else if (DependencyCode(result.error()) == "cycle") {
        ++refused;
      } else {
        ADD_FAILURE() << result.error().message;
      }
    });
    EXPECT_EQ(written.load(), 1);
    EXPECT_EQ(refused.load(), 1);
  }
}

}  // namespace carillon::test
