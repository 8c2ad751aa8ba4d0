// Reads events from topics outside, and accepts them as if they had been sent to the API.
//
// Place    On the leader, on a loop of its own: to open a topic and to close it may take seconds.
// Threads  One loop calls Step; the bus wakes it from any thread.
// Time     Looks every half second, unless it is woken. After a failure of a topic or of the store,
//          waits up to half a minute. While too many runs of events wait, nothing is read.
// Errors   A position is committed once the store has the events before it. If that fails, or the
//          answer is lost, the same records are handled again, by this leader or the next one; the
//          store knows their events. A record that is no event, or that the store refuses even
//          alone, is stored as refused, so that it does not hold up the others.
// Always   Records of a partition are handled in order. At most one batch of each topic is in
//          memory besides those that the consumer fetches ahead.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/base/backoff.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/events/event_store.h"
#include "common/ports/events/event_topics.h"
#include "scheduler/events/open_runs.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/handover/signals.h"
#include "scheduler/settings/upgrade_watch.h"

namespace carillon::scheduler {

class EventReader final : public Stepper {
 public:
  static constexpr size_t kRecordsPerPoll = kEventsPerCall;
  // Stored by this member; further refused records are only counted.
  static constexpr int64_t kRefusedPerMinute = 100;
  static constexpr size_t kProblemBytesMax = 500;
  static constexpr Duration kLookEvery = 500ms;
  static constexpr Duration kGrownEvery = 5min;  // between two looks for new partitions
  static constexpr Duration kFullWait = 5s;
  static constexpr Backoff::Limits kRetry = {.first = 1s, .longest = 30s};
  // The first records of a new topic may be so old, because they bear their senders' clocks.
  static constexpr Duration kBeforeBegin = 60s;
  // Without positions of the group, older records are not read again: the store may have forgotten
  // their events.
  static constexpr Duration kReadAgainMax = 48h;
  static_assert(kReadAgainMax < kEventKept);

  struct Ports {
    const Clock& clock;
    EventStore& store;
    EventTopics& topics;
    const UpgradeWatch& upgrade;
    const ClusterClock& cluster;
    const MemberSignals& signals;
    Metrics& metrics;
    std::function<bool()> may_read;      // this member leads, and the store is trusted
    std::function<void()> wake = [] {};  // calls Step soon; thread-safe, also when this is gone
  };
  EventReader(Ports ports, const std::vector<EventTopic>& topics, uint64_t seed);

  SteadyTime Step(SteadyTime now) override;

 private:
  struct Source {
    explicit Source(EventTopic t) : topic(std::move(t)), backoff(kRetry) {}
    EventTopic topic;
    Backoff backoff;
    SteadyTime not_before{};   // until then, it is left alone
    SteadyTime next_growth{};  // of the next look for new partitions
    std::unique_ptr<BusConsumer> consumer;
    std::vector<ReceivedRecord> batch;  // read, not committed
    std::string told;                   // why it is not read, as it was logged; empty: it is
  };
  struct ReadEvent {
    const ReceivedRecord* record;
    Event event;
  };

  bool MayRead() const;
  // The errors of these are about the topic; StoreFailed notes those of the store.
  // True if there may be more to read.
  Result<bool> ReadSome(Source& source, SteadyTime now);
  Status Open(Source& source, SteadyTime now);
  Status CloseIfGrown(Source& source, SteadyTime now);
  Status Poll(Source& source);
  Status Finish(Source& source);
  // The errors of these are about the store.
  Status HandleBatch(const Source& source, SteadyTime now);
  Status Accept(const Source& source, std::span<ReadEvent> events);
  Status Refuse(const Source& source, const ReceivedRecord& record, const std::string& type,
                const Error& error, SteadyTime now);
  void NudgeStarted(const std::vector<EventEffect>& effects);
  void TopicFailed(Source& source, SteadyTime now, const Error& error);
  void StoreFailed(SteadyTime now, const Error& error);
  // Whatever is not committed is read again, by the next leader.
  void Close();
  void ShowBehind(const Source& source);

  const Ports ports_;
  Rng rng_;
  OpenEventRuns open_runs_;
  std::vector<Source> sources_;
  Backoff store_backoff_;
  SteadyTime store_next_{};  // before it, the store is not asked
  std::string store_told_;   // as Source::told
  SteadyTime refused_since_{};
  int64_t refused_ = 0;  // in the minute since then
};

}  // namespace carillon::scheduler
