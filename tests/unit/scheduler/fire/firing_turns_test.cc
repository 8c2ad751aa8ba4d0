// An executor that claims nothing, perhaps because of one task: each waiting run gets its turn.
#include <set>

#include "common/ports/store/firing_store.h"
#include "tests/unit/scheduler/fire/firing_fixture.h"

namespace carillon::scheduler {
namespace {

class FiringTurnsTest : public FiringLoopTest {
 protected:
  // Lets the tasks of the last dispatch time out. Returns the jobs of the next tasks.
  std::vector<std::string> NextTurn() {
    SampleClock();
    Beat("x1", 4);
    Step(5s);
    std::vector<std::string> jobs;
    for (const TaskMessage& task : Tasks()) jobs.push_back(task.job_id.value());
    return jobs;
  }
  bool ClaimsNothing() const { return executors_.Find(ExecutorId("x1"))->claims_nothing; }
};

TEST_F(FiringTurnsTest, EachWaitingRunIsTriedBeforeOneIsTriedAgain) {
  Beat("x1", 4);
  Feed({Pending(Shell("bad"), 1ms, 50), Pending(Shell("good"), 1ms), Pending(Shell("other"), 1ms)});
  Step(10ms);
  EXPECT_EQ(Tasks().size(), 3u);
  EXPECT_FALSE(ClaimsNothing());
  std::vector<std::string> tried;
  for (int i = 0; i < 6; ++i) {
    const std::vector<std::string> jobs = NextTurn();
    ASSERT_EQ(jobs.size(), 1u) << "turn " << i;
    EXPECT_TRUE(ClaimsNothing());
    tried.push_back(jobs[0]);
  }
  for (size_t i = 0; i + 3 <= tried.size(); ++i) {
    const std::set<std::string> jobs(tried.begin() + static_cast<long>(i),
                                     tried.begin() + static_cast<long>(i) + 3);
    EXPECT_EQ(jobs.size(), 3u) << "from turn " << i;
  }
}

TEST_F(FiringTurnsTest, ABackfilledRunGetsItsTurnToo) {
  Beat("x1", 4);
  PendingRun background = Pending(Shell("background"), 1ms);
  background.flags = run_flag::kBackground;
  Feed({Pending(Shell("bad"), 1ms), background});
  Step(10ms);
  EXPECT_EQ(Tasks().size(), 2u);
  EXPECT_EQ(NextTurn().size(), 2u) << "not silent yet";
  EXPECT_EQ(NextTurn(), std::vector<std::string>{"bad"});
  EXPECT_EQ(NextTurn(), std::vector<std::string>{"background"});
}

TEST_F(FiringTurnsTest, AClaimEndsTheTurns) {
  Beat("x1", 4);
  const std::vector<PendingRun> runs = {Pending(Shell("a"), 1ms), Pending(Shell("b"), 1ms),
                                        Pending(Shell("c"), 1ms)};
  Feed(runs);
  Step(10ms);
  EXPECT_EQ(Tasks().size(), 3u);
  const std::vector<std::string> jobs = NextTurn();
  ASSERT_EQ(jobs, std::vector<std::string>{"a"});
  EXPECT_TRUE(ClaimsNothing());
  Tell(RunEvent::What::kClaimed, runs[0].key);
  Step(10ms);
  EXPECT_FALSE(ClaimsNothing());
  EXPECT_EQ(Tasks().size(), 2u);
}

TEST_F(FiringTurnsTest, AProbeThatIsNotClaimedIsLookedForInTheStore) {
  std::vector<ChangedWork> looks;
  signals_.due.Connect([&looks](const ChangedWork& work) { looks.push_back(work); });
  Beat("x1", 4);
  const PendingRun run = Pending(Shell("bad"), 1ms);
  Feed({run});
  Step(10ms);
  for (int i = 0; i < ExecutorCredits::kSilentAfter; ++i) NextTurn();
  ASSERT_EQ(looks.size(), 1u);
  EXPECT_EQ(looks[0].run, run.key);
}

TEST_F(FiringTurnsTest, ARunThatIsGoneIsNotSentAgain) {
  Beat("x1", 1);
  const PendingRun sent = Pending(Shell("sent"), 1ms);
  const PendingRun waiting = Pending(Shell("waiting"), 2ms);
  Feed({sent, waiting});
  Step(10ms);
  ASSERT_EQ(Tasks().size(), 1u);
  for (const RunKey& key : {sent.key, waiting.key}) {
    events_.Push({{}, {{.what = RunEvent::What::kGone, .key = key}}});
  }
  Beat("x1", 4);
  Step(10ms);
  EXPECT_TRUE(Tasks().empty());
  EXPECT_TRUE(NextTurn().empty());
  EXPECT_EQ(loop_->backlog(), 0u);
}

// A later attempt, of which the news knows nothing.
TEST_F(FiringTurnsTest, ARunThatIsNotDueIsKept) {
  Beat("x1", 1);
  const PendingRun later = Pending(Shell("later"), 1s);
  Feed({later});
  Step(10ms);
  events_.Push({{}, {{.what = RunEvent::What::kGone, .key = later.key}}});
  Step(10ms);
  Step(1s);
  EXPECT_EQ(Tasks().size(), 1u);
}

// The news was on its way when the run became due again.
TEST_F(FiringTurnsTest, AGoneRunThatIsOfferedAgainIsSentAgain) {
  Beat("x1", 1);
  const PendingRun run = Pending(Shell("job"), 1ms);
  Feed({run});
  Step(10ms);
  ASSERT_EQ(Tasks().size(), 1u);
  events_.Push({{}, {{.what = RunEvent::What::kGone, .key = run.key}}});
  Step(10ms);
  Feed({run});
  Step(10ms);
  EXPECT_EQ(NextTurn(), std::vector<std::string>{"job"});
}

}  // namespace
}  // namespace carillon::scheduler
