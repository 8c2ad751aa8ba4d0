#include "scheduler/api/jobs/apply_effects.h"

#include <nlohmann/json.hpp>

#include "scheduler/api/call/ownership.h"
#include "scheduler/api/jobs/apply_order.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kPruneBatch = 500;

}  // namespace

JobId FirstIdOf(const std::string& name_space, const std::string& name) {
  const bool elsewhere = name_space != kDefaultNamespace;
  return Identifiers::JobIdForKey(name, "apply " + (elsewhere ? name_space + "/" : "") + name);
}

Outcome<std::optional<int64_t>> VersionOf(const nlohmann::json& document) {
  const auto found = document.find("version");
  if (found == document.end() || found->is_null()) return std::optional<int64_t>();
  return NumberMember(document, "version", {.low = 1, .high = INT64_MAX - 1});
}

std::optional<size_t> DocumentIndex::Find(const StoredJob& job) const {
  if (const auto found = by_id_.find(job.job_id.value()); found != by_id_.end()) {
    return found->second;
  }
  const auto found = by_name_.find({job.definition.name_space, job.definition.name});
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

bool IsToPrune(const Call& call, const ApplyOptions& options, const StoredJob& job) {
  const JobDefinition& definition = job.definition;
  if (!options.prune || !options.prune->Matches(definition.labels)) return false;
  if (options.name_space && definition.name_space != *options.name_space) return false;
  // Shared jobs are deleted only if the request names their namespace. Otherwise a new share would
  // make existing pipelines of the user delete more jobs than before.
  const bool own_only = !call.owns_all && !options.name_space;
  if (own_only && definition.user_id != call.caller.user_id) return false;
  return call.owns_all || MayAct(call.caller, ScopeOf(definition));
}

Result<UnlistedJobs> FindUnlisted(const Call& call, const ApplyOptions& options,
                                  const std::set<std::string>& documented) {
  UnlistedJobs unlisted;
  JobFilter filter{.limit = kPruneBatch};
  if (options.name_space) filter.namespaces = {*options.name_space};
  if (!call.owns_all && !options.name_space) filter.user_id = call.caller.user_id;
  for (size_t seen = 0; seen < kPruneScanMax;) {
    CARILLON_ASSIGN_OR_RETURN(const JobPage page, call.stores.jobs.ListJobs(filter));
    for (const StoredJob& job : page.jobs) {
      const bool listed = documented.contains(job.job_id.value());
      if (!listed && IsToPrune(call, options, job)) unlisted.jobs.push_back(OutlineOf(job));
    }
    filter.after = PlaceAfter(page, filter);
    unlisted.complete = !filter.after;
    if (!filter.after) break;
    seen += page.jobs.size();
  }
  return unlisted;
}

}  // namespace carillon::scheduler
