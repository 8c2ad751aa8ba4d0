#include "scheduler/fire/run_skips.h"

#include <algorithm>
#include <utility>

namespace carillon::scheduler {
namespace {

constexpr size_t kSkipsHeldMax = 10'000;
constexpr Duration kSkipsRetry = 50ms;

}  // namespace

void RunSkips::Skip(TrackedRun& tracked, std::string_view reason, SteadyTime now,
                    std::string error) {
  held_.push_back({.key = tracked.run.key,
                   .segment = tracked.run.segment,
                   .job_no = tracked.run.job_no,
                   .epoch = tracked.run.epoch,
                   .attempt = tracked.run.attempt,
                   .def_version = tracked.run.def_version,
                   .due = tracked.run.due,
                   .reason = reason,
                   .error = std::move(error),
                   .priority = tracked.run.priority});
  places_.Release(tracked);
  places_.Settle(tracked, now);
}

bool RunSkips::full() const { return held_.size() >= kSkipsHeldMax; }

void RunSkips::Flush(SteadyTime now) {
  if (held_.empty() || now < retry_) return;
  if (ports_.skips.Push(held_).ok()) {
    held_.clear();
  } else {
    // The queue is full because the skip writer waits for the store. Until it continues, at most
    // kSkipsHeldMax skips are decided.
    ports_.metrics.counter("carillon_queue_rejections_total", ports_.skips.name()).Add();
    retry_ = now + kSkipsRetry;
  }
}

std::optional<SteadyTime> RunSkips::NextFlush(SteadyTime now) const {
  if (held_.empty()) return std::nullopt;
  return std::max(retry_, now + Duration(1));
}

}  // namespace carillon::scheduler
