#include "common/wire/messages/record_sender.h"
#include "tests/unit/scheduler/results/result_fixture.h"

namespace carillon::scheduler {
namespace {

class ResultApplierTest : public ResultFixture {};

TEST_F(ResultApplierTest, AppliesFreesTheLeaseCommitsAndAcknowledges) {
  const HeldAttempt held = Start(CreateNoop("job"), 1);
  ResultApplier applier = Make();
  Send({Message(held)});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Row(held.key).state, RunState::kCompleted);
  EXPECT_FALSE(leases_.Knows(held.key));
  EXPECT_EQ(Acknowledged(), 1u);
  EXPECT_EQ(applied_.Among({held}).size(), 1u);
  EXPECT_EQ(Uncommitted(), 0u);
}

TEST_F(ResultApplierTest, RepeatedResultChangesNothingAndIsAcknowledgedAgain) {
  const HeldAttempt held = Start(CreateNoop("job"), 1);
  ResultApplier applier = Make();
  Send({Message(held)});
  Send({Message(held)});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Acknowledged(), 1u) << "one that is open already is not held once more";
  EXPECT_EQ(faults_.plan.calls("ApplyResults"), 1);
  Send({Message(held)});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Acknowledged(), 1u);
  EXPECT_EQ(faults_.plan.calls("ApplyResults"), 1) << "what is known to be applied is no question";
  EXPECT_EQ(metrics_.counter("carillon_runs_total", "COMPLETED").value(), 1u);
  EXPECT_EQ(Uncommitted(), 0u);
}

// It is due when its fire begins, which may be long after that was due.
TEST_F(ResultApplierTest, TheStartOfAPartIsNotTheLatenessOfAFire) {
  const StoredJob job = CreateNoop("job");
  const HeldAttempt own = Start(job, 1);
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
  ResultApplier applier = Make();
  Send({Message(Claim(Row(key), 2))});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Row(key).state, RunState::kCompleted);
  const Histogram& lateness = metrics_.histogram("carillon_fire_lateness_seconds");
  EXPECT_EQ(lateness.Read().cumulative.back(), 0u);
  Send({Message(own)});
  clock_.Advance(1s);
  applier.Step(clock_.Steady());
  EXPECT_EQ(lateness.Read().cumulative.back(), 1u);
}

TEST_F(ResultApplierTest, ResultThatChangesNothingEndsNoRunInMemory) {
  const StoredJob job = CreateNoop("job");
  const RunRow planned = Execute(job);
  const HeldAttempt running = Start(job, 1);
  const auto message_of = [&](const RunKey& key, uint64_t token) {
    ResultMessage message = Message(running);
    message.report.key = key;
    message.report.token = {3, token};
    return message;
  };
  RunKey unknown = planned.key;
  unknown.shard = 77;
  ResultApplier applier = Make();
  Send({message_of(planned.key, 1), message_of(running.key, 2), message_of(unknown, 3)});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Acknowledged(), 3u);
  EXPECT_TRUE(events_.PopUpTo(10).empty()) << "neither the planned nor the running one has ended";
  EXPECT_TRUE(leases_.Knows(running.key));
  ResultMessage astray = Message(running);
  astray.report.job_no = JobNo(running.job_no.value() + 1);
  Send({astray});
  clock_.Advance(1s);
  applier.Step(clock_.Steady());
  EXPECT_EQ(Acknowledged(), 1u);
  EXPECT_TRUE(leases_.Knows(running.key)) << "its row is RUNNING";
  EXPECT_TRUE(applied_.Among({running}).empty());
  Send({Message(running)});
  clock_.Advance(1s);
  applier.Step(clock_.Steady());
  const auto batches = events_.PopUpTo(10);
  ASSERT_EQ(batches.size(), 1u);
  ASSERT_EQ(batches[0].events.size(), 1u);
  EXPECT_EQ(batches[0].events[0].key, running.key);
}

TEST_F(ResultApplierTest, RememberedResultIsAcknowledgedWithoutTheStore) {
  const HeldAttempt held = Start(CreateNoop("job"), 1);
  ResultApplier applier = Make();
  Send({Message(held)});
  applier.Step(clock_.Steady());
  ASSERT_EQ(Acknowledged(), 1u);
  faults_.plan.Arm("ApplyResults", ErrorCode::kUnavailable);
  Send({Message(held)});
  clock_.Advance(1s);
  applier.Step(clock_.Steady());
  EXPECT_EQ(Acknowledged(), 1u);
  EXPECT_EQ(Uncommitted(), 0u);
}

TEST_F(ResultApplierTest, RetryGoesToTheFeed) {
  JobDefinition job;
  job.type = JobType::kNoop;
  job.retry_count = 1;
  job.retry_interval_s = 5;
  const HeldAttempt held = Start(CreateJob("job", job), 1);
  ResultApplier applier = Make();
  Send({Message(held, RunState::kFailed)});
  applier.Step(clock_.Steady());
  const auto fed = feed_.PopUpTo(10);
  ASSERT_EQ(fed.size(), 1u);
  EXPECT_EQ(fed[0].at(0).attempt, 2);
  EXPECT_EQ(fed[0].at(0).due, clock_.Wall() + 5s);
}

TEST_F(ResultApplierTest, ResultOfAnUnownedSegmentIsNeitherLostNorCommitted) {
  const HeldAttempt held = Start(CreateNoop("job"), 1);
  const auto view = table_.View();
  table_.Drop(view->FenceFor(view->Segments()), DropCause::kReassigned);
  {
    ResultApplier applier = Make();
    Send({Message(held)});
    applier.Step(clock_.Steady());
    EXPECT_EQ(Acknowledged(), 0u);
  }
  EXPECT_EQ(Uncommitted(), 1u);
}

TEST_F(ResultApplierTest, ResultOfAnotherMembersSegmentIsLeftToIt) {
  const HeldAttempt held = Start(CreateNoop("job"), 1);
  const auto view = table_.View();
  table_.Drop(view->FenceFor(view->Segments()), DropCause::kReassigned);
  assigned_.wants = false;
  {
    ResultApplier applier = Make();
    Send({Message(held)});
    applier.Step(clock_.Steady());
    EXPECT_EQ(Acknowledged(), 0u);
  }
  EXPECT_EQ(Uncommitted(), 0u);
  EXPECT_EQ(Row(held.key).state, RunState::kRunning);
}

TEST_F(ResultApplierTest, ResultOfAnotherMemberIsNotDecodedAndNotJudged) {
  const HeldAttempt mine = Start(CreateNoop("mine"), 1);
  const HeldAttempt theirs = Start(CreateNoop("theirs"), 2);
  ASSERT_NE(mine.segment, theirs.segment);
  table_.Drop(table_.View()->FenceFor({theirs.segment}), DropCause::kReassigned);
  assigned_.wants = false;
  ResultMessage bad = Message(theirs);
  bad.report.token = {};
  ResultApplier applier = Make();
  Send({Message(theirs)});
  EXPECT_GT(applier.Step(clock_.Steady()), clock_.Steady() + 100ms) << "nothing to write";
  Send({bad, Message(mine), Message(theirs)});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Row(mine.key).state, RunState::kCompleted);
  EXPECT_EQ(Row(theirs.key).state, RunState::kRunning);
  EXPECT_EQ(Acknowledged(), 1u);
  EXPECT_TRUE(letters_->Poll(10)->empty()) << "its owner judges it";
  EXPECT_EQ(metrics_.counter("carillon_rejected_messages_total", "corrupt").value(), 0u);
  EXPECT_EQ(Uncommitted(), 0u);
}

TEST_F(ResultApplierTest, ResultOfASegmentThatNobodyCanOwnIsJudgedByEveryMember) {
  const HeldAttempt held = Start(CreateNoop("job"), 1);
  assigned_.wants = false;
  ResultMessage bad = Message(held);
  bad.report.segment = SegmentId(1u << 20);
  ResultApplier applier = Make();
  Send({bad});
  applier.Step(clock_.Steady());
  EXPECT_EQ(letters_->Poll(10)->size(), 1u);
  EXPECT_EQ(metrics_.counter("carillon_rejected_messages_total", "corrupt").value(), 1u);
  EXPECT_EQ(Uncommitted(), 0u);
}

TEST_F(ResultApplierTest, UndecodableRecordGoesToTheDeadLettersAndBlocksNothing) {
  const HeldAttempt held = Start(CreateNoop("job"), 1);
  ResultApplier applier = Make();
  ASSERT_TRUE(producer_->Send(kResultsTopic, 0, {.payload = "\xff\xff not a bundle"}).ok());
  Send({Message(held)});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Acknowledged(), 1u);
  EXPECT_EQ(letters_->Poll(10)->size(), 1u);
  EXPECT_EQ(Uncommitted(), 0u);
  EXPECT_EQ(metrics_.counter("carillon_rejected_messages_total", "corrupt").value(), 1u);
}

TEST_F(ResultApplierTest, UnreadableResultOfABundleDoesNotHoldUpItsNeighbours) {
  const StoredJob job = CreateNoop("job");
  const HeldAttempt first = Start(job, 1);
  const HeldAttempt second = Start(job, 2);
  ResultMessage bad = Message(first);
  bad.report.token = {};  // invalid, because every result must have a token
  ResultApplier applier = Make();
  Send({Message(first), bad, Message(second)});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Row(first.key).state, RunState::kCompleted);
  EXPECT_EQ(Row(second.key).state, RunState::kCompleted);
  EXPECT_EQ(Acknowledged(), 2u);
  EXPECT_EQ(letters_->Poll(10)->size(), 1u);
  EXPECT_EQ(metrics_.counter("carillon_rejected_messages_total", "corrupt").value(), 1u);
  EXPECT_EQ(Uncommitted(), 0u);
}

TEST_F(ResultApplierTest, AttemptsThatTheHostCouldNotRunPauseTheExecutor) {
  ResultApplier applier = Make();
  for (uint64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(executors_.Records().at(0).breaker, std::nullopt);
    ResultMessage failed =
        Message(Start(CreateNoop("job-" + std::to_string(i)), i + 1), RunState::kFailed);
    failed.report.result.reason = i % 2 == 0 ? reason::kHost : reason::kWardenDied;
    if (i % 2 != 0) failed.report.result.state = RunState::kLost;
    Send({failed});
    clock_.Advance(30ms);
    applier.Step(clock_.Steady());
  }
  EXPECT_NE(executors_.Records().at(0).breaker, std::nullopt);
}

TEST_F(ResultApplierTest, ARetryIsCountedByItsCause) {
  JobDefinition definition;
  definition.command = "true";
  definition.retry_count = 1;
  ResultApplier applier = Make();
  const auto report = [&](uint64_t token, RunState state, std::string_view why) {
    ResultMessage message = Message(
        Claim(Execute(CreateJob("job-" + std::to_string(token), definition)), token), state);
    message.report.result.reason = why;
    Send({message});
    clock_.Advance(30ms);
    applier.Step(clock_.Steady());
  };
  report(1, RunState::kLost, reason::kNotStarted);
  report(2, RunState::kFailed, reason::kHost);
  report(3, RunState::kLost, reason::kWardenDied);
  report(4, RunState::kTimedOut, reason::kTimeout);
  const auto retries = [this](const char* cause) {
    return metrics_.counter("carillon_retries_total", cause).value();
  };
  EXPECT_EQ(retries("not_started"), 2u);
  EXPECT_EQ(retries("lost"), 1u);
  EXPECT_EQ(retries("failed"), 1u);
}

TEST_F(ResultApplierTest, FailuresOfJobsDoNotPauseIt) {
  ResultApplier applier = Make();
  for (uint64_t i = 0; i < 20; ++i) {
    ResultMessage failed =
        Message(Start(CreateNoop("job-" + std::to_string(i)), i + 1), RunState::kFailed);
    failed.report.result.reason = i % 2 == 0 ? reason::kExitCode : reason::kSpawn;
    if (i % 2 == 0) failed.report.result.exit_code = 1;
    Send({failed});
    clock_.Advance(30ms);
    applier.Step(clock_.Steady());
  }
  EXPECT_EQ(executors_.Records().at(0).breaker, std::nullopt);
}

TEST_F(ResultApplierTest, FaultsCountForTheExecutorThatHadTheAttempt) {
  executors_.Accept({.id = ExecutorId("other"), .incarnation = Incarnation("o1")}, clock_.Steady());
  ResultApplier applier = Make();
  for (uint64_t i = 0; i < 6; ++i) {
    ResultMessage failed =
        Message(Start(CreateNoop("job-" + std::to_string(i)), i + 1), RunState::kFailed);
    failed.report.result.reason = reason::kHost;
    failed.report.executor = ExecutorId("other");
    Send({failed});
    clock_.Advance(30ms);
    applier.Step(clock_.Steady());
  }
  EXPECT_EQ(executors_.Find(ExecutorId("other"))->breaker, std::nullopt);
  EXPECT_NE(executors_.Find(ExecutorId("x1"))->breaker, std::nullopt);
}

TEST_F(ResultApplierTest, TheLinkSaysWhoHasSentAResultWhateverItSaysItself) {
  const HeldAttempt held = Start(CreateNoop("job"), 1);
  ResultApplier applier = Make();
  BusRecord record{.payload = EncodeResults({Message(held)})};
  SetSender(record, ExecutorId("evil"));
  ASSERT_TRUE(producer_->Send(kResultsTopic, 0, std::move(record)).ok());
  applier.Step(clock_.Steady());
  EXPECT_EQ(Acknowledged(), 0u) << "the answer is for its sender";
}

}  // namespace
}  // namespace carillon::scheduler
