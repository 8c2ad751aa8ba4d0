// Publishes dead letters to the topic that dead_letters.topic names, if it names one.
//
// Place    On the leader, so that a letter is sent once as long as the leader does not change.
// Threads  One loop calls Step; the bus tells on any thread what became of a letter.
// Time     Looks every second. After a failure, it waits up to half a minute.
// Errors   A letter counts as published once the bus has confirmed it and the store has marked it.
//          Whatever fails or stays unanswered is sent again, by this leader or the next one. A
//          letter that the bus refuses even alone is logged, counted and marked, so that it does
//          not hold up the others.
// Always   At least once for each letter that exists until it is sent. By id, except for those that
//          are sent again, and those that were committed late. At most one batch is on its way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/backoff.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/base/mutex.h"
#include "common/ports/message_bus.h"
#include "common/ports/store/letter_store.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/settings/upgrade_watch.h"

namespace carillon::scheduler {

class LetterPublisher final : public Stepper {
 public:
  // Of a batch, which is all that waits for the bus at a time. A larger letter goes alone.
  static constexpr size_t kLettersMax = 50;
  static constexpr size_t kBytesMax = size_t{1} << 20;
  static constexpr Duration kLookEvery = 1s;
  // Kafka's client gives a record up after 5 s and says so.
  static constexpr Duration kAnswerWithin = 15s;
  static constexpr Backoff::Limits kRetry = {.first = 1s, .longest = 30s};

  struct Ports {
    LetterStore& store;
    BusProducer& producer;
    const UpgradeWatch& upgrade;
    const ClusterClock& cluster;
    Metrics& metrics;
    std::function<bool()> is_leader;
    std::function<void()> wake = [] {};  // calls Step soon; thread-safe, also when this is gone
  };
  LetterPublisher(Ports ports, std::string topic, uint64_t seed)
      : ports_(std::move(ports)),
        topic_(std::move(topic)),
        rng_(seed),
        backoff_(kRetry),
        answers_(std::make_shared<Answers>()) {}

  SteadyTime Step(SteadyTime now) override;

 private:
  struct Answer {
    uint64_t batch = 0;
    uint64_t id = 0;
    Status outcome;
  };
  // Shared, because answers may come when the publisher is gone.
  struct Answers {
    Mutex mu;
    std::vector<Answer> list GUARDED_BY(mu);
  };

  bool MayPublish() const;
  void Collect();
  void Judge(uint64_t id, const Status& outcome);
  void Refuse(uint64_t id, const Error& error);
  // Ends the batch once each letter of it was answered and, as far as possible, marked.
  void Finish(SteadyTime now);
  Status Mark();
  Status SendBatch(SteadyTime now);
  void Send(const std::vector<LetterToPublish>& letters);
  Status SendOne(const LetterToPublish& letter, std::string text);
  void Failed(SteadyTime now, const Error& error);
  void Forget();

  const Ports ports_;
  const std::string topic_;
  Rng rng_;
  Backoff backoff_;
  const std::shared_ptr<Answers> answers_;
  std::optional<uint64_t> first_;  // LetterStore::BeginPublishing
  SteadyTime next_{};              // of the next batch, or of the next try to mark
  SteadyTime answer_by_{};
  uint64_t batch_ = 0;
  size_t sent_ = 0;               // letters in the batch
  std::set<uint64_t> open_;       // those of them without an answer
  std::set<uint64_t> in_bus_;     // confirmed or refused for good; not marked yet
  std::optional<Error> failure_;  // of the batch
  bool more_ = false;             // the batch was not all
  size_t alone_ = 0;              // so many letters are sent one at a time
  int64_t waiting_ = 0;
  std::string told_;  // why the last batch failed, as it was logged; empty: it did not
};

}  // namespace carillon::scheduler
