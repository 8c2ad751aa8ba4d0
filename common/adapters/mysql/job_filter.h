// The conditions of a JobFilter on the table `jobs j`.
#pragma once

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

}  // namespace carillon::mysql
