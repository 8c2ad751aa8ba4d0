#include "common/domain/run/dependents.h"

#include <gtest/gtest.h>

#include "common/domain/schedule/schedule.h"
#include "tests/support/failpoint_on.h"

namespace carillon::dependents_test {
namespace {

constexpr WallTime kNow = FromUnixMicros(1'772'323'200'000'000);

RunCompletion EndAt(WallTime fire, RunState state, uint64_t id = 7) {
  return {.id = id,
          .segment = SegmentId(1),
          .key = {fire, ScheduleId(3), 2},
          .job_no = JobNo(5),
          .state = state,
          .ended = kNow,
          .target = CompletionTarget::kDependents};
}

JobDefinition After(const std::string& upstream) {
  JobDefinition job;
  job.name = "b";
  job.command = "true";
  job.schedules = {{.kind = ScheduleKind::kAfter, .upstream = upstream}};
  return job;
}

// The jobs for which each one waits: "1": {2} means that 1 waits for 2.
ReadUpstream Graph(std::multimap<int, int> edges) {
  return [edges = std::move(edges)](
             const std::vector<JobNo>& jobs) -> Result<std::multimap<JobNo, JobNo>> {
    std::multimap<JobNo, JobNo> found;
    for (const auto& [waiting, awaited] : edges) {
      const JobNo job_no(static_cast<uint64_t>(waiting));
      if (std::find(jobs.begin(), jobs.end(), job_no) == jobs.end()) continue;
      found.emplace(job_no, JobNo(static_cast<uint64_t>(awaited)));
    }
    return found;
  };
}

std::vector<uint64_t> Cycle(uint64_t job, uint64_t upstream, const ReadUpstream& read) {
  std::vector<uint64_t> numbers;
  const auto found = FindCycle(JobNo(job), JobNo(upstream), read);
  for (const JobNo job_no : *found) numbers.push_back(job_no.value());
  return numbers;
}

TEST(DependentsTest, OutcomesCountFinalStates) {
  using enum RunState;
  for (const RunState state :
       {kPending, kRunning, kHeld, kCompleted, kFailed, kTimedOut, kCancelled, kLost, kSkipped}) {
    const bool success = state == kCompleted;
    const bool failure = state == kFailed || state == kTimedOut || state == kLost;
    EXPECT_EQ(Starts(AfterOutcome::kSuccess, state), success) << Name(state);
    EXPECT_EQ(Starts(AfterOutcome::kFailure, state), failure) << Name(state);
    EXPECT_EQ(Starts(AfterOutcome::kDone, state), success || failure) << Name(state);
  }
}

TEST(DependentsTest, OlderEndsStartNothing) {
  const Dependent dependent{.job_no = JobNo(6), .schedule_id = ScheduleId(9), .since_id = 7};
  EXPECT_FALSE(IsStartedBy(dependent, EndAt(kNow, RunState::kCompleted, 7)));
  EXPECT_TRUE(IsStartedBy(dependent, EndAt(kNow, RunState::kCompleted, 8)));
  EXPECT_FALSE(IsStartedBy(dependent, EndAt(kNow, RunState::kFailed, 8)));
}

TEST(DependentsTest, RunHasTheFireOfTheOneBefore) {
  failpoint::Reset();
  const JobRow job{.job_no = JobNo(6), .version = 4, .priority = 8, .segment = SegmentId(2)};
  const Dependent dependent{.job_no = JobNo(6), .schedule_id = ScheduleId(9)};
  const RunCompletion end = EndAt(kNow - 1h, RunState::kCompleted);
  const DependentRun run = RunAfter(end, end.key.fire, dependent, job, JobId("a"), kNow);
  EXPECT_EQ(run.row.key, (RunKey{kNow - 1h, ScheduleId(9), 0}));
  EXPECT_EQ(run.row.due, kNow);
  EXPECT_EQ(run.row.segment, SegmentId(2));
  EXPECT_EQ(run.row.def_version, 4);
  EXPECT_EQ(run.row.priority, 8);
  EXPECT_EQ(run.row.flags, run_flag::kHasRequest);
  EXPECT_EQ(run.trigger,
            (RunTrigger{.run = end.key, .job_id = JobId("a"), .state = RunState::kCompleted}));
  // A run is never due before its fire.
  const RunCompletion ahead = EndAt(kNow + 1h, RunState::kCompleted);
  EXPECT_EQ(RunAfter(ahead, kNow + 1h, dependent, job, JobId("a"), kNow).row.due, kNow + 1h);
  failpoint::Break("after.key");
  EXPECT_EQ(RunAfter(end, end.key.fire, dependent, job, JobId("a"), kNow).row.key.fire, kNow);
  failpoint::Reset();
}

TEST(DependentsTest, EachRunOfOneFireHasAPlaceOfItsOwn) {
  failpoint::Reset();
  const WallTime fire = kNow - 1h;
  const auto run = [&](uint64_t schedule) { return RunKey{fire, ScheduleId(schedule), 0}; };
  StartedRuns started;
  for (const uint64_t schedule : {1, 2, 3}) {
    const DependentPlace place = PlaceAfter(run(schedule), started);
    EXPECT_FALSE(place.exists);
    EXPECT_EQ(place.fire, fire + Duration(static_cast<int64_t>(schedule) - 1));
    started[*place.fire] = run(schedule);
  }
  for (const uint64_t schedule : {1, 2, 3}) EXPECT_TRUE(PlaceAfter(run(schedule), started).exists);
  // A run of a later fire may have taken a place, and one of an earlier fire is no reason to wait.
  const RunKey later{fire + Duration(1), ScheduleId(4), 0};
  EXPECT_EQ(PlaceAfter(later, started).fire, fire + Duration(3));
  EXPECT_EQ(PlaceAfter({fire + 1s, ScheduleId(1), 0}, started).fire, fire + 1s);
  // A run that has been deleted leaves a hole; those behind it are still found.
  started.erase(fire);
  EXPECT_TRUE(PlaceAfter(run(3), started).exists);
  EXPECT_EQ(PlaceAfter(run(9), started).fire, fire);
  // Nobody knows which run started it: to start none is safe.
  started[fire] = std::nullopt;
  EXPECT_TRUE(PlaceAfter(run(9), started).exists);
}

TEST(DependentsTest, RunsOfOneFireAreLimited) {
  failpoint::Reset();
  StartedRuns started;
  for (int64_t i = 0; i < kSameFireMax; ++i) {
    started[kNow + Duration(i)] = RunKey{kNow, ScheduleId(static_cast<uint64_t>(100 + i)), 0};
  }
  const DependentPlace place = PlaceAfter({kNow, ScheduleId(7), 0}, started);
  EXPECT_FALSE(place.exists);
  EXPECT_FALSE(place.fire);
}

TEST(DependentsTest, FlagsAreForJobsWithDependents) {
  failpoint::Reset();
  EXPECT_EQ(EndFlags(RunKind::kCron, 0, false), 0u);
  EXPECT_EQ(EndFlags(RunKind::kCron, 0, true), run_flag::kDependents);
  EXPECT_EQ(EndFlags(RunKind::kAfter, 0, true), run_flag::kDependents);
  EXPECT_EQ(EndFlags(RunKind::kBackfill, 0, true), 0u);
  failpoint::Break("after.no_flag");
  EXPECT_EQ(EndFlags(RunKind::kCron, 0, true), 0u);
  failpoint::Reset();
}

TEST(DependentsTest, TargetsFollowTheFlags) {
  using enum CompletionTarget;
  RunRow row;
  EXPECT_TRUE(TargetsOf(row).empty());
  row.flags = run_flag::kDelay | run_flag::kDependents | run_flag::kHasRequest;
  EXPECT_EQ(TargetsOf(row), (std::vector{kSchedule, kDependents}));
  row.flags = run_flag::kPart | run_flag::kHasRequest;
  EXPECT_EQ(TargetsOf(row), (std::vector{kParts}));
}

TEST(DependentsTest, TriggerIsReadAsItWasWritten) {
  const RunTrigger trigger{
      .run = {kNow, ScheduleId(3), 2}, .job_id = JobId("a-b_1"), .state = RunState::kTimedOut};
  EXPECT_EQ(TriggerFromText(ToText(trigger)), trigger);
  for (const char* text : {"", "x", "x y", "x COMPLETED a", " COMPLETED a"}) {
    EXPECT_FALSE(TriggerFromText(text).has_value()) << text;
  }
  EXPECT_FALSE(TriggerFromText(EncodeRunId(trigger.run) + " NEWER a").has_value());
}

TEST(DependentsTest, UpstreamJobsAreNamedOnce) {
  JobDefinition job = After("x");
  job.schedules.push_back(After("a").schedules[0]);
  job.schedules.push_back(After("x").schedules[0]);
  job.schedules.push_back({.kind = ScheduleKind::kRate, .every = 1h});
  EXPECT_EQ(UpstreamOf(job), (std::vector{JobId("a"), JobId("x")}));
}

TEST(DependentsTest, RefusalsHaveACodeAndASentence) {
  const Error unknown = UnknownUpstream(2, JobId("a"));
  EXPECT_EQ(DependencyCode(unknown), "unknown_job");
  EXPECT_EQ(DependencySentence(unknown), "There is no job a.");
  EXPECT_EQ(unknown.pointer, "/schedules/2/job");
  const Error cycle = DependencyCycle(0, {"a", "b", "a"});
  EXPECT_EQ(DependencyCode(cycle), "cycle");
  EXPECT_EQ(DependencySentence(cycle), "The jobs would start each other without end: a -> b -> a.");
  EXPECT_EQ(DependencyCode(TooManyDependents(0, JobId("a"))), "too_many_dependents");
  const Error other{ErrorCode::kInvalid, "cycles are fine"};
  EXPECT_EQ(DependencyCode(other), "");
  EXPECT_EQ(DependencySentence(other), "cycles are fine");
  EXPECT_EQ(DependencyCode({ErrorCode::kConflict, "cycle: no"}), "");
}

TEST(DependentsTest, CyclesAreFoundAlongAnyPath) {
  EXPECT_EQ(Cycle(1, 1, Graph({})), (std::vector<uint64_t>{1, 1}));
  EXPECT_TRUE(Cycle(1, 2, Graph({})).empty());
  EXPECT_TRUE(Cycle(1, 2, Graph({{2, 3}, {2, 4}, {3, 4}})).empty());
  EXPECT_EQ(Cycle(1, 2, Graph({{2, 1}})), (std::vector<uint64_t>{1, 2, 1}));
  EXPECT_EQ(Cycle(1, 2, Graph({{2, 3}, {2, 4}, {4, 1}})), (std::vector<uint64_t>{1, 4, 2, 1}));
  // A cycle that is there already, without the job, does not keep the search going.
  EXPECT_TRUE(Cycle(1, 2, Graph({{2, 3}, {3, 2}})).empty());
}

TEST(DependentsTest, ScheduleHasNoFiresOfItsOwn) {
  const JobDefinition job = After("nightly");
  EXPECT_TRUE(ValidateJob(job).ok());
  const auto schedule = Schedule::Compile(job.schedules[0], job.dst_gap, job.dst_repeat);
  ASSERT_TRUE(schedule.ok());
  EXPECT_FALSE(schedule->Next(kNow).has_value());
  EXPECT_EQ(schedule->Count(kNow, kNever), 0);
  EXPECT_EQ(schedule->Explain(), "After each successful run of job nightly");
  for (const char* upstream : {"", "-a", "A", "a b"}) {
    const Status wrong = ValidateJob(After(upstream));
    ASSERT_FALSE(wrong.ok()) << upstream;
    EXPECT_EQ(wrong.error().pointer, "/schedules/0/job");
  }
}

}  // namespace
}  // namespace carillon::dependents_test
