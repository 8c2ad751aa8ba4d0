#include "scheduler/api/jobs/job_order.h"

#include "scheduler/api/http/sort.h"

namespace carillon::scheduler {
namespace {

constexpr char kDivider = '\n';  // in a cursor, between the job_id and the value of the sort field

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
  JobListPlace place{.job_id = cursor.substr(0, divider)};
  if (!ValidateJobId(place.job_id).ok()) return BadPageToken();
  const std::string key = by_id ? "" : cursor.substr(divider + 1);
  if (filter.order == JobOrder::kName) {
    place.name = key;
  } else if (!by_id) {
    const auto micros = ParseCursor(key);
    if (!micros || *micros > static_cast<uint64_t>(ToUnixMicros(kNever))) return BadPageToken();
    place.time = FromUnixMicros(static_cast<int64_t>(*micros));
  }
  filter.after = std::move(place);
  return filter;
}

std::string JobCursor(const JobFilter& filter, const JobListPlace& place) {
  switch (filter.order) {
    case JobOrder::kName: return place.job_id + kDivider + place.name;
    case JobOrder::kCreated:
    case JobOrder::kUpdated:
      return place.job_id + kDivider + std::to_string(ToUnixMicros(place.time));
    case JobOrder::kJobId: break;
  }
  return place.job_id;
}

std::string JobCursor(const JobFilter& filter, const StoredJob& job) {
  return JobCursor(filter, PlaceOf(filter.order, job));
}

}  // namespace carillon::scheduler
