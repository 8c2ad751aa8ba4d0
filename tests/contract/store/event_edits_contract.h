// The contract of EventStore beside edits, pauses and deletes of the jobs, and of what becomes of
// the runs that events have started.
#pragma once

#include <set>

#include "tests/contract/store/event_driver.h"
#include "tests/contract/store/fire_driver.h"

namespace carillon::test {

template <typename Factory>
class EventEditsContract : public FireContract<Factory> {
 protected:
  EventDriver event_driver() { return EventDriver(this->handle()); }
};
TYPED_TEST_SUITE(EventEditsContract, StoreFactories);

TYPED_TEST(EventEditsContract, APausedJobHasOneGapForAllEventsOfACall) {
  EventDriver s = this->event_driver();
  JobDefinition definition = s.Taking();
  definition.schedules.push_back(s.Trigger("*", "id == 'e2'"));
  const StoredJob job = s.Create("job", definition);
  const StoredJob paused = s.Pause(job, kT0 + 1s);
  // Not even the values of e3 matter.
  const auto effects = s.AcceptAll(
      {s.Of("e1", s.Order(1)), s.Of("e2", s.Order(2)), s.Of("e3"), s.Of("e1", s.Order(1))},
      kT0 + 2s);
  ASSERT_EQ(effects.size(), 4u);
  EXPECT_EQ(effects[0].starts.size(), 1u);
  EXPECT_EQ(effects[1].starts.size(), 2u);
  for (const EventEffect& effect : effects) {
    for (const EventStart& start : effect.starts) {
      EXPECT_EQ(start.gap, GapReason::kPaused);
      EXPECT_FALSE(start.run);
      EXPECT_EQ(start.problem, "");
    }
  }
  EXPECT_TRUE(effects[3].duplicate);
  const GapRange once{.from = kT0 + 2s, .to = kT0 + 2s, .count = 1, .reason = GapReason::kPaused};
  GapRange thrice = once;
  thrice.count = 3;
  const std::vector<GapRecord> gaps = s.Gaps(job);
  ASSERT_EQ(gaps.size(), 2u);
  EXPECT_EQ(gaps[0].schedule_id, job.schedules[1].schedule_id);
  EXPECT_EQ(gaps[0].range, once);
  EXPECT_EQ(gaps[1].schedule_id, job.schedules[0].schedule_id);
  EXPECT_EQ(gaps[1].range, thrice);
  EXPECT_TRUE(s.Pending(kNever).empty());
  // A resume does not bring them back, and adds no gap of its own.
  s.Resume(paused, kT0 + 3s);
  EXPECT_EQ(s.Gaps(job).size(), 2u);
  const EventEffect again = s.Accept(s.Of("e1", s.Order(1)), kT0 + 4s);
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.starts, effects[0].starts);
  EXPECT_TRUE(s.Pending(kNever).empty());
  s.Started(s.Of("e4", s.Order(4)), kT0 + 5s);
}

TYPED_TEST(EventEditsContract, ARunThatWaitedDuringAPauseIsSkippedAsOthersAre) {
  EventDriver s = this->event_driver();
  const StoredJob job = s.Create("job", s.Taking());
  const RunKey key = s.Started(s.Of("e1", s.Order(1)), kT0 + 1s);
  s.Pause(job, kT0 + 2s);
  EXPECT_EQ(s.Get(key).row.state, RunState::kSkipped);
  EXPECT_EQ(s.Get(key).result.reason, reason::kPaused);
}

TYPED_TEST(EventEditsContract, AnEventOfADeletedJobIsNotStored) {
  EventDriver s = this->event_driver();
  const StoredJob job = s.Create("job", s.Taking());
  const EventEffect before = s.Accept(s.Of("e1", s.Order(1)), kT0);
  ASSERT_OK(s.jobs.DeleteJob(job.job_id, job.version, {.now = kT0 + 1s}));
  EXPECT_TRUE(s.IsNoMatch(s.Accept(s.Of("e2", s.Order(1)), kT0 + 2s)));
  EXPECT_TRUE(s.IsNoMatch(s.Accept(s.Of("e1", s.Order(1)), kT0 + 2s)))
      << "a known one, too, is answered as one without a match";
  EXPECT_EQ(s.Stored().size(), 1u);
  EXPECT_EQ(s.Stored()[0].starts, before.starts);
  EXPECT_TRUE(s.Pending(kNever).empty());
  EXPECT_TRUE(s.Gaps(job).empty());
}

TYPED_TEST(EventEditsContract, AnEditOfTheFilterMakesAnotherTrigger) {
  EventDriver s = this->event_driver();
  const StoredJob job = s.Create("job", s.On("order.created", "data.amount > 9"));
  const EventEffect first = s.Accept(s.Of("e1", s.Order(10)), kT0);
  JobDefinition edited = job.definition;
  edited.schedules[0].filter = "data.amount < 5";
  const StoredJob after = s.Replace(job, edited, kT0 + 1s);
  EXPECT_NE(after.schedules[0].schedule_id, job.schedules[0].schedule_id);
  EXPECT_TRUE(s.IsNoMatch(s.Accept(s.Of("e2", s.Order(10)), kT0 + 2s)));
  const RunKey key = s.Started(s.Of("e3", s.Order(4)), kT0 + 2s);
  EXPECT_EQ(key.schedule_id, after.schedules[0].schedule_id);
  EXPECT_EQ(s.Get(key).row.def_version, 2);
  EXPECT_TRUE(s.Gaps(job).empty()) << "the end of a trigger is no missed fire";
  // What the old one has started goes on.
  EXPECT_EQ(s.Get(*first.starts[0].run).row.state, RunState::kPending);
  const EventEffect known = s.Accept(s.Of("e1", s.Order(4)), kT0 + 3s);
  EXPECT_TRUE(known.duplicate);
  EXPECT_EQ(known.starts, first.starts);
}

TYPED_TEST(EventEditsContract, AnEditOfTheTypeOrTheSourceMakesAnotherTrigger) {
  EventDriver s = this->event_driver();
  StoredJob job = s.Create("job", s.On("order.*"));
  JobDefinition edited = job.definition;
  edited.schedules[0].event_source = "market";
  job = s.Replace(job, edited, kT0 + 1s);
  EXPECT_TRUE(s.IsNoMatch(s.Accept(s.Of("e1"), kT0 + 1s)));
  EXPECT_EQ(s.Accept(s.Of("e2", {}, "order.x", "market"), kT0 + 1s).starts.size(), 1u);
  edited.schedules[0].event_type = "order.paid";
  const ScheduleId before = job.schedules[0].schedule_id;
  job = s.Replace(job, edited, kT0 + 2s);
  EXPECT_NE(job.schedules[0].schedule_id, before);
  EXPECT_TRUE(s.IsNoMatch(s.Accept(s.Of("e3", {}, "order.x", "market"), kT0 + 2s)));
  EXPECT_EQ(s.Accept(s.Of("e4", {}, "order.paid", "market"), kT0 + 2s).starts.size(), 1u);
}

TYPED_TEST(EventEditsContract, AnEditOfTheParametersAppliesToTheNextEvent) {
  EventDriver s = this->event_driver();
  const StoredJob job = s.Create("job", s.Taking());
  const RunKey first = s.Started(s.Of("e1", s.Order(1)), kT0);
  const std::string text = s.TextOf(first);
  JobDefinition edited = job.definition;
  edited.parameters = {{"amount", int64_t{99}}, {"more", std::string("m")}};
  edited.schedules[0].parameters = {{"who", std::string("{{event.id}}")},
                                    {"added", std::string("{{event.data.name}}")}};
  const StoredJob after = s.Replace(job, edited, kT0 + 1s);
  EXPECT_EQ(after.schedules[0].schedule_id, job.schedules[0].schedule_id);
  const RunKey second = s.Started(s.Of("e2", s.Order(2)), kT0 + 2s);
  EXPECT_EQ(s.GivenTo(second).values,
            (Parameters{{"added", std::string("Ann")}, {"who", std::string("e2")}}));
  EXPECT_EQ(s.TextOf(first), text) << "a waiting run keeps what it was started with";
}

TYPED_TEST(EventEditsContract, AJobThatMovesIsStartedByEventsOfItsNewNamespace) {
  EventDriver s = this->event_driver();
  const StoredJob job = s.Create("job", s.On("*"));
  JobDefinition edited = job.definition;
  edited.name_space = "other";
  s.Replace(job, edited, kT0 + 1s);
  EXPECT_TRUE(s.IsNoMatch(s.Accept(s.Of("e1"), kT0 + 2s)));
  EXPECT_EQ(s.Accept(s.Of("e1"), kT0 + 2s, "other").starts.size(), 1u);
}

TYPED_TEST(EventEditsContract, ATriggerThatIsAddedLaterGetsNoKnownEvent) {
  EventDriver s = this->event_driver();
  s.Create("job", s.On("*"));
  const EventEffect first = s.Accept(s.Of("e1"), kT0);
  JobDefinition later = s.On("*");
  later.name = "later";
  s.Create("later", later);
  EXPECT_EQ(s.Accept(s.Of("e1"), kT0 + 1s).starts, first.starts);
  EXPECT_EQ(s.Accept(s.Of("e2"), kT0 + 1s).starts.size(), 2u);
}

TYPED_TEST(EventEditsContract, AnotherAttemptKeepsTheEventAfterEdits) {
  EventDriver s = this->event_driver();
  JobDefinition definition = s.Taking();
  definition.retry_count = 2;
  StoredJob job = s.Create("job", definition);
  const RunKey key = s.Started(s.Of("e1", s.Order(1)), kT0);
  const RenderedParameters given = s.GivenTo(key);
  EXPECT_EQ(s.Failed(key, kT0 + 1s).state, RunState::kPending);
  definition.schedules[0].parameters["added"] = std::string("{{event.data.name}}");
  definition.parameters = {{"amount", int64_t{7}}};
  job = s.Replace(job, definition, kT0 + 2s);
  EXPECT_EQ(s.GivenTo(key), given);
  // The trigger is gone.
  definition.schedules.clear();
  job = s.Replace(job, definition, kT0 + 3s);
  EXPECT_EQ(s.GivenTo(key), given);
  EXPECT_EQ(s.Failed(key, kT0 + 99min).state, RunState::kPending);
  EXPECT_EQ(s.Failed(key, kT0 + 199min).state, RunState::kFailed);
  EXPECT_EQ(s.GivenTo(key), given);
  const RunDetail retried =
      s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 200min, .confirm_overlap = true}));
  EXPECT_EQ(retried.row.state, RunState::kPending);
  EXPECT_EQ(retried.row.kind, RunKind::kEvent);
  EXPECT_TRUE(HasRequest(retried.row.kind, retried.row.flags));
  EXPECT_EQ(s.GivenTo(key), given);
  EXPECT_TRUE(given.event);
}

TYPED_TEST(EventEditsContract, AnEventWithoutParametersKeepsItsOriginAfterAnEdit) {
  EventDriver s = this->event_driver();
  const StoredJob job = s.Create("job", s.On("*"));
  const RunKey key = s.Started(s.Of("e1"), kT0);
  EXPECT_EQ(s.GivenTo(key).event, s.Of("e1").origin);
  EXPECT_TRUE(s.GivenTo(key).values.empty());
  JobDefinition edited = job.definition;
  edited.time_zone = "Asia/Tokyo";
  edited.schedules.clear();
  s.v(s.jobs.ReplaceJob(job.job_id, job.version, edited, {.now = kT0 + 1s, .keep_zones = true}));
  EXPECT_EQ(s.GivenTo(key).event, s.Of("e1").origin);
  EXPECT_EQ(s.GivenTo(key).time_zone, "UTC");
}

TYPED_TEST(EventEditsContract, ATriggerHasNoFiresThatABackfillCouldRun) {
  EventDriver s = this->event_driver();
  const StoredJob job = s.Create("job", s.Taking());
  s.Started(s.Of("e1", s.Order(1)), kT0 + 1s);
  const BackfillPreview preview =
      s.v(s.backfills.PreviewBackfill({.job_id = job.job_id,
                                       .schedule_id = job.schedules[0].schedule_id,
                                       .from = kT0 - 1h,
                                       .to = kT0 + 1h}));
  EXPECT_TRUE(preview.first.empty());
}

// ---- the runs ----------------------------------------------------------------------------------

TYPED_TEST(EventEditsContract, AWorkflowHandsTheEventToItsNodes) {
  EventDriver s = this->event_driver();
  WorkflowNode node = s.Node("a");
  node.parameters = {{"order", std::string("{{workflow.parameters.who}}")},
                     {"n", std::string("{{workflow.parameters.amount}}")}};
  JobDefinition flow = s.Flow({node});
  flow.schedules = s.Taking().schedules;
  s.CreateFlow(flow);
  const RunKey key = s.Started(s.Of("e1", s.Order(5)), kT0);
  s.ExpectBegin(key, kT0 + 1s);
  s.Steps(kT0 + 1s);
  const RenderedParameters given = s.GivenTo(s.RowOf(key, "a").key);
  EXPECT_EQ(given.values, (Parameters{{"n", int64_t{5}}, {"order", std::string("for Ann")}}));
  EXPECT_EQ(given.untrusted, (std::set<std::string>{"order"}));
  s.Finish(key, "a", kT0 + 2s);
  EXPECT_EQ(s.StateOf(key), RunState::kCompleted);
}

TYPED_TEST(EventEditsContract, AWorkflowThatIsRetriedKeepsTheEvent) {
  EventDriver s = this->event_driver();
  WorkflowNode node = s.Node("a");
  node.parameters = {{"order", std::string("{{workflow.parameters.who}}")}};
  JobDefinition definition = s.Flow({node});
  definition.schedules = s.Taking().schedules;
  const StoredJob flow = s.CreateFlow(definition);
  const RunKey key = s.Started(s.Of("e1", s.Order(5)), kT0);
  s.ExpectBegin(key, kT0 + 1s);
  s.Steps(kT0 + 1s);
  s.Finish(key, "a", kT0 + 2s, RunState::kFailed);
  EXPECT_EQ(s.StateOf(key), RunState::kFailed);
  definition.schedules[0].parameters = {{"who", std::string("{{event.id}}")}};
  s.Replace(flow, definition, kT0 + 3s);
  s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 4s}));
  s.ExpectBegin(key, kT0 + 4s);
  s.Steps(kT0 + 4s);
  const RenderedParameters given = s.GivenTo(s.RowOf(key, "a").key);
  EXPECT_EQ(given.values, (Parameters{{"order", std::string("for Ann")}}));
  EXPECT_EQ(given.untrusted, (std::set<std::string>{"order"}));
}

TYPED_TEST(EventEditsContract, AllPartsOfAFireHaveItsEvent) {
  EventDriver s = this->event_driver();
  const JobDefinition definition = this->Sharded(s.Taking(), 3);
  const StoredJob job = s.Create("job", definition);
  const RunKey key = s.Started(s.Of("e1", s.Order(5)), kT0);
  const std::string text = s.TextOf(key);
  const RunRow own = this->Begin(s, s.Get(key).row, definition, s.fence, kT0 + 1s);
  JobDefinition edited = definition;
  edited.schedules[0].parameters = {{"who", std::string("{{event.id}}")}};
  s.Replace(job, edited, kT0 + 2s);
  for (uint32_t index = 0; index < 3; ++index) {
    // They read it from the own run.
    const RunRow part = this->Part(s, own, index);
    EXPECT_TRUE(HasRequest(part.kind, part.flags)) << index;
    EXPECT_EQ(s.TextOf(own.key), text) << index;
    this->EndPart(s, own, index, RunState::kCompleted, s.fence, kT0 + 3s);
  }
  EXPECT_EQ(this->Look(s, own, s.fence, kT0 + 4s).state, RunState::kCompleted);
}

TYPED_TEST(EventEditsContract, ARunWaitsForRunsOfOtherJobsFirst) {
  EventDriver s = this->event_driver();
  s.Create("up", s.Every(10h));
  const StoredJob job = s.Create("job", s.Waiting(s.Taking()));
  const RunKey key = s.Started(s.Of("e1", s.Order(5)), kT0 + 1s);
  const RunRow row = s.OnlyAwaiting(kT0 + 1s);
  EXPECT_EQ(row.key, key);
  EXPECT_EQ(row.due, kAwaiting);
  EXPECT_EQ(row.job_no, job.job_no);
  EXPECT_TRUE(s.Pending(kT0 + 1h).empty());
  EXPECT_EQ(s.v(s.events.CountOpenEventRuns(9)), 1);
  const WaitEffect effect = s.End(s.ItemOf(row), kT0 + 2s);
  ASSERT_TRUE(effect.due);
  EXPECT_EQ(effect.due->due, kT0 + 2s);
}

TYPED_TEST(EventEditsContract, AJobOfEventsHasNoTimesThatOthersWaitFor) {
  EventDriver s = this->event_driver();
  JobDefinition definition = s.On("*");
  definition.name = "up";
  const StoredJob job = s.Create("up", definition);
  const UpstreamSources only = s.SourcesOf("up");
  EXPECT_TRUE(only.schedules.empty());
  const RunKey key = s.Started(s.Of("e1"), kT0 + 1s);
  const std::vector<UpstreamRun> runs = s.RunsOf(only, kT0, kT0 + 1h);
  ASSERT_EQ(runs.size(), 1u) << "its runs are dated";
  EXPECT_EQ(runs[0].key, key);
  // Beside `after`, its event does not hide the job that is before it.
  JobDefinition first = s.Every(10s);
  first.name = "first";
  const StoredJob before = s.Create("first", first);
  definition.schedules.push_back(
      {.kind = ScheduleKind::kAfter, .upstream = "first", .on = AfterOutcome::kSuccess});
  s.Replace(job, definition, kT0 + 2s);
  const UpstreamSources both = s.SourcesOf("up");
  ASSERT_EQ(both.schedules.size(), 1u);
  EXPECT_EQ(both.schedules[0].job_no, before.job_no);
}

TYPED_TEST(EventEditsContract, TheEndOfARunStartsTheJobsAfterIt) {
  EventDriver s = this->event_driver();
  s.Create("first", s.On("*"));
  JobDefinition second = s.After("first");
  second.name = "second";
  const StoredJob job = s.Create("second", second);
  const RunKey key = s.Started(s.Of("e1"), kT0 + 1s);
  EXPECT_EQ(s.Get(key).row.flags, run_flag::kHasRequest | run_flag::kDependents);
  s.Finished(s.Get(key).row, RunState::kCompleted, kT0 + 2s);
  const std::vector<RunRow> started = s.Act(kT0 + 4s);
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].job_no, job.job_no);
  EXPECT_EQ(started[0].key.fire, key.fire);
  EXPECT_EQ(started[0].flags & run_flag::kByHand, 0u) << "an event is no person";
}

}  // namespace carillon::test
