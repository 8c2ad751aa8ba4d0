#include "scheduler/liveness/host_breaker.h"

#include <algorithm>
#include <set>

namespace carillon::scheduler {

void HostBreaker::Note(JobNo job, HostWord word, SteadyTime now) {
  if (word == HostWord::kNothing) return;
  const bool fault = word == HostWord::kFault;
  if (Pauses(now)) return;  // it was started before the pause
  if (Probes(now)) {
    if (!fault) return Reset();
    return Begin(std::min(pause_ * 2, kLongestPause), now);
  }
  last_.push_back({job, fault});
  if (last_.size() > kLooksBack) last_.pop_front();
  std::set<JobNo> jobs;
  int faults = 0;
  for (const End& end : last_) {
    if (!end.fault) continue;
    ++faults;
    jobs.insert(end.job);
  }
  if (faults >= kFailures && jobs.size() > 1) Begin(kFirstPause, now);
}

void HostBreaker::Begin(Duration pause, SteadyTime now) {
  last_.clear();
  pause_ = pause;
  until_ = now + pause;
}

}  // namespace carillon::scheduler
