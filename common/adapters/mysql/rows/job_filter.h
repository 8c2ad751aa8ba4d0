// A JobFilter on the table `jobs j`: its conditions, its order, and what is behind its cursor.
#pragma once

#include <string>
#include <string_view>

#include "common/adapters/mysql/client/conditions.h"
#include "common/ports/store/job_store.h"

namespace carillon::mysql {

struct JobConditions {
  Conditions
      within;  // an index has these in the order of the list, or nearly each job fulfils them
  Conditions wanted;  // looked at in each row
};
// Without the cursor. The texts are the filter's, which outlives them.
JobConditions ConditionsOf(const JobFilter& filter);
// The column of `jobs` that the order goes by before the job_id.
std::string_view ColumnOf(JobOrder order);
// Has `text`, which outlives the conditions, in its name or job_id.
void AddNameContains(Conditions& conditions, const std::string& text, std::string_view table = "j");

// In the filter's order: strictly behind a place, or up
// to it and with it. The place outlives the conditions.
enum class Side { kBehind, kUpTo };
void AddSide(Conditions& conditions, const JobFilter& filter, const JobListPlace& place, Side side,
             std::string_view table = "j");

// The columns that the order sorts by.
std::string OrderOf(const JobFilter& filter, std::string_view table);

struct JobOrdering {
  std::string from = "jobs j";      // with what gives this order, if something does
  std::string walked = {};          // the columns to sort by there; empty = as `listed`
  std::string listed = "j.job_id";  // those of a page
};
// Of a filter that does not search.
JobOrdering OrderingOf(const JobFilter& filter);

}  // namespace carillon::mysql
