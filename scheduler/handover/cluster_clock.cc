#include "scheduler/handover/cluster_clock.h"

#include <algorithm>

namespace carillon::scheduler {
namespace {

// Two samples may differ by their round trips plus this much (rounding, slewing). If they differ by
// more, the database's clock counts as set back.
constexpr Duration kSampleNoise = 2ms;

}  // namespace

ClusterClock::ClusterClock(const Clock& clock) : ClusterClock(clock, Limits{}) {}
ClusterClock::ClusterClock(const Clock& clock, Limits limits) : clock_(clock), limits_(limits) {}

void ClusterClock::AddSample(SteadyTime sent, SteadyTime received, WallTime answer) {
  const Duration cluster = answer.time_since_epoch();
  const Duration round_trip = received - sent;
  const Sample sample{.lower = cluster - received.time_since_epoch(),
                      .round_trip = round_trip,
                      .middle = cluster - received.time_since_epoch() + round_trip / 2};
  MutexLock lock(mu_);
  if (!samples_.empty()) {
    const bool host_stepped = std::chrono::abs(JumpLocked()) > limits_.jump;
    const bool set_back = MappingLocked() > sample.lower + round_trip + kSampleNoise;
    if (host_stepped || set_back) samples_.clear();
  }
  if (round_trip > limits_.round_trip_max && !samples_.empty()) return;
  samples_.push_back(sample);
  if (samples_.size() > limits_.samples) samples_.pop_front();
  anchored_ = WallMinusSteady();
}

std::optional<WallTime> ClusterClock::Now() const {
  MutexLock lock(mu_);
  if (samples_.empty()) return std::nullopt;
  // If this host's clock was set back, the database's clock may have been set back too: the
  // database may run on this host. Until the next sample shows that, the earlier of the two
  // possible times is used.
  Duration back = JumpLocked();
  if (back > -limits_.jump) back = Duration::zero();
  return WallTime(clock_.Steady().time_since_epoch() + MappingLocked() + back);
}

std::optional<WallTime> ClusterClock::SettledNow() const {
  MutexLock lock(mu_);
  if (samples_.empty() || std::chrono::abs(JumpLocked()) > limits_.jump) return std::nullopt;
  return WallTime(clock_.Steady().time_since_epoch() + MappingLocked());
}

std::optional<SteadyTime> ClusterClock::ToSteady(WallTime t) const {
  MutexLock lock(mu_);
  if (samples_.empty()) return std::nullopt;
  if (t == kNever) return SteadyTime::max();
  return SteadyTime(t.time_since_epoch() - MappingLocked());
}

bool ClusterClock::needs_sample() const {
  MutexLock lock(mu_);
  return samples_.empty() || std::chrono::abs(JumpLocked()) > limits_.jump;
}

std::optional<Duration> ClusterClock::Offset() const {
  MutexLock lock(mu_);
  if (samples_.empty()) return std::nullopt;
  const auto best = std::min_element(
      samples_.begin(), samples_.end(),
      [](const Sample& a, const Sample& b) { return a.round_trip < b.round_trip; });
  return WallMinusSteady() - best->middle;
}

Duration ClusterClock::MappingLocked() const {
  return std::max_element(samples_.begin(), samples_.end(),
                          [](const Sample& a, const Sample& b) { return a.lower < b.lower; })
      ->lower;
}

Duration ClusterClock::JumpLocked() const { return WallMinusSteady() - anchored_; }

Duration ClusterClock::WallMinusSteady() const {
  return clock_.Wall().time_since_epoch() - clock_.Steady().time_since_epoch();
}

}  // namespace carillon::scheduler
