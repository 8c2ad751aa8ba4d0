// Progress and checkpoints, from the files of an attempt to its owner and back.
#include "common/domain/run/run_save.h"
#include "executor/agent/claim_gate.h"
#include "executor/checkpoints/checkpoint_sender.h"
#include "tests/unit/executor/agent/daemon_fixture.h"

namespace carillon::executor {
namespace {

class TestRunFiles final : public RunFiles {
 public:
  std::string PathOf(const RunFile& file) const override {
    return file.kind == RunFileKind::kProgress ? "/progress" : "/checkpoint";
  }
  Result<std::vector<Found>> ListNext(size_t max) override {
    std::vector<Found> found;
    for (size_t i = 0; i < std::min(max, strangers); ++i)
      found.push_back({.name = "other" + std::to_string(i)});
    listed_most = std::max(listed_most, found.size());
    if (!found.empty()) return found;
    for (const auto& [file, content] : files) {
      found.push_back(
          {.name = NameOf(file), .attempt = std::pair{file.key, file.attempt}, .kind = file.kind});
    }
    return found;
  }
  std::optional<RunFileMark> Look(const RunFile& file) override {
    const auto found = files.find(file);
    return found == files.end() ? std::nullopt : std::optional(found->second.mark);
  }
  Result<std::optional<Content>> Read(const RunFile& file) override {
    if (refuse) return Error{ErrorCode::kInvalid, "it is larger than 1024 KiB"};
    const auto found = files.find(file);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  }
  Status Write(const RunFile& file, const std::string& bytes) override {
    if (full) return {ErrorCode::kUnavailable, "no space"};
    Put(file, bytes);
    return {};
  }
  Status Remove(const std::string& name) override {
    std::erase_if(files, [&](const auto& entry) { return NameOf(entry.first) == name; });
    return {};
  }
  void Put(const RunFile& file, const std::string& bytes) {
    files[file] = {bytes, {.inode = ++writes, .size = static_cast<int64_t>(bytes.size())}};
  }
  static std::string NameOf(const RunFile& file) {
    return EncodeRunId(file.key) + std::to_string(file.attempt) +
           std::to_string(static_cast<int>(file.kind));
  }

  std::map<RunFile, Content> files;
  uint64_t writes = 0;
  bool refuse = false;
  bool full = false;
  size_t strangers = 0;  // names of no attempt, which come before all others
  size_t listed_most = 0;
};

class DaemonCheckpointTest : public DaemonFixture {
 protected:
  void SetUp() override {
    run_files_ = &run_files;
    Boot();
    Step();
    Deliver(Registered{.takes_saves = true});
  }
  static RunFile Checkpoint(const ClaimRequest& claim) {
    return {claim.key, claim.attempt, RunFileKind::kCheckpoint};
  }
  ClaimRequest Running(uint64_t number = 1) {
    const ClaimRequest claim = RunToAccepted(Task(number));
    warden_.events.push_back(AttemptStarted{HeldOf(claim), clock_.Wall()});
    Step();
    return claim;
  }
  std::vector<RunSave> Saves() {
    std::vector<RunSave> saves;
    for (AttemptSave& sent : link_.Take<AttemptSave>()) saves.push_back(std::move(sent.save));
    return saves;
  }
  void AnswerSave(const ClaimRequest& claim, uint64_t seq) {
    Deliver(SaveAnswer{.attempt = HeldOf(claim), .seq = seq});
  }
  void Fail(const ClaimRequest& claim) {
    warden_.events.push_back(
        AttemptEnded{HeldOf(claim), {.state = RunState::kFailed, .exit_code = 3}, JobId("job")});
    Step();
  }

  TestRunFiles run_files;
};

TEST_F(DaemonCheckpointTest, FilesAreNamedAndWhatChangesIsSaved) {
  const ClaimRequest claim = Running();
  ASSERT_EQ(warden_.starts.size(), 1u);
  EXPECT_EQ(warden_.starts[0].env.at(kProgressFileVariable), "/progress");
  EXPECT_EQ(warden_.starts[0].env.at(kCheckpointFileVariable), "/checkpoint");
  run_files.Put({claim.key, 1, RunFileKind::kProgress}, "42 half");
  run_files.Put(Checkpoint(claim), "state");
  StepFor(CheckpointSender::kLookEvery + 200ms);
  const auto saves = Saves();
  ASSERT_EQ(saves.size(), 1u);
  EXPECT_EQ(saves[0].key, claim.key);
  EXPECT_EQ(saves[0].token, claim.token);
  EXPECT_EQ(saves[0].progress, (RunProgress{42, "half"}));
  EXPECT_EQ(saves[0].checkpoint, "state");
  AnswerSave(claim, saves[0].seq);
  StepFor(10s);
  EXPECT_TRUE(Saves().empty());
}

TEST_F(DaemonCheckpointTest, NamesThatSomebodyLeavesDelayNothing) {
  const ClaimRequest claim = Running();
  run_files.strangers = 1'000'000;
  run_files.Put(Checkpoint(claim), "state");
  StepFor(CheckpointSender::kLookEvery + 200ms);
  EXPECT_EQ(Saves().size(), 1u);
  EXPECT_EQ(run_files.listed_most, CheckpointSender::kNamesPerLook);
}

// A function sends what others write into files.
class DaemonHandlerSaveTest : public DaemonCheckpointTest {
 protected:
  ClaimRequest Called(const std::optional<std::string>& checkpoint = {}) {
    handlers_.offers = std::make_shared<HandlerOffers>(HandlerOffers{{"app/a", 2}});
    Step();
    TaskMessage task = Task(1, JobType::kHandler);
    task.handler = HandlerCall{.name = "app/a"};
    Publish({task});
    const ClaimRequest claim = Claims().at(0);
    ClaimBatchReply reply;
    reply.batch_id = last_batch_;
    reply.sent_us = clock_.Steady().time_since_epoch().count();
    reply.items.push_back({.key = claim.key,
                           .token = claim.token,
                           .verdict = ClaimVerdict::kAccepted,
                           .checkpoint = checkpoint});
    Deliver(reply);
    return claim;
  }
  void Returns(const ClaimRequest& claim, RunState state) {
    handlers_.events.push_back(AttemptEnded{HeldOf(claim), {.state = state}, JobId("job")});
    Step();
  }
};

TEST_F(DaemonHandlerSaveTest, LatestContentIsSavedBeforeTheResult) {
  const ClaimRequest claim = Called();
  EXPECT_EQ(handlers_.starts.at(0).checkpoint, std::nullopt);
  handlers_.events.push_back(AttemptContent{.attempt = HeldOf(claim), .checkpoint = "older"});
  handlers_.events.push_back(
      AttemptContent{.attempt = HeldOf(claim), .progress = "42 half", .checkpoint = "state"});
  Returns(claim, RunState::kFailed);
  StepFor(1s);
  EXPECT_TRUE(bus_.results.empty());
  const auto saves = Saves();
  ASSERT_EQ(saves.size(), 1u);
  EXPECT_EQ(saves[0].token, claim.token);
  EXPECT_EQ(saves[0].progress, (RunProgress{42, "half"}));
  EXPECT_EQ(saves[0].checkpoint, "state");
  AnswerSave(claim, saves[0].seq);
  StepFor(200ms);
  ASSERT_EQ(bus_.results.size(), 1u);
  EXPECT_TRUE(bus_.results[0].report.result.saved);
  Deliver(ResultsApplied{{HeldOf(claim)}});
  StepFor(CheckpointSender::kLookEvery + 200ms);
  EXPECT_TRUE(run_files.files.empty());
}

TEST_F(DaemonHandlerSaveTest, LaterAttemptGetsTheCheckpointAndItsCompletionDeletesIt) {
  const ClaimRequest claim = Called("state");
  EXPECT_EQ(handlers_.starts.at(0).checkpoint, "state");
  Returns(claim, RunState::kCompleted);
  StepFor(200ms);
  ASSERT_EQ(bus_.results.size(), 1u);
  EXPECT_TRUE(bus_.results[0].report.result.saved);
  EXPECT_TRUE(Saves().empty());
}

TEST_F(DaemonHandlerSaveTest, RefusedProgressIsALineInTheLogOfItsFunction) {
  const ClaimRequest claim = Called();
  handlers_.events.push_back(AttemptContent{.attempt = HeldOf(claim), .progress = "NaN"});
  StepFor(1s);
  EXPECT_TRUE(Saves().empty());
  ASSERT_EQ(handlers_.notes.size(), 1u);
  EXPECT_EQ(handlers_.notes[0].first, claim.token);
  EXPECT_TRUE(handlers_.notes[0].second.starts_with("the progress file is not saved: "));
}

// A disk that hangs must not fill the memory with what the answers to claims bring.
TEST_F(DaemonHandlerSaveTest, NothingIsClaimedWhileManyCheckpointsAreNotOnDisk) {
  constexpr int kMany = (ClaimGate::kPlacingBytesMax >> 20) + 1;
  handlers_.offers = std::make_shared<HandlerOffers>(HandlerOffers{{"app/a", kMany + 1}});
  Step();
  const auto task = [this](uint64_t number) {
    TaskMessage made = Task(number, JobType::kHandler);
    made.handler = HandlerCall{.name = "app/a"};
    return made;
  };
  for (uint64_t number = 1; number <= kMany; ++number) PutOnBus({task(number)});
  Step();
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), static_cast<size_t>(kMany));
  Stepper& core = *daemon_->steppers()[0].stepper;
  for (const ClaimRequest& claim : claims) {
    ClaimBatchReply reply{.batch_id = last_batch_,
                          .sent_us = clock_.Steady().time_since_epoch().count()};
    reply.items.push_back({.key = claim.key,
                           .token = claim.token,
                           .verdict = ClaimVerdict::kAccepted,
                           .checkpoint = std::string(1 << 20, 'c')});
    link_.incoming.push_back({MemberId("m1"), reply});
  }
  core.Step(clock_.Steady());
  PutOnBus({task(1000)});
  core.Step(clock_.Steady());
  EXPECT_TRUE(link_.Take<ClaimBatch>().empty()) << "their files are not written yet";
  StepFor(100ms);
  EXPECT_EQ(Claims().size(), 1u);
}

TEST_F(DaemonHandlerSaveTest, ResultOfOneThatSavedNothingWaitsForNothing) {
  const ClaimRequest claim = Called();
  Returns(claim, RunState::kFailed);
  StepFor(100ms);
  ASSERT_EQ(bus_.results.size(), 1u);
  EXPECT_FALSE(bus_.results[0].report.result.saved);
}

TEST_F(DaemonCheckpointTest, HeartbeatSaysThatItTakesCheckpoints) {
  StepFor(3s);
  const auto beats = link_.Take<Heartbeat>();
  ASSERT_FALSE(beats.empty());
  EXPECT_TRUE(beats.back().features.Has(Feature::kCheckpoints));
}

TEST_F(DaemonCheckpointTest, ResultWaitsForTheLastSave) {
  const ClaimRequest claim = Running();
  run_files.Put(Checkpoint(claim), "state");
  Fail(claim);
  StepFor(1s);
  EXPECT_TRUE(bus_.results.empty());
  const auto saves = Saves();
  ASSERT_EQ(saves.size(), 1u);
  EXPECT_EQ(saves[0].checkpoint, "state");
  AnswerSave(claim, saves[0].seq);
  StepFor(200ms);
  ASSERT_EQ(bus_.results.size(), 1u);
  EXPECT_TRUE(bus_.results[0].report.result.saved);
  EXPECT_EQ(bus_.results[0].report.result.error, "");
}

TEST_F(DaemonCheckpointTest, ResultGoesAfterFiveSecondsWithoutAnAnswer) {
  const ClaimRequest claim = Running();
  run_files.Put(Checkpoint(claim), "state");
  Fail(claim);
  StepFor(4s);
  EXPECT_TRUE(bus_.results.empty());
  StepFor(2s);
  ASSERT_EQ(bus_.results.size(), 1u);
  EXPECT_NE(bus_.results[0].report.result.error.find("not stored in time"), std::string::npos);
}

TEST_F(DaemonCheckpointTest, ResultWithoutFilesDoesNotWait) {
  EndInWarden(Running());
  StepFor(100ms);
  ASSERT_EQ(bus_.results.size(), 1u);
  EXPECT_FALSE(bus_.results[0].report.result.saved);
}

TEST_F(DaemonCheckpointTest, CheckpointIsInPlaceBeforeTheStart) {
  TaskMessage task = Task(1);
  task.attempt = 2;
  Publish({task});
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), 1u);
  ClaimBatchReply reply{.batch_id = last_batch_,
                        .sent_us = clock_.Steady().time_since_epoch().count()};
  reply.items.push_back({.key = claims[0].key,
                         .token = claims[0].token,
                         .verdict = ClaimVerdict::kAccepted,
                         .checkpoint = "state"});
  link_.incoming.push_back({MemberId("m1"), reply});
  daemon_->steppers()[0].stepper->Step(clock_.Steady());
  EXPECT_TRUE(warden_.starts.empty()) << "its file is not written yet";
  Step();
  ASSERT_EQ(warden_.starts.size(), 1u);
  EXPECT_EQ(run_files.files.at(Checkpoint(claims[0])).bytes, "state");
  StepFor(5s);
  EXPECT_TRUE(Saves().empty()) << "the owner has it already";
}

TEST_F(DaemonCheckpointTest, AttemptWhoseCheckpointCannotBeWrittenIsNotStarted) {
  run_files.full = true;
  TaskMessage task = Task(1);
  task.attempt = 2;
  Publish({task});
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), 1u);
  ClaimBatchReply reply{.batch_id = last_batch_,
                        .sent_us = clock_.Steady().time_since_epoch().count()};
  reply.items.push_back({.key = claims[0].key,
                         .token = claims[0].token,
                         .verdict = ClaimVerdict::kAccepted,
                         .checkpoint = "state"});
  Deliver(reply);
  StepFor(1s);
  EXPECT_TRUE(warden_.starts.empty());
  ASSERT_EQ(bus_.results.size(), 1u);
  EXPECT_EQ(bus_.results[0].report.result.reason, reason::kSpawn);
}

TEST_F(DaemonCheckpointTest, FileThatIsRefusedIsALineOfTheLog) {
  const ClaimRequest claim = Running();
  run_files.refuse = true;
  run_files.Put(Checkpoint(claim), "state");
  StepFor(10s);
  EXPECT_TRUE(Saves().empty());
  ASSERT_EQ(warden_.notes.size(), 1u);
  EXPECT_EQ(warden_.notes[0], "the checkpoint file is not saved: it is larger than 1024 KiB");
}

TEST_F(DaemonCheckpointTest, FilesStayUntilTheResultIsApplied) {
  const ClaimRequest claim = Running();
  run_files.Put(Checkpoint(claim), "state");
  Fail(claim);
  StepFor(20s);
  EXPECT_EQ(run_files.files.size(), 1u);
  Deliver(ResultsApplied{{HeldOf(claim)}});
  StepFor(5s);
  EXPECT_TRUE(run_files.files.empty());
}

TEST_F(DaemonCheckpointTest, NewDaemonKeepsTheFilesOfWhatRuns) {
  const ClaimRequest claim = Running();
  run_files.Put(Checkpoint(claim), "state");
  run_files.Put({claim.key, 9, RunFileKind::kCheckpoint}, "of nobody");
  warden_.inventory.running = {{HeldOf(claim), clock_.Wall()}};
  Boot();
  StepFor(5s);
  ASSERT_EQ(run_files.files.size(), 1u);
  EXPECT_EQ(run_files.files.begin()->first, Checkpoint(claim));
}

TEST_F(DaemonCheckpointTest, NewDaemonSavesWhatEndedBefore) {
  const ClaimRequest claim = Running();
  run_files.Put(Checkpoint(claim), "state");
  warden_.inventory.ended = {
      {HeldOf(claim), {.state = RunState::kFailed, .exit_code = 3}, JobId("job")}};
  Boot();
  Join();
  Deliver(Registered{.takes_saves = true});
  Deliver(HeartbeatReply{.sent_us = clock_.Steady().time_since_epoch().count(),
                         .renewed = {HeldOf(claim)}});
  StepFor(500ms);
  const auto saves = Saves();
  ASSERT_EQ(saves.size(), 1u);
  EXPECT_EQ(saves[0].checkpoint, "state");
  EXPECT_TRUE(bus_.results.empty());
  AnswerSave(claim, saves[0].seq);
  StepFor(200ms);
  EXPECT_EQ(bus_.results.size(), 1u);
}

TEST_F(DaemonCheckpointTest, OlderMemberGetsNothing) {
  Deliver(Registered{});
  const ClaimRequest claim = Running();
  run_files.Put(Checkpoint(claim), "state");
  StepFor(5s);
  EXPECT_TRUE(Saves().empty());
  Fail(claim);
  StepFor(200ms);
  EXPECT_EQ(bus_.results.size(), 1u);
}

}  // namespace
}  // namespace carillon::executor
