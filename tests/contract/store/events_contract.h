// The contract of EventStore: what an event starts, once, and what is told about it.
#pragma once

#include <set>

#include "tests/contract/store/event_driver.h"

namespace carillon::test {

TYPED_TEST(EventsContract, AnEventStartsARunOfItsTrigger) {
  EventDriver s = this->event_driver();
  JobDefinition definition = s.Taking();
  definition.priority = 7;
  const StoredJob job = s.Create("job", definition);
  const EventEffect effect = s.Accept(s.Of("e1", s.Order(5)), kT0 + 1s);
  EXPECT_FALSE(effect.duplicate);
  EXPECT_EQ(effect.not_computable, 0);
  const RunKey key{.fire = kT0 + 1s, .schedule_id = job.schedules[0].schedule_id};
  EXPECT_EQ(effect.starts, (std::vector<EventStart>{{.schedule_id = key.schedule_id,
                                                     .job_id = job.job_id,
                                                     .job_no = job.job_no,
                                                     .segment = job.segment,
                                                     .run = key}}));
  const RunDetail run = s.Get(key);
  EXPECT_EQ(run.row, (RunRow{.key = key,
                             .job_no = job.job_no,
                             .segment = job.segment,
                             .kind = RunKind::kEvent,
                             .due = kT0 + 1s,
                             .priority = 7,
                             .def_version = 1,
                             .flags = run_flag::kHasRequest}));
  EXPECT_EQ(run.planned, kT0 + 1s);
  EXPECT_FALSE(run.trigger);
  const RenderedParameters given = s.GivenTo(key);
  EXPECT_EQ(given.values, (Parameters{{"amount", int64_t{5}},
                                      {"day", std::string("2026-03-01")},
                                      {"who", std::string("for Ann")}}));
  EXPECT_EQ(given.untrusted, (std::set<std::string>{"who"}));
  EXPECT_TRUE(given.given_by.empty());
  EXPECT_EQ(given.event,
            (EventOrigin{.id = "e1", .source = "shop", .type = "order.created", .subject = ""}));
  EXPECT_EQ(s.OnlyPending(kT0 + 1s), run.row);
  s.Finished(run.row, RunState::kCompleted, kT0 + 2s);
}

TYPED_TEST(EventsContract, AnEventWithoutAMatchIsNotStored) {
  EventDriver s = this->event_driver();
  s.Create("job", s.On("order.created", "data.amount > 9"));
  EXPECT_TRUE(s.IsNoMatch(s.Accept(s.Of("e1", s.Order(9)), kT0)));
  EXPECT_TRUE(s.IsNoMatch(s.Accept(s.Of("e2", s.Order(10), "order.deleted"), kT0)));
  EXPECT_TRUE(s.IsNoMatch(s.Accept(s.Of("e3", s.Order(10)), kT0, "other")));
  const EventEffect unclear = s.Accept(s.Of("e4"), kT0);
  EXPECT_TRUE(s.IsNoMatch(unclear));
  EXPECT_EQ(unclear.not_computable, 1);
  EXPECT_TRUE(s.Stored().empty());
  EXPECT_TRUE(s.Pending(kNever).empty());
  // So it is not known, either.
  s.Create("later", s.On("order.deleted"));
  EXPECT_EQ(s.Accept(s.Of("e2", {}, "order.deleted"), kT0).starts.size(), 1u);
}

TYPED_TEST(EventsContract, AKnownEventStartsNothing) {
  EventDriver s = this->event_driver();
  s.Create("job", s.Taking());
  const EventEffect first = s.Accept(s.Of("e1", s.Order(5)), kT0);
  ASSERT_EQ(first.starts.size(), 1u);
  for (const Event& again : {s.Of("e1", s.Order(5)), s.Of("e1", s.Order(6, "Bob")),
                             s.Of("e1", s.Order(5), "order.paid")}) {
    const EventEffect effect = s.Accept(again, kT0 + 1s);
    EXPECT_TRUE(effect.duplicate);
    EXPECT_EQ(effect.starts, first.starts);
  }
  this->Reopen();
  EventDriver after = this->event_driver();
  EXPECT_TRUE(after.Accept(after.Of("e1", after.Order(5)), kT0 + 2s).duplicate);
  EXPECT_EQ(after.Pending(kNever).size(), 1u);
  ASSERT_EQ(after.Stored().size(), 1u);
  EXPECT_EQ(after.Stored()[0].origin.type, "order.created");
  EXPECT_EQ(after.Stored()[0].accepted, kT0);
}

TYPED_TEST(EventsContract, AnEventIsKnownByNamespaceSourceAndId) {
  EventDriver s = this->event_driver();
  s.Create("job", s.On("*"));
  JobDefinition other = s.On("*");
  other.name_space = "other";
  s.Create("other", other);
  EXPECT_FALSE(s.Accept(s.Of("e1"), kT0).duplicate);
  EXPECT_FALSE(s.Accept(s.Of("e1"), kT0, "other").duplicate);
  EXPECT_FALSE(s.Accept(s.Of("e1", {}, "t", "market"), kT0).duplicate);
  EXPECT_FALSE(s.Accept(s.Of("E1"), kT0).duplicate);
  EXPECT_FALSE(s.Accept(s.Of("e1 "), kT0).duplicate);
  EXPECT_FALSE(s.Accept(s.Of("1", {}, "t", "shope"), kT0).duplicate) << "the same letters in a row";
  EXPECT_EQ(s.Pending(kNever).size(), 6u);
  EXPECT_TRUE(s.Accept(s.Of("e1"), kT0, "other").duplicate);
}

TYPED_TEST(EventsContract, TheSecondOfOneCallIsADuplicate) {
  EventDriver s = this->event_driver();
  s.Create("job", s.Taking());
  const auto effects =
      s.AcceptAll({s.Of("e1", s.Order(1)), s.Of("e2", s.Order(2)), s.Of("e1", s.Order(3))}, kT0);
  ASSERT_EQ(effects.size(), 3u);
  EXPECT_FALSE(effects[0].duplicate);
  EXPECT_FALSE(effects[1].duplicate);
  EXPECT_TRUE(effects[2].duplicate);
  EXPECT_EQ(effects[2].starts, effects[0].starts);
  ASSERT_EQ(effects[0].starts.size(), 1u);
  EXPECT_EQ(s.GivenTo(*effects[0].starts[0].run).values.at("amount"), ParameterValue(int64_t{1}));
  EXPECT_EQ(s.Pending(kNever).size(), 2u);
}

TYPED_TEST(EventsContract, EventsOfOneMomentHaveFiresInTheirOrder) {
  EventDriver s = this->event_driver();
  std::vector<StoredJob> jobs;
  for (const char* id : {"a", "b", "c"}) {
    JobDefinition definition = s.Taking();
    definition.name = id;
    jobs.push_back(s.Create(id, definition));
  }
  // The first microsecond of one of them is taken.
  s.Accept(s.Of("before", s.Order(0)), kT0 + 1us);
  std::vector<Event> batch;
  for (int i = 0; i < 100; ++i) batch.push_back(s.Of(std::to_string(i), s.Order(i)));
  const auto effects = s.AcceptAll(batch, kT0);
  std::set<RunKey> keys;
  for (size_t i = 0; i < effects.size(); ++i) {
    ASSERT_EQ(effects[i].starts.size(), 3u);
    for (size_t j = 0; j < 3; ++j) {
      const EventStart& start = effects[i].starts[j];
      EXPECT_EQ(start.schedule_id, jobs[j].schedules[0].schedule_id);
      ASSERT_TRUE(start.run);
      EXPECT_EQ(start.run->fire, kT0 + Duration(i == 0 ? 0 : i + 1)) << i;
      EXPECT_EQ(s.GivenTo(*start.run).values.at("amount"), ParameterValue(static_cast<int64_t>(i)));
      keys.insert(*start.run);
    }
  }
  EXPECT_EQ(keys.size(), 300u);
  EXPECT_EQ(s.Pending(kNever).size(), 303u);
  EXPECT_EQ(s.AcceptAll(batch, kT0 + 1s)[99].starts, effects[99].starts);
  EXPECT_EQ(s.Pending(kNever).size(), 303u);
}

TYPED_TEST(EventsContract, ACallThatStartsMoreRunsThanOneWriteTakesStartsAll) {
  EventDriver s = this->event_driver();
  for (int i = 0; i < 4; ++i) {
    JobDefinition definition = s.Manual();
    definition.name = "job" + std::to_string(i);
    for (int k = 0; k < 25; ++k) {
      definition.schedules.push_back(s.Trigger("*", "data.n != " + std::to_string(100 * i + k)));
    }
    s.Create("job" + std::to_string(i), definition);
  }
  std::vector<Event> batch;
  for (int i = 0; i < 23; ++i) {
    batch.push_back(s.Of(std::to_string(i), {{"data.n", s.Whole(-1)}}));
  }
  std::set<RunKey> keys;
  for (const EventEffect& effect : s.AcceptAll(batch, kT0)) {
    ASSERT_EQ(effect.starts.size(), 100u);
    for (const EventStart& start : effect.starts) keys.insert(*start.run);
  }
  EXPECT_EQ(keys.size(), 2'300u);
  EXPECT_EQ(s.v(s.events.CountOpenEventRuns(10'000)), 2'300);
  EXPECT_EQ(s.Stored({.limit = 100}).size(), 23u);
}

TYPED_TEST(EventsContract, TooManyAreRefusedAndNothingIsStored) {
  EventDriver s = this->event_driver();
  for (int i = 0; i < 4; ++i) {
    JobDefinition definition = s.Manual();
    definition.name = "job" + std::to_string(i);
    for (int k = 0; k < 26; ++k) {
      definition.schedules.push_back(s.Trigger("many", "data.n != " + std::to_string(100 * i + k)));
    }
    s.Create("job" + std::to_string(i), definition);
  }
  JobDefinition one = s.On("one");
  one.name = "one";
  s.Create("one", one);
  const Event many = s.Of("e2", {{"data.n", s.Whole(-1)}}, "many");
  const auto refused =
      s.events.Accept({.name_space = "default", .events = {s.Of("e1", {}, "one"), many}}, kT0);
  EXPECT_CODE(refused, ErrorCode::kInvalid);
  EXPECT_EQ(refused.error().pointer, "/1");
  const auto full = s.events.Accept(
      {.name_space = "default", .events = std::vector<Event>(101, s.Of("e1", {}, "one"))}, kT0);
  EXPECT_CODE(full, ErrorCode::kExhausted);
  EXPECT_TRUE(s.Stored().empty());
  EXPECT_TRUE(s.Pending(kNever).empty());
  EXPECT_TRUE(s.AcceptAll({}, kT0).empty());
}

TYPED_TEST(EventsContract, ParametersThatCannotBeMadeAreAGap) {
  EventDriver s = this->event_driver();
  JobDefinition definition = s.Taking();
  definition.parameter_rules = {
      {"amount", {.type = ParameterType::kInteger, .choices = {int64_t{1}, int64_t{2}}}}};
  definition.schedules.push_back(s.Trigger("*"));
  const StoredJob job = s.Create("job", definition);
  const auto effects = s.AcceptAll({s.Of("e1", {{"data.amount", s.Whole(1)}}),
                                    s.Of("e2", s.Order(3, "Mallory")), s.Of("e3", s.Order(2))},
                                   kT0 + 1s);
  for (const size_t i : {0, 1}) {
    ASSERT_EQ(effects[i].starts.size(), 2u);
    const EventStart& bad = effects[i].starts[0];
    EXPECT_EQ(bad.gap, GapReason::kBadEvent);
    EXPECT_FALSE(bad.run);
    EXPECT_NE(bad.problem, "");
    EXPECT_EQ(bad.problem.find("Mallory"), std::string::npos) << bad.problem;
    EXPECT_TRUE(effects[i].starts[1].run) << "the other trigger starts its run";
    EXPECT_EQ(effects[i].starts[1].problem, "");
  }
  ASSERT_EQ(effects[2].starts.size(), 2u);
  EXPECT_TRUE(effects[2].starts[0].run);
  const std::vector<GapRecord> gaps = s.Gaps(job);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].schedule_id, job.schedules[0].schedule_id);
  EXPECT_EQ(
      gaps[0].range,
      (GapRange{.from = kT0 + 1s, .to = kT0 + 1s, .count = 2, .reason = GapReason::kBadEvent}));
  EXPECT_EQ(s.Accept(s.Of("e2", s.Order(1)), kT0 + 2s).starts, effects[1].starts) << "once";
  EXPECT_EQ(s.Pending(kNever).size(), 4u);
}

TYPED_TEST(EventsContract, AnEventThatOnlyLeavesAGapIsStoredAsOne) {
  EventDriver s = this->event_driver();
  s.Create("job", s.Taking());
  const EventEffect bad = s.Accept(s.Of("e1"), kT0);
  ASSERT_EQ(bad.starts.size(), 1u);
  s.Accept(s.Of("e2", s.Order(1)), kT0 + 1s);
  const std::vector<EventRecord> stored = s.Stored();
  ASSERT_EQ(stored.size(), 2u);
  EXPECT_EQ(stored[0].outcome, EventOutcome::kStarted);
  EXPECT_EQ(stored[1], (EventRecord{.name_space = "default",
                                    .origin = s.Of("e1").origin,
                                    .accepted = kT0,
                                    .outcome = EventOutcome::kGap,
                                    .starts = bad.starts}));
}

TYPED_TEST(EventsContract, ATriggerIsSeenByAllMembersAtOnce) {
  EventDriver s = this->event_driver();
  const auto second = this->OpenSecond();
  EventDriver other(*second);
  EXPECT_TRUE(other.IsNoMatch(other.Accept(other.Of("e1"), kT0)));
  const StoredJob job = s.Create("job", s.On("order.created"));
  const EventEffect first = other.Accept(other.Of("e1"), kT0 + 1s);
  ASSERT_EQ(first.starts.size(), 1u);
  const EventEffect again = s.Accept(s.Of("e1"), kT0 + 1s);
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.starts, first.starts);
  EXPECT_EQ(s.Started(s.Of("e2"), kT0 + 1s).fire, kT0 + 1s + 1us);
  ASSERT_OK(s.jobs.DeleteJob(job.job_id, job.version, {.now = kT0 + 2s}));
  EXPECT_TRUE(other.IsNoMatch(other.Accept(other.Of("e3"), kT0 + 3s)));
}

TYPED_TEST(EventsContract, TriggersAreReadByNamespace) {
  EventDriver s = this->event_driver();
  JobDefinition definition = s.On("a", "data.n == 1", {{"p", std::string("{{event.id}}")}});
  definition.schedules.push_back({.kind = ScheduleKind::kRate, .every = 1h, .start = kT0});
  definition.schedules.push_back(s.Trigger("b.*"));
  const StoredJob job = s.Create("job", definition);
  JobDefinition paused = s.On("c");
  paused.name = "paused";
  paused.enabled = false;
  s.Create("paused", paused);
  JobDefinition deleted = s.On("d");
  deleted.name = "deleted";
  const StoredJob gone = s.Create("deleted", deleted);
  ASSERT_OK(s.jobs.DeleteJob(gone.job_id, gone.version, {.now = kT0}));
  JobDefinition elsewhere = s.On("e");
  elsewhere.name_space = "other";
  s.Create("elsewhere", elsewhere);
  JobDefinition broken = s.On("f");
  broken.name = "broken";
  const StoredJob damaged = s.Create("broken", broken);
  this->handle().DamageDefinition(damaged, true);
  const auto triggers = s.v(s.events.ReadTriggers("default"));
  ASSERT_EQ(triggers->all().size(), 3u);
  const EventTrigger& first = triggers->all()[0];
  EXPECT_EQ(first.id, job.schedules[0].schedule_id);
  EXPECT_EQ(first.job_no, job.job_no);
  EXPECT_EQ(first.job_id, job.job_id);
  EXPECT_EQ(first.job_version, 1);
  EXPECT_EQ(first.spec(), definition.schedules[0]);
  EXPECT_EQ(triggers->all()[1].position, 2u);
  EXPECT_EQ(triggers->all()[2].spec().event_type, "c");
  EXPECT_EQ(s.v(s.events.ReadTriggers("other"))->all().size(), 1u);
  EXPECT_TRUE(s.v(s.events.ReadTriggers("nobody"))->all().empty());
  EXPECT_EQ(s.Accept(s.Of("e1", {}, "b.x"), kT0).starts.size(), 1u) << "beside the damaged one";
  EXPECT_TRUE(s.IsNoMatch(s.Accept(s.Of("e2", {}, "f"), kT0)));
}

// ---- what is told about them -------------------------------------------------------------------

TYPED_TEST(EventsContract, EventsAreListedInPages) {
  EventDriver s = this->event_driver();
  s.Create("job", s.On("*"));
  std::vector<Event> batch;
  for (int i = 0; i < 7; ++i) batch.push_back(s.Of("b" + std::to_string(i)));
  s.Accept(s.Of("a"), kT0);
  s.AcceptAll(batch, kT0 + 1s);
  s.Accept(s.Of("c"), kT0 + 2s);
  const std::vector<EventRecord> all = s.Stored({.limit = 100});
  ASSERT_EQ(all.size(), 9u);
  EXPECT_EQ(all.front().origin.id, "c");
  EXPECT_EQ(all.back().origin.id, "a");
  for (const size_t limit : {1, 2, 4, 8, 9}) {
    EventListFilter filter{.limit = limit};
    std::vector<EventRecord> found;
    do {
      const EventPage page = s.v(s.events.ListEvents(filter));
      ASSERT_LE(page.events.size(), limit);
      ASSERT_FALSE(page.events.empty());
      found.insert(found.end(), page.events.begin(), page.events.end());
      filter.before = page.next;
    } while (filter.before);
    EXPECT_EQ(found, all) << limit;
  }
  const auto first = s.v(s.events.ListEvents({.limit = 2}));
  ASSERT_TRUE(first.next);
  EXPECT_EQ(first.next->accepted, kT0 + 1s);
  EXPECT_EQ(first.events.back().origin.id, "b5");
  EXPECT_EQ(first.next->tie, "fcdf868b2f6ac051ea17e262dd4f5393");
}

TYPED_TEST(EventsContract, EventsAreListedByWhatTheyAre) {
  EventDriver s = this->event_driver();
  s.Create("job", s.On("*"));
  JobDefinition other = s.Taking();
  other.name_space = "other";
  s.Create("other", other);
  s.Accept(s.Of("e1", {}, "order.created"), kT0 + 1s);
  s.Accept(s.Of("e2", {}, "order.paid"), kT0 + 2s);
  s.Accept(s.Of("e3", {}, "order_x", "market"), kT0 + 3s);
  s.Accept(s.Of("e1"), kT0 + 4s, "other");
  ASSERT_OK(s.events.Refuse(
      {.name_space = "other", .place = "t/0/1", .type = "order.x", .problem = "No."}, kT0 + 5s));
  using Ids = std::vector<std::string>;
  const auto ids = [&](const EventListFilter& filter) { return s.IdsOf(s.Stored(filter)); };
  EXPECT_EQ(ids({}), (Ids{"t/0/1", "e1", "e3", "e2", "e1"}));
  EXPECT_EQ(ids({.namespaces = {"other"}}), (Ids{"t/0/1", "e1"}));
  EXPECT_EQ(ids({.namespaces = {"other", "default"}}).size(), 5u);
  EXPECT_EQ(ids({.type = "order.paid"}), (Ids{"e2"}));
  EXPECT_EQ(ids({.namespaces = {"default"}, .type = "order.*"}), (Ids{"e2", "e1"}));
  EXPECT_EQ(ids({.type = "order_*"}), (Ids{"e3"})) << "a beginning is no pattern";
  EXPECT_EQ(ids({.type = "*"}).size(), 5u);
  EXPECT_EQ(ids({.source = "market"}), (Ids{"e3"}));
  EXPECT_EQ(ids({.id = "e1"}), (Ids{"e1", "e1"}));
  EXPECT_EQ(ids({.outcome = EventOutcome::kStarted}), (Ids{"e3", "e2", "e1"}));
  EXPECT_EQ(ids({.outcome = EventOutcome::kGap}), (Ids{"e1"}));
  EXPECT_EQ(ids({.outcome = EventOutcome::kRefused}), (Ids{"t/0/1"}));
  EXPECT_EQ(ids({.since = kT0 + 2s, .until = kT0 + 4s}), (Ids{"e3", "e2"}));
}

TYPED_TEST(EventsContract, ARecordThatIsNoEventIsRefusedOnce) {
  EventDriver s = this->event_driver();
  const RefusedEvent refused{
      .name_space = "default", .place = "orders/2/17", .problem = "No JSON."};
  ASSERT_OK(s.events.Refuse(refused, kT0));
  ASSERT_OK(s.events.Refuse(refused, kT0 + 1s));
  EXPECT_EQ(s.Stored(), (std::vector<EventRecord>{{.name_space = "default",
                                                   .origin = {.id = "orders/2/17"},
                                                   .accepted = kT0,
                                                   .outcome = EventOutcome::kRefused,
                                                   .problem = "No JSON."}}));
  ASSERT_OK(s.events.Refuse({.name_space = "default", .place = "orders/2/18", .problem = "No."},
                            kT0 + 2s));
  EXPECT_EQ(s.Stored().size(), 2u);
}

TYPED_TEST(EventsContract, TheFirstCallDecidesWhereATopicBegins) {
  EventDriver s = this->event_driver();
  EXPECT_EQ(s.v(s.events.BeginTopic("orders", kT0 + 5s)), kT0 + 5s);
  EXPECT_EQ(s.v(s.events.BeginTopic("orders", kT0 + 9s)), kT0 + 5s);
  EXPECT_EQ(s.v(s.events.BeginTopic("orders", kT0)), kT0 + 5s);
  EXPECT_EQ(s.v(s.events.BeginTopic("Orders", kT0 + 9s)), kT0 + 9s);
  this->Reopen();
  EXPECT_EQ(this->event_driver().v(this->handle().events().BeginTopic("orders", kT0 + 99h)),
            kT0 + 5s);
}

TYPED_TEST(EventsContract, OnlyWaitingRunsOfEventsAreCounted) {
  EventDriver s = this->event_driver();
  const StoredJob job = s.Create("job", s.On("*"));
  EXPECT_EQ(s.v(s.events.CountOpenEventRuns(10)), 0);
  for (int i = 0; i < 4; ++i) s.Accept(s.Of(std::to_string(i)), kT0 + i * 1s);
  s.Execute(job, kT0);
  EXPECT_EQ(s.v(s.events.CountOpenEventRuns(10)), 4);
  EXPECT_EQ(s.v(s.events.CountOpenEventRuns(3)), 3);
  s.Start(s.Get({.fire = kT0, .schedule_id = job.schedules[0].schedule_id}).row, 1, s.fence,
          kT0 + 9s);
  EXPECT_EQ(s.v(s.events.CountOpenEventRuns(10)), 3);
}

TYPED_TEST(EventsContract, AnEventIsKnownForThreeDays) {
  EventDriver s = this->event_driver();
  s.Create("job", s.On("*"));
  ASSERT_OK(s.housekeeping.Maintain(kT0, {.runs = 14 * 24h}));
  s.Accept(s.Of("e1"), kT0 + 1h);
  ASSERT_OK(s.events.Refuse({.name_space = "default", .place = "t/0/1", .problem = "No."}, kT0));
  ASSERT_OK(s.housekeeping.Maintain(kT0 + 73h - 1s, {.runs = 14 * 24h}));
  EXPECT_EQ(s.IdsOf(s.Stored()), (std::vector<std::string>{"e1"}));
  EXPECT_TRUE(s.Accept(s.Of("e1"), kT0 + 73h - 1s).duplicate);
  ASSERT_OK(s.housekeeping.Maintain(kT0 + 73h + 1s, {.runs = 14 * 24h}));
  EXPECT_TRUE(s.Stored().empty());
  EXPECT_FALSE(s.Accept(s.Of("e1"), kT0 + 73h + 2s).duplicate);
}

}  // namespace carillon::test
