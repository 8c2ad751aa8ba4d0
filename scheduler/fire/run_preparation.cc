#include "scheduler/fire/run_preparation.h"

#include <algorithm>

#include "common/base/log.h"
#include "common/domain/template/trigger_outputs.h"
#include "common/wire/json/job/given_parameters.h"
#include "scheduler/fire/firing_plan.h"
#include "scheduler/fire/task_builder.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kDefinitionsPerRead = 200;
constexpr size_t kDefinitionReadsPerStep = 8;
constexpr Duration kStoreRetry = 200ms;
constexpr Duration kParametersRetry = 2s;

// True if no executor is asked when the run begins, or ends without parts because of the number
// that its total becomes.
bool NeedsNoExecutor(const PendingRun& run, const Definition& definition) {
  if (RunnerOf(definition.job().type) == Runner::kScheduler) return true;
  if (run.key.shard > 0) return false;
  if (definition.job().broadcast) return true;
  const auto places = PlacesByTemplate(run, definition);
  return places && !places->refusal.empty();
}

// Fails for a run that an edit asks for outputs of the run before, which it was not given: it must
// not go on with the placeholder, nor with a default in its place.
Status CheckHasOutputs(const PendingRun& run, const Definition& definition) {
  if (!run.extras || !run.extras->request.trigger) return {};
  const ScheduleSpec* schedule = definition.SpecOf(run.key.schedule_id);
  if (schedule == nullptr || !AsksForOutputs(*schedule)) return {};
  CARILLON_ASSIGN_OR_RETURN(const RenderedParameters given,
                            GivenFromText(run.extras->request.parameters_json));
  return CheckOutputsGiven(*schedule, given.values);
}

}  // namespace

void RunPreparation::MakeReady(TrackedRun& tracked, SteadyTime now) {
  if (NeedsExtras(tracked.run)) return AskParameters(tracked, now);
  tracked.definition = ports_.definitions.Get(DefinitionKeyOf(tracked.run));
  if (tracked.definition != nullptr) return GoOn(tracked, now);
  places_.runs().Move(tracked, Place::kUndefined, now);
  undefined_.push_back(tracked.run.key);
}

void RunPreparation::AskParameters(TrackedRun& tracked, SteadyTime now) {
  const uint32_t stamp = places_.runs().Move(tracked, Place::kLoading, now);
  loading_.push_back({now, tracked.run.key, stamp});
  if (!ports_.loads.Push(tracked.run).ok()) {
    ports_.metrics.counter("carillon_queue_rejections_total", ports_.loads.name()).Add();
  }
}

void RunPreparation::AskAgain(SteadyTime now) {
  while (!loading_.empty() && now - loading_.front().at >= kParametersRetry) {
    const PlaceNote note = loading_.front();
    loading_.pop_front();
    TrackedRun* tracked = places_.runs().Find(note.key, note.stamp);
    if (tracked != nullptr) AskParameters(*tracked, now);
  }
}

void RunPreparation::LoadDefinitions(SteadyTime now) {
  for (size_t read = 0; read < kDefinitionReadsPerStep; ++read) {
    if (undefined_.empty() || now < definitions_retry_) return;
    LoadSomeDefinitions(now);
  }
}

void RunPreparation::LoadSomeDefinitions(SteadyTime now) {
  const size_t count = std::min(undefined_.size(), kDefinitionsPerRead);
  std::vector<TrackedRun*> waiting;
  std::vector<RunDefinitionKey> keys;
  for (size_t i = 0; i < count; ++i) {
    TrackedRun* tracked = places_.runs().Find(undefined_[i]);
    if (tracked == nullptr || tracked->place != Place::kUndefined) continue;
    waiting.push_back(tracked);
    keys.push_back(DefinitionKeyOf(tracked->run));
  }
  const auto found = ports_.definitions.Load(keys);
  if (!found.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(found.code())).Add();
    definitions_retry_ = now + kStoreRetry;
    return;
  }
  undefined_.erase(undefined_.begin(), undefined_.begin() + static_cast<long>(count));
  for (TrackedRun* tracked : waiting) {
    if (tracked->place != Place::kUndefined) continue;  // the run was in the list twice
    TakeDefinition(*tracked, *found, now);
  }
}

void RunPreparation::TakeDefinition(TrackedRun& tracked, const DefinitionCache::Found& found,
                                    SteadyTime now) {
  const RunDefinitionKey key = DefinitionKeyOf(tracked.run);
  if (found.unreadable.contains(key)) {
    // The run stays due in the store, and the sweep offers it again until the row is repaired.
    ports_.metrics.counter("carillon_runs_waiting_total", "unreadable_definition").Add();
    return places_.Settle(tracked, now);
  }
  const auto at = found.definitions.find(key);
  if (at == found.definitions.end()) {
    log::Error("fire", "no definition job_no={} version={}", tracked.run.job_no.value(),
               tracked.run.def_version);
    return skips_.Skip(tracked, reason::kBadDefinition, now,
                       "the version of the job that it was planned with is gone");
  }
  tracked.definition = at->second;
  GoOn(tracked, now);
}

// A workflow or a broadcast needs no executor, nor does a fire without parts. Whether its run
// begins or is refused, it leaves the memory soon: if it stays due in the store, the sweep offers
// it again. While the cluster is paused it stays due like all other runs, however late it is: what
// is late is decided when the pause ends. A broadcast also waits for the bus. Nobody need wait to
// be shed: the nodes or parts would wait, and none of them may be shed.
void RunPreparation::GoOn(TrackedRun& tracked, SteadyTime now) {
  const bool is_part = tracked.run.key.shard > 0;
  if (const Status given = CheckHasOutputs(tracked.run, *tracked.definition); !given.ok()) {
    return skips_.Skip(tracked, reason::kBadDefinition, now, given.error().message);
  }
  if (!NeedsNoExecutor(tracked.run, *tracked.definition)) return places_.EnterLane(tracked, now);
  if (ports_.settings.paused()) return places_.Settle(tracked, now);
  // Its job became a workflow after the fire had begun.
  if (is_part) return skips_.Skip(tracked, reason::kEdited, now);
  const auto cluster_now = ports_.cluster.Now();
  if (cluster_now) {
    // Not shed: no executor has had a chance to take a part of it.
    const std::string_view skip =
        DecideFiring(tracked.run, *tracked.definition, {.now = *cluster_now, .other_runs = 0});
    if (!skip.empty()) return skips_.Skip(tracked, skip, now);
  }
  const bool waits = tracked.definition->job().broadcast && !ports_.bus_answers();
  if (waits) return places_.Settle(tracked, now);
  ports_.begin_workflow(tracked.run, *tracked.definition);
  places_.Settle(tracked, now);
}

SteadyTime RunPreparation::NextStep() const {
  SteadyTime next = SteadyTime::max();
  if (!undefined_.empty()) next = std::min(next, definitions_retry_);
  if (!loading_.empty()) next = std::min(next, loading_.front().at + kParametersRetry);
  return next;
}

}  // namespace carillon::scheduler
