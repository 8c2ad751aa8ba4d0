#include <nlohmann/json.hpp>

#include "scheduler/settings/new_fields.h"
#include "tests/unit/scheduler/member/member_harness.h"

namespace carillon::test {
namespace {

// A producer whose records wait for a broker that is away.
class WaitingProducer final : public BusProducer {
 public:
  Status Send(std::string_view topic, uint64_t, BusRecord, Delivered) override {
    topics.emplace_back(topic);
    return {};
  }
  std::vector<std::string> topics;
};

class MemberLettersTest : public MemberTest {
 protected:
  MemberLettersTest() {
    {
      MutexLock lock(world_.stores.tables.mu);
      world_.stores.tables.schema = {.known = scheduler::kFanOutMigration,
                                     .applied = scheduler::kFanOutMigration,
                                     .finished = scheduler::kFanOutMigration};
    }
    JobDefinition job;
    job.command = "false";
    world_.CreateJob("fails", job);
    each_step_ = [this] {
      const auto tasks = executor_.TakeTasks();
      if (!tasks.empty()) executor_.Claim(tasks);
      const std::vector<HeldAttempt> accepted = executor_.TakeAccepted();
      if (!accepted.empty()) executor_.Report(accepted, RunState::kFailed);
    };
  }
  static scheduler::MemberOptions WithTopic() { return {.dead_letter_topic = "letters"}; }
  // Runs the job until its run has failed, and the letter could be published.
  std::string Fail(TestMember& member) {
    executor_.Register();
    Run(20ms);
    executor_.Beat(4);
    const auto run =
        world_.stores.runs.ExecuteJob({.job_id = JobId("fails")}, {.now = world_.now()});
    member.member().Nudge({run->job_no, run->segment, run->key});
    Run(2500ms);
    EXPECT_EQ(Get(run->key).row.state, RunState::kFailed);
    return EncodeRunId(run->key);
  }
  std::vector<std::string> TakeLetters() {
    std::vector<std::string> runs;
    const auto records = letters_->Poll(100);
    for (const ReceivedRecord& one : *records) {
      EXPECT_EQ(one.record.key, "fails");
      runs.push_back(nlohmann::json::parse(one.record.payload).at("run_id"));
    }
    return runs;
  }

  TestExecutor executor_{world_, "x1"};
  std::unique_ptr<BusConsumer> letters_ = world_.bus.NewConsumer("letters", "test");
};

TEST_F(MemberLettersTest, TheLeaderPublishesDeadLettersAndSoDoesTheNext) {
  auto first = std::make_unique<TestMember>(world_, "m1", "i1", WithTopic());
  Start(*first);
  TestMember second(world_, "m2", "i2", WithTopic());
  Start(second);
  EXPECT_TRUE(first->member().GetStatus().is_leader);
  const std::string run = Fail(*first);
  EXPECT_EQ(TakeLetters(), std::vector{run}) << "one of the two members sends it";
  members_ = {&second};
  first->member().Leave();
  first.reset();
  Run(8s, 20ms);
  EXPECT_TRUE(second.member().GetStatus().is_leader);
  EXPECT_TRUE(TakeLetters().empty());
  const std::string later = Fail(second);
  EXPECT_EQ(TakeLetters(), std::vector{later});
}

// Tasks do not wait for letters, even if the topic is away and many letters wait for it.
TEST_F(MemberLettersTest, LettersHaveAProducerOfTheirOwnAndTasksGoOn) {
  WaitingProducer away;
  TestMember member(world_, "m1", "i1", WithTopic(), &away);
  Start(member);
  Fail(member);
  EXPECT_EQ(away.topics, std::vector<std::string>{"letters"});
  Fail(member);
  EXPECT_TRUE(TakeLetters().empty());
}

TEST_F(MemberLettersTest, WithoutATopicNothingIsPublished) {
  TestMember member(world_);
  Start(member);
  Fail(member);
  Run(5s, 20ms);
  EXPECT_TRUE(TakeLetters().empty());
}

}  // namespace
}  // namespace carillon::test
