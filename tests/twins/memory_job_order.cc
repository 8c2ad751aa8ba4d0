#include "tests/twins/memory_job_order.h"

#include <algorithm>
#include <utility>

namespace carillon::memory {

bool Matches(const JobEntry& job, const JobFilter& filter) {
  if (filter.enabled && job.definition.enabled != *filter.enabled) return false;
  if (filter.paused_by_failures && (job.definition.enabled || !job.paused_by_failures))
    return false;
  if (filter.type && job.definition.type != *filter.type) return false;
  if (filter.user_id && job.definition.user_id != *filter.user_id) return false;
  if (!filter.name.empty() && job.definition.name != filter.name) return false;
  return NameContains(job, filter.name_contains);
}

OrderKey KeyOf(JobOrder order, JobListPlace place) {
  place.name.erase(place.name.find_last_not_of(' ') + 1);
  if (order != JobOrder::kName) place.name.clear();
  const bool by_time = order == JobOrder::kCreated || order == JobOrder::kUpdated;
  return {std::move(place.name), by_time ? place.time : WallTime{}, std::move(place.job_id)};
}

JobListPlace PlaceOf(const JobEntry& job, JobOrder order) {
  return {.job_id = job.id.value(),
          .name = job.definition.name,
          .time = order == JobOrder::kCreated ? job.created : job.updated};
}

bool IsWithin(const JobEntry& job, const JobFilter& filter) {
  const auto& spaces = filter.namespaces;
  return !job.deleted && (spaces.empty() || std::find(spaces.begin(), spaces.end(),
                                                      job.definition.name_space) != spaces.end());
}

StoredJob ColumnsOf(const JobEntry& job) {
  StoredJob stored{.job_no = job.job_no,
                   .job_id = job.id,
                   .segment = job.segment,
                   .version = job.version,
                   .definition = {},
                   .schedules = {},
                   .pause_reason = job.pause_reason,
                   .created = job.created,
                   .updated = job.updated,
                   .problem = UnreadableSentence(job.id, job.version, "it was damaged"),
                   .paused_by_failures = job.paused_by_failures};
  JobDefinition& definition = stored.definition;
  definition.name = job.definition.name;
  definition.name_space = job.definition.name_space;
  definition.user_id = job.definition.user_id;
  definition.type = job.definition.type;
  definition.enabled = job.definition.enabled;
  return stored;
}

JobHead HeadOf(const JobEntry& job) {
  return {.job_no = job.job_no,
          .segment = job.segment,
          .version = job.version,
          .user_id = job.definition.user_id,
          .name_space = job.definition.name_space,
          .enabled = job.definition.enabled,
          .deleted = job.deleted,
          .name = job.definition.name,
          .type = job.definition.type,
          .pause_reason = job.pause_reason,
          .created = job.created,
          .updated = job.updated};
}

}  // namespace carillon::memory
