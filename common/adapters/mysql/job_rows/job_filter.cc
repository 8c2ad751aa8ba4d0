#include "common/adapters/mysql/job_rows/job_filter.h"

#include <fmt/core.h>

namespace carillon::mysql {
namespace {

constexpr std::string_view kTimeParam = "TIMESTAMPADD(MICROSECOND, ?, '1970-01-01 00:00:00')";

// Returns the index that yields jobs in the filter's order; "" if the database should sort the
// jobs. If the filter names namespaces, sorting costs less than reading all jobs in order. The
// exception is one namespace in the order of names, for which there is an index.
std::string_view IndexOf(const JobFilter& filter) {
  if (filter.order == JobOrder::kName) {
    if (filter.namespaces.size() == 1) return "by_full_name";
    return filter.namespaces.empty() ? "by_name" : "";
  }
  if (!filter.namespaces.empty()) return "";
  if (filter.order == JobOrder::kCreated) return "by_create_time";
  return filter.order == JobOrder::kUpdated ? "by_update_time" : "";
}

}  // namespace

std::string_view ColumnOf(JobOrder order) {
  switch (order) {
    case JobOrder::kName: return "name";
    case JobOrder::kCreated: return "create_time";
    case JobOrder::kUpdated: return "update_time";
    case JobOrder::kJobId: break;
  }
  return "job_id";
}

void AddNameContains(Conditions& conditions, const std::string& text, std::string_view table) {
  conditions.Add(fmt::format("(LOCATE(LOWER(?), LOWER({0}.name)) > 0 OR "
                             "LOCATE(LOWER(?), CONVERT({0}.job_id USING utf8mb4)) > 0)",
                             table),
                 {text, text});
}

JobConditions ConditionsOf(const JobFilter& filter, const JobAliases& aliases) {
  // Names every field, so that this does not compile until a new field has its condition. Order,
  // cursor, bounds and what is shown of unreadable jobs are no conditions.
  const auto& [enabled, paused_by_failures, user_id, namespaces, name, name_contains, type, order,
               descending, after, limit, unreadable, search_max] = filter;
  JobConditions conditions;
  if (!namespaces.empty()) {
    conditions.namespaces.AddAnyOf(fmt::format("{}.namespace", aliases.namespaces), namespaces);
  }
  if (!name_contains.empty()) AddNameContains(conditions.names, name_contains, aliases.names);
  Conditions& others = conditions.others;
  if (enabled) others.Add("j.enabled = ?", {int64_t{*enabled}});
  if (paused_by_failures) others.Add("j.enabled = 0 AND j.flags & 2");
  if (type) others.Add("j.type = ?", {Name(*type)});
  if (user_id) others.Add("j.user_id = ?", {*user_id});
  if (!name.empty()) {
    // LENGTH is compared too, because text comparison ignores trailing spaces.
    others.Add("j.name = ? AND LENGTH(j.name) = ?", {name, static_cast<uint64_t>(name.size())});
  }
  return conditions;
}

void AddSide(Conditions& conditions, const JobFilter& filter, const JobListPlace& place, Side side,
             std::string_view table) {
  const bool greater = (side == Side::kBehind) != filter.descending;
  const char* beyond = greater ? ">" : "<";
  const char* equal = side == Side::kUpTo ? "=" : "";
  if (filter.order == JobOrder::kJobId) {
    conditions.Add(fmt::format("{}.job_id {}{} ?", table, beyond, equal), {place.job_id});
    return;
  }
  const bool by_name = filter.order == JobOrder::kName;
  const Param key = by_name ? Param(std::string_view(place.name)) : Param(ToUnixMicros(place.time));
  // Two ranges of the index: the remaining rows with the place's key, and the rows beyond that key.
  conditions.Add(fmt::format("(({0}.{1} = {4} AND {0}.job_id {2}{3} ?) OR {0}.{1} {2} {4})", table,
                             ColumnOf(filter.order), beyond, equal, by_name ? "?" : kTimeParam),
                 {key, place.job_id, key});
}

std::string OrderOf(const JobFilter& filter, std::string_view table) {
  const char* direction = filter.descending ? " DESC" : "";
  std::string columns;
  if (filter.order != JobOrder::kJobId) {
    columns = fmt::format("{}.{}{}, ", table, ColumnOf(filter.order), direction);
  }
  return columns + fmt::format("{}.job_id{}", table, direction);
}

JobOrdering OrderingOf(const JobFilter& filter) {
  JobOrdering ordering{.listed = OrderOf(filter, "j")};
  // Forces no index for an exact name: few jobs have that name, and a walk along an index would
  // read every other job too.
  const std::string_view index = filter.name.empty() ? IndexOf(filter) : "";
  if (!index.empty()) ordering.from += fmt::format(" FORCE INDEX ({})", index);
  return ordering;
}

}  // namespace carillon::mysql
