#include "common/adapters/mysql/workflow/workflow_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/row_locks.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/reported_ends.h"
#include "common/adapters/mysql/run_rows/run_details.h"
#include "common/domain/workflow/node_key.h"
#include "common/domain/workflow/workflow_check.h"
#include "common/wire/json/outputs_json.h"

namespace carillon::mysql {
namespace {

const std::string kWorkflowColumns =
    "w.no, w.fire_us, w.schedule_id, w.shard, w.job_no, w.segment, w.open_segment IS NOT "
    "NULL, w.def_version, w.deadline_us, w.timed_out, w.parameters, w.replaced_by, w.finally_us";
const std::string kSelectWorkflow =
    "SELECT " + kWorkflowColumns + " FROM workflow_runs w FORCE INDEX ({}) WHERE {}{}";

WorkflowRow WorkflowAt(const Rows& rows) {
  WorkflowRow row;
  row.id = {.fire = rows.Time(2), .no = rows.Unsigned(1)};
  row.own = {rows.Time(2), ScheduleId(rows.Unsigned(3)), static_cast<uint32_t>(rows.Unsigned(4))};
  row.job_no = JobNo(rows.Unsigned(5));
  row.segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(6)));
  row.open = rows.Int(7) != 0;
  row.def_version = rows.Int(8);
  row.deadline = rows.Time(9);
  row.timed_out = rows.Int(10) != 0;
  row.parameters = rows.Text(11);
  row.replaced_by = rows.Unsigned(12);
  row.finally_since = rows.Time(13);
  return row;
}

Result<std::optional<WorkflowRow>> ReadOneWorkflow(Session& session, const std::string& statement,
                                                   const Params& params) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, params));
  if (!rows.Next()) return std::optional<WorkflowRow>();
  return std::optional(WorkflowAt(rows));
}

RunKey KeyAt(const Rows& rows, uint32_t first) {
  return {rows.Time(first), ScheduleId(rows.Unsigned(first + 1)),
          static_cast<uint32_t>(rows.Unsigned(first + 2))};
}

std::string SuffixOf(WorkflowLock lock) {
  return lock == WorkflowLock::kUpdate ? " FOR UPDATE" : "";
}

Error NodeMissing(const WorkflowRow& row, size_t position) {
  return {ErrorCode::kCorrupt,
          fmt::format("workflow run {}: the run of node {} is missing or unreadable",
                      EncodeRunId(row.own), position)};
}

}  // namespace

Result<std::optional<WorkflowRow>> ReadWorkflow(Session& session, uint64_t no, WorkflowLock lock) {
  return ReadOneWorkflow(
      session, fmt::format(fmt::runtime(kSelectWorkflow), "PRIMARY", "w.no = ?", SuffixOf(lock)),
      {no});
}

Result<std::map<uint64_t, WorkflowRow>> ReadWorkflows(Session& session,
                                                      const std::set<uint64_t>& numbers,
                                                      WorkflowLock lock) {
  static const std::string statement =
      "SELECT " + kWorkflowColumns +
      " FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN workflow_runs w FORCE "
      "INDEX (PRIMARY) ON w.no = k.n";
  JsonRows wanted;
  for (const uint64_t no : numbers) wanted.Begin().Add(no);
  const std::string locking = lock == WorkflowLock::kUpdate ? ForUpdateOf("w") : "";
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement + locking, {wanted.Take()}));
  std::map<uint64_t, WorkflowRow> found;
  while (rows.Next()) found.emplace(rows.Unsigned(1), WorkflowAt(rows));
  return found;
}

Result<std::optional<WorkflowRow>> ReadWorkflowOf(Session& session, const RunKey& own,
                                                  WorkflowLock lock) {
  return ReadOneWorkflow(
      session,
      fmt::format(fmt::runtime(kSelectWorkflow), "by_run",
                  "w.fire_us = ? AND w.schedule_id = ? AND w.shard = ? AND w.replaced_by = 0",
                  SuffixOf(lock)),
      ParamsOf(own));
}

Status InsertWorkflow(Session& session, const WorkflowRow& row) {
  CARILLON_TRY(session.Execute(
      "INSERT INTO workflow_runs (no, fire_us, schedule_id, shard, job_no, segment, open_segment, "
      "def_version, deadline_us, parameters) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {row.id.no, ToUnixMicros(row.own.fire), row.own.schedule_id.value(), uint64_t{row.own.shard},
       row.job_no.value(), uint64_t{row.segment.value()}, uint64_t{row.segment.value()},
       row.def_version, ToUnixMicros(row.deadline), std::string_view(row.parameters)}));
  return {};
}

Status UpdateWorkflow(Session& session, const WorkflowRow& row) {
  CARILLON_TRY(session.Execute(
      "UPDATE workflow_runs SET open_segment = IF(?, segment, NULL), deadline_us = ?, timed_out = "
      "?, finally_us = ? WHERE no = ?",
      {int64_t{row.open ? 1 : 0}, ToUnixMicros(row.deadline), int64_t{row.timed_out ? 1 : 0},
       ToUnixMicros(row.finally_since), row.id.no}));
  return {};
}

Status ReplaceWorkflow(Session& session, const WorkflowRow& row, uint64_t no) {
  CARILLON_TRY(
      session.Execute("UPDATE workflow_runs SET open_segment = NULL, replaced_by = ? WHERE no = ?",
                      {no, row.id.no}));
  return {};
}

Result<LoadedWorkflow> LoadWorkflow(Session& session, const JobVersionKey& key) {
  CARILLON_ASSIGN_OR_RETURN(std::vector<JobVersionRecord> found, ReadDefinitions(session, {key}));
  if (found.empty() || !found.front().readable || !found.front().definition.workflow) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("version {} of job {} is unreadable, gone or not a workflow",
                             key.version, key.job_no.value())};
  }
  CARILLON_ASSIGN_OR_RETURN(WorkflowGraph graph,
                            WorkflowGraph::Compile(*found.front().definition.workflow));
  return LoadedWorkflow{std::move(found.front()), std::move(graph)};
}

namespace {

// Takes the run of a node, with what decisions need of it. False: it is unreadable.
Result<bool> TakeNode(Session& session, const Rows& rows, NodeStates& nodes, size_t position) {
  StoredRun run = ReadRun(rows);
  if (!NoteIfUnreadable(session, run)) return false;
  AttemptResult result{.reason = rows.Text(kRunColumnCount + 1), .started = run.started};
  if (!rows.IsNull(kRunColumnCount + 2)) {
    result.exit_code = static_cast<int>(rows.Int(kRunColumnCount + 2));
  }
  if (!rows.IsNull(kRunColumnCount + 3)) {
    CARILLON_ASSIGN_OR_RETURN(result.outputs, OutputsFromJson(rows.Text(kRunColumnCount + 3)));
  }
  nodes.rows[position] = NodeRowOf(run.row, result, rows.Time(kRunColumnCount + 4));
  nodes.runs[position] = std::move(run);
  return true;
}

// Fills in what other tables know of the runs.
Status CompleteNodes(Session& session, std::vector<NodeStates>& all, Incarnations& incarnations) {
  std::vector<StoredRun> given_up;
  std::vector<uint32_t> numbers;
  for (const NodeStates& nodes : all) {
    for (const StoredRun& run : nodes.runs) {
      if (run.row.may_still_run) given_up.push_back(run);
      if (run.incarnation_no != 0) numbers.push_back(run.incarnation_no);
    }
  }
  CARILLON_ASSIGN_OR_RETURN(const std::set<RunKey> reported, ReportedOf(session, given_up));
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  CARILLON_ASSIGN_OR_RETURN(const Incarnations::Keys keys, incarnations.Load(session, numbers));
  for (NodeStates& nodes : all) {
    for (size_t i = 0; i < nodes.runs.size(); ++i) {
      RunRow& run = nodes.runs[i].row;
      if (reported.contains(run.key)) nodes.rows[i].may_still_run = false;
      const auto key = keys.find(nodes.runs[i].incarnation_no);
      if (key == keys.end()) continue;
      run.executor = key->second.first;
      run.incarnation = key->second.second;
    }
  }
  return {};
}

}  // namespace

Result<std::vector<NodeStates>> ReadNodesOf(Session& session, const std::vector<NodesWanted>& runs,
                                            Incarnations& incarnations) {
  static const std::string statement =
      "SELECT " + kRunColumns + ", r.reason, r.exit_code, r.outputs, r.until_us, k.i, k.p FROM " +
      KeyedRuns("i INT UNSIGNED PATH '$[3]', p INT UNSIGNED PATH '$[4]'") +
      " STRAIGHT_JOIN job_runs r FORCE INDEX (PRIMARY) ON r.fire_us = k.f AND r.schedule_id = k.s "
      "AND r.shard = k.h";
  std::vector<NodeStates> all(runs.size());
  std::set<std::pair<size_t, size_t>> missing;
  // By their keys: no index finds a range of them for each of several workflow runs.
  JsonRows wanted;
  for (size_t i = 0; i < runs.size(); ++i) {
    all[i].runs.resize(runs[i].count);
    all[i].rows.resize(runs[i].count);
    for (size_t at = 0; at < runs[i].count; ++at) {
      const WorkflowRunId& id = runs[i].row->id;
      CARILLON_ASSIGN_OR_RETURN(const RunKey key, NodeKey(id.fire, {id.no, at}));
      wanted.Begin().Add(key).Add(uint64_t{i}).Add(uint64_t{at});
      missing.emplace(i, at);
    }
  }
  if (wanted.empty()) return all;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
    while (rows.Next()) {
      const size_t index = rows.Unsigned(kRunColumnCount + 5);
      const size_t position = rows.Unsigned(kRunColumnCount + 6);
      CARILLON_ASSIGN_OR_RETURN(const bool taken, TakeNode(session, rows, all[index], position));
      if (taken) missing.erase({index, position});
    }
  }
  if (!missing.empty()) {
    const auto& [index, position] = *missing.begin();
    return NodeMissing(*runs[index].row, position);
  }
  CARILLON_TRY(CompleteNodes(session, all, incarnations));
  return all;
}

Result<NodeStates> ReadNodes(Session& session, const WorkflowRow& row, size_t count,
                             Incarnations& incarnations) {
  CARILLON_ASSIGN_OR_RETURN(std::vector<NodeStates> all,
                            ReadNodesOf(session, {{.row = &row, .count = count}}, incarnations));
  return std::move(all.front());
}

Result<std::map<RunKey, StoredRun>> ReadOwns(Session& session, const std::vector<RunKey>& keys,
                                             Incarnations& incarnations) {
  static const std::string statement = "SELECT " + kRunColumns + " FROM " + kKeysJoinRuns;
  std::map<RunKey, StoredRun> owns;
  if (keys.empty()) return owns;
  JsonRows wanted;
  for (const RunKey& key : keys) wanted.Begin().Add(key);
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  CARILLON_ASSIGN_OR_RETURN(auto runs, ReadRuns(session, std::move(rows), incarnations));
  for (StoredRun& run : runs) {
    if (run.readable) owns.emplace(run.row.key, std::move(run));
  }
  return owns;
}

Result<std::optional<StoredRun>> ReadOwn(Session& session, const RunKey& key,
                                         Incarnations& incarnations) {
  CARILLON_ASSIGN_OR_RETURN(auto owns, ReadOwns(session, {key}, incarnations));
  if (owns.empty()) return std::optional<StoredRun>();
  return std::optional(std::move(owns.begin()->second));
}

Result<std::vector<RunKey>> ReadOpenNodes(Session& session, const WorkflowRow& row) {
  CARILLON_ASSIGN_OR_RETURN(const NodeKeyRange range, NodeKeysOf(row.id.fire, row.id.no));
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(
          "SELECT r.fire_us, r.schedule_id, r.shard FROM job_runs r FORCE INDEX (PRIMARY) "
          "WHERE r.fire_us = ? AND r.schedule_id BETWEEN ? AND ? AND r.shard = 0 AND "
          "r.open_segment IS NOT NULL",
          {ToUnixMicros(row.id.fire), range.first.schedule_id.value(),
           range.last.schedule_id.value()}));
  std::vector<RunKey> open;
  while (rows.Next()) open.push_back(KeyAt(rows, 1));
  return open;
}

Result<std::set<RunKey>> WithProcessesLeft(Session& session, const std::vector<RunKey>& owns) {
  // The nodes of the present workflow runs of k. 2251799813685248 is kFirstNodeSchedule, and 1024
  // is kNodePositionsMax of node_key.h.
  static const std::string nodes =
      "JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', h INT "
      "UNSIGNED PATH '$[2]', i BIGINT UNSIGNED PATH '$[3]')) k STRAIGHT_JOIN workflow_runs w FORCE "
      "INDEX (by_run) ON w.fire_us = k.f AND w.schedule_id = k.s AND w.shard = k.h AND "
      "w.replaced_by "
      "= 0 STRAIGHT_JOIN job_runs r FORCE INDEX (PRIMARY) ON r.fire_us = w.fire_us AND "
      "r.schedule_id "
      ">= 2251799813685248 + w.no * 1024 AND r.schedule_id < 2251799813685248 + (w.no + 1) * 1024";
  // MayStillRun judges what has one of these reasons.
  static const std::string left =
      fmt::format("SELECT {}, k.i FROM {} WHERE r.reason IN ('{}', '{}')", kRunColumns, nodes,
                  reason::kExecutorLost, reason::kOutcomeUnknown);
  static const std::string nested = "SELECT r.fire_us, r.schedule_id, r.shard, k.i FROM " + nodes +
                                    " STRAIGHT_JOIN workflow_runs n FORCE INDEX (by_run) ON "
                                    "n.fire_us = r.fire_us AND n.schedule_id "
                                    "= r.schedule_id AND n.shard = r.shard AND n.replaced_by = 0";
  std::set<RunKey> found;
  std::vector<std::pair<RunKey, size_t>> level;  // with the index in `owns`
  for (size_t i = 0; i < owns.size(); ++i) level.emplace_back(owns[i], i);
  for (int depth = 0; depth < kWorkflowDepthMax && !level.empty(); ++depth) {
    JsonRows keys;
    for (const auto& [key, index] : level) keys.Begin().Add(key).Add(uint64_t{index});
    const std::string text = keys.Take();
    level.clear();
    std::vector<StoredRun> given_up;
    std::vector<RunKey> below;  // which of `owns`
    {
      CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(left, {text}));
      while (rows.Next()) {
        StoredRun run = ReadRun(rows);
        if (run.readable && !run.row.may_still_run) continue;
        given_up.push_back(std::move(run));
        below.push_back(owns[rows.Unsigned(kRunColumnCount + 1)]);
      }
    }
    CARILLON_ASSIGN_OR_RETURN(const std::set<RunKey> reported, ReportedOf(session, given_up));
    for (size_t i = 0; i < given_up.size(); ++i) {
      if (!reported.contains(given_up[i].row.key)) found.insert(below[i]);
    }
    CARILLON_ASSIGN_OR_RETURN(Rows deeper, session.Query(nested, {text}));
    while (deeper.Next()) level.emplace_back(KeyAt(deeper, 1), deeper.Unsigned(4));
  }
  return found;
}

Status WriteWakeUp(Session& session, const WorkflowRow& row, WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(const NodeKeyRange range, NodeKeysOf(row.id.fire, row.id.no));
  CARILLON_TRY(session.Execute(
      "INSERT INTO run_completions (segment, target, fire_us, schedule_id, shard, job_no, state, "
      "ended_us) VALUES (?, 'workflow', ?, ?, 0, ?, 'RUNNING', ?)",
      {uint64_t{row.segment.value()}, ToUnixMicros(row.id.fire), range.first.schedule_id.value(),
       row.job_no.value(), ToUnixMicros(now)}));
  return {};
}

Result<RunKey> OutermostOf(Session& session, const RunKey& own) {
  RunKey outer = own;
  for (int depth = 0; depth < kWorkflowDepthMax; ++depth) {
    const auto place = NodePlaceOf(outer);
    if (!place) break;
    CARILLON_ASSIGN_OR_RETURN(const auto row,
                              ReadWorkflow(session, place->workflow_run_no, WorkflowLock::kNone));
    if (!row) break;
    outer = row->own;
  }
  return outer;
}

}  // namespace carillon::mysql
