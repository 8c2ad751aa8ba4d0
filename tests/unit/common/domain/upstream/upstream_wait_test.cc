#include "common/domain/upstream/upstream_wait.h"

#include <array>
#include <set>
#include <string>

#include "common/base/rng.h"
#include "common/domain/run/run_kind.h"
#include "tests/unit/common/domain/upstream/wait_fixture.h"

namespace carillon::upstream_wait_test {
namespace {

TEST_F(UpstreamWaitTest, ASuccessOfTheDayIsEnough) {
  EXPECT_EQ(CauseOf({}), WaitCause::kNoFire);
  const WaitAnswer met = Judge({Of(kA, kDay + 2h)});
  EXPECT_EQ(met.verdict, WaitVerdict::kMet);
  EXPECT_EQ(met.cause, WaitCause::kNone);
  EXPECT_EQ(met.fire, kDay + 2h);
  EXPECT_EQ(met.run, Of(kA, kDay + 2h));
}

TEST_F(UpstreamWaitTest, FiresOutsideTheWindowDoNotCount) {
  EXPECT_EQ(CauseOf({Of(kA, kDay - 1us), Of(kA, kFire + 1s)}), WaitCause::kNoFire);
  EXPECT_TRUE(IsMet({Of(kA, kDay)}));
  EXPECT_TRUE(IsMet({Of(kA, kFire)}));
}

TEST_F(UpstreamWaitTest, OfTwoFiresTheLaterCounts) {
  const UpstreamRun first = Of(kA, kDay + 1h);
  const UpstreamRun second = Of(kA, kDay + 2h, RunState::kFailed, "exit_code");
  const WaitAnswer answer = Judge({first, second});
  EXPECT_EQ(answer.cause, WaitCause::kEndedOtherwise);
  EXPECT_EQ(answer.run, second);
  EXPECT_TRUE(IsMet({Of(kA, kDay + 1h, RunState::kFailed), Of(kA, kDay + 2h)}));
}

TEST_F(UpstreamWaitTest, AnOpenRunIsWaitedFor) {
  for (const RunState state : {RunState::kPending, RunState::kRunning, RunState::kHeld}) {
    EXPECT_EQ(CauseOf({Of(kA, kDay + 1h), Of(kA, kDay + 2h, state)}), WaitCause::kOpen);
  }
  wait_.on = AfterOutcome::kDone;
  EXPECT_EQ(CauseOf({Of(kA, kDay + 2h, RunState::kHeld)}), WaitCause::kOpen);
}

TEST_F(UpstreamWaitTest, EndsOtherThanASuccessMeetDoneOnly) {
  for (const RunState state : {RunState::kFailed, RunState::kTimedOut, RunState::kCancelled,
                               RunState::kLost, RunState::kSkipped}) {
    wait_.on = AfterOutcome::kSuccess;
    EXPECT_EQ(CauseOf({Of(kA, kDay, state, "deleted")}), WaitCause::kEndedOtherwise) << Name(state);
    wait_.on = AfterOutcome::kDone;
    EXPECT_TRUE(IsMet({Of(kA, kDay, state, "deleted")})) << Name(state);
  }
}

TEST_F(UpstreamWaitTest, ANodeThatAPersonSkippedIsASuccess) {
  EXPECT_TRUE(IsMet({Of(kA, kDay, RunState::kSkipped, "skipped_by_hand")}));
  EXPECT_TRUE(IsMet({Of(kA, kDay, RunState::kCompleted, "zero_shards")}));
  EXPECT_FALSE(IsMet({Of(kA, kDay, RunState::kSkipped, "not_selected")}));
}

TEST_F(UpstreamWaitTest, ARunThatAPauseSkippedEndsLikeAFailure) {
  EXPECT_EQ(CauseOf({Of(kA, kDay), Of(kA, kDay + 1h, RunState::kSkipped, "paused")}),
            WaitCause::kEndedOtherwise);
  wait_.on = AfterOutcome::kDone;
  EXPECT_TRUE(IsMet({Of(kA, kDay + 1h, RunState::kSkipped, "paused")}));
}

TEST_F(UpstreamWaitTest, ReasonsOfFiresThatNeverRan) {
  for (const char* why : {"overlap", "misfire", "queue_full", "replaced", "shed"}) {
    EXPECT_TRUE(NeverRan(RunState::kSkipped, why)) << why;
    EXPECT_FALSE(NeverRan(RunState::kFailed, why)) << why;
  }
  for (const char* why :
       {"", "paused", "deleted", "skipped_by_hand", "queue_timeout", "upstream_failed"}) {
    EXPECT_FALSE(NeverRan(RunState::kSkipped, why)) << why;
  }
}

TEST_F(UpstreamWaitTest, AFireThatIsNotPlannedYetIsWaitedFor) {
  Next(kDay + 5h);
  const WaitAnswer answer = Judge({Of(kA, kDay + 1h)});
  EXPECT_EQ(answer.cause, WaitCause::kUnplanned);
  EXPECT_EQ(answer.fire, kDay + 5h);
  sources_.schedules.clear();
  Next(kFire);
  EXPECT_EQ(CauseOf({Of(kA, kDay + 1h)}), WaitCause::kUnplanned);
  sources_.schedules.clear();
  Next(kFire + 1us);
  EXPECT_TRUE(IsMet({Of(kA, kDay + 1h)}));
}

TEST_F(UpstreamWaitTest, APausedJobIsNamedAsSuch) {
  Next(kDay + 5h, true);
  EXPECT_EQ(CauseOf({Of(kA, kDay + 1h)}), WaitCause::kPaused);
}

TEST_F(UpstreamWaitTest, ForAnEarlierDayOnlyTheFiresOfThatDayMustBePlanned) {
  wait_.window = {.day = -1};
  Next(kDay);
  EXPECT_TRUE(IsMet({Of(kA, kDay - 1h)}));
  sources_.schedules.clear();
  Next(kDay - 1us);
  EXPECT_EQ(CauseOf({Of(kA, kDay - 1h)}), WaitCause::kUnplanned);
}

TEST_F(UpstreamWaitTest, AJobMustHaveRunForTheFireOfTheJobBeforeIt) {
  After(kZ);
  const UpstreamRun morning = Of(kA, kDay + 1h);
  EXPECT_EQ(CauseOf({Of(kZ, kDay + 1h), morning, Of(kZ, kDay + 5h, RunState::kRunning)}),
            WaitCause::kNotRun);
  EXPECT_EQ(CauseOf({Of(kZ, kDay + 1h), morning, Of(kZ, kDay + 5h, RunState::kFailed)}),
            WaitCause::kNotRun);
  EXPECT_TRUE(IsMet({Of(kZ, kDay + 1h), morning, Of(kZ, kDay + 5h), Of(kA, kDay + 5h)}));
}

TEST_F(UpstreamWaitTest, ARunWhoseKeyWasTakenBelongsToItsFire) {
  After(kZ);
  const UpstreamRun shifted = Of(kA, kFire + 1us);
  EXPECT_TRUE(IsMet({Of(kZ, kFire), shifted}));
  EXPECT_TRUE(IsMet({Of(kZ, kFire), Of(kA, kFire + 9'999us)}));
  EXPECT_EQ(CauseOf({Of(kZ, kFire), Of(kA, kFire + 10ms)}), WaitCause::kNotRun);
  // Both of its runs of that fire count.
  UpstreamRun failed = Of(kA, kFire, RunState::kFailed);
  EXPECT_EQ(CauseOf({Of(kZ, kFire), shifted, failed}), WaitCause::kEndedOtherwise);
}

TEST_F(UpstreamWaitTest, AWorkflowThatIsDueButHasNotBegunCounts) {
  InW();
  UpstreamRun own = Of(kW, kDay + 5h, RunState::kPending);
  EXPECT_EQ(CauseOf({Of(kW, kDay), NodeOf(kW, 7, kDay), own}), WaitCause::kNotRun);
  own.state = RunState::kRunning;
  EXPECT_TRUE(IsMet({Of(kW, kDay), NodeOf(kW, 7, kDay), own, NodeOf(kW, 8, kDay + 5h)}));
}

TEST_F(UpstreamWaitTest, OtherRunsOfTheJobDoNotCountForAWorkflow) {
  InW();
  const JobNo other(9);
  EXPECT_EQ(CauseOf({Of(kW, kDay), Of(kA, kDay)}), WaitCause::kNotRun);
  EXPECT_EQ(CauseOf({Of(kW, kDay), NodeOf(other, 7, kDay)}), WaitCause::kNotRun);
  EXPECT_TRUE(IsMet({Of(kW, kDay), NodeOf(kW, 7, kDay), Of(kA, kDay + 3h, RunState::kFailed)}));
}

TEST_F(UpstreamWaitTest, AllRunsOfAWorkflowAtOneFireCount) {
  InW();
  const UpstreamRun failed = NodeOf(kW, 7, kDay, RunState::kFailed);
  EXPECT_EQ(CauseOf({Of(kW, kDay), failed, NodeOf(kW, 8, kDay)}), WaitCause::kEndedOtherwise);
  EXPECT_EQ(CauseOf({Of(kW, kDay), NodeOf(kW, 7, kDay, RunState::kRunning), NodeOf(kW, 8, kDay)}),
            WaitCause::kOpen);
  EXPECT_TRUE(IsMet({Of(kW, kDay), NodeOf(kW, 7, kDay), NodeOf(kW, 8, kDay)}));
  // Nor do two workflows of which it is a node replace each other.
  sources_ = {.job_no = kA, .jobs = {kA, kW, JobNo(9)}};
  wait_.in = {};
  EXPECT_EQ(CauseOf({failed, NodeOf(JobNo(9), 8, kDay)}), WaitCause::kEndedOtherwise);
}

// ---- several causes of the job at one fire

TEST_F(UpstreamWaitTest, AnOpenRunOfAnotherCauseLeadsToMore) {
  After(kZ);
  After(kY);
  for (const RunState state : {RunState::kPending, RunState::kRunning, RunState::kHeld}) {
    const UpstreamRun open = Of(kY, kDay, state);
    const WaitAnswer answer = Judge({Of(kZ, kDay), Of(kA, kDay), open});
    EXPECT_EQ(answer.verdict, WaitVerdict::kNotMet);
    EXPECT_EQ(answer.cause, WaitCause::kMoreToCome);
    EXPECT_EQ(answer.fire, kDay);
    EXPECT_EQ(answer.run, open);
  }
  EXPECT_TRUE(IsMet({Of(kZ, kDay), Of(kA, kDay), Of(kY, kDay, RunState::kFailed)}));
  EXPECT_TRUE(IsMet({Of(kZ, kDay), Of(kA, kDay), Of(kY, kDay), Of(kA, kDay + 1us)}));
}

TEST_F(UpstreamWaitTest, AnEndUponWhichNobodyHasActedLeadsToMore) {
  After(kZ);
  After(kY);
  UpstreamRun ended = Of(kY, kDay);
  ended.end_pending = true;
  EXPECT_EQ(CauseOf({Of(kZ, kDay), Of(kA, kDay), ended}), WaitCause::kMoreToCome);
  // Its run is there already, and counts by itself.
  EXPECT_EQ(CauseOf({Of(kZ, kDay), Of(kA, kDay), ended, Of(kA, kDay + 1us, RunState::kFailed)}),
            WaitCause::kEndedOtherwise);
  wait_.on = AfterOutcome::kDone;
  EXPECT_EQ(CauseOf({Of(kZ, kDay), Of(kA, kDay), ended}), WaitCause::kMoreToCome);
}

TEST_F(UpstreamWaitTest, AnotherCauseAtAnEarlierFireDoesNotMatter) {
  After(kZ);
  After(kY);
  EXPECT_TRUE(IsMet({Of(kY, kDay, RunState::kRunning), Of(kZ, kDay + 1h), Of(kA, kDay + 1h)}));
  wait_.which = WaitWhich::kAll;
  EXPECT_EQ(CauseOf({Of(kY, kDay, RunState::kRunning), Of(kA, kDay), Of(kZ, kDay + 1h),
                     Of(kA, kDay + 1h)}),
            WaitCause::kMoreToCome);
}

TEST_F(UpstreamWaitTest, AWorkflowLeadsToMoreUntilItHasBegun) {
  sources_.jobs.push_back(kW);
  const auto with = [](RunState state) {
    return std::vector<UpstreamRun>{Of(kA, kDay), Of(kW, kDay, state)};
  };
  EXPECT_EQ(CauseOf(with(RunState::kPending)), WaitCause::kMoreToCome);
  EXPECT_EQ(CauseOf(with(RunState::kHeld)), WaitCause::kMoreToCome);
  EXPECT_TRUE(IsMet(with(RunState::kRunning)));
  EXPECT_TRUE(IsMet(with(RunState::kFailed)));
}

// ---- delay schedules

TEST_F(UpstreamWaitTest, AnOpenRunOfADelayScheduleIsWaitedFor) {
  const UpstreamRun open = Of(kA, kDay + 2h, RunState::kRunning);
  sources_.schedules = {{.job_no = kA, .id = open.key.schedule_id, .next = open.key.fire + 1us}};
  const WaitAnswer answer = Judge({Of(kA, kDay + 1h), open});
  EXPECT_EQ(answer.cause, WaitCause::kOpen);
  EXPECT_EQ(answer.run, open);
  EXPECT_EQ(answer.fire, open.key.fire);
}

TEST_F(UpstreamWaitTest, AfterTheEndOfADelayRunTheNextFireIsNotKnownYet) {
  const UpstreamRun ended = Of(kA, kDay + 2h);
  sources_.schedules = {{.job_no = kA, .id = ended.key.schedule_id, .next = ended.key.fire + 1us}};
  EXPECT_EQ(CauseOf({ended}), WaitCause::kUnplanned);
  // Nor if the run is gone, or the open one is another schedule's.
  EXPECT_EQ(CauseOf({Of(kA, kDay + 1h)}), WaitCause::kUnplanned);
  UpstreamRun other = Of(kA, kDay + 2h, RunState::kRunning);
  other.key.schedule_id = ScheduleId(12);
  EXPECT_EQ(CauseOf({other}), WaitCause::kUnplanned);
}

TEST_F(UpstreamWaitTest, ADelayRunAfterTheWindowDoesNotHoldItUp) {
  wait_.window = {.day = -1};
  const UpstreamRun open = Of(kA, kDay + 1h, RunState::kRunning);
  sources_.schedules = {{.job_no = kA, .id = open.key.schedule_id, .next = open.key.fire + 1us}};
  EXPECT_TRUE(IsMet({Of(kA, kDay - 1h), open}));
}

TEST_F(UpstreamWaitTest, AllFiresOfTheWindowMayBeAskedFor) {
  wait_.which = WaitWhich::kAll;
  EXPECT_EQ(CauseOf({}), WaitCause::kNoFire);
  EXPECT_TRUE(IsMet({Of(kA, kDay), Of(kA, kDay + 1h), Of(kA, kDay + 2h)}));
  const WaitAnswer answer = Judge(
      {Of(kA, kDay), Of(kA, kDay + 1h, RunState::kFailed), Of(kA, kDay + 2h, RunState::kLost)});
  EXPECT_EQ(answer.cause, WaitCause::kEndedOtherwise);
  EXPECT_EQ(answer.fire, kDay + 1h);
  After(kZ);
  EXPECT_EQ(CauseOf({Of(kZ, kDay), Of(kZ, kDay + 1h), Of(kA, kDay + 1h)}), WaitCause::kNotRun);
}

TEST_F(UpstreamWaitTest, WithoutAFireBeforeTheFirstOneAheadCounts) {
  wait_.window = {.back_s = 3'600, .ahead_s = 7'200};
  EXPECT_EQ(CauseOf({Of(kA, kFire - 1h - 1us)}), WaitCause::kNoFire);
  EXPECT_TRUE(IsMet({Of(kA, kFire - 1h), Of(kA, kFire + 1h, RunState::kPending)}));
  EXPECT_EQ(CauseOf({Of(kA, kFire + 1h, RunState::kPending), Of(kA, kFire + 2h)}),
            WaitCause::kOpen);
  EXPECT_TRUE(IsMet({Of(kA, kFire + 1h), Of(kA, kFire + 2h, RunState::kFailed)}));
  EXPECT_EQ(CauseOf({Of(kA, kFire + 2h + 1us)}), WaitCause::kNoFire);
}

TEST_F(UpstreamWaitTest, AnEarlierFireAheadMayStillBePlanned) {
  wait_.window = {.ahead_s = 7'200};
  Next(kFire + 30min);
  EXPECT_EQ(CauseOf({Of(kA, kFire + 1h)}), WaitCause::kUnplanned);
  sources_.schedules.clear();
  Next(kFire + 90min);
  EXPECT_TRUE(IsMet({Of(kA, kFire + 1h)}));
}

TEST_F(UpstreamWaitTest, JobsThatCannotHaveSuchFiresAreNamed) {
  const std::vector<UpstreamRun> success = {Of(kA, kDay)};
  sources_.deleted = true;
  EXPECT_EQ(CauseOf(success), WaitCause::kNoJob);
  sources_ = {};
  EXPECT_EQ(CauseOf(success), WaitCause::kNoJob);
  sources_ = {.job_no = kA, .too_many = true};
  EXPECT_EQ(CauseOf(success), WaitCause::kTooMany);
  sources_ = {.job_no = kA};
  wait_.in = JobId("nightly");
  EXPECT_EQ(CauseOf(success), WaitCause::kNoJob);
  sources_.in_no = kW;
  sources_.not_a_node = true;
  EXPECT_EQ(CauseOf(success), WaitCause::kNotANode);
}

TEST_F(UpstreamWaitTest, RunsThatWereNotReadMakeNoAnswer) {
  runs_.known_from = kDay + 1us;
  EXPECT_EQ(Judge({}).verdict, WaitVerdict::kUnknown);
  // The newest fire is known, if older runs of it cannot be missing.
  EXPECT_EQ(Judge({Of(kA, kDay + 1us)}).verdict, WaitVerdict::kUnknown);
  EXPECT_TRUE(IsMet({Of(kA, kDay + 11ms)}));
  wait_.which = WaitWhich::kAll;
  EXPECT_EQ(Judge({Of(kA, kDay + 11ms)}).verdict, WaitVerdict::kUnknown);
  runs_.known_from = kDay;
  EXPECT_TRUE(IsMet({Of(kA, kDay + 11ms)}));
}

TEST_F(UpstreamWaitTest, TheLimitBeginsAtTheFireOrWhenTheRunWasPlanned) {
  EXPECT_EQ(WaitLimit(kFire, kFire - 1h, 60), kFire + 60s);
  EXPECT_EQ(WaitLimit(kFire, kFire + 1h, 60), kFire + 1h + 60s);
}

TEST_F(UpstreamWaitTest, RunsByHandAreNoDates) {
  for (const RunKind kind : kRunKinds) {
    EXPECT_EQ(IsDated(kind, 0), IsOfAFire(kind)) << Name(kind);
    EXPECT_FALSE(IsDated(kind, run_flag::kByHand)) << Name(kind);
    const bool by_hand = kind == RunKind::kManual;
    EXPECT_EQ(ByHandFlag(kind, 0), by_hand ? run_flag::kByHand : 0u) << Name(kind);
    EXPECT_EQ(ByHandFlag(kind, run_flag::kByHand | run_flag::kNode), run_flag::kByHand);
  }
}

TEST_F(UpstreamWaitTest, SentencesNameTheRunAndTheTime) {
  const auto sentence = [&](const WaitAnswer& answer) {
    return WaitSentence(wait_, answer, {kFire + 2h}, "Asia/Shanghai");
  };
  const UpstreamRun failed = Of(kA, kDay + 2h, RunState::kFailed);
  EXPECT_EQ(sentence(Judge({failed})), "Waits for load of 2026-03-01 10:00 (run " +
                                           EncodeRunId(failed.key) +
                                           ", FAILED), until 2026-03-01 16:00.");
  EXPECT_EQ(sentence(Judge({})),
            "Waits for load, which has no fire in the window, until 2026-03-01 16:00.");
  EXPECT_EQ(sentence({.verdict = WaitVerdict::kUnknown}),
            "Waits for load, which has more than 5000 runs in the window, until 2026-03-01 16:00.");
  EXPECT_EQ(sentence({.cause = WaitCause::kTooManyRuns}),
            "Waits for load, which has more than 5000 runs in the window, until 2026-03-01 16:00.");
  After(kZ);
  const UpstreamRun open = Of(kZ, kDay + 2h, RunState::kRunning);
  EXPECT_EQ(sentence(Judge({Of(kA, kDay + 2h), open})),
            "Waits for load of 2026-03-01 10:00, which runs once more after run " +
                EncodeRunId(open.key) + " (RUNNING), until 2026-03-01 16:00.");
  Next(kDay + 3h);
  EXPECT_EQ(
      sentence(Judge({})),
      "Waits for load of 2026-03-01 11:00, which is not planned yet, until 2026-03-01 16:00.");
  InW();
  sources_.schedules.clear();
  Backfill(kDay, kFire);
  EXPECT_EQ(sentence(Judge({})),
            "Waits for load in nightly of 2026-03-01 08:00 or later, which a backfill may still "
            "run, until 2026-03-01 16:00.");
  sources_.backfills.clear();
  EXPECT_EQ(sentence(Judge({Of(kW, kDay)})),
            "Waits for load in nightly of 2026-03-01 08:00, which has no run yet, until "
            "2026-03-01 16:00.");
}

// Perhaps the member that judges it has just begun.
TEST_F(UpstreamWaitTest, ALimitThatIsNearMayBeLater) {
  const auto sentence = [&](WallTime now, bool paused = false) {
    const WaitUntil until = UntilSeenFrom(now, kFire + 2h, paused);
    return WaitSentence(wait_, Judge({}), until, "UTC").substr(49);
  };
  EXPECT_EQ(sentence(kFire), "until 2026-03-01 08:00.");
  EXPECT_EQ(sentence(kFire + 105min), "until 2026-03-01 08:00.");
  EXPECT_EQ(sentence(kFire + 106min), "until 2026-03-01 08:00 at the earliest.");
  EXPECT_EQ(sentence(kFire + 3h), "until 2026-03-01 08:00 at the earliest.");
  EXPECT_EQ(sentence(kFire, true), "until 2026-03-01 08:00 at the earliest.");
}

TEST_F(UpstreamWaitTest, BrokenRulesAreVisible) {
  failpoint::Break("await.any_success");
  EXPECT_TRUE(IsMet({Of(kA, kDay), Of(kA, kDay + 1h, RunState::kFailed)}));
  failpoint::Reset();
  failpoint::Break("await.by_end");
  EXPECT_TRUE(IsMet({Of(kA, kDay), Of(kA, kDay + 1h, RunState::kRunning)}));
  failpoint::Reset();
  failpoint::Break("await.unplanned");
  Next(kDay + 1h);
  EXPECT_TRUE(IsMet({Of(kA, kDay)}));
  failpoint::Reset();
  failpoint::Break("await.by_hand");
  EXPECT_TRUE(IsDated(RunKind::kCron, run_flag::kByHand));
}

// ---- against a judge that looks at every pair of runs ----

// Without windows ahead, shifted fires and workflows.
bool IsMetBySearch(const std::vector<UpstreamRun>& runs, const UpstreamSources& sources,
                   const FireWindow& window, const UpstreamWait& wait) {
  for (const SourceSchedule& schedule : sources.schedules) {
    if (schedule.next <= window.until) return false;
  }
  std::set<WallTime> fires;
  for (const UpstreamRun& run : runs) {
    if (run.key.fire >= window.from && run.key.fire <= window.until) fires.insert(run.key.fire);
  }
  if (wait.which == WaitWhich::kLast && !fires.empty()) fires = {*fires.rbegin()};
  for (const WallTime fire : fires) {
    bool any = false;
    for (const UpstreamRun& run : runs) {
      if (run.key.fire != fire) continue;
      if (run.job_no == kZ) {
        const bool open = !IsFinal(run.state);
        const bool more = sources.by_end.empty() ? open && run.state != RunState::kRunning
                                                 : open || run.end_pending;
        if (more) return false;
        continue;
      }
      any = true;
      const bool done = wait.on == AfterOutcome::kDone && IsFinal(run.state);
      if (!done && run.state != RunState::kCompleted) return false;
    }
    if (!any) return false;
  }
  return !fires.empty();
}

TEST_F(UpstreamWaitTest, AgreesWithASearchOfAllRuns) {
  constexpr std::array kStates = {RunState::kCompleted, RunState::kCompleted, RunState::kFailed,
                                  RunState::kRunning,   RunState::kPending,   RunState::kSkipped};
  Rng rng(46);
  int met = 0;
  for (int round = 0; round < 20'000; ++round) {
    wait_.which = rng.Below(2) == 0 ? WaitWhich::kLast : WaitWhich::kAll;
    wait_.on = rng.Below(2) == 0 ? AfterOutcome::kSuccess : AfterOutcome::kDone;
    wait_.window = {.back_s = static_cast<int64_t>(1 + rng.Below(4)) * 3'600};
    sources_ = {.job_no = kA, .jobs = {kA, kZ}};
    if (rng.Below(2) == 0) sources_.by_end = {kZ};
    if (rng.Below(2) == 0) Next(kFire + 1h * (static_cast<int>(rng.Below(4)) - 1));
    std::set<std::pair<WallTime, JobNo>> keys;
    std::vector<UpstreamRun> runs;
    const size_t count = rng.Below(6);
    while (keys.size() < count) {
      const WallTime fire = kFire - 1h * static_cast<int>(rng.Below(6)) + 1h;
      const JobNo job = rng.Below(3) == 0 ? kZ : kA;
      if (!keys.insert({fire, job}).second) continue;
      runs.push_back(Of(job, fire, kStates[rng.Below(kStates.size())]));
      runs.back().end_pending = job == kZ && rng.Below(4) == 0;
    }
    const bool expected =
        IsMetBySearch(runs, sources_, WindowOf(wait_.window, kFire, "UTC").value(), wait_);
    ASSERT_EQ(IsMet(runs), expected) << "round " << round;
    met += expected ? 1 : 0;
  }
  EXPECT_GT(met, 2'000);
}

}  // namespace
}  // namespace carillon::upstream_wait_test
