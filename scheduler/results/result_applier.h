// Takes results off the bus into the store and says so to the executors.
//
// Place    Steps 9 and 10 of docs/life-of-a-run.md. What a result does to its run is
//          DecideResult's, inside the store's fenced transaction.
// Threads  One loop calls Step.
// Errors   Store away, broken as a whole, or segment not (yet) owned: the results are held, their
//          positions not committed, and tried again. One result that the store refuses: bisected,
//          and stored without its texts, which go to the dead letters topic. One that is refused
//          without them too, while others are taken, is let go without an acknowledgement: its
//          executor keeps it and sends it again. Undecodable records go to the dead letters.
//          What is held is bounded by records and by bytes; what does not fit stays on the bus.
//          A result that is open already, or applied, is not held once more.
// Always   Bus positions are committed after the store, per partition in order; "applied" is said
//          after the store's commit, and of nothing else. Segments the assignment gives to another
//          member are left to it: executors send again until somebody acknowledges.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <unordered_set>

#include "common/base/backoff.h"
#include "common/base/loop.h"
#include "common/ports/firing_store.h"
#include "common/ports/message_bus.h"
#include "common/wire/task_codec.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/handover/run_queues.h"
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
    const ExecutorTable& executors;
    ExecutorHub& hub;
    BusConsumer& results;
    BusProducer& producer;
    RunFeed& feed;
    RunEventQueue& events;
    Metrics& metrics;
  };
  struct Options {
    Duration gap = 25ms;  // between the begins of two writes, unless a batch is full
    size_t records_held_max = 10'000;
    size_t bytes_held_max = 64u << 20;  // at least kRecordRoom
    std::function<bool(SegmentId)> wants = [](SegmentId) { return false; };
    uint64_t seed = 1;
  };
  // The most that one more record may add to what is held: the largest that the bus takes, decoded.
  static constexpr size_t kRecordRoom = 2u << 20;

  ResultApplier(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;

  // Bytes of the results that wait for the store; at
  // most `bytes_held_max`. For the loop's own thread.
  size_t bytes_held() const { return bytes_held_; }

 private:
  struct TokenHash {
    size_t operator()(const ClaimToken& token) const { return token.high ^ token.low; }
  };
  struct Held {
    ReceivedRecord record;
    size_t open = 0;  // results of it that are not dealt with
  };
  struct Item {
    uint64_t held = 0;  // sequence number of its record
    ResultMessage message;
    size_t bytes = 0;
    bool refused = false;   // the store has refused it alone before
    bool lettered = false;  // its texts are with the dead letters
  };
  // Knowledge of the store that a Step has gained so far.
  struct Round {
    bool took_some = false;  // so that a refusal is about its item
    bool stopped = false;    // no further call makes sense now
    std::vector<Item> refused;
  };

  // Handles, so that a result costs no look-up of a metric by its name.
  struct Observed {
    explicit Observed(Metrics& metrics);

    std::array<Counter*, 3> verdicts{};  // by ResultVerdict
    std::array<Counter*, 9> ends{};      // by RunState; null for one that is not final
    Histogram& lateness;
    Histogram& duration;
  };

  bool Receive();
  // The number of records that are sure to fit.
  size_t Room() const;
  // A record holds results of several members' segments: those of others are not even decoded.
  void Decode(ReceivedRecord record);
  // False: the result is another member's, which applies it.
  bool Wants(const OwnedView& view, SegmentId segment) const;
  size_t Admit(uint64_t sequence, std::vector<ResultMessage> messages);
  // Applies what can be applied; false when something of it has to wait for the store.
  bool ApplyOpen();
  Result<std::vector<RunEffect>> Apply(const OwnedView& view, const std::vector<Item>& items);
  void Write(const OwnedView& view, std::vector<Item> items, Round* round);
  void Refuse(const OwnedView& view, Item item, const Error& error, Round* round);
  // False: the dead letters did not take the texts.
  bool DeadLetterTexts(Item& item, const Error& error);
  Status WriteWithoutTexts(const OwnedView& view, const Item& item, Round* round);
  void Applied(const OwnedView& view, const std::vector<Item>& items,
               const std::vector<RunEffect>& effects, Round* round);
  bool Settle(Round* round);
  void Reopen(std::vector<Item> items);
  void Effects(const OwnedView& view, const std::vector<Item>& items,
               const std::vector<RunEffect>& effects);
  void Observe(const ResultReport& report, const RunEffect& effect);
  void Acknowledge(const std::vector<Item>& items);
  Status DeadLetter(std::string payload, std::string_view why);
  void Finish(const Item& item);
  void CommitDone();

  const Ports ports_;
  const Options options_;
  const Observed observed_;
  Rng rng_;
  Backoff backoff_;
  std::map<uint64_t, Held> held_;  // by sequence
  uint64_t next_sequence_ = 0;
  std::deque<Item> open_;
  std::unordered_set<ClaimToken, TokenHash> open_tokens_;
  size_t bytes_held_ = 0;
  bool left_on_bus_ = false;
  SteadyTime last_write_{};
  SteadyTime retry_at_{};
};

}  // namespace carillon::scheduler
