// A member and an executor daemon, and a task on its way between them that the daemon cannot read.
#include <map>

#include "tests/support/no_users.h"
#include "tests/unit/executor/agent/daemon_fixture.h"
#include "tests/unit/scheduler/member/member_harness.h"

namespace carillon::test {
namespace {

const ExecutorId kExecutor("e1");
const Incarnation kProcess("p1");

// Changes the tasks of one job, as a member of another version might write them.
class SpoiledTasks final : public BusConsumer {
 public:
  using Spoil = std::function<void(TaskMessage&)>;

  SpoiledTasks(MemberWorld& world, Spoil spoil)
      : world_(world),
        spoil_(std::move(spoil)),
        inner_(world.bus.NewConsumer(kTasksTopic, kExecutor.value())) {}

  Result<std::vector<ReceivedRecord>> Poll(size_t max) override {
    auto records = inner_->Poll(max);
    if (!records.ok()) return records;
    for (ReceivedRecord& received : *records) {
      OpenedTasks opened = OpenTasks(received.record, kExecutor, kProcess, world_.now(),
                                     {world_.signer.public_key()});
      EXPECT_EQ(opened.rejection, Rejection::kNone);
      for (TaskMessage& task : opened.tasks) {
        if (task.job_id != JobId("bad")) continue;
        ++spoiled_;
        spoil_(task);
      }
      received.record =
          SealTasks(opened.tasks, {kExecutor, kProcess, world_.now() + 10s}, world_.signer);
    }
    return records;
  }
  Status Commit(const std::vector<ReceivedRecord>& handled) override {
    return inner_->Commit(handled);
  }
  void OnReadable(std::function<void()>) override {}
  BusHealth Look() override { return inner_->Look(); }
  int spoiled() const { return spoiled_; }

 private:
  MemberWorld& world_;
  const Spoil spoil_;
  std::unique_ptr<BusConsumer> inner_;
  int spoiled_ = 0;
};

class UnreadableTaskTest : public MemberTest {
 protected:
  // Starts a member and a daemon for which `spoil` changes the tasks of the job `bad`.
  void Begin(SpoiledTasks::Spoil spoil) {
    JobDefinition job;
    job.type = JobType::kNoop;
    world_.CreateJob("good", job);
    job.priority = 100;
    job.retry_count = 3;
    bad_job_ = world_.CreateJob("bad", job);
    tasks_ = std::make_unique<SpoiledTasks>(world_, std::move(spoil));
    results_ = world_.bus.NewProducer();
    link_ = world_.switchboard.OpenLink(kExecutor, kProcess);
    executor::ExecutorOptions options;
    options.executor_id = kExecutor;
    options.incarnation = kProcess;
    options.version = "1.2.3";
    daemon_ = std::make_unique<executor::ExecutorDaemon>(
        executor::ExecutorDaemon::Ports{world_.clock, tokens_, *tasks_, *results_, *link_, warden_,
                                        users_, http_, handlers_, spool_, load_, metrics_,
                                        [this] { return std::vector{world_.signer.public_key()}; },
                                        settings_},
        options);
    each_step_ = [this] {
      for (NamedStepper& loop : daemon_->steppers()) loop.stepper->Step(world_.clock.Steady());
    };
    member_ = std::make_unique<TestMember>(world_);
    Start(*member_);
    RunFor(5s);
  }
  void RunFor(Duration length) { Run(length, 20ms); }
  RunKey Execute(const std::string& job) {
    const auto run = world_.stores.runs.ExecuteJob({.job_id = JobId(job)}, {.now = world_.now()});
    EXPECT_TRUE(run.ok());
    world_.clock.Advance(1ms);
    return run->key;
  }
  RunState StateOf(const RunKey& key) { return Get(key).row.state; }
  bool ClaimsNothing() {
    for (const ExecutorRecord& executor : member_->member().GetStatus().executors) {
      if (executor.id == kExecutor) return executor.claims_nothing;
    }
    ADD_FAILURE() << "no executor";
    return false;
  }

  StoredJob bad_job_;
  std::unique_ptr<SpoiledTasks> tasks_;
  std::unique_ptr<BusProducer> results_;
  std::unique_ptr<ExecutorLink> link_;
  SeededTokens tokens_{Rng(7)};
  NoUsers users_;
  executor::TestWarden warden_;
  executor::TestHttp http_;
  executor::TestHandlers handlers_;
  executor::TestSpool spool_;
  executor::TestLoad load_;
  Metrics metrics_;
  LiveSettings settings_;
  std::unique_ptr<executor::ExecutorDaemon> daemon_;
  std::unique_ptr<TestMember> member_;
};

TEST_F(UnreadableTaskTest, ItsRunFailsWithTheReasonAndOthersGoOn) {
  Begin([](TaskMessage& task) { task.timeout_s = 0; });
  const RunKey bad = Execute("bad");
  const RunKey good = Execute("good");
  RunFor(3s);
  EXPECT_EQ(StateOf(good), RunState::kCompleted);
  const RunDetail failed = Get(bad);
  EXPECT_EQ(failed.row.state, RunState::kFailed);
  EXPECT_EQ(failed.row.attempt, 1) << "it is not tried again";
  EXPECT_EQ(failed.result.reason, reason::kBadDefinition);
  EXPECT_EQ(failed.result.error, "executor e1 1.2.3 cannot read the task: bus payload: timeout");
  EXPECT_EQ(tasks_->spoiled(), 1);
  EXPECT_FALSE(ClaimsNothing());
}

// Not even its run can be read, so nobody can say what became of it.
TEST_F(UnreadableTaskTest, WithoutAnIdentityItDelaysOthersByATurn) {
  Begin([](TaskMessage& task) { task.member = MemberId(""); });
  const RunKey bad = Execute("bad");
  RunFor(30s);
  EXPECT_EQ(StateOf(bad), RunState::kPending);
  EXPECT_TRUE(ClaimsNothing());
  const RunKey good = Execute("good");
  RunFor(7s);
  EXPECT_EQ(StateOf(good), RunState::kCompleted);
  EXPECT_FALSE(ClaimsNothing());

  RunFor(30s);
  ASSERT_TRUE(*world_.stores.runs.CancelRun(bad, {.now = world_.now()}));
  member_->member().Nudge({bad_job_.job_no, bad_job_.segment, bad});
  RunFor(200ms);
  const int sent = tasks_->spoiled();
  EXPECT_GT(sent, 5);
  RunFor(30s);
  EXPECT_EQ(tasks_->spoiled(), sent) << "it was cancelled";
  EXPECT_EQ(StateOf(bad), RunState::kCancelled);
}

}  // namespace
}  // namespace carillon::test
