// Applies results from the bus to the store and acknowledges them to the executors.
//
// Place    Steps 9 and 10 of docs/life-of-a-run.md. DecideResult decides how a result changes its
//          run, inside the store's fenced transaction.
// Threads  One loop calls Step.
// Errors   Store unavailable or broken as a whole, or segment not owned yet: the results are held
//          and retried, and their positions are not committed. Held results are bounded in records
//          and in bytes; further results stay on the bus. A result that is already open or applied
//          is not held a second time.
//          If the store refuses one result, the batch is bisected, and that result is stored
//          without its texts. The texts go to the dead letters topic. If the store still refuses
//          the result but accepts others, the result is dropped without an acknowledgement. Its
//          executor keeps the result and sends it again.
//          Records that cannot be decoded go to the dead letters topic.
// Always   Bus positions are committed after the store's commit, in order within each partition. A
//          result is acknowledged only after the store's commit. Results of segments that are
//          assigned to another member are left to that member. Executors repeat a result until some
//          member acknowledges it.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <span>
#include <unordered_set>

#include "common/base/backoff.h"
#include "common/base/loops/loop.h"
#include "common/ports/message_bus.h"
#include "common/ports/store/firing_store.h"
#include "common/wire/messages/task_codec.h"
#include "scheduler/assign/assigned_segments.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/handover/batch_pace.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/handover/run_queues.h"
#include "scheduler/handover/signals.h"
#include "scheduler/liveness/applied_memory.h"
#include "scheduler/liveness/executor_table.h"
#include "scheduler/liveness/lease_table.h"

namespace carillon::scheduler {

class ResultApplier final : public Stepper {
 public:
  struct Ports {
    const Clock& clock;
    FiringStore& store;
    const ClusterClock& cluster;
    SegmentTable& segments;
    FencedWriter& fences;
    LeaseTable& leases;
    AppliedMemory& applied;
    ExecutorTable& executors;
    ExecutorHub& hub;
    BusConsumer& results;
    BusProducer& producer;
    RunFeed& feed;
    RunEventQueue& events;
    Metrics& metrics;
    const AssignedSegments& assigned;
    const MemberSignals& signals;
    // True for a run whose fire was long past when it was created, so that it is not late.
    std::function<bool(const RunKey&)> backfilled = [](const RunKey&) { return false; };
  };
  struct Options {
    Duration interval = 25ms;  // minimum time between two writes, unless a batch is full
    size_t records_held_max = 10'000;
    size_t bytes_held_max = 64u << 20;  // at least kRecordRoom
    uint64_t seed = 1;
  };
  // Upper bound of the bytes that one record can add to the held results. It is the decoded size of
  // the largest record of the bus.
  static constexpr size_t kRecordRoom = 2u << 20;

  ResultApplier(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;

  // Bytes of the results that wait for the store, at most `bytes_held_max`. Call it on the
  // loop's thread only.
  size_t bytes_held() const { return bytes_held_; }

 private:
  struct TokenHash {
    size_t operator()(const ClaimToken& token) const { return token.high ^ token.low; }
  };
  struct Held {
    ReceivedRecord record;
    size_t open = 0;  // results of this record that still have to be applied
  };
  struct Item {
    uint64_t held = 0;  // sequence number of the record with this result
    ResultMessage message;
    size_t bytes = 0;
    bool refused = false;   // the store has refused it in a batch of one (logged once)
    bool in_topic = false;  // its texts are in the topic of dead letters
  };
  // The outcomes of the store calls of one Step so far.
  struct Round {
    bool took_some = false;  // the store accepted a result, so a refusal concerns only that item
    bool stopped = false;    // do not call the store again in this Step
    std::vector<Item> refused;
  };

  // Handles of metrics, so that no metric is looked up by name for each result.
  struct Observed {
    explicit Observed(Metrics& metrics);

    std::array<Counter*, 3> verdicts{};  // by ResultVerdict
    std::array<Counter*, 9> ends{};      // by RunState; null for one that is not final
    Histogram& lateness;
    Histogram& duration;
  };

  bool Receive();
  // Returns how many more records fit even if each has the largest size.
  size_t Room() const;
  // Decodes a record. A record holds results for the segments of several members. Results for other
  // members are skipped without decoding.
  void Decode(ReceivedRecord record);
  // Returns false if another member owns the segment. That member then applies the results.
  bool Wants(const OwnedView& view, SegmentId segment) const;
  size_t Admit(uint64_t sequence, std::vector<ResultMessage> messages);
  // Applies all results of owned segments. Returns false if some results must wait for the store.
  bool ApplyOpen();
  Result<std::vector<RunEffect>> Apply(const OwnedView& view, std::span<const Item> items);
  void Write(const OwnedView& view, std::span<Item> items, Round* round);
  void Refuse(const OwnedView& view, Item item, const Error& error, Round* round);
  // Returns false if the texts could not be sent to the dead letters topic.
  bool DeadLetterTexts(Item& item, const Error& error);
  Status WriteWithoutTexts(const OwnedView& view, const Item& item, Round* round);
  void Applied(const OwnedView& view, std::span<const Item> items,
               const std::vector<RunEffect>& effects, Round* round);
  bool Settle(Round* round);
  void Reopen(std::span<Item> items);  // moves from them
  void Effects(const OwnedView& view, std::span<const Item> items,
               const std::vector<RunEffect>& effects);
  void Observe(const ResultReport& report, const RunEffect& effect);
  void Acknowledge(std::span<const Item> items);
  Status DeadLetter(std::string payload, std::string_view why);
  void Finish(const Item& item);
  void CommitDone();

  const Ports ports_;
  const Options options_;
  const Observed observed_;
  Rng rng_;
  Backoff backoff_;
  std::map<uint64_t, Held> held_;  // by the record's sequence number
  uint64_t next_sequence_ = 0;
  std::deque<Item> open_;
  std::unordered_set<ClaimToken, TokenHash> open_tokens_;
  size_t bytes_held_ = 0;
  bool left_on_bus_ = false;
  BatchPace pace_;
  SteadyTime retry_at_{};
};

}  // namespace carillon::scheduler
