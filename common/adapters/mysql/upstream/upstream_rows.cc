#include "common/adapters/mysql/upstream/upstream_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/adapters/mysql/client/union_all.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/upstream/node_workflows.h"
#include "common/domain/run/dependents.h"
#include "common/domain/workflow/node_key.h"
#include "common/domain/workflow/workflow_check.h"

namespace carillon::mysql {
namespace {

// The runs of one job in a span.
struct Part {
  size_t span = 0;
  JobNo of = {};     // by whose runs they are found: the job's own, or those of its workflow
  JobNo other = {};  // RunsOfJobs: `of` if its ends are followed by runs, else 0; NodesOf: the job
};

constexpr size_t kPartsPerStatement = 32;
static_assert(kPartsPerStatement <= kUnionMax);
static_assert(kPartsPerStatement > kSourceJobsMax + 1, "a span's jobs are read at one moment");

std::vector<Part> PartsOf(const std::vector<UpstreamSpan>& spans) {
  std::vector<Part> parts;
  for (size_t i = 0; i < spans.size(); ++i) {
    const UpstreamSources& sources = spans[i].sources;
    std::set<JobNo> jobs(sources.jobs.begin(), sources.jobs.end());
    if (sources.in_no == JobNo{}) jobs.insert(sources.job_no);
    jobs.erase(JobNo{});
    for (const JobNo job_no : jobs) {
      const bool by_end = std::ranges::binary_search(sources.by_end, job_no);
      parts.push_back({.span = i, .of = job_no, .other = by_end ? job_no : JobNo{}});
    }
  }
  return parts;
}

// The targets that are asked for as nodes of a workflow.
std::vector<Part> NodePartsOf(const std::vector<UpstreamSpan>& spans) {
  std::vector<Part> parts;
  for (size_t i = 0; i < spans.size(); ++i) {
    const UpstreamSources& sources = spans[i].sources;
    if (sources.in_no == JobNo{} || sources.job_no == JobNo{}) continue;
    parts.push_back({.span = i, .of = sources.in_no, .other = sources.job_no});
  }
  return parts;
}

// A run of a state of a later version counts as open, so that nothing starts because of it.
UpstreamRun RunAt(const Rows& rows) {
  return {.key = {rows.Time(2), ScheduleId(rows.Unsigned(3)), 0},
          .job_no = JobNo(rows.Unsigned(4)),
          .state = StateOf(rows.Int(5)).value_or(RunState::kHeld),
          .reason = rows.Text(6),
          .workflow = JobNo(rows.Unsigned(7)),
          .end_pending = rows.Int(8) != 0,
          .background = rows.Int(9) != 0};
}

using RunsByPart = std::map<size_t, std::vector<UpstreamRun>>;

// NeverRan and IsDated, in SQL.
std::string DatedRuns() {
  return fmt::format(
      "r.shard = 0 AND {} AND (r.flags & {}) = 0 AND NOT (r.state = 'SKIPPED' AND "
      "r.reason IN ('{}'))",
      KindsWith(&RunKindRules::of_a_fire), run_flag::kByHand, fmt::join(kReasonsOfNoRun, "', '"));
}

// Joins to w, the workflow run of a node, those around it: w2 has the own run of w as a node.
std::string JoinOuterWorkflows() {
  std::string joins;
  std::string inner = "w";
  for (int depth = 2; depth <= kWorkflowDepthMax; ++depth) {
    const std::string outer = fmt::format("w{}", depth);
    joins += fmt::format(
        " LEFT JOIN workflow_runs {0} FORCE INDEX (PRIMARY) ON {0}.no = IF({1}.schedule_id < {2}, "
        "0, ({1}.schedule_id - {2}) DIV {3})",
        outer, inner, kFirstNodeSchedule, kNodePositionsMax);
    inner = outer;
  }
  return joins;
}

// None of them has begun anew.
std::string AreNotReplaced() {
  std::string terms = "COALESCE(w.replaced_by, 0) = 0";
  for (int depth = 2; depth <= kWorkflowDepthMax; ++depth) {
    terms += fmt::format(" AND COALESCE(w{}.replaced_by, 0) = 0", depth);
  }
  return terms;
}

// e: the ends of the job upon which nobody has acted yet. A statement sees them and all runs at one
// moment, so that there is no gap between an end and the run that it starts.
std::string RunsOfJobs() {
  return fmt::format(
      "(SELECT CAST(? AS UNSIGNED), r.fire_us, r.schedule_id, r.job_no, r.state + 0, r.reason, "
      "COALESCE(w.job_no, 0), e.fire_us IS NOT NULL, (r.flags & {}) <> 0 FROM job_runs r FORCE "
      "INDEX (by_job) {}{} LEFT "
      "JOIN (SELECT DISTINCT c.fire_us, c.schedule_id FROM jobs j FORCE INDEX (PRIMARY) "
      "STRAIGHT_JOIN run_completions c FORCE INDEX (by_segment) ON c.segment = j.segment AND "
      "c.job_no = j.job_no AND c.target = 'dependents' WHERE j.job_no = ?) e ON e.fire_us = "
      "r.fire_us AND e.schedule_id = r.schedule_id WHERE r.job_no = ? AND r.fire_us >= ? AND "
      "r.fire_us < ? AND {} AND {} ORDER BY r.fire_us DESC, r.schedule_id DESC, r.shard DESC LIMIT "
      "{})",
      run_flag::kBackground, kJoinWorkflow, JoinOuterWorkflows(), DatedRuns(), AreNotReplaced(),
      kUpstreamRunsMax + 1);
}

// By the runs o of the workflow, which may be few among very many runs of the job.
std::string NodesOf() {
  return fmt::format(
      "(SELECT CAST(? AS UNSIGNED), r.fire_us, r.schedule_id, r.job_no, r.state + 0, r.reason, "
      "w.job_no, 0, (r.flags & {6}) <> 0 FROM job_runs o FORCE INDEX (by_job) STRAIGHT_JOIN "
      "workflow_runs w FORCE INDEX "
      "(by_run) ON w.fire_us = o.fire_us AND w.schedule_id = o.schedule_id AND w.shard = o.shard "
      "AND w.replaced_by = 0 STRAIGHT_JOIN job_runs r FORCE INDEX (by_job) ON r.job_no = ? AND "
      "r.fire_us = o.fire_us AND r.schedule_id >= {0} + w.no * {1} AND r.schedule_id < {0} + (w.no "
      "+ 1) * {1}{2} WHERE o.job_no = ? AND o.fire_us >= ? AND o.fire_us < ? AND o.shard = 0 AND "
      "{3} AND {4} ORDER BY o.fire_us DESC, o.schedule_id DESC, o.shard DESC LIMIT {5})",
      kFirstNodeSchedule, kNodePositionsMax, JoinOuterWorkflows(), DatedRuns(), AreNotReplaced(),
      kUpstreamRunsMax + 1, run_flag::kBackground);
}

// The end of the parts that one statement reads, from `first` on: whole spans.
size_t EndOfStatement(const std::vector<Part>& parts, size_t first) {
  const size_t last = std::min(parts.size(), first + kPartsPerStatement);
  if (last == parts.size()) return last;
  size_t whole = last;
  while (whole > first && parts[whole].span == parts[whole - 1].span) --whole;
  return whole > first ? whole : last;
}

Status FetchParts(Session& session, const std::vector<UpstreamSpan>& spans,
                  const std::string& branch, std::span<const Part> parts, RunsByPart* found) {
  Params params;
  const size_t branches = RoundUpUnion(parts.size());
  for (size_t i = 0; i < branches; ++i) {
    const Part part = i < parts.size() ? parts[i] : Part{};  // of no job
    const UpstreamSpan& span = spans[part.span];
    params.emplace_back(static_cast<uint64_t>(i));
    params.emplace_back(part.other.value());
    params.emplace_back(part.of.value());
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

Status ReadInto(Session& session, const std::vector<UpstreamSpan>& spans, const std::string& branch,
                const std::vector<Part>& parts, std::vector<UpstreamRuns>* all) {
  for (size_t first = 0; first < parts.size();) {
    const size_t last = EndOfStatement(parts, first);
    RunsByPart by_part;
    CARILLON_TRY(FetchParts(session, spans, branch, std::span(parts).subspan(first, last - first),
                            &by_part));
    for (const auto& [at, runs] : by_part) {
      UpstreamRuns& found = all->at(parts.at(first + at).span);
      found.known_from = std::max(found.known_from, KnownFrom(runs));
      found.runs.insert(found.runs.end(), runs.begin(), runs.end());
    }
    first = last;
  }
  return {};
}

}  // namespace

// The nodes of a workflow are read after its runs: of a run that has begun all are there.
Result<std::vector<UpstreamRuns>> ReadRunsOf(Session& session,
                                             const std::vector<UpstreamSpan>& spans) {
  static const std::string runs_of_jobs = RunsOfJobs();
  static const std::string nodes = NodesOf();
  std::vector<UpstreamRuns> all(spans.size());
  CARILLON_TRY(ReadInto(session, spans, runs_of_jobs, PartsOf(spans), &all));
  CARILLON_TRY(ReadInto(session, spans, nodes, NodePartsOf(spans), &all));
  for (UpstreamRuns& found : all) {
    std::erase_if(found.runs, [&](const auto& run) { return run.key.fire < found.known_from; });
    std::sort(found.runs.begin(), found.runs.end(),
              [](const UpstreamRun& a, const UpstreamRun& b) { return a.key < b.key; });
  }
  return all;
}

}  // namespace carillon::mysql
