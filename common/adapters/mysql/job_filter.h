// A JobFilter on the table `jobs j`: its conditions, its order, and what is behind its cursor.
#pragma once

#include <string>

#include "common/adapters/mysql/conditions.h"
#include "common/ports/job_store.h"

namespace carillon::mysql {

struct JobConditions {
  Conditions
      within;  // an index has these in the order of the list, or nearly each job fulfils them
  Conditions wanted;  // looked at in each row
};
// Without the cursor. The texts are the filter's, which outlives them.
JobConditions ConditionsOf(const JobFilter& filter);
// Has `text`, which outlives the conditions, in its name or job_id.
void AddNameContains(Conditions& conditions, const std::string& text);
// What comes after the page that ended at the filter's cursor.
Conditions BehindCursor(const JobFilter& filter);

struct JobOrdering {
  std::string index = {};  // that has this order; empty: the optimizer picks one
  std::string columns = "j.job_id";
};
JobOrdering OrderingOf(const JobFilter& filter);

}  // namespace carillon::mysql
