// SQL of a JobFilter on the table `jobs j`: its conditions, its order,
// and the rows after its cursor.
#pragma once

#include <string>
#include <string_view>

#include "common/adapters/mysql/client/conditions.h"
#include "common/ports/store/job_store.h"

namespace carillon::mysql {

struct JobConditions {
  Conditions within;  // ranges of an index, or conditions that nearly all jobs meet
  Conditions wanted;  // checked in each row
};
// Returns the conditions without the cursor. They refer to the texts of the filter, which must
// outlive them.
JobConditions ConditionsOf(const JobFilter& filter);
// Returns the column of `jobs` that the order sorts by first; the job_id comes second.
std::string_view ColumnOf(JobOrder order);
// Adds the condition that the name or the job_id contains `text`, which must outlive `conditions`.
void AddNameContains(Conditions& conditions, const std::string& text, std::string_view table = "j");

// Adds a bound in the filter's order: strictly after `place`, or up to and including it. `place`
// must outlive the conditions.
enum class Side { kBehind, kUpTo };
void AddSide(Conditions& conditions, const JobFilter& filter, const JobListPlace& place, Side side,
             std::string_view table = "j");

// Returns the columns of ORDER BY.
std::string OrderOf(const JobFilter& filter, std::string_view table);

struct JobOrdering {
  std::string from = "jobs j";      // the table, with the index that has this order, if any
  std::string walked = {};          // columns that sort the rows of `from`; empty = as `listed`
  std::string listed = "j.job_id";  // columns that sort a page
};
// Returns the ordering of a filter that does not search.
JobOrdering OrderingOf(const JobFilter& filter);

}  // namespace carillon::mysql
