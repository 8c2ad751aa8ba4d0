// The contract of parameters that an edit removes with their schedule: the runs that it has made
// keep them. Fires in parts that have begun keep those that it changes, too.
#pragma once

#include "common/domain/run/run_kind.h"
#include "common/wire/json/job/given_parameters.h"
#include "tests/contract/store/store_driver.h"

namespace carillon::test {

class KeptParametersDriver : public StoreDriver {
 public:
  explicit KeptParametersDriver(StoreHandle& store) : StoreDriver(store), fence(Take()) {}

  // Runs for the north every 10 s, and for all by default.
  JobDefinition Tenant(int retries) {
    JobDefinition definition = Every(10s);
    definition.parameters = {{"t", std::string("ALL")}, {"n", int64_t{1}}};
    definition.schedules[0].parameters = {{"t", std::string("north")}};
    definition.retry_count = retries;
    return definition;
  }
  RunRow Planned(const StoredJob& job, WallTime until) {
    Plan(until, fence);
    for (const RunRow& row : Pending(until)) {
      if (row.job_no == job.job_no) return row;
    }
    ADD_FAILURE() << "nothing is planned";
    return {};
  }
  RunRow Failed(const RunRow& row, WallTime now) {
    const RunRow running = Start(row, ++token_, fence, now);
    EXPECT_EQ(Apply(ReportOf(running, RunState::kFailed, now), fence, now).verdict,
              ResultVerdict::kApplied);
    return Get(row.key).row;
  }
  // An edit that makes another schedule of it.
  StoredJob EditJitter(const StoredJob& job, WallTime now) {
    JobDefinition edited = job.definition;
    edited.schedules[0].jitter = 5s;
    const StoredJob after = Replace(job, edited, now);
    EXPECT_NE(after.schedules[0].schedule_id, job.schedules[0].schedule_id);
    return after;
  }
  // Gives its job three parts.
  static JobDefinition InThree(JobDefinition definition) {
    definition.shards = Shards{.total = 3};
    return definition;
  }
  void Begin(const RunRow& own, WallTime now) {
    ClaimRequest request = ClaimOf(own, ++token_);
    request.executor = {};
    request.incarnation = {};
    EXPECT_EQ(v(workflows.BeginParts({request}, fence, now)).verdict, ClaimVerdict::kAccepted);
  }
  RunRow PartOf(const RunRow& own, uint32_t shard) {
    return Get({own.key.fire, own.key.schedule_id, shard}).row;
  }
  RunRow Look(const RunRow& own, WallTime now) {
    EXPECT_OK(completions.EndFires({{.own = own.key, .segment = own.segment, .job_no = own.job_no}},
                                   fence, now));
    return Get(own.key).row;
  }
  // An edit of nothing but the parameters of the job and of its first schedule.
  StoredJob EditParameters(const StoredJob& job, const Parameters& of_job,
                           const Parameters& of_schedule, WallTime now) {
    JobDefinition edited = job.definition;
    edited.parameters = of_job;
    if (!edited.schedules.empty()) edited.schedules[0].parameters = of_schedule;
    const StoredJob after = Replace(job, edited, now);
    EXPECT_EQ(after.schedules.size(), job.schedules.size());
    for (size_t i = 0; i < after.schedules.size(); ++i) {
      EXPECT_EQ(after.schedules[i].schedule_id, job.schedules[i].schedule_id);
    }
    return after;
  }
  std::string RequestOf(const RunKey& key) { return v(firing.LoadRunRequest(key)).parameters_json; }

  Fence fence;

 private:
  uint64_t token_ = 0;
};

template <typename Factory>
class KeptParametersContract : public StoreContract<Factory> {
 protected:
  KeptParametersDriver kept_driver() { return KeptParametersDriver(this->handle()); }
};
TYPED_TEST_SUITE(KeptParametersContract, StoreFactories);

TYPED_TEST(KeptParametersContract, RunBetweenTwoAttemptsKeepsThem) {
  KeptParametersDriver s = this->kept_driver();
  const StoredJob job = s.Create("job", s.Tenant(1));
  const RunRow waits = s.Failed(s.Planned(job, kT0 + 10s), kT0 + 10s);
  ASSERT_EQ(waits.state, RunState::kPending);
  EXPECT_EQ(s.RequestOf(waits.key), "");
  s.EditJitter(job, kT0 + 11s);
  EXPECT_EQ(s.RequestOf(waits.key), R"({"t":"north"})");
  const RunRow after = s.Get(waits.key).row;
  EXPECT_TRUE(HasRequest(after.kind, after.flags));
  EXPECT_EQ(after.def_version, 2);
  EXPECT_EQ(after.due, waits.due);
}

TYPED_TEST(KeptParametersContract, RunThatRunsKeepsThemForItsRetry) {
  KeptParametersDriver s = this->kept_driver();
  const StoredJob job = s.Create("job", s.Tenant(1));
  const RunRow running = s.Start(s.Planned(job, kT0 + 10s), 900, s.fence, kT0 + 10s);
  s.EditJitter(job, kT0 + 11s);
  const RunEffect effect = s.Apply(s.ReportOf(running, RunState::kFailed), s.fence, kT0 + 12s);
  ASSERT_TRUE(effect.again.has_value());
  EXPECT_TRUE(HasRequest(effect.again->kind, effect.again->flags));
  EXPECT_EQ(s.RequestOf(running.key), R"({"t":"north"})");
}

TYPED_TEST(KeptParametersContract, FailedRunKeepsThemForARetryByHand) {
  KeptParametersDriver s = this->kept_driver();
  const StoredJob job = s.Create("job", s.Tenant(0));
  const RunRow failed = s.Failed(s.Planned(job, kT0 + 10s), kT0 + 10s);
  ASSERT_EQ(failed.state, RunState::kFailed);
  s.EditJitter(job, kT0 + 11s);
  s.v(s.runs.RetryRun({.key = failed.key}, {.now = kT0 + 12s}));
  const RunRow again = s.Get(failed.key).row;
  EXPECT_TRUE(HasRequest(again.kind, again.flags));
  EXPECT_EQ(s.RequestOf(failed.key), R"({"t":"north"})");
}

// Nothing is kept with a cancelled run, nor with one whose letter is gone.
TYPED_TEST(KeptParametersContract, ARunThatKeptNothingIsNotRetriedWithoutItsSchedule) {
  KeptParametersDriver s = this->kept_driver();
  const StoredJob job = s.Create("job", s.Tenant(0));
  const RunRow failed = s.Failed(s.Planned(job, kT0 + 10s), kT0 + 10s);
  for (const DeadLetter& letter : s.v(s.runs.ListDeadLetters({}))) {
    ASSERT_OK(s.runs.DiscardDeadLetter(letter.id));
  }
  const RunRow cancelled = s.Planned(job, kT0 + 20s);
  ASSERT_TRUE(s.v(s.runs.CancelRun(cancelled.key, {.now = kT0 + 21s})));
  const RunRow open = s.Planned(job, kT0 + 30s);  // when the schedule goes
  s.EditJitter(job, kT0 + 31s);
  ASSERT_TRUE(s.v(s.runs.CancelRun(open.key, {.now = kT0 + 32s})));
  for (const RunKey& key : {failed.key, cancelled.key}) {
    const RunRow before = s.Get(key).row;
    EXPECT_CODE(s.runs.RetryRun({.key = key}, {.now = kT0 + 33s}), ErrorCode::kConflict);
    EXPECT_EQ(s.Get(key).row, before);
  }
  EXPECT_OK(s.runs.RetryRun({.key = open.key}, {.now = kT0 + 33s}));
  EXPECT_EQ(s.RequestOf(open.key), R"({"t":"north"})");
}

TYPED_TEST(KeptParametersContract, ACancelledFireNeedsItsSchedule) {
  KeptParametersDriver s = this->kept_driver();
  JobDefinition definition = s.Tenant(0);
  definition.shards = Shards{.total = 2};
  const StoredJob job = s.Create("job", definition);
  const RunRow own = s.Planned(job, kT0 + 10s);
  ClaimRequest request = s.ClaimOf(own, 1);
  request.executor = {};
  request.incarnation = {};
  EXPECT_EQ(s.v(s.workflows.BeginParts({request}, s.fence, kT0 + 10s)).verdict,
            ClaimVerdict::kAccepted);
  const auto cancel = [&](WallTime now) {
    ASSERT_TRUE(s.v(s.runs.CancelRun(own.key, {.now = now})));
    ASSERT_OK(s.completions.EndFires(
        {{.own = own.key, .segment = own.segment, .job_no = own.job_no}}, s.fence, now));
    ASSERT_EQ(s.Get(own.key).row.state, RunState::kCancelled);
  };
  const PartChoice all{.which = PartChoice::Which::kAll};
  cancel(kT0 + 11s);
  EXPECT_OK(s.runs.RetryRun({.key = own.key, .parts = all}, {.now = kT0 + 12s}));
  cancel(kT0 + 13s);
  s.EditJitter(job, kT0 + 14s);
  EXPECT_CODE(s.runs.RetryRun({.key = own.key, .parts = all}, {.now = kT0 + 15s}),
              ErrorCode::kConflict);
  EXPECT_EQ(s.Get(own.key).row.state, RunState::kCancelled);
}

// A fire may have 1,000 parts, which all read the request of their own run.
TYPED_TEST(KeptParametersContract, AFireInPartsKeepsThemOnce) {
  KeptParametersDriver s = this->kept_driver();
  JobDefinition definition = s.Tenant(1);
  definition.shards = Shards{.total = 3};
  const StoredJob job = s.Create("job", definition);
  const RunRow own = s.Planned(job, kT0 + 10s);
  ClaimRequest request = s.ClaimOf(own, 1);
  request.executor = {};
  request.incarnation = {};
  EXPECT_EQ(s.v(s.workflows.BeginParts({request}, s.fence, kT0 + 10s)).verdict,
            ClaimVerdict::kAccepted);
  const auto part = [&](uint32_t shard) {
    return s.Get({own.key.fire, own.key.schedule_id, shard}).row;
  };
  const RunRow running = s.Start(part(1), 900, s.fence, kT0 + 10s);
  const RunRow retried = s.Failed(part(2), kT0 + 10s);
  ASSERT_EQ(retried.state, RunState::kPending);
  s.EditJitter(job, kT0 + 11s);
  EXPECT_EQ(s.RequestOf(own.key), R"({"t":"north"})");
  for (const uint32_t shard : {1u, 2u, 3u}) {
    EXPECT_EQ(s.RequestOf(part(shard).key), "") << shard;
    EXPECT_TRUE(HasRequest(part(shard).kind, part(shard).flags)) << shard;
  }
  const RunEffect effect = s.Apply(s.ReportOf(running, RunState::kFailed), s.fence, kT0 + 12s);
  ASSERT_TRUE(effect.again.has_value());
  EXPECT_TRUE(HasRequest(effect.again->kind, effect.again->flags));
}

TYPED_TEST(KeptParametersContract, WhatTheRunWasGivenGoesFirstAndItsGiverStays) {
  KeptParametersDriver s = this->kept_driver();
  JobDefinition definition = s.Tenant(0);
  definition.schedules[0].parameters["n"] = int64_t{7};
  const StoredJob job = s.Create("job", definition, kT0 + 25s);
  const Backfill made = s.v(s.backfills.CreateBackfill(
      {.job_id = job.job_id,
       .schedule_id = job.schedules[0].schedule_id,
       .from = kT0,
       .to = kT0 + 10s,
       .parameters_json = R"({"t":"south","$given_by":["user-1"],"$untrusted":["t"]})"},
      {}, {.now = kT0 + 25s}));
  s.v(s.backfills.StepBackfill({made.number, job.job_no, job.segment}, s.fence, kT0 + 25s, 24h));
  const RunKey key{kT0, job.schedules[0].schedule_id, 0};
  s.EditJitter(job, kT0 + 26s);
  const RenderedParameters given = s.v(GivenFromText(s.RequestOf(key)));
  EXPECT_EQ(given.values, (Parameters{{"t", std::string("south")}, {"n", int64_t{7}}}));
  EXPECT_EQ(given.given_by, std::set<std::string>{"user-1"});
  EXPECT_EQ(given.untrusted, std::set<std::string>{"t"});
}

// The runs of a schedule and one by hand, which wait for another attempt.
TYPED_TEST(KeptParametersContract, RunsKeepTheirTimeZoneWhenTheJobMoves) {
  KeptParametersDriver s = this->kept_driver();
  JobDefinition definition = s.Every(10s);
  definition.retry_count = 1;
  definition.time_zone = "Asia/Tokyo";
  const StoredJob job = s.Create("job", definition);
  const RunRow waits = s.Failed(s.Planned(job, kT0 + 10s), kT0 + 10s);
  const RunKey by_hand = s.v(s.runs.ExecuteJob({.job_id = job.job_id}, {.now = kT0 + 10s})).key;
  JobDefinition edited = definition;
  edited.time_zone = "Europe/Paris";
  const StoredJob moved = s.v(
      s.jobs.ReplaceJob(job.job_id, job.version, edited, {.now = kT0 + 11s, .keep_zones = true}));
  for (const RunKey& key : {waits.key, by_hand}) {
    EXPECT_EQ(s.v(GivenFromText(s.RequestOf(key))).time_zone, "Asia/Tokyo");
    const RunRow after = s.Get(key).row;
    EXPECT_TRUE(HasRequest(after.kind, after.flags));
  }
  // It keeps the first one.
  edited.time_zone = "UTC";
  s.v(s.jobs.ReplaceJob(job.job_id, moved.version, edited, {.now = kT0 + 12s, .keep_zones = true}));
  EXPECT_EQ(s.v(GivenFromText(s.RequestOf(waits.key))).time_zone, "Asia/Tokyo");
}

TYPED_TEST(KeptParametersContract, NoZoneIsKeptBeforeAllMembersKnowIt) {
  KeptParametersDriver s = this->kept_driver();
  JobDefinition definition = s.Every(10s);
  definition.retry_count = 1;
  const StoredJob job = s.Create("job", definition);
  const RunRow waits = s.Failed(s.Planned(job, kT0 + 10s), kT0 + 10s);
  definition.time_zone = "Asia/Tokyo";
  s.Replace(job, definition, kT0 + 11s);
  EXPECT_EQ(s.RequestOf(waits.key), "");
}

TYPED_TEST(KeptParametersContract, ScheduleThatStaysKeepsItsParametersItself) {
  KeptParametersDriver s = this->kept_driver();
  const StoredJob job = s.Create("job", s.Tenant(1));
  const RunRow waits = s.Failed(s.Planned(job, kT0 + 10s), kT0 + 10s);
  JobDefinition edited = job.definition;
  edited.schedules[0].parameters = {{"t", std::string("south")}};
  edited.description = "for the south now";
  s.Replace(job, edited, kT0 + 11s);
  EXPECT_EQ(s.RequestOf(waits.key), "");
}

TYPED_TEST(KeptParametersContract, AFireThatHasBegunKeepsThoseThatAnEditChanges) {
  KeptParametersDriver s = this->kept_driver();
  const StoredJob job = s.Create("job", s.InThree(s.Tenant(1)));
  const RunRow own = s.Planned(job, kT0 + 10s);
  s.Begin(own, kT0 + 10s);
  const RunRow running = s.Start(s.PartOf(own, 1), 900, s.fence, kT0 + 10s);
  const RunRow later = s.Planned(job, kT0 + 20s);  // it has not begun
  const StoredJob south =
      s.EditParameters(job, {{"t", std::string("ALL")}, {"n", int64_t{2}}, {"new", true}},
                       {{"t", std::string("south")}}, kT0 + 21s);
  EXPECT_EQ(s.RequestOf(own.key), R"({"n":1,"t":"north"})");
  EXPECT_EQ(s.RequestOf(later.key), "");
  for (const uint32_t shard : {1u, 2u, 3u}) {
    const RunRow part = s.PartOf(own, shard);
    EXPECT_EQ(s.RequestOf(part.key), "") << shard;
    EXPECT_TRUE(HasRequest(part.kind, part.flags)) << shard;
  }
  const RunEffect effect = s.Apply(s.ReportOf(running, RunState::kFailed), s.fence, kT0 + 22s);
  ASSERT_TRUE(effect.again.has_value());
  EXPECT_TRUE(HasRequest(effect.again->kind, effect.again->flags));
  // The first values stay, also when the schedule goes.
  const StoredJob west =
      s.EditParameters(south, {{"n", int64_t{3}}}, {{"t", std::string("west")}}, kT0 + 23s);
  s.EditJitter(west, kT0 + 24s);
  EXPECT_EQ(s.RequestOf(own.key), R"({"n":1,"new":true,"t":"north"})");
}

TYPED_TEST(KeptParametersContract, AFireByHandKeepsTheDefaultsBesideWhatItWasGiven) {
  KeptParametersDriver s = this->kept_driver();
  JobDefinition definition = s.InThree(s.Manual());
  definition.parameters = {{"t", std::string("ALL")}, {"n", int64_t{1}}};
  const StoredJob job = s.Create("job", definition);
  const RunKey given =
      s.v(s.runs.ExecuteJob({.job_id = job.job_id, .parameters_json = R"({"n":7})"}, {.now = kT0}))
          .key;
  const RunRow own = s.Get(given).row;
  s.Begin(own, kT0);
  s.EditParameters(job, {{"t", std::string("south")}, {"n", int64_t{2}}}, {}, kT0 + 1s);
  EXPECT_EQ(s.RequestOf(given), R"({"n":7,"t":"ALL"})");
}

TYPED_TEST(KeptParametersContract, AFailedFireKeepsThemForRetriesOfItsParts) {
  KeptParametersDriver s = this->kept_driver();
  const StoredJob job = s.Create("job", s.InThree(s.Tenant(0)));
  const RunRow own = s.Planned(job, kT0 + 10s);
  s.Begin(own, kT0 + 10s);
  for (const uint32_t shard : {1u, 2u, 3u}) s.Failed(s.PartOf(own, shard), kT0 + 10s);
  ASSERT_EQ(s.Look(own, kT0 + 11s).state, RunState::kFailed);
  s.EditParameters(job, job.definition.parameters, {{"t", std::string("south")}}, kT0 + 12s);
  s.v(s.runs.RetryRun({.key = own.key}, {.now = kT0 + 13s}));
  EXPECT_EQ(s.RequestOf(own.key), R"({"t":"north"})");
  const RunRow again = s.PartOf(own, 2);
  EXPECT_EQ(again.state, RunState::kPending);
  EXPECT_TRUE(HasRequest(again.kind, again.flags));
}

// Its parts will all be of the next begin.
TYPED_TEST(KeptParametersContract, AFireThatBeginsAgainTakesTheNewOnes) {
  KeptParametersDriver s = this->kept_driver();
  const StoredJob job = s.Create("job", s.InThree(s.Tenant(0)));
  const RunRow own = s.Planned(job, kT0 + 10s);
  s.Begin(own, kT0 + 10s);
  for (const uint32_t shard : {1u, 2u, 3u}) s.Failed(s.PartOf(own, shard), kT0 + 10s);
  ASSERT_EQ(s.Look(own, kT0 + 11s).state, RunState::kFailed);
  const Backfill made = s.v(s.backfills.CreateBackfill({.job_id = job.job_id,
                                                        .schedule_id = own.key.schedule_id,
                                                        .from = kT0 + 10s,
                                                        .to = kT0 + 11s,
                                                        .rerun = BackfillRerun::kAll},
                                                       {}, {.now = kT0 + 12s}));
  s.v(s.backfills.StepBackfill({made.number, job.job_no, job.segment}, s.fence, kT0 + 12s, 24h));
  ASSERT_EQ(s.Get(own.key).row.state, RunState::kPending);
  s.EditParameters(job, job.definition.parameters, {{"t", std::string("south")}}, kT0 + 13s);
  EXPECT_EQ(s.RequestOf(own.key), "");
}

}  // namespace carillon::test
