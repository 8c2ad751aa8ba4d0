#include "scheduler/plan/skip_writer.h"

#include <algorithm>

#include "common/base/log.h"
#include "scheduler/assign/batch_split.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kHeldMax = 20'000;
constexpr size_t kBatchesPerStep = 16;
constexpr Duration kIdle = 1s;

}  // namespace

SkipWriter::SkipWriter(const Ports& ports, uint64_t seed)
    : ports_(ports), rng_(seed), backoff_({.first = 50ms, .longest = 2s}) {}

SteadyTime SkipWriter::Step(SteadyTime now) {
  const std::vector<std::vector<SkipRequest>> batches = ports_.queue.PopUpTo(kBatchesPerStep);
  for (const std::vector<SkipRequest>& batch : batches) {
    for (const SkipRequest& item : batch) {
      if (held_.size() < kHeldMax) held_.push_back(item);
    }
  }
  if (now < retry_at_) return retry_at_;
  const auto view = ports_.segments.View();
  while (!held_.empty()) {
    const size_t count = std::min(held_.size(), kBatchRowsMax);
    const auto end = held_.begin() + static_cast<long>(count);
    if (!Write(*view, {held_.begin(), end})) {
      retry_at_ = now + backoff_.Next(rng_);
      return retry_at_;
    }
    held_.erase(held_.begin(), end);
    backoff_.Reset();
  }
  return batches.size() == kBatchesPerStep ? now : now + kIdle;
}

bool SkipWriter::Write(const OwnedView& view, const std::vector<SkipRequest>& items) {
  std::vector<SkipItem> rows;
  std::vector<SegmentId> segments;
  for (const SkipRequest& item : items) {
    if (!view.Holds(item.segment, item.epoch)) continue;
    rows.push_back({.key = item.key,
                    .segment = item.segment,
                    .job_no = item.job_no,
                    .attempt = item.attempt,
                    .def_version = item.def_version,
                    .reason = item.reason,
                    .due = item.due,
                    .error = item.error});
    segments.push_back(item.segment);
  }
  const auto cluster_now = ports_.cluster.Now();
  if (rows.empty() || !cluster_now) return true;
  const Fence fence = view.FenceFor(std::move(segments));
  const auto written = ports_.fences.Run(
      "skip", fence, [&] { return ports_.store.Skip(rows, fence, *cluster_now); });
  if (written.ok()) {
    ports_.metrics.counter("carillon_runs_total", Name(RunState::kSkipped)).Add(*written);
    return true;
  }
  const bool nobody_is_bad =
      written.code() == ErrorCode::kUnavailable || written.code() == ErrorCode::kBrokenStore;
  if (nobody_is_bad) return false;
  const bool one_is_bad = SplitHelps(written.code()) || written.code() == ErrorCode::kConflict;
  if (one_is_bad && items.size() > 1) {
    const auto middle = items.begin() + static_cast<long>(items.size() / 2);
    const bool first = Write(view, {items.begin(), middle});
    return Write(view, {middle, items.end()}) && first;
  }
  log::Warn("plan", "skip: {} runs are decided again: {}", rows.size(), written.error().message);
  return true;
}

}  // namespace carillon::scheduler
