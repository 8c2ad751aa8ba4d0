// Fixture of the result applier: a bus, an executor's link, and runs with leases.
#pragma once

#include <memory>
#include <vector>

#include "common/adapters/memory/memory_bus.h"
#include "common/adapters/memory/memory_link.h"
#include "scheduler/results/result_applier.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {

class ResultFixture : public test::RoomTest {
 protected:
  ResultFixture()
      : hub_(switchboard_.OpenHub(MemberId("m1"))),
        link_(switchboard_.OpenLink(ExecutorId("x1"), Incarnation("e1"))),
        results_(bus_.NewConsumer(kResultsTopic, "m1")),
        letters_(bus_.NewConsumer(kDeadLettersTopic, "test")),
        producer_(bus_.NewProducer()) {
    executors_.Accept({.id = ExecutorId("x1"), .incarnation = Incarnation("e1")}, clock_.Steady());
  }
  ResultApplier Make() { return Make(*results_); }
  ResultApplier Make(BusConsumer& results) {
    return ResultApplier({.clock = clock_,
                          .store = faults_.firing,
                          .cluster = cluster_,
                          .segments = table_,
                          .fences = fences_,
                          .leases = leases_,
                          .applied = applied_,
                          .executors = executors_,
                          .hub = *hub_,
                          .results = results,
                          .producer = *producer_,
                          .feed = feed_,
                          .events = events_,
                          .metrics = metrics_,
                          .assigned = assigned_,
                          .signals = signals_},
                         {});
  }
  // Returns an attempt that was claimed and has a lease.
  HeldAttempt Start(const StoredJob& job, uint64_t token) {
    const HeldAttempt held = Claim(Execute(job), token);
    leases_.GrantAll({ExecutorId("x1"), Incarnation("e1")}, {{held, EpochOf(held.segment)}},
                     clock_.Steady());
    return held;
  }
  ResultMessage Message(const HeldAttempt& held, RunState state = RunState::kCompleted) {
    return {.report = {.key = held.key,
                       .segment = held.segment,
                       .job_no = held.job_no,
                       .attempt = held.attempt,
                       .token = held.token,
                       .executor = ExecutorId("x1"),
                       .result = {.state = state,
                                  .started = clock_.Wall(),
                                  .ended = clock_.Wall(),
                                  .output = "out"}},
            .job_id = JobId("job")};
  }
  void Send(const std::vector<ResultMessage>& messages) {
    ASSERT_TRUE(producer_->Send(kResultsTopic, 0, {.payload = EncodeResults(messages)}).ok());
  }
  size_t Acknowledged() {
    size_t count = 0;
    for (const MemberMessage& message : link_->Receive(100)) {
      count += std::get<ResultsApplied>(message.message).applied.size();
    }
    return count;
  }
  // Returns the number of records that a restarted consumer gets again.
  size_t Uncommitted() {
    results_.reset();
    results_ = bus_.NewConsumer(kResultsTopic, "m1");
    return results_->Poll(1000)->size();
  }

  memory::MemorySwitchboard switchboard_;
  memory::MemoryBus bus_;
  std::unique_ptr<ExecutorHub> hub_;
  std::unique_ptr<ExecutorLink> link_;
  std::unique_ptr<BusConsumer> results_;
  std::unique_ptr<BusConsumer> letters_;
  std::unique_ptr<BusProducer> producer_;
  ExecutorTable executors_{{}};
};

}  // namespace carillon::scheduler
