#include "scheduler/plan/skip_writer.h"

#include <algorithm>

#include "common/base/log.h"
#include "scheduler/assign/bisect.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kHeldMax = 20'000;
constexpr size_t kBatchesPerStep = 16;
constexpr Duration kSkipsIdle = 1s;

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
  return batches.size() == kBatchesPerStep ? now : now + kSkipsIdle;
}

bool SkipWriter::Write(const OwnedView& view, const std::vector<SkipRequest>& requests) {
  std::vector<SkipItem> items;
  ByRun by_run;
  for (const SkipRequest& request : requests) {
    if (!view.Holds(request.segment, request.epoch)) continue;
    by_run[request.key] = &request;
    items.push_back({.key = request.key,
                     .segment = request.segment,
                     .job_no = request.job_no,
                     .attempt = request.attempt,
                     .def_version = request.def_version,
                     .reason = request.reason,
                     .due = request.due,
                     .error = request.error});
  }
  const auto cluster_now = ports_.cluster.Now();
  if (items.empty() || !cluster_now) return true;
  const Status written = Bisect(
      std::span<const SkipItem>(items),
      [&](std::span<const SkipItem> some) -> Status {
        const Status skipped = Skip(view, some, by_run, *cluster_now);
        if (skipped.ok() || !EndsOwnership(skipped.code())) return skipped;
        log::Warn("plan", "skip: {} runs are decided again: {}", some.size(),
                  skipped.error().message);
        return {};  // those of the other segments are written
      },
      [](const SkipItem& item, const Error& error) {
        log::Warn("plan", "skip: run {} is decided again: {}", EncodeRunId(item.key),
                  error.message);
      });
  if (written.ok()) return true;
  const bool retry =
      written.code() == ErrorCode::kUnavailable || written.code() == ErrorCode::kBrokenStore;
  if (!retry) log::Warn("plan", "skip: runs are decided again: {}", written.error().message);
  return !retry;
}

Status SkipWriter::Skip(const OwnedView& view, std::span<const SkipItem> items,
                        const ByRun& requests, WallTime now) {
  const std::vector<SkipItem> batch(items.begin(), items.end());
  std::vector<SegmentId> segments;
  for (const SkipItem& item : batch) segments.push_back(item.segment);
  const Fence fence = view.FenceFor(std::move(segments));
  const auto skipped =
      ports_.fences.Run("skip", fence, [&] { return ports_.store.Skip(batch, fence, now); });
  if (!skipped.ok()) return skipped.error();
  ports_.metrics.counter("carillon_runs_total", Name(RunState::kSkipped)).Add(skipped->size());
  for (const RunKey& key : *skipped) ports_.written(*requests.at(key));
  return {};
}

}  // namespace carillon::scheduler
