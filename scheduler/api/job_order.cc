#include "scheduler/api/job_order.h"

#include "scheduler/api/sort.h"

namespace carillon::scheduler {
namespace {

constexpr char kDivider = '\n';  // between a cursor's job_id and what the list is sorted by

JobOrder OrderOf(const std::string& by) {
  if (by == "name") return JobOrder::kName;
  if (by == "create_time") return JobOrder::kCreated;
  return by == "update_time" ? JobOrder::kUpdated : JobOrder::kJobId;
}

}  // namespace

Outcome<JobFilter> WithOrder(JobFilter filter, const Query& query, const Page& page) {
  CARILLON_ASSIGN_OR_RETURN(const auto sort,
                            ReadSort(query, {"job_id", "name", "create_time", "update_time"}));
  if (sort) {
    filter.order = OrderOf(sort->by);
    filter.descending = sort->descending;
  }
  const std::string& cursor = page.cursor();
  if (cursor.empty()) return filter;
  const size_t divider = cursor.find(kDivider);
  const bool by_id = filter.order == JobOrder::kJobId;
  if (by_id != (divider == std::string::npos)) return BadPageToken();
  filter.after_job_id = cursor.substr(0, divider);
  if (!ValidateJobId(filter.after_job_id).ok()) return BadPageToken();
  if (by_id) return filter;
  const std::string key = cursor.substr(divider + 1);
  if (filter.order == JobOrder::kName) {
    filter.after_name = key;
    return filter;
  }
  const auto micros = ParseCursor(key);
  if (!micros || *micros > static_cast<uint64_t>(ToUnixMicros(kNever))) return BadPageToken();
  filter.after_time = FromUnixMicros(static_cast<int64_t>(*micros));
  return filter;
}

std::string JobCursor(const JobFilter& filter, const StoredJob& job) {
  const std::string& id = job.job_id.value();
  switch (filter.order) {
    case JobOrder::kName: return id + kDivider + job.definition.name;
    case JobOrder::kCreated: return id + kDivider + std::to_string(ToUnixMicros(job.created));
    case JobOrder::kUpdated: return id + kDivider + std::to_string(ToUnixMicros(job.updated));
    case JobOrder::kJobId: break;
  }
  return id;
}

void GoOnAfter(JobFilter& filter, const StoredJob& job) {
  filter.after_job_id = job.job_id.value();
  filter.after_name = job.definition.name;
  filter.after_time = filter.order == JobOrder::kCreated ? job.created : job.updated;
}

}  // namespace carillon::scheduler
