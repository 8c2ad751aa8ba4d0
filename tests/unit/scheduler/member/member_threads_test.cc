// A member on real threads and a real clock, as in a daemon. Under the thread sanitizer this test
// shows that its parts may be stepped concurrently.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <set>

#include "common/adapters/memory/memory_bus.h"
#include "common/adapters/memory/memory_coordinator.h"
#include "common/adapters/memory/memory_link.h"
#include "common/adapters/system/system_clock.h"
#include "scheduler/member/member.h"
#include "tests/twins/memory_stores.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kPatience = 120s;

// An executor of no-op jobs: it claims every task, ends it at once, and repeats the report until it
// is acknowledged.
class InstantExecutor final : public Stepper {
 public:
  InstantExecutor(const Clock& clock, memory::MemorySwitchboard& switchboard,
                  memory::MemoryBus& bus, const Signer& signer)
      : clock_(clock),
        link_(switchboard.OpenLink(ExecutorId("x1"), Incarnation("e1"))),
        tasks_(bus.NewConsumer(kTasksTopic, "x1")),
        producer_(bus.NewProducer()),
        public_key_(signer.public_key()) {}

  void OnWake(const std::function<void()>& wake) {
    link_->OnReadable(wake);
    tasks_->OnReadable(wake);
  }

  SteadyTime Step(SteadyTime now) override {
    if (now >= next_beat_) {
      next_beat_ = now + 100ms;
      Register message;
      message.record.slots = 4;
      Send(message);
      Send(Heartbeat{.sent_us = now.time_since_epoch().count(), .free_light_slots = 1000});
    }
    Claim(now);
    for (const MemberMessage& message : link_->Receive(1000)) Handle(message.message);
    return next_beat_;
  }
  size_t applied() const { return applied_.load(); }
  size_t refused() const { return refused_.load(); }

 private:
  void Claim(SteadyTime now) {
    const auto records = tasks_->Poll(100);
    ASSERT_TRUE(records.ok());
    ClaimBatch batch{.sent_us = now.time_since_epoch().count(), .batch_id = ++batches_};
    for (const ReceivedRecord& record : *records) {
      for (const TaskMessage& task : OpenTasks(record.record, ExecutorId("x1"), Incarnation("e1"),
                                               clock_.Wall(), {public_key_})
                                         .tasks) {
        const ClaimToken token{1, ++tokens_};
        batch.requests.push_back({.key = task.key,
                                  .segment = task.segment,
                                  .job_no = task.job_no,
                                  .attempt = task.attempt,
                                  .def_version = task.def_version,
                                  .token = token});
        asked_[token] = {task.key, task.segment, task.job_no, task.attempt, token};
      }
    }
    ASSERT_TRUE(tasks_->Commit(*records).ok());
    if (!batch.requests.empty()) Send(std::move(batch));
  }
  void Handle(const ToExecutor& message) {
    if (const auto* applied = std::get_if<ResultsApplied>(&message)) {
      applied_ += applied->applied.size();
    }
    const auto* reply = std::get_if<ClaimBatchReply>(&message);
    if (reply == nullptr) return;
    std::vector<ResultMessage> results;
    for (const ClaimBatchReply::Item& item : reply->items) {
      if (item.verdict != ClaimVerdict::kAccepted) {
        ++refused_;
        continue;
      }
      const HeldAttempt& held = asked_.at(item.token);
      results.push_back({.report = {.key = held.key,
                                    .segment = held.segment,
                                    .job_no = held.job_no,
                                    .attempt = held.attempt,
                                    .token = held.token,
                                    .executor = ExecutorId("x1"),
                                    .result = {.started = clock_.Wall(), .ended = clock_.Wall()}},
                         .job_id = JobId("noop")});
    }
    if (results.empty()) return;
    ASSERT_TRUE(producer_->Send(kResultsTopic, 0, {.payload = EncodeResults(results)}).ok());
  }
  void Send(const FromExecutor& message) {
    for (const MemberId& member : link_->Members()) {
      ASSERT_TRUE(link_->Send(member, message).ok());
    }
  }

  const Clock& clock_;
  std::unique_ptr<ExecutorLink> link_;
  std::unique_ptr<BusConsumer> tasks_;
  std::unique_ptr<BusProducer> producer_;
  const std::string public_key_;
  SteadyTime next_beat_{};
  uint64_t batches_ = 0;
  uint64_t tokens_ = 0;
  std::map<ClaimToken, HeldAttempt> asked_;
  std::atomic<size_t> applied_{0};
  std::atomic<size_t> refused_{0};
};

TEST(MemberThreadsTest, EveryFireRunsOnceWhileJobsAreMadeAndStatusIsRead) {
  constexpr int kJobs = 40;
  constexpr size_t kFires = 600;
  SystemClock clock;
  memory::MemoryStores stores(clock, {.segment_count = 16});
  memory::MemoryBus bus;
  memory::MemorySwitchboard switchboard;
  memory::MemoryEnsemble ensemble;
  const Signer signer = Signer::FromSeed({3});
  Metrics metrics;
  LiveSettings settings;
  auto producer = bus.NewProducer();
  auto results = bus.NewConsumer(kResultsTopic, "m1");
  auto logs = bus.NewConsumer(kLogsTopic, "m1");
  auto hub = switchboard.OpenHub(MemberId("m1"));
  auto coordinator = ensemble.NewClient();
  StoreGuard guard(clock);
  Member member({.clock = clock,
                 .stores = stores.Ports(),
                 .identity = stores.identity,
                 .schema = stores.schema,
                 .guard = guard,
                 .producer = *producer,
                 .results = *results,
                 .logs = *logs,
                 .hub = *hub,
                 .coordinator = *coordinator,
                 .signer = signer,
                 .metrics = metrics,
                 .settings = settings},
                {.self = {.id = MemberId("m1"), .incarnation = Incarnation("i1")}});
  InstantExecutor executor(clock, switchboard, bus, signer);
  std::vector<std::unique_ptr<LoopRunner>> runners;
  for (const NamedStepper& named : member.steppers()) {
    runners.push_back(std::make_unique<LoopRunner>(named.name, clock, *named.stepper));
    named.wake->Set([runner = runners.back().get()] { runner->Wake(); });
  }
  runners.push_back(std::make_unique<LoopRunner>("executor", clock, executor));
  executor.OnWake([runner = runners.back().get()] { runner->Wake(); });

  for (int i = 0; i < kJobs; ++i) {
    settings.Adopt({.version = i + 1, .values = {{"bus.format", "json"}}});
    member.Tune({.horizon = 10s + i * 1s,
                 .bus_format = i % 2 == 0 ? BusFormat::kJson : BusFormat::kBinary});
    JobDefinition job;
    job.name = "noop";
    job.type = JobType::kNoop;
    job.schedules = {{.kind = ScheduleKind::kRate, .every = 50ms, .start = clock.Wall()}};
    const auto made =
        stores.jobs.CreateJob(JobId("job" + std::to_string(i)), job, {.now = clock.Wall()});
    ASSERT_TRUE(made.ok());
    member.Nudge({made->job_no, made->segment});
  }
  const SteadyTime deadline = clock.Steady() + kPatience;
  std::mutex mu;
  std::condition_variable never;
  std::unique_lock lock(mu);
  while (executor.applied() < kFires && clock.Steady() < deadline) {
    EXPECT_LE(member.GetStatus().executors.size(), 1u);
    never.wait_for(lock, 5ms);
  }
  // All threads must end before the objects that they may wake are destroyed.
  for (const auto& runner : runners) runner->Stop();
  for (const NamedStepper& named : member.steppers()) named.wake->Clear();

  EXPECT_GE(executor.applied(), kFires);
  EXPECT_EQ(executor.refused(), 0u);
  std::set<RunKey> completed;
  const auto runs =
      stores.runs.ListRuns({.states = {RunState::kCompleted}, .limit = 100'000}, clock.Wall());
  ASSERT_TRUE(runs.ok());
  for (const RunDetail& run : runs->runs) {
    EXPECT_TRUE(completed.insert(run.row.key).second);
    EXPECT_EQ(run.row.attempt, 1);
    EXPECT_GE(run.result.started, run.row.key.fire);
  }
  EXPECT_GE(completed.size(), kFires);
}

}  // namespace
}  // namespace carillon::scheduler
