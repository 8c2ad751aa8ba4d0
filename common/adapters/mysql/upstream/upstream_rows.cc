#include "common/adapters/mysql/upstream/upstream_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "common/adapters/mysql/client/union_all.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/upstream/node_workflows.h"
#include "common/domain/run/dependents.h"

namespace carillon::mysql {
namespace {

// The runs of one job in a span.
struct Part {
  size_t span = 0;
  JobNo job_no = {};
};

constexpr size_t kPartsPerStatement = 32;
static_assert(kPartsPerStatement <= kUnionMax);

std::vector<Part> PartsOf(const std::vector<UpstreamSpan>& spans) {
  std::vector<Part> parts;
  for (size_t i = 0; i < spans.size(); ++i) {
    const UpstreamSources& sources = spans[i].sources;
    std::set<JobNo> jobs(sources.jobs.begin(), sources.jobs.end());
    jobs.insert(sources.job_no);
    jobs.erase(JobNo{});
    for (const JobNo job_no : jobs) parts.push_back({.span = i, .job_no = job_no});
  }
  return parts;
}

// A run of a state of a later version counts as open, so that nothing starts because of it.
UpstreamRun RunAt(const Rows& rows) {
  return {.key = {rows.Time(2), ScheduleId(rows.Unsigned(3)), 0},
          .job_no = JobNo(rows.Unsigned(4)),
          .state = StateOf(rows.Int(5)).value_or(RunState::kHeld),
          .reason = rows.Text(6),
          .workflow = JobNo(rows.Unsigned(7))};
}

using RunsByPart = std::map<size_t, std::vector<UpstreamRun>>;

// NeverRan and IsDated, in SQL.
std::string BranchOfRuns() {
  return fmt::format(
      "(SELECT CAST(? AS UNSIGNED), r.fire_us, r.schedule_id, r.job_no, r.state + 0, r.reason, "
      "COALESCE(w.job_no, 0) FROM job_runs r FORCE INDEX (by_job) {} WHERE r.job_no = ? AND "
      "r.fire_us >= ? AND r.fire_us < ? AND r.shard = 0 AND {} AND (r.flags & {}) = 0 AND NOT "
      "(r.state = 'SKIPPED' AND r.reason IN ('{}', '{}', '{}', '{}', '{}', '{}')) ORDER BY "
      "r.fire_us DESC, r.schedule_id DESC, r.shard DESC LIMIT {})",
      kJoinWorkflow, KindsWith(&RunKindRules::of_a_fire), run_flag::kByHand, reason::kOverlap,
      reason::kMisfire, reason::kPaused, reason::kQueueFull, reason::kReplaced, reason::kShed,
      kUpstreamRunsMax + 1);
}

Status FetchParts(Session& session, const std::vector<UpstreamSpan>& spans,
                  const std::vector<Part>& parts, size_t first, RunsByPart* found) {
  static const std::string branch = BranchOfRuns();
  const size_t last = std::min(parts.size(), first + kPartsPerStatement);
  Params params;
  const size_t branches = RoundUpUnion(last - first);
  for (size_t i = first; i < first + branches; ++i) {
    const bool none = i >= last;
    const UpstreamSpan& span = spans[none ? 0 : parts[i].span];
    params.emplace_back(static_cast<uint64_t>(i));
    params.emplace_back(none ? uint64_t{0} : parts[i].job_no.value());
    params.emplace_back(ToUnixMicros(span.from));
    params.emplace_back(ToUnixMicros(span.to) + kSameFireMax);
  }
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(UnionAll(branch, branches), params));
  while (rows.Next()) (*found)[rows.Unsigned(1)].push_back(RunAt(rows));
  return {};
}

// If there may be more runs than were read, the earliest fire of which all are known.
WallTime KnownFrom(const std::vector<UpstreamRun>& runs) {
  if (runs.size() <= static_cast<size_t>(kUpstreamRunsMax)) return {};
  const auto earliest =
      std::min_element(runs.begin(), runs.end(),
                       [](const UpstreamRun& a, const UpstreamRun& b) { return a.key < b.key; });
  return earliest->key.fire + 1us;
}

}  // namespace

Result<std::vector<UpstreamRuns>> ReadRunsOf(Session& session,
                                             const std::vector<UpstreamSpan>& spans) {
  const std::vector<Part> parts = PartsOf(spans);
  RunsByPart by_part;
  for (size_t first = 0; first < parts.size(); first += kPartsPerStatement) {
    CARILLON_TRY(FetchParts(session, spans, parts, first, &by_part));
  }
  std::vector<UpstreamRuns> all(spans.size());
  for (auto& [at, runs] : by_part) {
    UpstreamRuns& found = all[parts.at(at).span];
    found.known_from = std::max(found.known_from, KnownFrom(runs));
    found.runs.insert(found.runs.end(), runs.begin(), runs.end());
  }
  for (UpstreamRuns& found : all) {
    std::erase_if(found.runs, [&](const auto& run) { return run.key.fire < found.known_from; });
    std::sort(found.runs.begin(), found.runs.end(),
              [](const UpstreamRun& a, const UpstreamRun& b) { return a.key < b.key; });
  }
  return all;
}

}  // namespace carillon::mysql
