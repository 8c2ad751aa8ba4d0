// Cluster time: the database's clock, read through this process's steady clock.
//
// A sample is (steady time before the query, steady time after it, the database's answer). When the
// answer arrives, the database's clock shows the answer or later, so `answer - received` is a lower
// bound of (cluster - steady). Of the recent samples the largest bound is the best one; it comes
// from the shortest round trip. A lower bound is the safe side: nothing fires before its time.
//
// Place    Step 3 of docs/life-of-a-run.md; assign/segment_owner.h takes the samples.
// Threads  Thread-safe.
// Time     Reads the injected clock; this host's wall time only to detect steps of it and to report
//          the offset.
// Always   Between two samples Now() never runs ahead of the mapping, and it goes back only when
//          the database's clock, or this host's, was set back.
#pragma once

#include <deque>
#include <optional>

#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace carillon::scheduler {

class ClusterClock {
 public:
  struct Limits {
    size_t samples = 8;               // the most recent ones are kept
    Duration round_trip_max = 250ms;  // slower answers are used only while there is no better one
    Duration jump = 20ms;  // a change of (wall - steady) by more: the host's clock was set
  };
  explicit ClusterClock(const Clock& clock);
  ClusterClock(const Clock& clock, Limits limits);

  void AddSample(SteadyTime sent, SteadyTime received, WallTime answer);

  // nullopt before the first sample.
  std::optional<WallTime> Now() const;
  // The steady time at which cluster time will be `t`, by the current mapping; nullopt before the
  // first sample.
  std::optional<SteadyTime> ToSteady(WallTime t) const;
  // True if this host's clock was stepped since the last sample: take a new one at once.
  bool needs_sample() const;
  // This host's wall clock minus the database's, measured at the middle of the best round trip.
  std::optional<Duration> Offset() const;

 private:
  struct Sample {
    Duration lower;       // answer - received: a lower bound of (cluster - steady)
    Duration round_trip;  // received - sent
    Duration middle;      // (cluster - steady) if the database answered half-way
  };
  Duration MappingLocked() const REQUIRES(mu_);
  // (wall - steady) now, minus its value at the last sample.
  Duration JumpLocked() const REQUIRES(mu_);
  Duration WallMinusSteady() const;

  const Clock& clock_;
  const Limits limits_;
  mutable Mutex mu_;
  std::deque<Sample> samples_ GUARDED_BY(mu_);
  Duration anchored_ GUARDED_BY(mu_) = {};  // wall - steady at the last sample
};

}  // namespace carillon::scheduler
