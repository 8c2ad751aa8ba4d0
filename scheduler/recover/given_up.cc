#include "scheduler/recover/given_up.h"

#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "scheduler/assign/bisect.h"

namespace carillon::scheduler {

void GivenUp::End(const OwnedView& view, const std::vector<RunRow>& rows) {
  const auto now = ports_.cluster.Now();
  std::vector<RunRow> owned;
  for (const RunRow& row : rows) {
    if (view.Find(row.segment) != nullptr) owned.push_back(row);
  }
  if (owned.empty() || !now) return;
  // An error has been counted by FencedWriter.
  static_cast<void>(Bisect(
      std::span<const RunRow>(owned),
      [&](std::span<const RunRow> some) { return Write(view, some, *now); },
      [&](const RunRow& row, const Error& error) {
        log::Error("recover", "run {} attempt {}: the store rejects that it is given up: {}",
                   EncodeRunId(row.key), row.attempt, error.message);
      }));
}

Status GivenUp::Write(const OwnedView& view, std::span<const RunRow> rows, WallTime now) {
  std::vector<LostReport> reports;
  std::vector<SegmentId> segments;
  std::vector<HeldAttempt> held;
  RunEvents events;
  for (const RunRow& row : rows) {
    reports.push_back({row.key, row.segment, row.job_no, row.attempt, row.claim_token});
    segments.push_back(row.segment);
    held.push_back({row.key, row.segment, row.job_no, row.attempt, row.claim_token});
    events.events.push_back({RunEvent::What::kEnded, row.key, row.attempt});
  }
  const Fence fence = view.FenceFor(std::move(segments));
  const auto effects =
      ports_.fences.Run("give_up", fence, [&] { return ports_.store.GiveUp(reports, fence, now); });
  if (!effects.ok()) return effects.error();
  // Also of those without an effect: their attempts have ended otherwise.
  if (!failpoint::Broken("give_up.keeps_lease")) ports_.leases.Erase(held);
  for (const RunEffect& effect : *effects) {
    log::Warn("recover", "run {} given up: now={}", EncodeRunId(effect.key), Name(effect.state));
  }
  TellEffects(ports_, view, "given_up", *effects);
  ports_.events.Push(std::move(events));
  return {};
}

}  // namespace carillon::scheduler
