#include "scheduler/api/jobs/apply_routes.h"

#include <fmt/core.h>

#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/jobs/job_applier.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

Outcome<ApplyOptions> ReadOptions(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(
      const Query query,
      Query::Read(call.request, {"dry_run", "only_new", "prune", "selector", "namespace"}));
  CARILLON_ASSIGN_OR_RETURN(const bool dry_run, query.Flag("dry_run"));
  CARILLON_ASSIGN_OR_RETURN(const bool only_new, query.Flag("only_new"));
  CARILLON_ASSIGN_OR_RETURN(const bool prune, query.Flag("prune"));
  CARILLON_ASSIGN_OR_RETURN(auto selector, ReadSelector(query));
  if (prune && !selector) {
    return InvalidField("?selector", "missing", "prune requires a selector, e.g. team = etl.");
  }
  if (!prune && selector) {
    return InvalidField("?selector", "unused", "selector requires prune=true.");
  }
  if (prune && only_new) {
    return InvalidField("?only_new", "invalid", "It cannot be combined with prune.");
  }
  const auto name_space = query.Text("namespace");
  if (name_space && !IsNamespace(*name_space)) return BadNamespace("?namespace");
  return ApplyOptions{.dry_run = dry_run,
                      .only_new = only_new,
                      .prune = std::move(selector),
                      .name_space = name_space};
}

}  // namespace

Reply ApplyJobs(const Call& call) {
  call.note.told = true;  // each item has an audit record
  CARILLON_ASSIGN_OR_RETURN(ApplyOptions options, ReadOptions(call));
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadJson(call.request, Body::kRequired));
  if (!body.is_array()) {
    return InvalidField("", "wrong_type", "The body must be a list of jobs.");
  }
  if (body.size() > kApplyItemsMax) {
    return InvalidField("", "too_many",
                        fmt::format("At most {} jobs are allowed in one list; this one has {}.",
                                    kApplyItemsMax, body.size()));
  }
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  JobApplier applier(call, std::move(options), now);
  CARILLON_ASSIGN_OR_RETURN(const json applied, applier.Apply(body));
  return JsonResponse(200, applied);
}

}  // namespace carillon::scheduler
