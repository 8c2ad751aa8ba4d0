#include "common/adapters/mysql/runs/recent_runs.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "common/adapters/mysql/client/conditions.h"
#include "common/adapters/mysql/run_rows/run_details.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/domain/run_id.h"

namespace carillon::mysql {
namespace {

using JobNumbers = std::unordered_map<std::string, uint64_t>;

Result<JobNumbers> ReadJobNumbers(Session& session, const std::vector<JobId>& job_ids) {
  std::vector<std::string> ids;
  for (const JobId& id : job_ids) ids.push_back(id.value());
  Conditions where;
  where.AddAnyOf("j.job_id", ids);
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT j.job_id, j.job_no FROM jobs j WHERE j.deleted = 0 AND " + where.text(),
                    where.params()));
  JobNumbers numbers;
  while (rows.Next()) numbers[rows.Text(1)] = rows.Unsigned(2);
  return numbers;
}

void AddRun(Session& session, const Rows& rows, std::string_view table,
            std::vector<RunSummary>& runs) {
  const RunKey key{rows.Time(1), ScheduleId(rows.Unsigned(2)),
                   static_cast<uint32_t>(rows.Unsigned(3))};
  const std::optional<RunState> state = StateOf(rows.Int(4));
  if (!state) {
    session.NoteUnreadable(table, EncodeRunId(key), "unknown state");
    return;
  }
  runs.push_back({.key = key, .state = *state, .started = rows.Time(5), .ended = rows.Time(6)});
}

Result<std::vector<RunSummary>> ReadLast(Session& session, uint64_t job_no,
                                         const RecentFilter& filter) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(fmt::format("SELECT r.fire_us, r.schedule_id, r.shard, r.state + 0, "
                                "r.started_us, r.ended_us FROM job_runs r FORCE INDEX (by_job) "
                                "WHERE r.job_no = ? AND r.fire_us <= ? AND r.shard = 0 ORDER BY {} "
                                "LIMIT ?",
                                RunOrder(false)),
                    {job_no, ToUnixMicros(filter.until), static_cast<uint64_t>(filter.runs_max)}));
  std::vector<RunSummary> runs;
  while (rows.Next()) AddRun(session, rows, "job_runs", runs);
  return runs;
}

// By job: its runs that are only kept, of which there are few.
Result<std::unordered_map<uint64_t, std::vector<RunSummary>>> ReadOnlyKept(
    Session& session, const JobNumbers& numbers, const RecentFilter& filter) {
  std::unordered_map<uint64_t, std::vector<RunSummary>> kept;
  if (numbers.empty()) return kept;
  std::vector<uint64_t> wanted;
  for (const auto& [id, number] : numbers) wanted.push_back(number);
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(fmt::format("SELECT r.fire_us, r.schedule_id, r.shard, r.state + 0, "
                                "r.started_us, r.ended_us, r.job_no FROM {} r FORCE INDEX (by_job) "
                                "WHERE r.job_no IN ({}) AND r.fire_us <= ? AND {}",
                                kKeptRuns, fmt::join(wanted, ", "), kIsOnlyKept),
                    {ToUnixMicros(filter.until)}));
  while (rows.Next()) AddRun(session, rows, kKeptRuns, kept[rows.Unsigned(7)]);
  return kept;
}

void MergeRuns(std::vector<RunSummary> more, size_t runs_max, std::vector<RunSummary>& runs) {
  std::move(more.begin(), more.end(), std::back_inserter(runs));
  std::sort(runs.begin(), runs.end(),
            [](const RunSummary& a, const RunSummary& b) { return b.key < a.key; });
  const auto again =
      std::unique(runs.begin(), runs.end(),
                  [](const RunSummary& a, const RunSummary& b) { return a.key == b.key; });
  runs.erase(again, runs.end());
  if (runs.size() > runs_max) runs.resize(runs_max);
}

}  // namespace

Result<std::vector<RecentRuns>> ReadRecentRuns(Session& session, const RecentFilter& filter) {
  CARILLON_ASSIGN_OR_RETURN(const JobNumbers numbers, ReadJobNumbers(session, filter.job_ids));
  std::vector<RecentRuns> recent;
  for (const JobId& id : filter.job_ids) {
    const auto number = numbers.find(id.value());
    if (number == numbers.end()) continue;
    CARILLON_ASSIGN_OR_RETURN(auto runs, ReadLast(session, number->second, filter));
    recent.push_back({id, std::move(runs)});
  }
  // After the others, so that a run whose day is dropped between the two is found here.
  CARILLON_ASSIGN_OR_RETURN(auto kept, ReadOnlyKept(session, numbers, filter));
  for (RecentRuns& job : recent) {
    const auto found = kept.find(numbers.at(job.job_id.value()));
    if (found == kept.end()) continue;
    MergeRuns(std::move(found->second), filter.runs_max, job.runs);
  }
  return recent;
}

}  // namespace carillon::mysql
