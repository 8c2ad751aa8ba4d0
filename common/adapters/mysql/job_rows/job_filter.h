// SQL of a JobFilter on the table `jobs j`: its conditions, its order,
// and the rows after its cursor.
#pragma once

#include <string>
#include <string_view>

#include "common/adapters/mysql/client/conditions.h"
#include "common/ports/store/job_store.h"

namespace carillon::mysql {

// The aliases of `jobs` that the conditions name. A walk along an index that has a column checks
// that column in the entries of the index.
struct JobAliases {
  std::string_view namespaces = "j";
  std::string_view names = "j";
};
struct JobConditions {
  Conditions namespaces;  // of the namespaces; may be the range of an index
  Conditions names;       // of name_contains
  Conditions others;      // of `jobs j`, checked in each row
};
// Returns all conditions of the filter, without the cursor. Every list and every count of jobs uses
// them. They refer to the texts of the filter, which must outlive them.
JobConditions ConditionsOf(const JobFilter& filter, const JobAliases& aliases = {});
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
  bool unreadable = false;          // with jobs whose definition cannot be read
};
// Returns the ordering of a filter that does not search.
JobOrdering OrderingOf(const JobFilter& filter);

}  // namespace carillon::mysql
