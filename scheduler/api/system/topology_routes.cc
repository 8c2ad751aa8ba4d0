#include "scheduler/api/system/topology_routes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/explain/live_executors.h"
#include "scheduler/explain/topology.h"

namespace carillon::scheduler {
namespace {

OutageBounds BoundsOf(const config::Config& config) {
  return {.session = config.Time("zookeeper.session_timeout_ms"),
          .executor_lost = config.Time("scheduler.executor_lost_ms"),
          .lease = config.Time("scheduler.lease_ms")};
}

TopologyInputs::Places PlacesOf(const ApiContext& api) {
  TopologyInputs::Places places{.mail = api.config.Text("notify.mail_server")};
  if (api.one_process) return places;  // the private server of standalone has no address
  places.store = api.config.Text("store.host") + ":" +
                 std::to_string(api.config.Integer("store.port")) + "/" +
                 api.config.Text("store.database");
  places.coordinator = api.config.Text("zookeeper.connect");
  places.bus = api.config.Text("kafka.bootstrap");
  return places;
}

std::vector<ExecutorRecord> Sorted(std::vector<ExecutorRecord> executors) {
  std::sort(executors.begin(), executors.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  return executors;
}

}  // namespace

Reply SystemTopology(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {}));
  StoreSnapshot store = call.services.probe.Look();
  TopologyInputs inputs{.at = call.api.clock.Wall(),
                        .cluster = call.api.status.Read(),
                        .one_process = call.api.one_process,
                        .store_answers = store.view.has_value(),
                        .store = call.api.store_standing(),
                        .bounds = BoundsOf(call.api.config),
                        .places = PlacesOf(call.api)};
  if (call.api.channels) inputs.channels = call.api.channels();
  if (store.view) {
    inputs.segments = std::move(store.view->segments);
    const LiveExecutors heard(inputs.cluster);
    for (const ExecutorRecord& executor : store.view->executors) {
      inputs.executors.push_back(heard.Latest(executor));
    }
  } else {
    inputs.executors = inputs.cluster.executors;
  }
  inputs.executors = Sorted(std::move(inputs.executors));
  return JsonResponse(200, DescribeTopology(inputs));
}

}  // namespace carillon::scheduler
