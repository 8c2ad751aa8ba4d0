#include "common/adapters/mysql/job_filter.h"

#include <fmt/core.h>

namespace carillon::mysql {
namespace {

constexpr std::string_view kTimeParam = "TIMESTAMPADD(MICROSECOND, ?, '1970-01-01 00:00:00')";

std::string_view ColumnOf(JobOrder order) {
  switch (order) {
    case JobOrder::kName: return "j.name";
    case JobOrder::kCreated: return "j.create_time";
    case JobOrder::kUpdated: return "j.update_time";
    case JobOrder::kJobId: break;
  }
  return "j.job_id";
}

// None for what finds a namespace's jobs: sorting those is less than going through all jobs.
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

void AddNameContains(Conditions& conditions, const std::string& text) {
  conditions.Add(
      "(LOCATE(LOWER(?), LOWER(j.name)) > 0 OR "
      "LOCATE(LOWER(?), CONVERT(j.job_id USING utf8mb4)) > 0)",
      {text, text});
}

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
  if (!filter.name_contains.empty()) AddNameContains(wanted, filter.name_contains);
  return conditions;
}

Conditions BehindCursor(const JobFilter& filter) {
  Conditions behind;
  if (filter.after_job_id.empty()) return behind;
  const char* beyond = filter.descending ? "<" : ">";
  if (filter.order == JobOrder::kJobId) {
    behind.Add(fmt::format("j.job_id {} ?", beyond), {filter.after_job_id});
    return behind;
  }
  const bool by_name = filter.order == JobOrder::kName;
  const Param key =
      by_name ? Param(std::string_view(filter.after_name)) : Param(ToUnixMicros(filter.after_time));
  // Two ranges of the index, of which the first has those that are equal.
  behind.Add(fmt::format("(({0} = {2} AND j.job_id {1} ?) OR {0} {1} {2})", ColumnOf(filter.order),
                         beyond, by_name ? "?" : kTimeParam),
             {key, filter.after_job_id, key});
  return behind;
}

JobOrdering OrderingOf(const JobFilter& filter) {
  const char* direction = filter.descending ? " DESC" : "";
  JobOrdering ordering{.index = {}, .columns = {}};
  // Where few may be wanted, each job that is not would cost a look-up in the order of an index.
  if (ConditionsOf(filter).wanted.empty()) ordering.index = IndexOf(filter);
  if (filter.order != JobOrder::kJobId) {
    ordering.columns = fmt::format("{}{}, ", ColumnOf(filter.order), direction);
  }
  ordering.columns += fmt::format("j.job_id{}", direction);
  return ordering;
}

}  // namespace carillon::mysql
