#include "scheduler/ends/completion_loop.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "scheduler/assign/bisect.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kWatchEvery = 30s;  // for schedules that wait for nothing
constexpr size_t kRevivedPerLook = 100;
constexpr Duration kUntoldFor = 1min;
constexpr Duration kSoon = 1s;

}  // namespace

SteadyTime CompletionLoop::Step(SteadyTime now) {
  if (!scan_.IsDue(now)) return scan_.Next();
  const auto look = scan_.Begin(now);
  if (!look) return scan_.Next();
  ActOnSome(*look);
  if (now >= next_watch_) {
    next_watch_ = now + kWatchEvery;
    ReviveStuck(*look);
    EndUntold(*look);
  }
  return scan_.Next();
}

void CompletionLoop::ActOnSome(const Look& look) {
  auto ends = ports_.store.ScanCompletions(look.segments, kBatchRowsMax + scan_.aside_count());
  if (!scan_.Succeeded(ends)) return;
  std::erase_if(*ends, [&](const RunCompletion& end) {
    return scan_.IsAside(end.id) || look.view->Find(end.segment) == nullptr;
  });
  if (ends->empty()) return;
  scan_.SetBusy();
  const bool more = ends->size() >= kBatchRowsMax;
  if (more) ends->resize(kBatchRowsMax);
  const auto of_parts = std::ranges::stable_partition(
      *ends, [](const RunCompletion& end) { return end.target != CompletionTarget::kParts; });
  EndFires(look, of_parts);
  const Status written = Bisect(
      std::span<const RunCompletion>(ends->data(), ends->size() - of_parts.size()),
      [&](std::span<const RunCompletion> some) { return Write(look, some); },
      [&](const RunCompletion& end, const Error& error) {
        ports_.owner.metrics.counter("carillon_completions_total", "set_aside").Add();
        scan_.SetAside(end.id, "completion of run " + EncodeRunId(end.key), error, look.now);
      });
  if (more && written.ok()) scan_.Nudge();
}

// Parts end at the same time by the hundred: each fire is looked at once.
void CompletionLoop::EndFires(const Look& look, std::span<const RunCompletion> ends) {
  std::map<RunKey, FireLook> by_own;
  for (const RunCompletion& end : ends) {
    RunKey own = end.key;
    own.shard = 0;
    FireLook& fire = by_own[own];
    fire.own = own;
    fire.segment = end.segment;
    fire.job_no = end.job_no;
    fire.told.push_back(end.id);
  }
  std::vector<FireLook> fires;
  for (auto& [own, fire] : by_own) fires.push_back(std::move(fire));
  if (fires.empty()) return;
  // What was not written is looked at again with its completions.
  static_cast<void>(Bisect(
      std::span<const FireLook>(fires),
      [&](std::span<const FireLook> some) { return WriteFires(look, some); },
      [&](const FireLook& fire, const Error& error) {
        ports_.owner.metrics.counter("carillon_completions_total", "set_aside").Add();
        for (const uint64_t id : fire.told) {
          scan_.SetAside(id, "end of the shards of run " + EncodeRunId(fire.own), error, look.now);
        }
      }));
}

Status CompletionLoop::WriteFires(const Look& look, std::span<const FireLook> fires) {
  std::vector<SegmentId> segments;
  for (const FireLook& fire : fires) segments.push_back(fire.segment);
  const std::vector<FireLook> batch(fires.begin(), fires.end());
  const auto effects = scan_.Write(
      "fires", "", look, std::move(segments),
      [&](const Fence& fence, WallTime cluster_now) {
        return ports_.store.EndFires(batch, fence, cluster_now);
      },
      OwnerScan::Conflicts::kLeftToCaller);
  if (!effects.ok()) return effects.error();
  std::vector<JobNo> jobs;
  for (size_t i = 0; i < std::min(effects->size(), fires.size()); ++i) {
    CountFire((*effects)[i]);
    if ((*effects)[i].ended) jobs.push_back(fires[i].job_no);
  }
  if (!jobs.empty()) ports_.owner.signals.ended.Raise(jobs);
  return {};
}

void CompletionLoop::CountFire(const FireEffect& effect) {
  if (!effect.ended) return;
  ports_.owner.metrics.counter("carillon_runs_total", Name(*effect.ended)).Add();
  if (effect.freed_slot) ports_.owner.signals.slot_freed.Raise();
  // Of its dependents, its schedule, or the workflow of which it is a node.
  if (effect.completed) ports_.owner.signals.completed.Raise();
}

void CompletionLoop::EndUntold(const Look& look) {
  auto found = ports_.store.ScanUnended(look.segments, look.cluster_now - kUntoldFor,
                                        kRevivedPerLook + untold_refused_.count());
  if (!scan_.Succeeded(found) || found->empty()) return;
  untold_refused_.PutLast(*found, kRevivedPerLook, [](const FireLook& fire) { return fire.own; });
  for (const FireLook& fire : *found) {
    log::Error("completion", "all shards of run {} have ended, and nothing told of it",
               EncodeRunId(fire.own));
  }
  // What was not written is found again.
  static_cast<void>(Bisect(
      std::span<const FireLook>(*found),
      [&](std::span<const FireLook> some) { return WriteFires(look, some); },
      [&](const FireLook& fire, const Error& error) {
        log::Error("completion", "end of the shards of run {}: {}", EncodeRunId(fire.own),
                   error.message);
        untold_refused_.Add(fire.own);
      }));
}

Status CompletionLoop::Write(const Look& look, std::span<const RunCompletion> ends) {
  std::vector<SegmentId> segments;
  segments.reserve(ends.size());
  for (const RunCompletion& end : ends) segments.push_back(end.segment);
  const std::vector<RunCompletion> batch(ends.begin(), ends.end());
  const auto effects = scan_.Write(
      "completions", "", look, std::move(segments),
      [&](const Fence& fence, WallTime cluster_now) {
        return ports_.store.Apply(batch, fence, cluster_now);
      },
      OwnerScan::Conflicts::kLeftToCaller);
  if (!effects.ok()) return effects.error();
  Count(ends, *effects, look.cluster_now);
  return {};
}

void CompletionLoop::Count(std::span<const RunCompletion> ends,
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
  ports_.owner.metrics.counter("carillon_completions_total", "awaited").Add(awaited);
  ports_.owner.metrics.counter("carillon_completions_total", "ignored").Add(ignored);
  if (soon) ports_.owner.signals.fires_soon.Raise();
}

void CompletionLoop::CountStarted(const CompletionEffect& effect) {
  const auto add = [this](std::string_view result, int64_t count) {
    if (count == 0) return;
    ports_.owner.metrics.counter("carillon_dependents_total", result)
        .Add(static_cast<uint64_t>(count));
  };
  add("started", static_cast<int64_t>(effect.started.size()));
  add("existing", effect.existing);
  add("paused", effect.paused);
  for (const RunRow& row : effect.started) {
    ports_.owner.metrics.counter("carillon_fires_total", Name(RunKind::kAfter)).Add();
    if (IsTime(row.due)) ports_.owner.signals.due.Raise({row.job_no, row.segment, row.key});
  }
}

void CompletionLoop::ReviveStuck(const Look& look) {
  auto found = ports_.store.ScanStuck(look.segments, kRevivedPerLook + stuck_refused_.count());
  if (!scan_.Succeeded(found)) return;
  stuck_refused_.PutLast(*found, kRevivedPerLook,
                         [](const StuckSchedule& stuck) { return stuck.schedule_id; });
  for (const StuckSchedule& stuck : *found) {
    const auto revived =
        scan_.Write("revive", fmt::format("schedule {}", stuck.schedule_id.value()), look,
                    {stuck.segment}, [&](const Fence& fence, WallTime cluster_now) {
                      return ports_.store.Revive(stuck, fence, cluster_now);
                    });
    if (!revived.ok() && AboutOneItem(revived.code())) stuck_refused_.Add(stuck.schedule_id);
    if (!revived.ok() || !*revived) continue;
    log::Error("completion", "schedule {} awaited run {}, which is not open; it fires now",
               stuck.schedule_id.value(), EncodeRunId({stuck.awaited, stuck.schedule_id}));
    ports_.owner.signals.fires_soon.Raise();
  }
}

}  // namespace carillon::scheduler
