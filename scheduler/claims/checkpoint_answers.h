// Reads the checkpoints for the answers to accepted claims, and sends these answers.
//
// Place    Step 7 of docs/life-of-a-run.md, after ClaimApplier, which passes such answers on: the
//          claims of all executors would wait for its reads.
// Threads  One loop calls Step.
// Errors   If a checkpoint cannot be read or the executor's queue is full, no answer is sent. The
//          executor repeats the claim, and it is accepted again.
// Always   Memory holds one checkpoint. An answer is not sent again within kAgainAfter, however
//          often its claim is repeated: on a slow line the first one is still on its way.
#pragma once

#include <deque>
#include <set>
#include <utility>

#include "common/base/clock.h"
#include "common/base/loops/bounded_queue.h"
#include "common/base/loops/loop.h"
#include "common/ports/executor_link.h"
#include "common/ports/store/checkpoint_store.h"
#include "scheduler/liveness/lease_table.h"

namespace carillon::scheduler {

// The answer to one claim, without the checkpoint of its run.
struct CheckpointAnswer {
  LeaseHolder to;
  ClaimBatchReply reply;
};
using CheckpointAnswerQueue = BoundedQueue<CheckpointAnswer>;

class CheckpointAnswers final : public Stepper {
 public:
  static constexpr size_t kReadsPerStep = 8;
  static constexpr Duration kAgainAfter = 5s;

  struct Ports {
    CheckpointStore& store;
    ExecutorHub& hub;
    CheckpointAnswerQueue& queue;
  };
  explicit CheckpointAnswers(const Ports& ports) : ports_(ports) {}

  SteadyTime Step(SteadyTime now) override;

 private:
  void Send(CheckpointAnswer answer, SteadyTime now);

  const Ports ports_;
  std::set<ClaimToken> sent_;
  std::deque<std::pair<SteadyTime, ClaimToken>> sent_until_;
};

}  // namespace carillon::scheduler
