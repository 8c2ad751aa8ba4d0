// Fixture of the firing loop: a manual clock, and queues that the test fills and reads.
#pragma once

#include "scheduler/fire/firing_loop.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {

// A producer that keeps the records, or refuses them.
class RecordingProducer final : public BusProducer {
 public:
  bool refuses = false;
  std::vector<BusRecord> records;
  Status Send(std::string_view, uint64_t, BusRecord record, Delivered) override {
    if (refuses) return {ErrorCode::kExhausted, "refused by the test"};
    records.push_back(std::move(record));
    return {};
  }
};

class FiringLoopTest : public test::RoomTest {
 protected:
  FiringLoopTest() : loop_(Make({})) {
    signals_.dropped.Connect([this] { ++looks_; });
  }

  std::unique_ptr<FiringLoop> Make(FiringLoop::Options options) {
    options.self = MemberId("m1");
    return std::make_unique<FiringLoop>(
        FiringLoop::Ports{
            .clock = clock_,
            .cluster = cluster_,
            .segments = table_,
            .leases = leases_,
            .executors = executors_,
            .definitions = definitions_,
            .feed = feed_,
            .events = events_,
            .loads = loads_,
            .skips = skips_,
            .producer = producer_,
            .signer = signer_,
            .metrics = metrics_,
            .settings = settings_,
            .signals = signals_,
            .begin_workflow =
                [this](const PendingRun& run, const Definition& job) {
                  if (takes_begins_) begin_workflow_(run, job.job());
                  return takes_begins_;
                },
            .bus_answers = [this] { return bus_answers_; },
            .host_down_for = [this](const PendingRun& run,
                                    const Definition& job) { return host_down_for_(run, job); },
            .host_left = [this](const PendingRun&, const Definition&,
                                SteadyTime since) { return hosts_read_ > since; }},
        options);
  }
  void Beat(const std::string& id, int free_slots, int light = 100,
            std::map<std::string, std::string> labels = {}) {
    const ExecutorId executor(id);
    if (!executors_.IncarnationOf(executor)) {
      executors_.Accept(
          {.id = executor, .incarnation = Incarnation("e1"), .labels = std::move(labels)},
          clock_.Steady());
    }
    executors_.HeartbeatFrom(executor, *executors_.IncarnationOf(executor),
                             {.free_slots = free_slots, .free_light_slots = light}, clock_.Wall(),
                             clock_.Steady());
  }
  PendingRun Pending(const StoredJob& job, Duration ahead, int priority = 0) {
    return {.key = {.fire = clock_.Wall() + ahead, .schedule_id = ScheduleId(++schedules_)},
            .job_no = job.job_no,
            .segment = job.segment,
            .epoch = EpochOf(job.segment),
            .def_version = job.version,
            .due = clock_.Wall() + ahead,
            .priority = priority};
  }
  void Feed(const std::vector<PendingRun>& runs) { ASSERT_TRUE(feed_.Push(runs).ok()); }
  void Step(Duration ahead = 5ms) {
    clock_.Advance(ahead);
    loop_->Step(clock_.Steady());
  }
  // Returns the tasks published for the executor `id` since the last call.
  std::vector<TaskMessage> Tasks(const std::string& id = "x1", const std::string& process = "e1") {
    std::vector<TaskMessage> tasks;
    for (const BusRecord& record : producer_.records) {
      const OpenedTasks opened = OpenTasks(record, ExecutorId(id), Incarnation(process),
                                           clock_.Wall(), {signer_.public_key()});
      tasks.insert(tasks.end(), opened.tasks.begin(), opened.tasks.end());
    }
    if (!tasks.empty()) producer_.records.clear();
    return tasks;
  }
  void Tell(RunEvent::What what, const RunKey& key, int attempt = 1,
            const std::string& executor = "x1") {
    // Each event follows a message of the executor: a claim or a result.
    if (const auto process = executors_.IncarnationOf(ExecutorId(executor))) {
      executors_.MessageFrom(ExecutorId(executor), *process, clock_.Steady());
    }
    events_.Push({ExecutorId(executor), {{what, key, attempt}}});
  }
  std::vector<SkipRequest> Skips() {
    std::vector<SkipRequest> all;
    for (const auto& batch : skips_.PopUpTo(100)) all.insert(all.end(), batch.begin(), batch.end());
    return all;
  }
  StoredJob Shell(const std::string& id, JobDefinition job = {}) {
    job.command = "echo {{run_id}}";
    return CreateJob(id, job);
  }

  ExecutorTable executors_{{}};
  DefinitionCache definitions_{clock_, faults_.firing, {}};
  LoadQueue loads_{"loads", 8};
  SkipQueue skips_{"skips", 8};
  RecordingProducer producer_;
  Signer signer_ = Signer::FromSeed({7});
  uint64_t schedules_ = 100;
  int looks_ = 0;
  bool bus_answers_ = true;
  bool takes_begins_ = true;
  std::function<void(const PendingRun&, const JobDefinition&)> begin_workflow_ =
      [](const PendingRun&, const JobDefinition&) {};
  std::function<std::optional<Duration>(const PendingRun&, const Definition&)> host_down_for_ =
      [](const PendingRun&, const Definition&) { return std::nullopt; };
  // When executors that do not match were read; they are those of all bound parts.
  SteadyTime hosts_read_{};
  std::unique_ptr<FiringLoop> loop_;
};

}  // namespace carillon::scheduler
