#include "common/adapters/mysql/runs/gap_filter.h"

namespace carillon::mysql {

Conditions GapsOfJob(const GapFilter& filter) {
  Conditions conditions;
  if (filter.job_id) {
    conditions.Add("g.job_no = (SELECT x.job_no FROM jobs x WHERE x.job_id = ?)",
                   {filter.job_id->value()});
  }
  return conditions;
}

Conditions GapsEndingSince(const GapFilter& filter) {
  Conditions conditions;
  if (filter.since) conditions.Add("g.to_us >= ?", {ToUnixMicros(*filter.since)});
  return conditions;
}

Conditions OtherwiseOfGaps(const GapFilter& filter) {
  Conditions conditions;
  if (filter.until) conditions.Add("g.from_us < ?", {ToUnixMicros(*filter.until)});
  if (filter.reasons.empty()) return conditions;
  Conditions any;
  for (const GapReason reason : filter.reasons) any.Or("g.reason = ?", {Name(reason)});
  conditions.Add(any);
  return conditions;
}

}  // namespace carillon::mysql
