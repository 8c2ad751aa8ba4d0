#include "cli/jobs/last_runs.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/domain/run/run.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr size_t kJobsPerRequest = 100;  // the limit of /api/recent-runs

std::optional<WallTime> TimeIn(const json& run, const char* member) {
  const json value = run.value(member, json());
  if (!value.is_string()) return {};
  const auto time = ParseRfc3339(value.get_ref<const std::string&>());
  return time.ok() ? std::optional(*time) : std::nullopt;
}

// Returns how long the run took, or for how long it has been running.
json DurationOf(const json& run, WallTime now) {
  const auto started = TimeIn(run, "started_at");
  if (!started) return nullptr;
  const WallTime until = TimeIn(run, "ended_at").value_or(now);
  // The clock of this machine may be behind the server's.
  return DurationText(std::max(until - *started, Duration::zero()));
}

std::string ResultOf(const json& run) {
  const std::string state = run.value("state", "");
  if (state == Name(RunState::kRunning)) return "running";
  return state == Name(RunState::kPending) ? "pending" : state;
}

// Returns the last run of each job by the job's ID.
Outcome<std::map<std::string, json>> ReadLastRuns(Session& session, const json& jobs) {
  std::map<std::string, json> last;
  for (size_t begin = 0; begin < jobs.size(); begin += kJobsPerRequest) {
    ApiRequest request{.path = "/api/recent-runs", .query = {{"n", "1"}}};
    for (size_t i = begin; i < std::min(begin + kJobsPerRequest, jobs.size()); ++i) {
      request.query.emplace_back("job_id", jobs[i].value("job_id", ""));
    }
    CARILLON_ASSIGN_OR_RETURN(ApiResponse answer, session.Call(request));
    if (!answer.body.is_object() || !answer.body.value("items", json()).is_array()) {
      return Failure{.message = "unexpected answer from the server: not a list",
                     .code = "bad_answer"};
    }
    for (json& job : answer.body["items"]) {
      json runs = job.value("runs", json::array());
      if (runs.is_array() && !runs.empty()) last[job.value("job_id", "")] = std::move(runs[0]);
    }
  }
  return last;
}

}  // namespace

const View& JobListView() {
  static const View view = [] {
    View with_runs = JobView();
    with_runs.columns.push_back({"LAST RESULT", "last_result"});
    with_runs.columns.push_back({"DURATION", "last_duration"});
    return with_runs;
  }();
  return view;
}

void AddLastRuns(Session& session, json& jobs) {
  if (jobs.empty()) return;
  const auto last = ReadLastRuns(session, jobs);
  if (!last.ok()) {
    session.Say("The last results are missing: " + last.error().message + " (" + last.error().code +
                ")");
    return;
  }
  const WallTime now = session.host().clock.Wall();
  for (json& job : jobs) {
    const auto found = last->find(job.value("job_id", ""));
    if (found == last->end()) continue;
    job["last_result"] = ResultOf(found->second);
    job["last_duration"] = DurationOf(found->second, now);
  }
}

std::string DurationText(Duration time) {
  constexpr int64_t kMinute = 60;
  constexpr int64_t kHour = 60 * kMinute;
  constexpr int64_t kDay = 24 * kHour;
  const int64_t seconds = time / 1s;
  if (time < 1s) return fmt::format("{:.2f}s", static_cast<double>(time / 10ms) / 100);
  if (seconds < kMinute) return fmt::format("{:.1f}s", static_cast<double>(time / 100ms) / 10);
  if (seconds < kHour) return fmt::format("{}m {:02}s", seconds / kMinute, seconds % kMinute);
  if (seconds < kDay) {
    return fmt::format("{}h {:02}m", seconds / kHour, seconds % kHour / kMinute);
  }
  return fmt::format("{}d {:02}h", seconds / kDay, seconds % kDay / kHour);
}

}  // namespace carillon::cli
