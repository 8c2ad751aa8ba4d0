#include "scheduler/plan/parameter_loader.h"

#include <map>

namespace carillon::scheduler {
namespace {

constexpr size_t kRunsPerStep = 128;
constexpr Duration kIdle = 1s;

}  // namespace

SteadyTime ParameterLoader::Step(SteadyTime now) {
  std::vector<PendingRun> taken = wanted_.PopUpTo(kRunsPerStep);
  std::vector<PendingRun> loaded;
  std::map<RunKey, Result<RunRequest>> requests;
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
    RunExtras extras = run.extras ? *run.extras : RunExtras{};
    extras.request_loaded = true;
    extras.request = *request;
    if (!extras.request.rules.empty()) extras.rules = extras.request.rules;
    run.extras = std::make_shared<const RunExtras>(std::move(extras));
    loaded.push_back(std::move(run));
  }
  if (!loaded.empty() && !feed_.Push(std::move(loaded)).ok()) {
    metrics_.counter("carillon_queue_rejections_total", feed_.name()).Add();
  }
  return taken.size() == kRunsPerStep ? now : now + kIdle;
}

}  // namespace carillon::scheduler
