#include "scheduler/api/runs/recent_run_routes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/domain/run_id.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kJobsMax = 100;
constexpr int64_t kRunsMax = 20;  // per job
constexpr int64_t kRunsDefault = 10;

Outcome<std::vector<JobId>> ReadJobIds(const Query& query) {
  std::vector<JobId> ids;
  for (const std::string& text : query.All("job_id")) {
    CARILLON_ASSIGN_OR_RETURN(const JobId id, FilterJobId(text));
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  if (!ids.empty()) return ids;
  return InvalidField("?job_id", "missing", "At least one job_id is required.");
}

json TimeOrNull(WallTime time) {
  return time == WallTime{} ? json(nullptr) : json(FormatRfc3339(time));
}

json SummaryToJson(const RunSummary& run) {
  return {{"run_id", EncodeRunId(run.key)},
          {"state", Name(run.state)},
          {"fire_time", FormatRfc3339(run.key.fire)},
          {"started_at", TimeOrNull(run.started)},
          {"ended_at", TimeOrNull(run.ended)}};
}

}  // namespace

Reply ListRecentRuns(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query,
                            Query::Read(call.request, {"n"}, {"job_id"}, kJobsMax));
  CARILLON_ASSIGN_OR_RETURN(const auto runs_max, query.Number("n", {.low = 1, .high = kRunsMax}));
  RecentFilter filter{.runs_max = static_cast<size_t>(runs_max.value_or(kRunsDefault))};
  CARILLON_ASSIGN_OR_RETURN(filter.job_ids, ReadJobIds(query));
  CARILLON_ASSIGN_OR_RETURN(filter.until, call.api.cluster_now());
  CARILLON_ASSIGN_OR_RETURN(const auto recent, call.stores.runs.ListRecentRuns(filter));
  json items = json::array();
  for (const RecentRuns& job : recent) {
    json runs = json::array();
    for (const RunSummary& run : job.runs) runs.push_back(SummaryToJson(run));
    items.push_back({{"job_id", job.job_id.value()}, {"runs", std::move(runs)}});
  }
  return JsonResponse(200, {{"items", std::move(items)}});
}

}  // namespace carillon::scheduler
