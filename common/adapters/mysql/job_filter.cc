#include "common/adapters/mysql/job_filter.h"

namespace carillon::mysql {

JobConditions ConditionsOf(const JobFilter& filter) {
  JobConditions conditions;
  conditions.within.Add("j.deleted = 0");
  if (!filter.namespaces.empty()) conditions.within.AddAnyOf("j.namespace", filter.namespaces);
  Conditions& wanted = conditions.wanted;
  if (filter.enabled) wanted.Add("j.enabled = ?", {int64_t{*filter.enabled}});
  if (filter.user_id) wanted.Add("j.user_id = ?", {*filter.user_id});
  if (!filter.name.empty()) {
    // LENGTH, since the comparison of texts does not mind blanks at their ends.
    wanted.Add("j.name = ? AND LENGTH(j.name) = ?",
               {filter.name, static_cast<uint64_t>(filter.name.size())});
  }
  if (!filter.name_contains.empty()) {
    wanted.Add(
        "(LOCATE(LOWER(?), LOWER(j.name)) > 0 OR "
        "LOCATE(LOWER(?), CONVERT(j.job_id USING utf8mb4)) > 0)",
        {filter.name_contains, filter.name_contains});
  }
  return conditions;
}

}  // namespace carillon::mysql
