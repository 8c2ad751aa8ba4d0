// Grants claims: one serial applier for all executors and segments of this member.
//
// Place    Step 7 of docs/life-of-a-run.md. The decision is DecideClaim's,
//          inside the store's fenced transaction with the row locked; here
//          batches are formed, leases filed, answers sent.
// Threads  One loop calls Step.
// Time     Writes begin at least `gap` apart, unless a batch is full: what arrives meanwhile shares
//          a commit.
// Errors   Without a decision there is no answer: executors ask again with the same token and an
//          accepted claim is then accepted again. kTimeout, kFenced: the segments leave the table.
//          kInvalid: the batch is bisected; the bad request is refused.
// Always   A run that was put into a LOST batch is not accepted again, whatever the row said
//          before.
#pragma once

#include <map>

#include "common/base/loop.h"
#include "common/ports/firing_store.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/fire/definition_cache.h"
#include "scheduler/handover/run_queues.h"
#include "scheduler/liveness/executor_table.h"
#include "scheduler/liveness/link_service.h"
#include "scheduler/secrets/secret_resolver.h"

namespace carillon::scheduler {

class ClaimApplier final : public Stepper {
 public:
  struct Ports {
    const Clock& clock;
    FiringStore& store;
    const ClusterClock& cluster;
    SegmentTable& segments;
    FencedWriter& fences;
    LeaseTable& leases;
    const AppliedMemory& applied;
    ExecutorHub& hub;
    ClaimQueue& claims;
    RunEventQueue& events;
    Metrics& metrics;
    DefinitionCache& definitions;
    const ExecutorTable& executors;
    const SecretResolver* secrets = nullptr;  // null: runs that use secrets end as FAILED
  };
  struct Options {
    Duration lease = 20s;
    Duration gap = 4ms;
    size_t gap_rows = 256;  // enough to write at once
    // The whole cluster is: no attempt is accepted that was not before.
    std::function<bool()> paused = [] { return false; };
    // True: the segment is (to be) owned here, so the executor should ask again.
    std::function<bool(SegmentId)> wants = [](SegmentId) { return false; };
    // A later start of this one is told; zero: none is. Asked of first attempts that are a second
    // late; must not block.
    std::function<Duration(const ClaimRequest&)> late_after = [](const ClaimRequest&) {
      return Duration::zero();
    };
  };
  ClaimApplier(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;

 private:
  // One request on its way through a batch.
  struct Item {
    size_t arrival = 0;  // index of the executor's batch
    ClaimRequest request;
    Epoch epoch;
    bool decided = false;
    ClaimReply reply;
    HandedSecrets secrets = {};
    bool silent = false;  // no answer though it is decided: they ask again
  };

  void Gather();
  void Apply(std::vector<Item> items);
  void Screen(std::vector<Item>& items, const OwnedView& view);
  // Says of each whether its job's definition lets its executor run it. Where that is not known it
  // leaves them out of `items`: they ask again.
  void Place(std::vector<Item*>& items);
  // Decides items [from, to) in the store, splitting where one request is refused by it.
  void Decide(std::vector<Item*>& items, const OwnedView& view);
  void File(std::vector<Item>& items);
  void FileOf(const LeaseHolder& holder, const std::vector<Item*>& items);
  void Grant(const LeaseHolder& holder, const std::vector<Item*>& items);
  // After the leases were filed: an accepted run without one would stay RUNNING for ever.
  void HandSecrets(std::vector<Item>& items);
  Result<std::vector<HandedSecrets>> Handed(const std::vector<JobVersionKey>& keys);
  void Answer(std::vector<Item>& items);
  void SendAll(std::map<size_t, ClaimBatchReply> replies);  // by arrival

  const Ports ports_;
  const Options options_;
  std::vector<ClaimArrival> arrivals_;
  size_t gathered_ = 0;
  SteadyTime last_write_{};
};

}  // namespace carillon::scheduler
