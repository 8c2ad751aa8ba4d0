// Contract of waits for jobs whose past fires are run by a backfill.
#pragma once

#include "tests/contract/store/upstream_driver.h"

namespace carillon::test {

class UpstreamBackfillsDriver : public UpstreamDriver {
 public:
  static constexpr WallTime kNow = kT0 + 5h + 30min;

  explicit UpstreamBackfillsDriver(StoreHandle& store) : UpstreamDriver(store) {}

  // Creates a job whose fires up to kNow have no run.
  StoredJob Hourly(const std::string& id, JobDefinition definition = Manual()) {
    definition.name = id;
    definition.schedules = {{.kind = ScheduleKind::kRate, .every = 1h, .start = kT0}};
    return Create(id, definition, kNow);
  }
  static WallTime Fire(int hour) { return kT0 + 1h * hour; }
  // Of the fires of the hours [from, to).
  OpenBackfill Begin(const StoredJob& job, int from, int to,
                     BackfillOrder order = BackfillOrder::kAscending) {
    const Backfill made =
        v(backfills.CreateBackfill({.job_id = job.job_id,
                                    .schedule_id = job.schedules.at(0).schedule_id,
                                    .from = Fire(from),
                                    .to = Fire(to),
                                    .order = order},
                                   {}, {.now = kNow}));
    return {made.number, job.job_no, job.segment};
  }
  // Runs the next fire to its end.
  RunKey RunNext(const OpenBackfill& open) {
    const BackfillEffect effect = v(backfills.StepBackfill(open, fence, kNow, 14 * 24h));
    EXPECT_EQ(effect.due.size(), 1u);
    if (effect.due.empty()) return {};
    Finished(effect.due.front(), RunState::kCompleted, kNow);
    return effect.due.front().key;
  }
  static UpstreamWait WaitForAll(const std::string& job) {
    return {.job = JobId(job), .window = {.day = 0}, .which = WaitWhich::kAll};
  }
};

template <typename Factory>
class UpstreamBackfillsContract : public StoreContract<Factory> {
 protected:
  UpstreamBackfillsDriver upstream_backfills_driver() {
    return UpstreamBackfillsDriver(this->handle());
  }
};
TYPED_TEST_SUITE(UpstreamBackfillsContract, StoreFactories);

TYPED_TEST(UpstreamBackfillsContract, TheFiresThatItHasLeftAreRead) {
  UpstreamBackfillsDriver s = this->upstream_backfills_driver();
  const StoredJob up = s.Hourly("up");
  const StoredJob other = s.Hourly("other");
  s.Begin(other, 0, 5);
  const auto spans = [&] { return s.SourcesOf("up").backfills; };
  EXPECT_TRUE(spans().empty());
  const OpenBackfill open = s.Begin(up, 1, 3);
  const auto left = [&](WallTime from, WallTime until) {
    return std::vector<SourceBackfill>{
        {.number = open.number, .job_no = up.job_no, .from = from, .until = until}};
  };
  EXPECT_EQ(spans(), left(s.Fire(1), s.Fire(3)));
  s.RunNext(open);
  EXPECT_EQ(spans(), left(s.Fire(1) + 1us, s.Fire(3)));
  s.v(s.backfills.PauseBackfill(open.number, {.now = s.kNow}));
  EXPECT_EQ(spans(), left(s.Fire(1) + 1us, s.Fire(3))) << "it may go on";
  s.v(s.backfills.ResumeBackfill(open.number, {.now = s.kNow}));
  s.RunNext(open);
  EXPECT_TRUE(spans().empty()) << "the last fire has its run";
}

TYPED_TEST(UpstreamBackfillsContract, InDescendingOrderTheFirstFiresAreLeft) {
  UpstreamBackfillsDriver s = this->upstream_backfills_driver();
  const StoredJob up = s.Hourly("up");
  const OpenBackfill open = s.Begin(up, 1, 4, BackfillOrder::kDescending);
  EXPECT_EQ(s.RunNext(open).fire, s.Fire(3));
  ASSERT_EQ(s.SourcesOf("up").backfills.size(), 1u);
  EXPECT_EQ(s.SourcesOf("up").backfills[0].from, s.Fire(1));
  EXPECT_EQ(s.SourcesOf("up").backfills[0].until, s.Fire(3));
  s.v(s.backfills.CancelBackfill(open.number, {.now = s.kNow}));
  EXPECT_TRUE(s.SourcesOf("up").backfills.empty());
}

TYPED_TEST(UpstreamBackfillsContract, AWaitForAllFiresEndsAfterTheLastOne) {
  UpstreamBackfillsDriver s = this->upstream_backfills_driver();
  const StoredJob up = s.Hourly("up");
  const OpenBackfill open = s.Begin(up, 1, 4);
  for (int hour = 1; hour < 3; ++hour) {
    s.RunNext(open);
    const WaitAnswer answer = s.Judge(s.WaitForAll("up"), s.kNow);
    EXPECT_EQ(answer.cause, WaitCause::kBackfill);
    EXPECT_EQ(answer.fire, s.Fire(hour) + 1us);
  }
  s.RunNext(open);
  EXPECT_EQ(s.Judge(s.WaitForAll("up"), s.kNow).verdict, WaitVerdict::kMet);
}

TYPED_TEST(UpstreamBackfillsContract, OfADeletedJobNoneIsLeft) {
  UpstreamBackfillsDriver s = this->upstream_backfills_driver();
  const StoredJob z = s.Hourly("z");
  s.Create("up", s.After("z"));
  s.Begin(z, 1, 4);
  EXPECT_EQ(s.SourcesOf("up").backfills.size(), 1u);
  ASSERT_OK(s.jobs.DeleteJob(z.job_id, z.version, {.now = s.kNow, .force = true}));
  EXPECT_TRUE(s.SourcesOf("up").backfills.empty());
}

TYPED_TEST(UpstreamBackfillsContract, TheBackfillOfAJobBeforeItLeadsToNoRun) {
  UpstreamBackfillsDriver s = this->upstream_backfills_driver();
  const StoredJob z = s.Hourly("z");
  const StoredJob up = s.Create("up", s.After("z"));
  EXPECT_EQ(s.SourcesOf("up").workflows, std::vector<JobNo>{up.job_no});
  const UpstreamWait wait{.job = up.job_id, .window = {.day = 0}};
  const OpenBackfill open = s.Begin(z, 1, 2);
  EXPECT_EQ(s.Judge(wait, s.kNow).cause, WaitCause::kBackfill);
  const RunKey key = s.RunNext(open);
  EXPECT_TRUE(s.Act(s.kNow + 5s).empty());
  const WaitAnswer answer = s.Judge(wait, s.kNow);
  EXPECT_EQ(answer.cause, WaitCause::kNoneToCome);
  ASSERT_TRUE(answer.run);
  EXPECT_EQ(answer.run->key, key);
  EXPECT_TRUE(answer.run->background);
}

TYPED_TEST(UpstreamBackfillsContract, TheBackfillOfAWorkflowLeadsToItsNodes) {
  UpstreamBackfillsDriver s = this->upstream_backfills_driver();
  JobDefinition definition = s.Chain();
  definition.schedules = {{.kind = ScheduleKind::kRate, .every = 1h, .start = kT0}};
  const StoredJob flow = s.CreateFlow(definition);
  const StoredJob a = s.v(s.jobs.GetJob(JobId("a")));
  EXPECT_EQ(s.SourcesOf("a").workflows, (std::vector<JobNo>{a.job_no, flow.job_no}));
  EXPECT_EQ(s.SourcesOf("a", "flow").workflows, std::vector<JobNo>{flow.job_no});
  const OpenBackfill open = s.Begin(flow, 0, 1);
  const BackfillEffect effect = s.v(s.backfills.StepBackfill(open, s.fence, s.kNow, 14 * 24h));
  ASSERT_EQ(effect.due.size(), 1u);
  const RunKey own = effect.due.front().key;
  const UpstreamWait wait{.job = a.job_id, .window = {.back_s = 600}};
  EXPECT_EQ(s.Judge(wait, kT0).cause, WaitCause::kNotRun);
  s.ExpectBegin(own, s.kNow);
  s.Steps(s.kNow);
  for (const char* in : {"", "flow"}) {
    const auto runs = s.RunsOf(s.SourcesOf("a", in), kT0, kT0);
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_TRUE(runs[0].background && runs[1].background);
  }
  s.Finish(own, "a", s.kNow + 1s);
  EXPECT_EQ(s.Judge(wait, kT0).verdict, WaitVerdict::kMet);
}

}  // namespace carillon::test
