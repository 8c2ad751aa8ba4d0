// Handler of /api/runs/{}/shards, and what other handlers say and read of the parts of runs.
// scheduler/openapi/openapi.yaml describes each.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "common/domain/parts/part_retry.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply GetRunShards(const Call& call);

// The member `shards` of a retry: "failed", "all", or a list of indexes. nullopt if it is absent.
Outcome<std::optional<PartChoice>> ReadPartChoice(const nlohmann::json& body);

// True for a run that began with no parts, which is its success.
bool HadZeroShards(const RunDetail& run);

// True if the run has parts to be counted.
bool HasCounts(const RunDetail& run);
// The numbers of parts of each of these own runs by state, as members of objects; by run.
// Without any own run nothing is read.
Outcome<std::map<RunKey, nlohmann::json>> CountsOfParts(const Call& call,
                                                        const std::vector<RunKey>& owns);

// True if a retry may repeat parts of this own run, as far as that can be said beforehand: only the
// retry itself asks for the slot of the job, for the rights of the people behind the run, and for
// what edits have taken from it (lost_facts.h).
bool MayRetryParts(const RunDetail& own, bool job_deleted);

}  // namespace carillon::scheduler
