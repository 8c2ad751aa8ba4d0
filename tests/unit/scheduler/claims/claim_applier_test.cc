#include "tests/unit/scheduler/claims/claim_fixture.h"

namespace carillon::scheduler {
namespace {

TEST_F(ClaimApplierTest, AcceptsFilesALeaseAndTellsTheFiringLoop) {
  const RunRow row = Execute(CreateNoop("job"));
  ClaimApplier applier = Make();
  Ask({ClaimOf(row, 1)});
  applier.Step(clock_.Steady());
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(Row(row.key).state, RunState::kRunning);
  EXPECT_TRUE(leases_.Knows(row.key));
  EXPECT_EQ(Events().at(0).what, RunEvent::What::kClaimed);
}

TEST_F(ClaimApplierTest, SeveralExecutorsShareOneTransaction) {
  ClaimApplier applier = Make();
  for (int i = 0; i < 10; ++i) {
    Ask({ClaimOf(Execute(CreateNoop("job" + std::to_string(i))), static_cast<uint64_t>(i + 1))});
  }
  applier.Step(clock_.Steady());
  EXPECT_EQ(Answers().size(), 10u);
  EXPECT_EQ(faults_.plan.calls("Claim"), 1);
}

TEST_F(ClaimApplierTest, SecondTokenForOneRunIsRefused) {
  const RunRow row = Execute(CreateNoop("job"));
  ClaimApplier applier = Make();
  Ask({ClaimOf(row, 1), ClaimOf(row, 2), ClaimOf(row, 1)});
  applier.Step(clock_.Steady());
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(answers[1].verdict, ClaimVerdict::kRefused);
  EXPECT_EQ(answers[1].reason, ClaimReason::kNotPending);
  EXPECT_EQ(answers[2].verdict, ClaimVerdict::kAcceptedAgain);
}

// The executor drops a token with its first refusal. If the repeated claim were accepted after the
// run was admitted meanwhile, nobody would start the attempt.
TEST_F(ClaimApplierTest, TokenThatPutARunIntoItsQueueStaysRefused) {
  JobDefinition definition;
  definition.type = JobType::kNoop;
  definition.overlap_policy = OverlapPolicy::kQueueAll;
  const StoredJob job = CreateJob("job", definition);
  const HeldAttempt active = Claim(Execute(job), 9);
  const RunRow row = Execute(job);
  ClaimApplier applier = Make();
  Ask({ClaimOf(row, 1)});
  applier.Step(clock_.Steady());
  const auto first = Answers();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].reason, ClaimReason::kWaitsForSlot);
  ResultReport report{.key = active.key,
                      .segment = active.segment,
                      .job_no = active.job_no,
                      .attempt = 1,
                      .token = active.token,
                      .executor = ExecutorId("x1")};
  report.result = {.state = RunState::kCompleted, .ended = clock_.Wall()};
  const Fence fence = table_.View()->FenceFor({row.segment});
  ASSERT_TRUE(stores_.firing.ApplyResults({report}, fence, clock_.Wall()).ok());
  ASSERT_EQ(stores_.queues.Admit({row.job_no, row.segment}, fence, clock_.Wall())->admitted.size(),
            1u);
  Ask({ClaimOf(row, 1), ClaimOf(row, 2)});
  clock_.Advance(10ms);
  SampleClock();
  applier.Step(clock_.Steady());
  const auto second = Answers();
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second[0].verdict, ClaimVerdict::kRefused);
  EXPECT_EQ(second[1].verdict, ClaimVerdict::kAccepted);
}

TEST_F(ClaimApplierTest, LostReplyOfTheStoreIsNotAnsweredAndTheSegmentIsTakenAgain) {
  const RunRow row = Execute(CreateNoop("job"));
  ClaimApplier applier = Make();
  faults_.plan.Arm("Claim", test::Fault::kTimeoutAfter);
  Ask({ClaimOf(row, 1)});
  applier.Step(clock_.Steady());
  EXPECT_TRUE(Answers().empty());
  EXPECT_EQ(table_.View()->Find(row.segment), nullptr);
  EXPECT_FALSE(leases_.Knows(row.key));
  TakeAll();
  Ask({ClaimOf(row, 1)});
  clock_.Advance(1s);
  applier.Step(clock_.Steady());
  ASSERT_EQ(Answers().at(0).verdict, ClaimVerdict::kAcceptedAgain);
}

TEST_F(ClaimApplierTest, FencedBatchIsNotAnswered) {
  const RunRow row = Execute(CreateNoop("job"));
  TakeAll("m2");
  ClaimApplier applier = Make();
  Ask({ClaimOf(row, 1)});
  applier.Step(clock_.Steady());
  EXPECT_TRUE(Answers().empty());
  EXPECT_EQ(table_.View()->Find(row.segment), nullptr);
  EXPECT_EQ(Row(row.key).state, RunState::kPending);
}

TEST_F(ClaimApplierTest, ForeignSegmentIsRefusedAWantedOneIsLeftForLater) {
  const RunRow row = Execute(CreateNoop("job"));
  const auto view = table_.View();
  table_.Drop(view->FenceFor(view->Segments()), DropCause::kReassigned);
  ClaimApplier applier = Make();
  Ask({ClaimOf(row, 1)});
  applier.Step(clock_.Steady());
  EXPECT_TRUE(Answers().empty());
  assigned_.wants = false;
  Ask({ClaimOf(row, 1)});
  clock_.Advance(1s);
  applier.Step(clock_.Steady());
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].verdict, ClaimVerdict::kRefused);
  EXPECT_EQ(answers[0].reason, ClaimReason::kNotOwner);
}

TEST_F(ClaimApplierTest, FullLeaseTableRefusesTheClaimBeforeItIsWritten) {
  LeaseTable small({.leases_max = 2}, table_);
  ClaimApplier applier = Make(small);
  std::vector<RunRow> rows;
  std::vector<ClaimRequest> requests;
  for (uint64_t i = 0; i < 4; ++i) {
    rows.push_back(Execute(CreateNoop("job" + std::to_string(i))));
    requests.push_back(ClaimOf(rows.back(), i + 1));
  }
  Ask(requests);
  applier.Step(clock_.Steady());
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const bool fits = i < 2;
    EXPECT_EQ(answers[i].verdict, fits ? ClaimVerdict::kAccepted : ClaimVerdict::kRefused);
    EXPECT_EQ(Row(rows[i].key).state, fits ? RunState::kRunning : RunState::kPending);
    EXPECT_EQ(small.Knows(rows[i].key), fits);
  }
  EXPECT_EQ(answers[3].reason, ClaimReason::kNoLease);
  // A repeated claim gets its answer again, and a lease that has ended makes room for another.
  clock_.Advance(1s);
  Ask({requests[0]});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Answers().at(0).verdict, ClaimVerdict::kAcceptedAgain);
  small.Erase({{rows[0].key, rows[0].segment, rows[0].job_no, 1, requests[0].token}});
  clock_.Advance(1s);
  Ask({requests[2]});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Answers().at(0).verdict, ClaimVerdict::kAccepted);
}

TEST_F(ClaimApplierTest, AttemptInALostBatchIsNotAcceptedAgain) {
  const RunRow row = Execute(CreateNoop("job"));
  ClaimApplier applier = Make();
  Ask({ClaimOf(row, 1)});
  applier.Step(clock_.Steady());
  Answers();
  clock_.Advance(30s);
  ASSERT_EQ(leases_.TakeExpired(clock_.Steady(), 10).size(), 1u);
  ASSERT_EQ(Row(row.key).state, RunState::kRunning);
  Ask({ClaimOf(row, 1)});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Answers().at(0).verdict, ClaimVerdict::kRefused);
}

TEST_F(ClaimApplierTest, OneRequestTheStoreRefusesDoesNotHoldUpTheOthers) {
  ClaimApplier applier = Make();
  std::vector<ClaimRequest> requests;
  for (int i = 0; i < 9; ++i) {
    requests.push_back(
        ClaimOf(Execute(CreateNoop("job" + std::to_string(i))), static_cast<uint64_t>(i + 1)));
  }
  const RunKey bad = requests[4].key;
  faults_.plan.Refuse<ClaimRequest>([&](const auto& request) { return request.key == bad; });
  Ask(requests);
  applier.Step(clock_.Steady());
  size_t accepted = 0;
  for (const auto& item : Answers()) {
    const bool ok = item.verdict == ClaimVerdict::kAccepted;
    EXPECT_EQ(ok, item.key != bad);
    accepted += ok ? 1 : 0;
  }
  EXPECT_EQ(accepted, 8u);
}

TEST_F(ClaimApplierTest, EditedRunSendsTheFiringLoopToLookAgain) {
  const RunRow row = Execute(CreateNoop("job"));
  ClaimApplier applier = Make();
  ClaimRequest stale = ClaimOf(row, 1);
  stale.def_version += 1;
  Ask({stale});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Answers().at(0).reason, ClaimReason::kVersionMoved);
  EXPECT_EQ(Events().at(0).what, RunEvent::What::kStale);
}

TEST_F(ClaimApplierTest, WhatStartsLaterThanItsJobAllowsIsNoted) {
  std::vector<RunKey> asked;
  ClaimApplier applier = Make(leases_, [&asked](const ClaimRequest& request) {
    asked.push_back(request.key);
    return Duration(5s);
  });
  const RunRow late = Execute(CreateNoop("late"));
  clock_.Advance(4s);
  const RunRow slow = Execute(CreateNoop("slow"));
  clock_.Advance(2s);
  const RunRow prompt = Execute(CreateNoop("prompt"));
  SampleClock();
  ClaimRequest by_hand = ClaimOf(prompt, 3);
  by_hand.late_after = 1us;  // the owner overwrites this value
  Ask({ClaimOf(late, 1), ClaimOf(slow, 2), by_hand});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Answers().size(), 3u);
  EXPECT_EQ(asked, (std::vector<RunKey>{late.key, slow.key}));
  const auto open = stores_.notices.ScanNotices(table_.View()->ActiveSegments(), 10);
  ASSERT_EQ(open->size(), 1u);
  EXPECT_EQ(open->at(0).notice.key, late.key);
  EXPECT_EQ(open->at(0).notice.kind, NoticeKind::kLate);
}

TEST_F(ClaimApplierTest, WritesBeginAtLeastTheGapApart) {
  ClaimApplier applier = Make();
  Ask({ClaimOf(Execute(CreateNoop("a")), 1)});
  const SteadyTime first = clock_.Steady();
  applier.Step(first);
  Answers();
  Ask({ClaimOf(Execute(CreateNoop("b")), 2)});
  EXPECT_EQ(applier.Step(clock_.Steady()), first + 4ms);
  EXPECT_TRUE(Answers().empty());
  clock_.Advance(4ms);
  applier.Step(clock_.Steady());
  EXPECT_EQ(Answers().size(), 1u);
}

TEST_F(ClaimApplierTest, UnderLoadSeveralMembersWriteAsOftenAsOne) {
  assigned_.members = 3;
  ClaimApplier applier = Make();
  const StoredJob job = CreateNoop("job");
  uint64_t token = 0;
  const auto ask = [&](int count) {
    for (int i = 0; i < count; ++i) Ask({ClaimOf(Execute(job), ++token)});
  };
  ask(1);
  applier.Step(clock_.Steady());
  clock_.Advance(4ms);
  ask(10);
  const SteadyTime begin = clock_.Steady();
  applier.Step(begin);
  EXPECT_EQ(Answers().size(), 11u) << "after a rest, no member waits for more";
  ask(1);
  EXPECT_EQ(applier.Step(clock_.Steady()), begin + 12ms);
  clock_.Advance(12ms);
  applier.Step(clock_.Steady());
  EXPECT_EQ(Answers().size(), 1u);
}

TEST_F(ClaimApplierTest, SecretsComeWithTheAnswerAlsoWhenItIsRepeated) {
  PutSecret("db", "value of db");
  const RunRow row = ExecuteWithSecret("db");
  ClaimApplier applier = Make();
  for (int i = 0; i < 2; ++i) {
    Ask({WantingClaimOf(row, 1)});
    clock_.Advance(1s);
    applier.Step(clock_.Steady());
    const auto answers = Answers();
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].secrets, (SecretValues{{"db", "value of db"}}));
    EXPECT_EQ(answers[0].secret_failure, "");
  }
}

TEST_F(ClaimApplierTest, AClaimThatIsRefusedGetsNone) {
  PutSecret("db", "value of db");
  const RunRow row = ExecuteWithSecret("db");
  ClaimApplier applier = Make();
  Ask({WantingClaimOf(row, 1), WantingClaimOf(row, 2)});
  applier.Step(clock_.Steady());
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].secrets.size(), 1u);
  EXPECT_EQ(answers[1].verdict, ClaimVerdict::kRefused);
  EXPECT_TRUE(answers[1].secrets.empty());
}

TEST_F(ClaimApplierTest, ARequestThatNamesAnotherJobsDefinitionIsRefused) {
  PutSecret("db", "value of db");
  const RunRow secret = ExecuteWithSecret("db", "with");
  const RunRow other = Execute(CreateNoop("without"));
  ClaimApplier applier = Make();
  ClaimRequest request = WantingClaimOf(other, 1);
  request.job_no = secret.job_no;
  request.def_version = secret.def_version;
  Ask({request});
  applier.Step(clock_.Steady());
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].verdict, ClaimVerdict::kRefused);
  EXPECT_TRUE(answers[0].secrets.empty());
}

TEST_F(ClaimApplierTest, AFailureIsSaidAndTheRunKeepsItsLease) {
  PutSecret("other", "value of other");
  const RunRow row = ExecuteWithSecret("missing");
  ClaimApplier applier = Make();
  Ask({WantingClaimOf(row, 1)});
  applier.Step(clock_.Steady());
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(answers[0].secret_failure, reason::kSecretMissing);
  EXPECT_TRUE(leases_.Knows(row.key));
}

TEST_F(ClaimApplierTest, WhileTheDefinitionCannotBeReadNothingIsDecided) {
  const RunRow row = Execute(CreateNoop("job"));
  ClaimApplier applier = Make();
  faults_.plan.Arm("LoadDefinitions", ErrorCode::kUnavailable);
  Ask({ClaimOf(row, 1)});
  applier.Step(clock_.Steady());
  EXPECT_TRUE(Answers().empty());
  EXPECT_EQ(Row(row.key).state, RunState::kPending);
  Ask({ClaimOf(row, 1)});
  clock_.Advance(1s);
  applier.Step(clock_.Steady());
  EXPECT_EQ(Answers().at(0).verdict, ClaimVerdict::kAccepted);
}

TEST_F(ClaimApplierTest, WhileTheSecretsCannotBeReadNothingIsSaidButTheLeaseIsFiled) {
  PutSecret("db", "value of db");
  const RunRow row = ExecuteWithSecret("db");
  ClaimApplier applier = Make();
  faults_.plan.ArmAlways("FindSecrets", ErrorCode::kUnavailable);
  Ask({WantingClaimOf(row, 1)});
  applier.Step(clock_.Steady());
  EXPECT_TRUE(Answers().empty());
  EXPECT_TRUE(leases_.Knows(row.key));
  faults_.plan.Recover();
  Ask({WantingClaimOf(row, 1)});
  clock_.Advance(1s);
  applier.Step(clock_.Steady());
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].verdict, ClaimVerdict::kAcceptedAgain);
  EXPECT_EQ(answers[0].secrets.size(), 1u);
}

TEST_F(ClaimApplierTest, LargeSecretsComeInSeveralMessages) {
  PutSecret("large", std::string(kSecretBytesMax, 'x'));
  std::vector<ClaimRequest> requests;
  for (uint64_t i = 0; i < 100; ++i) {
    requests.push_back(
        WantingClaimOf(ExecuteWithSecret("large", "job" + std::to_string(i)), i + 1));
  }
  ClaimApplier applier = Make();
  Ask(requests);
  applier.Step(clock_.Steady());
  size_t answers = 0;
  size_t messages = 0;
  for (const MemberMessage& message : link_->Receive(100)) {
    const auto& reply = std::get<ClaimBatchReply>(message.message);
    size_t bytes = 0;
    for (const auto& item : reply.items) bytes += item.secrets.at("large").size();
    EXPECT_LE(bytes, size_t{5} << 20);
    answers += reply.items.size();
    ++messages;
  }
  EXPECT_EQ(answers, 100u);
  EXPECT_GT(messages, 1u);
}

TEST_F(ClaimApplierTest, PausedClusterStartsNothingAndBurnsNoAttempt) {
  const RunRow row = Execute(CreateNoop("job"));
  ClaimApplier applier = Make();
  Pause();
  Ask({ClaimOf(row, 1)});
  applier.Step(clock_.Steady());
  auto answers = Answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].verdict, ClaimVerdict::kRefused);
  EXPECT_EQ(answers[0].reason, ClaimReason::kClusterPaused);
  EXPECT_EQ(Row(row.key).state, RunState::kPending);
  EXPECT_EQ(Row(row.key).attempt, row.attempt);
  EXPECT_FALSE(leases_.Knows(row.key));
  Pause(false);
  Ask({ClaimOf(row, 2)});
  applier.Step(clock_.Steady() + 1s);
  answers = Answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].verdict, ClaimVerdict::kAccepted);
}

TEST_F(ClaimApplierTest, PausedClusterAcceptsAgainWhatRuns) {
  const RunRow row = Execute(CreateNoop("job"));
  ClaimApplier applier = Make();
  Ask({ClaimOf(row, 1)});
  applier.Step(clock_.Steady());
  Answers();  // lost
  Pause();
  Ask({ClaimOf(row, 1)});
  applier.Step(clock_.Steady() + 1s);
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].verdict, ClaimVerdict::kAcceptedAgain);
}

// This member does not know the lease, because the segment has just moved to it. Only the row shows
// that the claim was accepted.
TEST_F(ClaimApplierTest, PausedClusterAcceptsAgainWhatOnlyTheRowTells) {
  const RunRow row = Execute(CreateNoop("job"));
  Claim(row, 1);
  ClaimApplier applier = Make();
  Pause();
  Ask({ClaimOf(row, 1)});
  applier.Step(clock_.Steady());
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].verdict, ClaimVerdict::kAcceptedAgain);
  EXPECT_TRUE(leases_.Knows(row.key));
}

TEST_F(ClaimApplierTest, PausedFormerOwnerSaysNothingOfWhatAnotherMayHaveAccepted) {
  const RunRow row = Execute(CreateNoop("job"));
  TakeAll("m2");
  const auto epochs = stores_.segments.ReadEpochs({row.segment});
  ASSERT_TRUE(epochs.ok());
  const Fence fence = {{row.segment, epochs->front().epoch}};
  ASSERT_TRUE(stores_.firing.Claim({ClaimOf(row, 1)}, fence, clock_.Wall()).ok());
  ClaimApplier applier = Make();
  Pause();
  Ask({ClaimOf(row, 1)});
  applier.Step(clock_.Steady());
  EXPECT_TRUE(Answers().empty());
  EXPECT_EQ(table_.View()->Find(row.segment), nullptr);
}

TEST_F(ClaimApplierTest, PausedClusterAcceptsNoNextAttemptOfWhatHasALease) {
  const RunRow row = Execute(CreateNoop("job"));
  ClaimApplier applier = Make();
  ASSERT_EQ(leases_
                .GrantAll(kHolder,
                          {{{row.key, row.segment, row.job_no, row.attempt, ClaimToken{1, 9}},
                            EpochOf(row.segment)}},
                          clock_.Steady())
                .front(),
            LeaseTable::Grant::kGranted);
  Pause();
  Ask({ClaimOf(row, 1)});
  applier.Step(clock_.Steady());
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].reason, ClaimReason::kClusterPaused);
}

TEST_F(ClaimApplierTest, FullBookAcceptsAgainWhatOnlyTheRowTells) {
  const RunRow running = Execute(CreateNoop("job"));
  const RunRow pending = Execute(CreateNoop("other"));
  Claim(running, 1);
  LeaseTable full({.leases_max = 0}, table_);
  ClaimApplier applier = Make(full);
  Ask({ClaimOf(running, 1), ClaimOf(pending, 2)});
  applier.Step(clock_.Steady());
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].verdict, ClaimVerdict::kAcceptedAgain);
  EXPECT_TRUE(full.Knows(running.key));
  EXPECT_EQ(answers[1].reason, ClaimReason::kNoLease);
}

}  // namespace
}  // namespace carillon::scheduler
