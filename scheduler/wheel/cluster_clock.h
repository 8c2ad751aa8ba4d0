// Cluster time: the database's clock, read through this process's steady clock.
//
// Each sample is (steady before asking, steady after, the database's answer). When the answer
// arrived the database's clock stood at the answer or later, so `answer - received` is a lower
// bound of (cluster - steady); the largest of the recent ones is the best, and it comes from the
// shortest round trip. A lower bound is what is wanted: nothing fires early by cluster time.
//
// Place    Step 3 of docs/life-of-a-run.md; assign/segment_owner.h takes the samples.
// Threads  Thread-safe.
// Time     Reads the injected clock: own wall time only to notice steps and to tell the offset.
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
    size_t samples = 8;
    Duration round_trip_max = 250ms;  // slower answers count only while there is no better one
    Duration jump = 20ms;             // of wall minus steady: the clock was set
  };
  explicit ClusterClock(const Clock& clock);
  ClusterClock(const Clock& clock, Limits limits);

  void AddSample(SteadyTime sent, SteadyTime received, WallTime answer);

  // nullopt before the first sample.
  std::optional<WallTime> Now() const;
  // When cluster time will be `t`, by the present mapping; nullopt before the first sample.
  std::optional<SteadyTime> ToSteady(WallTime t) const;
  // True when this host's clock was stepped since the last sample: take one at once.
  bool needs_sample() const;
  // Own wall clock minus the database's, from the middle of the best round trip.
  std::optional<Duration> Offset() const;

 private:
  struct Sample {
    Duration lower;  // answer - received, as cluster - steady
    Duration round_trip;
    Duration middle;  // cluster - steady if the answer was given half-way
  };
  Duration MappingLocked() const REQUIRES(mu_);
  // wall - steady now, minus what it was at the last sample.
  Duration JumpLocked() const REQUIRES(mu_);
  Duration WallMinusSteady() const;

  const Clock& clock_;
  const Limits limits_;
  mutable Mutex mu_;
  std::deque<Sample> samples_ GUARDED_BY(mu_);
  Duration anchored_ GUARDED_BY(mu_) = {};  // wall - steady at the last sample
};

}  // namespace carillon::scheduler
