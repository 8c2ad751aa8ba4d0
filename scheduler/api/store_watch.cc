#include "scheduler/api/store_watch.h"

namespace carillon::scheduler {
namespace {

Result<StoreView> ReadStore(const ApiContext& api) {
  StoreView view;
  CARILLON_ASSIGN_OR_RETURN(view.segments, api.segments.ListSegments());
  CARILLON_ASSIGN_OR_RETURN(view.executors, api.executors.ListExecutors());
  CARILLON_ASSIGN_OR_RETURN(view.counts, api.runs.CountOpenRuns());
  return view;
}

}  // namespace

StoreWatch::StoreWatch(const ApiContext& context)
    : context_(context), aside_(context.clock), known_at_(context.clock.Wall()) {}

StoreSight StoreWatch::Look() {
  auto answer = aside_.Ask<Result<StoreView>>(context_.store_patience,
                                              [this] { return ReadStore(context_); });
  const MutexLock lock(mu_);
  if (!answer || !answer->ok()) return {.known_at = known_at_};
  known_at_ = context_.clock.Wall();
  return {.view = std::move(*answer).value(), .known_at = known_at_};
}

}  // namespace carillon::scheduler
