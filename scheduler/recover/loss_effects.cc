#include "scheduler/recover/loss_effects.h"

namespace carillon::scheduler {

void TellEffects(const LossPorts& ports, const OwnedView& view, std::string_view cause,
                 const std::vector<RunEffect>& effects) {
  std::vector<PendingRun> again;
  bool freed = false;
  bool completed = false;
  for (const RunEffect& effect : effects) {
    freed = freed || effect.freed_slot;
    completed = completed || effect.completed;
    if (IsFinal(effect.state)) {
      ports.metrics.counter("carillon_runs_total", Name(effect.state)).Add();
    }
    if (!effect.again) continue;
    const OwnedSegment* owned = view.Find(effect.again->segment);
    if (IsTime(effect.again->due) && owned != nullptr) {
      again.push_back(ToPendingRun(*effect.again, owned->epoch));
    }
  }
  if (freed) ports.signals.slot_freed.Raise();
  if (completed) ports.signals.completed.Raise();
  if (again.empty()) return;
  ports.metrics.counter("carillon_retries_total", cause).Add(again.size());
  if (!ports.feed.Push(std::move(again)).ok()) {
    ports.metrics.counter("carillon_queue_rejections_total", ports.feed.name()).Add();
  }
}

}  // namespace carillon::scheduler
