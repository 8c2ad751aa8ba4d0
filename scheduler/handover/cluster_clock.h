// Cluster time: the database's clock, read through this process's steady clock.
//
// A sample consists of the steady time before the query, the steady time after it, and the
// database's answer. When the answer arrives, the database's clock shows the time of the answer or
// a later time. So `answer - received` is a lower bound of (cluster - steady). The largest bound
// among the recent samples is the most accurate one. It normally comes from the shortest round
// trip. A lower bound is safe: cluster time is never ahead of the database's clock, so no run fires
// before its time.
//
// Place    Step 3 of docs/life-of-a-run.md; assign/segment_owner.h takes the samples.
// Threads  Thread-safe.
// Time     Reads the injected clock. This host's wall time serves only to detect that the host's
//          clock was set, and to report the offset.
// Always   Between two samples Now() is never ahead of the mapping. Now() goes back only if this
//          host's clock was set back, because the database may use the same clock.
#pragma once

#include <deque>
#include <optional>

#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace carillon::scheduler {

class ClusterClock {
 public:
  struct Limits {
    size_t samples = 8;               // the number of recent samples that are kept
    Duration round_trip_max = 250ms;  // slower answers are used only while there is no better one
    Duration jump = 20ms;  // a larger change of (wall - steady) means that the host's clock was set
  };
  explicit ClusterClock(const Clock& clock);
  ClusterClock(const Clock& clock, Limits limits);

  void AddSample(SteadyTime sent, SteadyTime received, WallTime answer);

  // nullopt before the first sample.
  std::optional<WallTime> Now() const;
  // As Now(), but nullopt while needs_sample(): for whom a time that is much too early is as bad as
  // one that is too late.
  std::optional<WallTime> SettledNow() const;
  // The steady time at which cluster time will be `t`, by the current mapping. nullopt before
  // the first sample.
  std::optional<SteadyTime> ToSteady(WallTime t) const;
  // True if there is no sample yet, or if this host's clock was set after the last sample. The
  // caller must then take a sample at once.
  bool needs_sample() const;
  // This host's wall clock minus the database's clock, measured at the middle of the
  // best round trip.
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
