// A member on memory adapters and a manual clock, and an executor that the test plays.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/adapters/memory/memory_bus.h"
#include "common/adapters/memory/memory_coordinator.h"
#include "common/adapters/memory/memory_link.h"
#include "scheduler/member/member.h"
#include "tests/support/failpoint_on.h"
#include "tests/support/manual_clock.h"
#include "tests/twins/memory_stores.h"

namespace carillon::test {

// The environment of members: one store, one bus, one control network.
struct MemberWorld {
  ManualClock clock;
  memory::MemoryStores stores{clock, {.segment_count = 8}};
  memory::MemoryBus bus;
  memory::MemorySwitchboard switchboard;
  memory::MemoryEnsemble ensemble;
  Signer signer = Signer::FromSeed({1, 2, 3});

  WallTime now() const { return clock.Wall(); }
  StoredJob CreateJob(const std::string& id, JobDefinition job) {
    job.name = id;
    auto stored = stores.jobs.CreateJob(JobId(id), job, {.now = now()});
    EXPECT_TRUE(stored.ok()) << (stored.ok() ? "" : stored.error().message);
    return *stored;
  }
};

inline JobDefinition NoopEverySecond(WallTime start) {
  JobDefinition job;
  job.type = JobType::kNoop;
  job.schedules = {{.kind = ScheduleKind::kRate, .every = 1s, .start = start}};
  return job;
}

// A consumer that a test can make silent.
class HealthConsumer final : public BusConsumer {
 public:
  explicit HealthConsumer(std::unique_ptr<BusConsumer> inner) : inner_(std::move(inner)) {}
  Result<std::vector<ReceivedRecord>> Poll(size_t max) override { return inner_->Poll(max); }
  Status Commit(const std::vector<ReceivedRecord>& handled) override {
    return inner_->Commit(handled);
  }
  void OnReadable(std::function<void()> wake) override { inner_->OnReadable(std::move(wake)); }
  BusHealth Look() override {
    return silent ? BusHealth{.contact = BusHealth::Contact::kSilent} : inner_->Look();
  }

  bool silent = false;

 private:
  const std::unique_ptr<BusConsumer> inner_;
};

class TestMember {
 public:
  explicit TestMember(MemberWorld& world, const std::string& id = "m1",
                      const std::string& incarnation = "i1", scheduler::MemberOptions options = {},
                      BusProducer* letters = nullptr)
      : world_(world),
        producer_(world.bus.NewProducer()),
        results_(world.bus.NewConsumer(kResultsTopic, id)),
        logs_(world.bus.NewConsumer(kLogsTopic, id)),
        hub_(world.switchboard.OpenHub(MemberId(id))),
        coordinator_(world.ensemble.NewClient()),
        guard_(world.clock) {
    options.self = {.id = MemberId(id), .incarnation = Incarnation(incarnation)};
    member_ = std::make_unique<scheduler::Member>(
        scheduler::MemberPorts{.clock = world.clock,
                               .stores = world.stores.Ports(),
                               .identity = world.stores.identity,
                               .schema = world.stores.schema,
                               .guard = guard_,
                               .producer = *producer_,
                               .results = results_,
                               .logs = logs_,
                               .hub = *hub_,
                               .coordinator = *coordinator_,
                               .signer = world.signer,
                               .metrics = metrics_,
                               .settings = settings_,
                               .letters = letters},
        options);
  }

  // Steps every room once.
  void Turn() {
    for (const auto& named : member_->steppers()) named.stepper->Step(world_.clock.Steady());
  }
  scheduler::Member& member() { return *member_; }
  Metrics& metrics() { return metrics_; }
  LiveSettings& settings() { return settings_; }
  HealthConsumer& results() { return results_; }
  HealthConsumer& logs() { return logs_; }

 private:
  MemberWorld& world_;
  Metrics metrics_;
  LiveSettings settings_;
  std::unique_ptr<BusProducer> producer_;
  HealthConsumer results_;
  HealthConsumer logs_;
  std::unique_ptr<ExecutorHub> hub_;
  std::unique_ptr<Coordinator> coordinator_;
  scheduler::StoreGuard guard_;
  std::unique_ptr<scheduler::Member> member_;
};

class TestExecutor {
 public:
  TestExecutor(MemberWorld& world, const std::string& id, const std::string& incarnation = "e1")
      : world_(world),
        id_(id),
        incarnation_(incarnation),
        link_(world.switchboard.OpenLink(id_, incarnation_)),
        tasks_(world.bus.NewConsumer(kTasksTopic, id + incarnation)),
        producer_(world.bus.NewProducer()) {}

  void Register(int slots = 4, bool carries_records = false) {
    carillon::Register message;
    message.carries_records = carries_records;
    message.record.id = id_;
    message.record.incarnation = incarnation_;
    message.record.slots = slots;
    Send(std::move(message));
  }
  // The values that a current executor reports besides its free slots.
  struct About {
    int slots = 0;
    int64_t config_version = 0;
    Features features = {};
  };
  void Beat(int free_slots, std::vector<HeldAttempt> running = {},
            std::vector<HeldAttempt> reporting = {}) {
    BeatAbout(free_slots, About(), std::move(running), std::move(reporting));
  }
  void BeatAbout(int free_slots, const About& about, std::vector<HeldAttempt> running = {},
                 std::vector<HeldAttempt> reporting = {}) {
    Heartbeat beat{.sent_us = world_.clock.Steady().time_since_epoch().count(),
                   .running_count = static_cast<int>(running.size()),
                   .free_slots = free_slots,
                   .free_light_slots = 100,
                   .slots = about.slots,
                   .config_version = about.config_version,
                   .features = about.features};
    beat.running = std::move(running);
    beat.reporting = std::move(reporting);
    Send(std::move(beat));
  }
  // Tasks published to this process since the last call.
  std::vector<TaskMessage> TakeTasks() {
    std::vector<TaskMessage> taken;
    auto records = tasks_->Poll(10'000);
    EXPECT_TRUE(records.ok());
    for (const ReceivedRecord& record : *records) {
      OpenedTasks opened =
          OpenTasks(record.record, id_, incarnation_, world_.now(), {world_.signer.public_key()});
      EXPECT_TRUE(opened.rejection == Rejection::kNone ||
                  opened.rejection == Rejection::kOtherExecutor)
          << Name(opened.rejection);
      for (TaskMessage& task : opened.tasks) taken.push_back(std::move(task));
    }
    EXPECT_TRUE(tasks_->Commit(*records).ok());
    return taken;
  }
  // Claims all tasks with new tokens. Returns the attempts that the executor has if they
  // are accepted.
  std::vector<HeldAttempt> Claim(const std::vector<TaskMessage>& tasks) {
    ClaimBatch batch{.sent_us = world_.clock.Steady().time_since_epoch().count(),
                     .batch_id = ++batches_};
    std::vector<HeldAttempt> held;
    for (const TaskMessage& task : tasks) {
      const ClaimToken token{77, ++tokens_};
      batch.requests.push_back({.key = task.key,
                                .segment = task.segment,
                                .job_no = task.job_no,
                                .attempt = task.attempt,
                                .def_version = task.def_version,
                                .token = token,
                                .executor = id_,
                                .incarnation = incarnation_,
                                .overlap = {.policy = task.overlap}});
      held.push_back({task.key, task.segment, task.job_no, task.attempt, token});
    }
    for (const HeldAttempt& one : held) asked_[one.token] = one;
    last_claim_ = batch;
    Send(std::move(batch));
    return held;
  }
  // Attempts whose claims were accepted since the last call.
  std::vector<HeldAttempt> TakeAccepted() {
    std::vector<HeldAttempt> accepted;
    for (const ClaimBatchReply& reply : TakeAll<ClaimBatchReply>()) {
      for (const ClaimBatchReply::Item& item : reply.items) {
        if (item.verdict == ClaimVerdict::kAccepted) accepted.push_back(asked_.at(item.token));
      }
    }
    return accepted;
  }
  // Repeats the last request, as after a lost reply.
  void ClaimAgain() { Send(last_claim_); }
  void Report(const std::vector<HeldAttempt>& held, RunState state = RunState::kCompleted) {
    std::vector<ResultMessage> results;
    for (const HeldAttempt& one : held) {
      results.push_back(
          {.report = {.key = one.key,
                      .segment = one.segment,
                      .job_no = one.job_no,
                      .attempt = one.attempt,
                      .token = one.token,
                      .executor = id_,
                      .result = {.state = state, .started = world_.now(), .ended = world_.now()}},
           .job_id = JobId("job")});
    }
    EXPECT_TRUE(producer_->Send(kResultsTopic, 0, {.payload = EncodeResults(results)}).ok());
  }
  // All messages of one kind from the members since the last call.
  template <typename Message>
  std::vector<Message> TakeAll() {
    for (MemberMessage& message : link_->Receive(10'000)) {
      inbox_.push_back(std::move(message.message));
    }
    std::vector<Message> taken;
    std::vector<ToExecutor> rest;
    for (ToExecutor& message : inbox_) {
      if (std::holds_alternative<Message>(message)) {
        taken.push_back(std::get<Message>(std::move(message)));
      } else {
        rest.push_back(std::move(message));
      }
    }
    inbox_ = std::move(rest);
    return taken;
  }

 private:
  void Send(FromExecutor message) {
    for (const MemberId& member : link_->Members()) {
      EXPECT_TRUE(link_->Send(member, message).ok());
    }
  }

  MemberWorld& world_;
  const ExecutorId id_;
  const Incarnation incarnation_;
  std::unique_ptr<ExecutorLink> link_;
  std::unique_ptr<BusConsumer> tasks_;
  std::unique_ptr<BusProducer> producer_;
  std::vector<ToExecutor> inbox_;
  std::map<ClaimToken, HeldAttempt> asked_;
  ClaimBatch last_claim_;
  uint64_t batches_ = 0;
  uint64_t tokens_ = 0;
};

class MemberTest : public ::testing::Test {
 protected:
  ~MemberTest() override { failpoint::Reset(); }

  // Advances the clock in steps of `step`, and steps every member each time.
  void Run(Duration length, Duration step = 1ms) {
    for (Duration done{}; done < length; done += step) {
      world_.clock.Advance(step);
      for (TestMember* member : members_) member->Turn();
      if (each_step_) each_step_();
    }
  }
  void Start(TestMember& member) {
    members_.push_back(&member);
    Run(1200ms, 20ms);
  }
  RunDetail Get(const RunKey& key) {
    auto run = world_.stores.runs.GetRun(key);
    EXPECT_TRUE(run.ok());
    return *run;
  }

  MemberWorld world_;
  std::vector<TestMember*> members_;
  std::function<void()> each_step_;
};

}  // namespace carillon::test
