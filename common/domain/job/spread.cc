#include "common/domain/job/spread.h"

#include <algorithm>

#include "common/base/stable_hash.h"
#include "common/domain/cron/cron.h"

namespace carillon {

uint64_t SpreadSeed(const JobId& id) {
  return std::max<uint64_t>(MixBits(StableHash(id.value())) & static_cast<uint64_t>(INT64_MAX), 1);
}

void SetSpread(JobDefinition& job, const JobId& id) {
  for (ScheduleSpec& spec : job.schedules) {
    const bool spread = spec.kind == ScheduleKind::kCron && UsesSpread(spec.cron_expression);
    spec.spread = spread ? SpreadSeed(id) : 0;
  }
}

JobDefinition WithSpread(JobDefinition job, const JobId& id) {
  SetSpread(job, id);
  return job;
}

}  // namespace carillon
