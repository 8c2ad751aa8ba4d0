#include "scheduler/api/jobs/dependency_routes.h"

#include <nlohmann/json.hpp>

#include "scheduler/api/call/path_ids.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

json ListOf(const std::vector<JobDependency>& jobs) {
  json list = json::array();
  for (const JobDependency& job : jobs) {
    const bool node = job.kind == DependencyKind::kNode;
    json one = {{"job_id", job.job_id.value()},
                {"job_name", job.job_name},
                {"kind", Name(job.kind)},
                {"on", node ? json(nullptr) : json(Name(job.on))}};
    if (job.deleted) one["deleted"] = true;
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

// Whoever may read one job may read all of them, so nothing is hidden at present.
Reply GetJobDependencies(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const JobId id, PathJobId(call));
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {}));
  CARILLON_ASSIGN_OR_RETURN(const JobDependencies found, call.stores.jobs.ListDependencies(id));
  return JsonResponse(200, {{"upstream", ListOf(found.upstream)},
                            {"downstream", ListOf(found.downstream)},
                            {"hidden", 0}});
}

}  // namespace carillon::scheduler
