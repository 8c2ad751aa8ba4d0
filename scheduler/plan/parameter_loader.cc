#include "scheduler/plan/parameter_loader.h"

#include <map>

namespace carillon::scheduler {
namespace {

constexpr size_t kRunsPerStep = 128;
constexpr Duration kIdle = 1s;

using SharedExtras = std::map<RunKey, std::shared_ptr<const RunExtras>>;

// The parts of a fire share one copy, unless they are bound: each of a thousand would have the list
// of all items.
std::shared_ptr<const RunExtras> Loaded(const PendingRun& run, const RunRequest& request,
                                        SharedExtras& shared) {
  RunExtras extras = run.extras ? *run.extras : RunExtras{};
  const bool may_share = run.key.shard > 0 && extras.pinned_executor.empty();
  const RunKey own{.fire = run.key.fire, .schedule_id = run.key.schedule_id};
  if (may_share && shared.contains(own)) return shared.at(own);
  extras.request_loaded = true;
  extras.request = request;
  if (!request.rules.empty()) extras.rules = request.rules;
  auto loaded = std::make_shared<const RunExtras>(std::move(extras));
  if (may_share) shared[own] = loaded;
  return loaded;
}

}  // namespace

SteadyTime ParameterLoader::Step(SteadyTime now) {
  std::vector<PendingRun> taken = wanted_.PopUpTo(kRunsPerStep);
  std::vector<PendingRun> loaded;
  std::map<RunKey, Result<RunRequest>> requests;
  SharedExtras shared;
  for (PendingRun& run : taken) {
    RunKey own = run.key;
    own.shard = 0;  // a part has no copy of it
    auto found = requests.find(own);
    if (found == requests.end()) found = requests.emplace(own, store_.LoadRunRequest(own)).first;
    const Result<RunRequest>& request = found->second;
    if (!request.ok()) {
      metrics_.counter("carillon_store_errors_total", ErrorCodeName(request.code())).Add();
      continue;
    }
    run.extras = Loaded(run, *request, shared);
    loaded.push_back(std::move(run));
  }
  if (!loaded.empty() && !feed_.Push(std::move(loaded)).ok()) {
    metrics_.counter("carillon_queue_rejections_total", feed_.name()).Add();
  }
  return taken.size() == kRunsPerStep ? now : now + kIdle;
}

}  // namespace carillon::scheduler
