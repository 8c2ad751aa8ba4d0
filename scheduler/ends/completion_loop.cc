#include "scheduler/ends/completion_loop.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "scheduler/assign/batch_split.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kLookEvery = 1s;
constexpr Duration kLookEveryIfBusy = 100ms;
constexpr Duration kLookGap = 20ms;  // between two looks, however often it is nudged
constexpr Duration kWakeAfter = 2s;  // the loop that this room shares steps more often
constexpr Duration kAsideFor = 10s;
constexpr size_t kAsideMax = 1'000;
constexpr Duration kWatchEvery = 30s;  // for schedules that wait for nothing
constexpr size_t kRevivedPerLook = 100;
constexpr Duration kSoon = 1s;

}  // namespace

SteadyTime CompletionLoop::Step(SteadyTime now) {
  const Duration every = busy_ ? kLookEveryIfBusy : kLookEvery;
  const bool asked = nudged_.load();
  if (now < last_ + (asked ? kLookGap : every)) {
    return last_ + (asked ? kLookGap : busy_ ? kLookEveryIfBusy : kWakeAfter);
  }
  nudged_ = false;
  busy_ = false;
  last_ = now;
  const auto view = ports_.segments.View();
  const std::vector<SegmentId> segments = view->ActiveSegments();
  const auto cluster_now = ports_.cluster.Now();
  if (segments.empty() || !cluster_now) return last_ + kWakeAfter;
  std::erase_if(aside_, [now](const auto& entry) { return entry.second <= now; });
  const Look look{*view, *cluster_now, now};
  const size_t read = ActOnSome(look, segments);
  busy_ = read > aside_.size();
  if (now >= next_watch_) {
    next_watch_ = now + kWatchEvery;
    ReviveStuck(look, segments);
  }
  if (read >= kBatchRowsMax) return last_ + kLookGap;
  return last_ + (busy_ ? kLookEveryIfBusy : kWakeAfter);
}

size_t CompletionLoop::ActOnSome(const Look& look, const std::vector<SegmentId>& segments) {
  auto ends = ports_.store.ScanCompletions(segments, kBatchRowsMax + aside_.size());
  if (!ends.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(ends.code())).Add();
    return 0;
  }
  const size_t read = ends->size();
  std::erase_if(*ends, [&](const RunCompletion& end) {
    return aside_.contains(end.id) || look.view.Find(end.segment) == nullptr;
  });
  if (ends->size() > kBatchRowsMax) ends->resize(kBatchRowsMax);
  // No end counts as later than `cluster_now`, so it is read after them. If this host's clock was
  // just set, they wait for the next sample: an earlier time would shorten the delay.
  const auto cluster_now = ports_.cluster.SettledNow();
  if (!ends->empty() && cluster_now) {
    Write({look.view, *cluster_now, look.now}, std::move(*ends));
  }
  return read;
}

bool CompletionLoop::Write(const Look& look, std::vector<RunCompletion> ends) {
  std::vector<SegmentId> segments;
  segments.reserve(ends.size());
  for (const RunCompletion& end : ends) segments.push_back(end.segment);
  const Fence fence = look.view.FenceFor(std::move(segments));
  const auto effects = ports_.fences.Run(
      "completions", fence, [&] { return ports_.store.Apply(ends, fence, look.cluster_now); });
  if (effects.ok()) {
    Count(ends, *effects, look.cluster_now);
    return true;
  }
  const bool one_is_bad = SplitHelps(effects.code()) || effects.code() == ErrorCode::kConflict;
  if (!one_is_bad) return false;
  if (ends.size() == 1) {
    SetAside(ends.front(), effects.error(), look.now);
    return true;
  }
  const auto middle = ends.begin() + static_cast<long>(ends.size() / 2);
  return Write(look, {ends.begin(), middle}) && Write(look, {middle, ends.end()});
}

void CompletionLoop::Count(const std::vector<RunCompletion>& ends,
                           const std::vector<CompletionEffect>& effects, WallTime cluster_now) {
  size_t awaited = 0;
  size_t ignored = 0;
  bool soon = false;
  for (size_t i = 0; i < std::min(ends.size(), effects.size()); ++i) {
    if (ends[i].target == CompletionTarget::kDependents) {
      CountStarted(effects[i]);
      continue;
    }
    ++(effects[i].awaited ? awaited : ignored);
    soon = soon || effects[i].next_fire <= cluster_now + kSoon;
  }
  ports_.metrics.counter("carillon_completions_total", "awaited").Add(awaited);
  ports_.metrics.counter("carillon_completions_total", "ignored").Add(ignored);
  if (soon) ports_.fires_soon();
}

void CompletionLoop::CountStarted(const CompletionEffect& effect) {
  const auto add = [this](std::string_view result, int64_t count) {
    if (count == 0) return;
    ports_.metrics.counter("carillon_dependents_total", result).Add(static_cast<uint64_t>(count));
  };
  add("started", static_cast<int64_t>(effect.started.size()));
  add("existing", effect.existing);
  add("paused", effect.paused);
  for (const RunRow& row : effect.started) {
    ports_.metrics.counter("carillon_fires_total", Name(RunKind::kAfter)).Add();
    ports_.started({row.job_no, row.segment, row.key});
  }
}

void CompletionLoop::SetAside(const RunCompletion& end, const Error& error, SteadyTime now) {
  ports_.metrics.counter("carillon_completions_total", "set_aside").Add();
  log::Error("trigger", "completion of run {} set aside for {} s: {}", EncodeRunId(end.key),
             kAsideFor / 1s, error.message);
  if (aside_.size() < kAsideMax) aside_[end.id] = now + kAsideFor;
}

void CompletionLoop::ReviveStuck(const Look& look, const std::vector<SegmentId>& segments) {
  const auto found = ports_.store.ScanStuck(segments, kRevivedPerLook);
  if (!found.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(found.code())).Add();
    return;
  }
  for (const StuckSchedule& stuck : *found) {
    const Fence fence = look.view.FenceFor({stuck.segment});
    if (fence.empty()) continue;
    const auto revived = ports_.fences.Run(
        "revive", fence, [&] { return ports_.store.Revive(stuck, fence, look.cluster_now); });
    if (!revived.ok()) {
      log::Warn("trigger", "schedule {}: {}", stuck.schedule_id.value(), revived.error().message);
      continue;
    }
    if (!*revived) continue;
    log::Error("trigger", "schedule {} awaited run {}, which is not open; it fires now",
               stuck.schedule_id.value(), EncodeRunId({stuck.awaited, stuck.schedule_id}));
    ports_.fires_soon();
  }
}

}  // namespace carillon::scheduler
