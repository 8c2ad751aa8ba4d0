#include "scheduler/notify/late_watch.h"

#include <utility>

#include "common/base/log.h"
#include "common/domain/run/returns.h"
#include "common/domain/run/run_kind.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kLateClockRetry = 100ms;

}  // namespace

SteadyTime LateWatch::Step(SteadyTime now) {
  if (now < next_) return next_;
  const auto cluster_now = ports_.cluster.Now();
  if (!cluster_now) return now + kLateClockRetry;
  const bool more = LookAtPage(*cluster_now);
  if (!more) EndRound();
  next_ = now + (more ? kPageGap : kRoundEvery);
  return next_;
}

void LateWatch::EndRound() {
  cursor_.reset();
  notified_ = std::exchange(still_late_, {});
}

bool LateWatch::LookAtPage(WallTime cluster_now) {
  const auto view = ports_.segments.View();
  const auto page = ports_.firing.ScanPending(view->ActiveSegments(), cluster_now - kLeastLateness,
                                              cursor_, kBatchRowsMax);
  if (!page.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(page.code())).Add();
    return false;
  }
  cursor_ = page->next;
  const std::vector<Notice> late = LateOnes(page->runs, cluster_now);
  if (late.empty()) return cursor_.has_value();
  std::vector<SegmentId> segments;
  for (const Notice& notice : late) segments.push_back(notice.segment);
  const Fence fence = view->FenceFor(std::move(segments));
  const Status added = ports_.fences.RunAside(
      "notices", fence, [&] { return ports_.notices.AddNotices(late, fence); });
  if (!added.ok()) return false;
  for (const Notice& notice : late) still_late_.insert(notice.key);
  return cursor_.has_value();
}

std::vector<Notice> LateWatch::LateOnes(const std::vector<RunRow>& rows, WallTime cluster_now) {
  std::vector<const RunRow*> firsts;
  for (const RunRow& row : rows) {
    if (!IsFirstTry(row) || !MayBeLate(row.kind, row.flags)) continue;
    if (notified_.contains(row.key)) {
      still_late_.insert(row.key);
      continue;
    }
    firsts.push_back(&row);
  }
  if (firsts.empty()) return {};
  const std::vector<Duration> limits = limits_(firsts);
  std::vector<Notice> late;
  for (size_t i = 0; i < firsts.size(); ++i) {
    const RunRow& row = *firsts[i];
    if (limits[i] == Duration::zero() || cluster_now - row.due <= limits[i]) continue;
    late.push_back({.kind = NoticeKind::kLate,
                    .segment = row.segment,
                    .job_no = row.job_no,
                    .key = row.key,
                    .attempt = row.attempt,
                    .state = row.state,
                    .created = cluster_now});
  }
  return late;
}

}  // namespace carillon::scheduler
