// Driver of the contract of QueueStore: one job, and short forms of what happens to its runs.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

// One job, and short forms of what happens to its runs. Runs are numbered by the order in which
// they are made, which is the order of their keys.
class QueueDriver : public StoreDriver {
 public:
  explicit QueueDriver(StoreHandle& store) : StoreDriver(store), fence(Take()) {}

  static JobDefinition Limited(OverlapPolicy policy, int64_t max_running = 1) {
    JobDefinition definition = Manual();
    definition.overlap_policy = policy;
    definition.max_running = max_running;
    return definition;
  }
  void Make(const JobDefinition& definition) { job = Create("a", definition); }
  void Edit(const JobDefinition& definition, WallTime now) { job = Replace(job, definition, now); }

  RunKey Due() { return Execute(job, kT0).key; }
  ClaimRequest RequestFor(const RunKey& key) {
    ClaimRequest request = ClaimOf(Get(key).row, ++token_);
    request.overlap = OverlapRulesOf(job.definition);
    return request;
  }
  ClaimReply Offer(const RunKey& key, WallTime now) { return Claim(RequestFor(key), fence, now); }
  void ExpectOffer(const RunKey& key, WallTime now, ClaimVerdict verdict) {
    EXPECT_EQ(Offer(key, now).verdict, verdict);
  }
  RunKey Started(WallTime now) {
    const RunKey key = Due();
    ExpectOffer(key, now, ClaimVerdict::kAccepted);
    return key;
  }
  RunKey Queued(WallTime now) {
    const RunKey key = Due();
    ExpectOffer(key, now, ClaimVerdict::kEnqueued);
    return key;
  }
  RunEffect End(const RunKey& key, RunState state, WallTime now) {
    return Apply(ReportOf(Get(key).row, state), fence, now);
  }
  AdmissionEffect Admit(WallTime now) {
    return v(queues.Admit({job.job_no, job.segment}, fence, now));
  }
  // A store may end holders in one call and admit the run that waits for them in the next.
  AdmissionEffect AdmitTwice(WallTime now) {
    AdmissionEffect sum = Admit(now);
    const AdmissionEffect more = Admit(now);
    sum.admitted.insert(sum.admitted.end(), more.admitted.begin(), more.admitted.end());
    sum.waited.insert(sum.waited.end(), more.waited.begin(), more.waited.end());
    sum.replaced += more.replaced;
    sum.cancelled += more.cancelled;
    sum.cancels_requested += more.cancels_requested;
    return sum;
  }
  static std::vector<RunKey> KeysOf(const std::vector<RunRow>& rows) {
    std::vector<RunKey> keys;
    for (const RunRow& row : rows) keys.push_back(row.key);
    return keys;
  }
  void ExpectAdmitted(WallTime now, const std::vector<RunKey>& expected) {
    EXPECT_EQ(KeysOf(Admit(now).admitted), expected);
  }
  JobQueue Queue() { return v(queues.ReadQueue(job.job_id, 100)); }
  std::vector<RunKey> QueuedKeys() { return KeysOf(Queue().queued); }
  std::vector<RunKey> Holders() { return KeysOf(Queue().holders); }
  void ExpectQueued(const RunKey& key) {
    const RunRow row = Get(key).row;
    EXPECT_EQ(row.state, RunState::kPending);
    EXPECT_EQ(row.due, kQueued);
    EXPECT_TRUE(v(queues.PlaceOf(key)).has_value());
  }
  // The run is in no queue, and it was the only one.
  void ExpectNoQueue(const RunKey& key) {
    EXPECT_FALSE(v(queues.PlaceOf(key)).has_value());
    EXPECT_EQ(v(queues.CountQueued()), 0);
    const auto queue = queues.ReadQueue(job.job_id, 100);
    if (queue.ok()) {
      EXPECT_EQ(queue->length, 0);
      EXPECT_TRUE(queue->queued.empty());
    }
  }
  void ExpectEnd(const RunKey& key, RunState state, std::string_view reason) {
    const RunDetail run = Get(key);
    EXPECT_EQ(run.row.state, state);
    EXPECT_EQ(run.result.reason, reason);
  }

  Fence fence;
  StoredJob job;

 private:
  uint64_t token_ = 0;
};

template <typename Factory>
class QueueContract : public StoreContract<Factory> {
 protected:
  QueueDriver queue_driver() { return QueueDriver(this->handle()); }
};
TYPED_TEST_SUITE(QueueContract, StoreFactories);

}  // namespace carillon::test
