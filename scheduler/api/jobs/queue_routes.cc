#include "scheduler/api/jobs/queue_routes.h"

#include <map>
#include <nlohmann/json.hpp>

#include "common/wire/json/job/job_json.h"
#include "scheduler/api/call/path_ids.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr int64_t kQueuedMax = 1'000;
constexpr int64_t kQueuedDefault = 100;
constexpr size_t kRunsPerRead = 500;
constexpr size_t kRunsReadMax = 2'000;

// Reads what a list of runs shows of these runs, which are in the order of their keys. A run is
// absent if it ended in the meantime, or if too many other open runs of the job lie between them.
Outcome<std::map<RunKey, RunDetail>> ReadDetails(const Call& call, const JobId& id,
                                                 const std::vector<RunRow>& rows, WallTime now) {
  std::map<RunKey, RunDetail> details;
  if (rows.empty()) return details;
  RunFilter filter{.job_id = id,
                   .states = {RunState::kPending, RunState::kRunning, RunState::kHeld},
                   .since = rows.front().key.fire,
                   .until = rows.back().key.fire + Duration(1),
                   .oldest_first = true,
                   .limit = kRunsPerRead};
  for (size_t read = 0; read < kRunsReadMax; read += kRunsPerRead) {
    CARILLON_ASSIGN_OR_RETURN(RunPage page, call.stores.runs.ListRuns(filter, now));
    const bool full = page.runs.size() == filter.limit;
    if (full) filter.before = page.runs.back().row.key;
    for (RunDetail& run : page.runs) details.emplace(run.row.key, std::move(run));
    if (!full) break;
  }
  return details;
}

// The runs as lists of runs show them, in the state in which the queue was read.
Outcome<json> ShowRuns(const Call& call, const StoredJob& job, const std::vector<RunRow>& rows,
                       WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(const auto details, ReadDetails(call, job.job_id, rows, now));
  json runs = json::array();
  for (const RunRow& row : rows) {
    RunDetail run{.row = row, .job_id = job.job_id, .job_name = job.definition.name};
    const auto found = details.find(row.key);
    if (found != details.end()) {
      run = found->second;
      run.row = row;
    }
    runs.push_back(RunToJson(run, false));
  }
  return runs;
}

}  // namespace

Reply GetJobQueue(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const JobId id, PathJobId(call));
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {"limit"}));
  CARILLON_ASSIGN_OR_RETURN(const auto limit,
                            query.Number("limit", {.low = 1, .high = kQueuedMax}));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  const auto job = call.stores.jobs.GetJob(id);
  if (!job.ok()) return Explain(call, id, job.error());
  CARILLON_ASSIGN_OR_RETURN(
      const JobQueue queue,
      call.stores.queues.ReadQueue(id, static_cast<size_t>(limit.value_or(kQueuedDefault))));
  json body = {{"overlap_policy", Name(job->definition.overlap_policy)},
               {"max_running", job->definition.max_running},
               {"queue_max", job->definition.queue_max},
               {"length", queue.length}};
  CARILLON_ASSIGN_OR_RETURN(body["holders"], ShowRuns(call, *job, queue.holders, now));
  CARILLON_ASSIGN_OR_RETURN(body["queued"], ShowRuns(call, *job, queue.queued, now));
  return JsonResponse(200, body);
}

}  // namespace carillon::scheduler
