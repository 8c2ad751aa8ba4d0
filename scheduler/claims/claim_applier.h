// Decides claims, one batch after the other, for all executors and segments of this member.
//
// Place    Step 7 of docs/life-of-a-run.md. DecideClaim decides, inside the store's fenced
//          transaction with the row locked. This class forms batches, files leases and sends
//          answers to the executors.
// Threads  One loop calls Step.
// Time     Two writes begin at least `interval` apart, so that claims that arrive meanwhile share a
//          commit. If many claims wait, a write begins earlier.
//          A claim that comes before the slot of its group is given again waits for that time.
// Errors   If there is no decision, no answer is sent. The executor then repeats the claim with
//          the same token. If the claim had been accepted, it is accepted again. kTimeout,
//          kFenced: the segments leave the table. kInvalid: the batch is bisected, and the bad
//          request is refused.
// Always   An attempt that was put into a LOST batch is never accepted again, even if its claim
//          was accepted before.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "common/base/live_settings.h"
#include "common/base/loops/loop.h"
#include "common/ports/store/checkpoint_store.h"
#include "common/ports/store/firing_store.h"
#include "scheduler/assign/assigned_segments.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/claims/checkpoint_answers.h"
#include "scheduler/claims/claim_demands.h"
#include "scheduler/definitions/definition_cache.h"
#include "scheduler/handover/batch_pace.h"
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
    CheckpointStore& checkpoints;
    CheckpointAnswerQueue& checkpoint_answers;
    const SecretResolver* secrets = nullptr;  // null: runs that use secrets end as FAILED
    // While the whole cluster is paused, new claims are refused. A repeated claim is still
    // confirmed.
    const LiveSettings& settings;
    // A claim for a segment that is assigned to this member, but not owned yet, gets no answer, so
    // that the executor repeats it. A claim for another segment is refused.
    const AssignedSegments& assigned;
    // Returns how late this run may start without a notification; zero = any lateness. Called only
    // for first attempts that are at least a second late. Must not block.
    std::function<Duration(const ClaimRequest&)> late_after = [](const ClaimRequest&) {
      return Duration::zero();
    };
    // Runs were queued for a group whose slots are given again after a time. Must not block.
    std::function<void()> queued_in_timed_group = [] {};
  };
  struct Options {
    Duration lease = 20s;     // granted with each accepted claim
    Duration interval = 4ms;  // minimum time between the begins of two writes
    size_t full_rows = 256;   // when this many claims wait, a write begins at once
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
    bool has_checkpoint = false;
    bool silent = false;  // decided, but not answered, so that the executor repeats the claim
  };

  // A claim that is decided again at `at`.
  struct EarlyClaim {
    WallTime at;
    ClaimArrival arrival;  // with this claim only
  };

  void Gather();
  // Puts the early claims whose time has come before the others. Returns when the next one is due.
  SteadyTime TakeEarly(SteadyTime now);
  void KeepEarly(std::vector<Item>& items);
  void ForgetSpent();
  void Apply(std::vector<Item> items);
  void Screen(std::vector<Item>& items, const OwnedView& view);
  // Completes each request by the definition of its run. Removes the items for which that is
  // unknown. Their claims get no answer, so the executors repeat them.
  void Place(std::vector<Item*>& items);
  // Lets the store decide `items`. If the store refuses one of the requests, bisects `items`.
  void Decide(std::span<Item*> items, const OwnedView& view);
  Status Claim(std::span<Item*> items, const OwnedView& view);
  void File(std::vector<Item>& items);
  void FileOf(const LeaseHolder& holder, const std::vector<Item*>& items);
  void Grant(const LeaseHolder& holder, const std::vector<Item*>& items);
  // Call it after the leases were filed. It may fail, and a run that was accepted but has no lease
  // would stay RUNNING for ever.
  void HandSecrets(std::vector<Item>& items);
  // Notes the claims that get a checkpoint with the answer. If that is unknown, they get no answer.
  void FindCheckpoints(std::vector<Item>& items);
  Result<std::vector<HandedSecrets>> Handed(const std::vector<RunDefinitionKey>& keys);
  // Passes the answers with a checkpoint on, and sends the others.
  void Answer(std::vector<Item>& items);
  ClaimBatchReply Addressed(const ClaimArrival& arrival, ClaimBatchReply reply) const;
  void SendAll(std::map<size_t, ClaimBatchReply> replies);  // by arrival

  const Ports ports_;
  const Options options_;
  ClaimDemands demands_;
  // Tokens of claims that put their run into a queue. A repeated claim with such a token stays
  // refused after the run was admitted: the executor drops the token with the first answer, so that
  // an acceptance would start nothing. The run is dispatched again, and claimed with a new token.
  std::set<ClaimToken> spent_;
  std::deque<std::pair<SteadyTime, ClaimToken>> spent_until_;
  std::vector<ClaimArrival> arrivals_;
  std::vector<EarlyClaim> early_;
  bool has_early_ = false;  // some of `arrivals_` have waited for their time already
  size_t gathered_ = 0;
  BatchPace pace_;
};

}  // namespace carillon::scheduler
