#include "scheduler/streams/store_probe.h"

namespace carillon::scheduler {
namespace {

Result<StoreView> ReadStore(const StoreProbe::Ports& ports) {
  StoreView view;
  CARILLON_ASSIGN_OR_RETURN(view.segments, ports.segments.ListSegments());
  CARILLON_ASSIGN_OR_RETURN(view.executors, ports.executors.ListExecutors());
  CARILLON_ASSIGN_OR_RETURN(view.counts, ports.runs.CountOpenRuns());
  if (ports.letters != nullptr) {
    const auto backlog = ports.letters->GetBacklog();
    if (backlog.ok()) view.letters = *backlog;
  }
  return view;
}

}  // namespace

StoreProbe::StoreProbe(const Ports& ports, Duration patience)
    : ports_(ports), patience_(patience), aside_(ports.clock), known_at_(ports.clock.Wall()) {}

StoreSnapshot StoreProbe::Look() {
  auto answer = aside_.Ask<Result<StoreView>>(patience_, [this] { return ReadStore(ports_); });
  const MutexLock lock(mu_);
  if (!answer || !answer->ok()) return {.known_at = known_at_};
  known_at_ = ports_.clock.Wall();
  return {.view = std::move(*answer).value(), .known_at = known_at_};
}

}  // namespace carillon::scheduler
