// Executors that may run a job, according to their labels in the store.
#include "tests/unit/scheduler/claims/claim_fixture.h"

namespace carillon::scheduler {
namespace {

class ClaimPlaceTest : public ClaimApplierTest {
 protected:
  void Know(const std::map<std::string, std::string>& labels) {
    executors_.Accept(
        {.id = kHolder.executor, .incarnation = kHolder.incarnation, .labels = labels, .slots = 4},
        clock_.Steady());
    Beat({Feature::kSecrets});
  }
  // A job with a secret, for executors that match the selector or only for this executor.
  StoredJob CreateChosen(const std::string& selector, const std::string& executor = "") {
    JobDefinition definition;
    definition.command = "true";
    definition.env = {{"PASSWORD", "{{secrets.db}}"}};
    definition.user_id = "anna";
    definition.executor_selector = selector;
    definition.executor_id = executor;
    return CreateJob("job", definition);
  }
  std::vector<ClaimBatchReply::Item> ClaimOnce(const RunRow& row, uint64_t token = 1) {
    if (!applier_) applier_ = std::make_unique<ClaimApplier>(Make());
    Ask({WantingClaimOf(row, token)});
    clock_.Advance(1s);
    SampleClock();
    applier_->Step(clock_.Steady());
    return Answers();
  }

  std::unique_ptr<ClaimApplier> applier_;
};

TEST_F(ClaimPlaceTest, WhoseLabelsDoNotMatchGetsNeitherTheRunNorItsSecrets) {
  PutSecret("db", "value of db");
  Know({{"zone", "b"}});
  const RunRow row = Execute(CreateChosen("zone=a"));
  const auto answers = ClaimOnce(row);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].verdict, ClaimVerdict::kRefused);
  EXPECT_EQ(answers[0].reason, ClaimReason::kWrongExecutor);
  EXPECT_TRUE(answers[0].secrets.empty());
  EXPECT_EQ(Row(row.key).state, RunState::kPending);
  // The run is returned, so that another executor can get it.
  EXPECT_EQ(Events().at(0).what, RunEvent::What::kReturned);
}

TEST_F(ClaimPlaceTest, LabelsThatWereChangedSinceThePublicationCount) {
  PutSecret("db", "value of db");
  Know({{"zone", "b"}});
  const RunRow row = Execute(CreateChosen("zone=a"));
  executors_.Refresh({{.id = kHolder.executor, .labels = {{"zone", "a"}}}});
  const auto answers = ClaimOnce(row);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(answers[0].secrets.size(), 1u);
}

TEST_F(ClaimPlaceTest, AClaimThatWasAcceptedIsAcceptedAgainWhateverTheLabelsAreNow) {
  Know({{"zone", "a"}});
  const RunRow row = Execute(CreateChosen("zone=a"));
  EXPECT_EQ(ClaimOnce(row).at(0).verdict, ClaimVerdict::kAccepted);
  executors_.Refresh({{.id = kHolder.executor, .labels = {{"zone", "b"}}}});
  EXPECT_EQ(ClaimOnce(row).at(0).verdict, ClaimVerdict::kAcceptedAgain);
}

TEST_F(ClaimPlaceTest, WhetherRunsMayOverlapIsForTheJobToSayNotForTheClaim) {
  Know({});
  JobDefinition definition;
  definition.command = "true";
  definition.overlap_policy = OverlapPolicy::kSkip;
  std::vector<OverlapPolicy> asked;  // the policies in the calls of the store
  faults_.plan.Refuse<ClaimRequest>([&asked](const ClaimRequest& request) {
    asked.push_back(request.overlap.policy);
    return false;
  });
  ClaimRequest claim = ClaimOf(Execute(CreateJob("job", definition)), 1);
  claim.overlap.policy = OverlapPolicy::kAllow;
  applier_ = std::make_unique<ClaimApplier>(Make());
  Ask({claim});
  clock_.Advance(1s);
  SampleClock();
  applier_->Step(clock_.Steady());
  EXPECT_EQ(Answers().at(0).verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(asked, std::vector<OverlapPolicy>{OverlapPolicy::kSkip});
}

TEST_F(ClaimPlaceTest, AJobOfOneExecutorRunsOnNoOther) {
  Know({});
  const auto elsewhere = ClaimOnce(Execute(CreateChosen("", "x2")));
  ASSERT_EQ(elsewhere.size(), 1u);
  EXPECT_EQ(elsewhere[0].reason, ClaimReason::kWrongExecutor);
}

TEST_F(ClaimPlaceTest, ARunThatIsPinnedGoesWhereItIsPinned) {
  Know({{"zone", "b"}});
  CreateChosen("zone=a");
  const auto run = stores_.runs.ExecuteJob({.job_id = JobId("job"), .executor = kHolder.executor},
                                           {.now = clock_.Wall()});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(ClaimOnce(Row(run->key)).at(0).verdict, ClaimVerdict::kAccepted);
}

// A job may be written by a later release. The executors that may run it are not known, so its
// secrets are not sent.
TEST_F(ClaimPlaceTest, AJobThatCannotBeReadIsForWhoHasItAlready) {
  PutSecret("db", "value of db");
  Know({{"zone", "a"}});
  const StoredJob job = CreateChosen("zone=a");
  const RunRow had = Execute(job);
  const RunRow open = Execute(job);
  EXPECT_EQ(ClaimOnce(had).at(0).verdict, ClaimVerdict::kAccepted);
  definitions_.Forget();
  stores_.DamageDefinition(job.job_id, job.version, true);
  const auto refused = ClaimOnce(open, 2);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].reason, ClaimReason::kWrongExecutor);
  EXPECT_TRUE(refused[0].secrets.empty());
  EXPECT_EQ(ClaimOnce(had).at(0).verdict, ClaimVerdict::kAcceptedAgain);
}

TEST_F(ClaimPlaceTest, OneThatIsNotKnownYetAsksAgain) {
  const RunRow row = Execute(CreateChosen("zone=a"));
  EXPECT_TRUE(ClaimOnce(row).empty());
  EXPECT_EQ(Row(row.key).state, RunState::kPending);
  Know({{"zone", "a"}});
  EXPECT_EQ(ClaimOnce(row).at(0).verdict, ClaimVerdict::kAccepted);
}

TEST_F(ClaimPlaceTest, WhoCannotDoWhatAJobNeedsGetsNeitherTheRunNorItsSecrets) {
  PutSecret("db", "value of db");
  executors_.Accept({.id = kHolder.executor, .incarnation = Incarnation("e0")}, clock_.Steady());
  executors_.Accept({.id = kHolder.executor, .incarnation = kHolder.incarnation}, clock_.Steady());
  const RunRow row = Execute(CreateChosen(""));
  EXPECT_TRUE(ClaimOnce(row).empty()) << "it has not said what it can do";
  for (const Features features : {Features{}, Features{Feature::kHttp}}) {
    Beat(features);
    const auto refused = ClaimOnce(row);
    ASSERT_EQ(refused.size(), 1u);
    EXPECT_EQ(refused[0].reason, ClaimReason::kWrongExecutor);
    EXPECT_TRUE(refused[0].secrets.empty());
  }
  Beat({Feature::kSecrets, Feature::kHttp});
  EXPECT_EQ(ClaimOnce(row).at(0).verdict, ClaimVerdict::kAccepted);
  Beat({});
  EXPECT_EQ(ClaimOnce(row).at(0).verdict, ClaimVerdict::kAcceptedAgain);
}

TEST_F(ClaimPlaceTest, OnlyAnExecutorWithAWorkerForItGetsTheRunOfAHandler) {
  Know({});
  JobDefinition definition;
  definition.type = JobType::kHandler;
  definition.handler = "billing/close";
  const RunRow row = Execute(CreateJob("job", definition));
  EXPECT_EQ(ClaimOnce(row).at(0).reason, ClaimReason::kWrongExecutor);
  Beat({}, {{"billing/open", {}}});
  EXPECT_EQ(ClaimOnce(row).at(0).reason, ClaimReason::kWrongExecutor);
  EXPECT_EQ(Row(row.key).state, RunState::kPending);
  Beat({}, {{"billing/close", {}}});
  EXPECT_EQ(ClaimOnce(row).at(0).verdict, ClaimVerdict::kAccepted);
}

// The own run of the fire has the only slot of the job, which has no shards any more.
TEST_F(ClaimPlaceTest, APartNeedsNoSlotButAnExecutorThatKnowsParts) {
  Know({});
  const StoredJob job =
      CreateJob("job", {.command = "true", .overlap_policy = OverlapPolicy::kSkip});
  const RunRow own = Execute(job);
  EXPECT_EQ(ClaimOnce(own).at(0).verdict, ClaimVerdict::kAccepted);
  RunKey key = own.key;
  key.shard = 1;
  ASSERT_TRUE(stores_.firing
                  .Plan({.runs = {{.key = key,
                                   .job_no = job.job_no,
                                   .segment = job.segment,
                                   .kind = RunKind::kShard,
                                   .due = clock_.Wall(),
                                   .def_version = job.version,
                                   .flags = run_flag::kPart,
                                   .shard_total = 1}}},
                        table_.View()->FenceFor({job.segment}), clock_.Wall())
                  .ok());
  EXPECT_EQ(ClaimOnce(Row(key), 2).at(0).reason, ClaimReason::kWrongExecutor);
  Beat({Feature::kShards});
  EXPECT_EQ(ClaimOnce(Row(key), 2).at(0).verdict, ClaimVerdict::kAccepted);
}

// The begin of its fire has bound it to an executor that matched then.
TEST_F(ClaimPlaceTest, APartOfABroadcastIsForItsHostOnlyWhileThatMatches) {
  ASSERT_TRUE(stores_.executors
                  .RegisterExecutor({.id = kHolder.executor,
                                     .incarnation = kHolder.incarnation,
                                     .labels = {{"zone", "a"}},
                                     .last_heartbeat = clock_.Wall(),
                                     .registered = clock_.Wall()})
                  .ok());
  JobDefinition definition;
  definition.command = "true";
  definition.executor_selector = "zone=a";
  definition.broadcast = Broadcast{};
  const RunRow own = Execute(CreateJob("job", definition));
  ClaimRequest begin = ClaimOf(own, 0);
  begin.token = {};
  begin.executor = {};
  begin.incarnation = {};
  ASSERT_TRUE(
      stores_.workflows.BeginParts({begin}, table_.View()->FenceFor({own.segment}), clock_.Wall())
          .ok());
  RunKey key = own.key;
  key.shard = 1;
  ASSERT_EQ(Row(key).pinned_executor, kHolder.executor);
  Know({{"zone", "b"}});
  Beat({Feature::kShards});
  EXPECT_EQ(ClaimOnce(Row(key)).at(0).reason, ClaimReason::kWrongExecutor);
  EXPECT_EQ(Row(key).state, RunState::kPending);
  executors_.Refresh({{.id = kHolder.executor, .labels = {{"zone", "a"}}}});
  EXPECT_EQ(ClaimOnce(Row(key), 2).at(0).verdict, ClaimVerdict::kAccepted);
}

// The run was dispatched before its slot of the group is given again. Its executor hears nothing
// until the claim is accepted, at that time.
TEST_F(ClaimApplierTest, AClaimBeforeTheTimeOfItsSlotWaitsForIt) {
  ASSERT_TRUE(stores_.groups.PutGroup("db", {.limit = 1, .per = 1s}, clock_.Wall()).ok());
  JobDefinition definition;
  definition.type = JobType::kNoop;
  definition.concurrency_group = "db";
  const StoredJob job = CreateJob("job", definition);
  const RunRow first = Execute(job);
  const RunRow second = Execute(job);
  const StoredJob other = CreateNoop("other");
  std::vector<ClaimRequest> others;
  for (uint64_t token = 10; token < 30; ++token) others.push_back(ClaimOf(Execute(other), token));
  ClaimApplier applier = Make();
  Ask({ClaimOf(first, 1)});
  Ask({ClaimOf(second, 2)});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Answers().size(), 2u);
  const SteadyTime cool = clock_.Steady() + 1s;
  const Fence fence = table_.View()->FenceFor({first.segment});
  ResultReport report{.key = first.key,
                      .segment = first.segment,
                      .job_no = first.job_no,
                      .attempt = 1,
                      .token = ClaimOf(first, 1).token,
                      .executor = ExecutorId("x1")};
  report.result = {.state = RunState::kCompleted, .ended = clock_.Wall()};
  ASSERT_TRUE(stores_.firing.ApplyResults({report}, fence, clock_.Wall()).ok());
  const auto scan = stores_.queues.ScanGroups({first.segment}, GroupNo{}, 10, clock_.Wall());
  ASSERT_EQ(scan->groups.size(), 1u);
  ASSERT_EQ(stores_.queues.AdmitGroup(scan->groups[0], fence, clock_.Wall())->admitted.size(), 1u);
  Events();
  clock_.Advance(960ms);
  SampleClock();
  const ClaimRequest early = ClaimOf(Row(second.key), 3);
  Ask({early});
  applier.Step(clock_.Steady());
  const SteadyTime wake = applier.Step(clock_.Steady());
  EXPECT_TRUE(Answers().empty());
  EXPECT_TRUE(Events().empty());
  EXPECT_GE(wake, cool);
  EXPECT_LE(wake, cool + 1ms);
  // Under load, three members collect for longer; it does not wait for that.
  assigned_.members = 3;
  clock_.Advance(wake - 8ms - clock_.Steady());
  Ask(others);
  applier.Step(clock_.Steady());
  EXPECT_EQ(Answers().size(), others.size());
  EXPECT_EQ(applier.Step(clock_.Steady()), wake);
  Events();
  clock_.Advance(wake - clock_.Steady() - 1us);
  applier.Step(clock_.Steady());
  EXPECT_TRUE(Answers().empty());
  clock_.Advance(1us);
  applier.Step(clock_.Steady());
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(answers[0].token, early.token);
  EXPECT_EQ(Events().size(), 1u);
}

}  // namespace
}  // namespace carillon::scheduler
