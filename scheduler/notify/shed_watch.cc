#include "scheduler/notify/shed_watch.h"

#include <utility>

namespace carillon::scheduler {

SteadyTime ShedWatch::Step(SteadyTime now) {
  ShedStorm storm = last_();
  if (storm.number != told_ && storm.newest && Tell(std::move(*storm.newest))) told_ = storm.number;
  return now + kLookEvery;
}

bool ShedWatch::Tell(Notice notice) {
  const auto cluster_now = ports_.cluster.Now();
  if (!cluster_now) return false;
  const auto view = ports_.segments.View();
  if (view->Find(notice.segment) == nullptr) return false;  // the next run that is shed may tell it
  notice.created = *cluster_now;
  const Fence fence = view->FenceFor({notice.segment});
  return ports_.fences
      .RunAside("notices", fence, [&] { return ports_.notices.AddNotices({notice}, fence); })
      .ok();
}

}  // namespace carillon::scheduler
