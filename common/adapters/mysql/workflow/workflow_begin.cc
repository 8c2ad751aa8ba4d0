#include "common/adapters/mysql/workflow/workflow_begin.h"

#include <set>
#include <string>
#include <utility>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/firing/open_run_scans.h"
#include "common/adapters/mysql/job_rows/job_of.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/job_rows/schedule_of.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/adapters/mysql/workflow/retry_writer.h"
#include "common/adapters/mysql/workflow/workflow_rows.h"
#include "common/base/failpoint.h"
#include "common/domain/job/fire_zone.h"
#include "common/domain/nodes/run_definition.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/run/dependents.h"
#include "common/domain/workflow/node_key.h"
#include "common/domain/workflow/workflow_begin.h"
#include "common/wire/json/job/given_parameters.h"

namespace carillon::mysql {
namespace {

using NumbersById = std::map<JobId, JobNo>;

Result<NumbersById> NumbersOfNodeJobs(Session& session, const WorkflowGraph& graph) {
  std::set<std::string> names;
  for (size_t i = 0; i < graph.size(); ++i) {
    if (!RunsNoJob(graph.node(i))) names.insert(graph.node(i).job.value());
  }
  JsonRows wanted;
  for (const std::string& name : names) wanted.Begin().Add(name);
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT j.job_no, j.job_id FROM JSON_TABLE(" CARILLON_JSON
                    ", '$[*]' COLUMNS (i VARCHAR(127) "
                    "CHARACTER SET ascii COLLATE ascii_bin PATH '$[0]')) k STRAIGHT_JOIN jobs j "
                    "FORCE INDEX (by_job_id) ON j.job_id = k.i",
                    {wanted.Take()}));
  NumbersById numbers;
  while (rows.Next()) numbers[JobId(rows.Text(2))] = JobNo(rows.Unsigned(1));
  return numbers;
}

// The parameters of the run: the defaults of the job, those of its schedule, and those of the
// request.
Result<std::string> ParametersOfRun(Session& session, const JobVersionRecord& record,
                                    const ClaimRequest& claim) {
  const RunKey& key = claim.key;
  CARILLON_ASSIGN_OR_RETURN(const RunRequest request, ReadRunRequest(session, key));
  CARILLON_ASSIGN_OR_RETURN(RenderedParameters given, GivenFromText(request.parameters_json));
  Parameters merged = record.definition.parameters;
  const ScheduleSpec* const schedule = ScheduleOf(record, key.schedule_id);
  if (schedule != nullptr) {
    const Parameters& own = FixedParametersOf(*schedule);
    merged = MergeParameters(std::move(merged),
                             request.trigger ? FillTrigger(own, *request.trigger) : own);
  }
  given.values = MergeParameters(std::move(merged), given.values);
  if (claim.keep_zone && given.time_zone.empty()) {
    given.time_zone = FireZone(record.definition, schedule);
  }
  return GivenToText(given);
}

bool AnyRunsNoJob(const WorkflowGraph& graph) {
  for (size_t i = 0; i < graph.size(); ++i) {
    if (RunsNoJob(graph.node(i))) return true;
  }
  return false;
}

// The values from which the runs of nodes are made.
struct NodeSources {
  const WorkflowGraph& graph;
  const NumbersById& numbers;
  const LockedJobs& jobs;
  const RunRow& own;
  WallTime now;
};

// The row of the node's job, or that of the workflow's tasks; null: there was never such a job.
const JobRow* JobOfNode(const WorkflowRow& row, const WorkflowNode& node, const NodeSources& from) {
  if (RunsNoJob(node)) return RowOf(from.jobs, TaskJobOf(row.job_no));
  const auto number = from.numbers.find(node.job);
  return number == from.numbers.end() ? nullptr : RowOf(from.jobs, number->second);
}

Status InsertNodes(Session& session, const WorkflowRow& row, const NodeSources& from) {
  // 1 is PENDING, 9 is SKIPPED.
  static const std::string statement =
      "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, open_segment, kind, "
      "state, reason, ended_as, ended_us, priority, due_us, def_version, flags, started_by, "
      "planned_us) SELECT k.f, k.s, k.h, k.j, k.g, IF(k.x, NULL, k.g), ?, IF(k.x, 9, 1), IF(k.x, "
      "'deleted', ''), IF(k.x, 9, NULL), IF(k.x, ?, 0), k.p, k.u, k.v, k.l, k.t, ? FROM "
      "JSON_TABLE(" CARILLON_JSON
      ", "
      "'$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', h INT UNSIGNED PATH "
      "'$[2]', j BIGINT UNSIGNED PATH '$[3]', g INT UNSIGNED PATH '$[4]', p INT PATH '$[5]', "
      "v BIGINT PATH '$[6]', l INT UNSIGNED PATH '$[7]', t VARCHAR(400) PATH '$[8]', "
      "x INT PATH '$[9]', u BIGINT PATH '$[10]')) k";
  JsonRows rows;
  for (size_t i = 0; i < from.graph.size(); ++i) {
    const WorkflowNode& node = from.graph.node(i);
    const JobRow* const job = JobOfNode(row, node, from);
    if (job == nullptr) {
      return {ErrorCode::kCorrupt, "workflow: there was never a job " + node.job.value()};
    }
    CARILLON_ASSIGN_OR_RETURN(const RunKey key,
                              NodeKey(row.id.fire, {.workflow_run_no = row.id.no, .position = i}));
    rows.Begin()
        .Add(key)
        .Add(job->job_no.value())
        .Add(job->segment.value())
        .Add(job->priority)
        // The text of a task is that of the graph.
        .Add(RunsNoJob(node) ? row.def_version : job->version)
        .Add(FlagsOfNode(from.own, job->has_dependents))
        .Add(ToText(NodeOrigin{.workflow_run = row.own, .node = node.id}))
        .Add(job->deleted)
        .Add(job->waits ? kAwaiting : kBlocked);
  }
  CARILLON_TRY(
      session.Execute(statement, {int64_t{NumberOf(RunKind::kWorkflow)}, ToUnixMicros(from.now),
                                  ToUnixMicros(from.now), rows.Take()}));
  return {};
}

// Cancels what waits of the workflow run that number `no` replaces. Its own run had ended, so at
// most nodes are left that a retry had blocked again before the own run was cancelled.
Status Replace(Session& session, const WorkflowRow& before, uint64_t no, const ClaimRules& rules) {
  CARILLON_ASSIGN_OR_RETURN(const std::vector<RunKey> open, ReadOpenNodes(session, before));
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, open, rules.incarnations));
  RunWriter writer(session);
  for (const RunKey& key : open) {
    const auto found = runs.find(key);
    if (found == runs.end() || IsFinal(found->second.row.state)) continue;
    StoredRun& run = found->second;
    if (run.row.state != RunState::kPending) {
      return {ErrorCode::kConflict, "begin: a node of the workflow run before has not ended"};
    }
    run.row.flags &= ~run_flag::kNode;  // nobody waits for its end any more
    CARILLON_TRY(writer.End(run, RunState::kCancelled, CancelReason(run.row), rules.now));
  }
  CARILLON_TRY(writer.Flush());
  return ReplaceWorkflow(session, before, no);
}

Result<BeginReply> DecideBegin(Session& session, const ClaimRequest& request,
                               const ClaimRules& rules) {
  CARILLON_ASSIGN_OR_RETURN(const auto replies,
                            ClaimBatch(session, {request}, rules, Look::kEachRow));
  CARILLON_CHECK(replies.has_value(), "a claim that is read has a reply");
  return BeginReply{.verdict = replies->front().verdict, .reason = replies->front().reason};
}

}  // namespace

Result<BeginReply> BeginWorkflow(Session& session, const ClaimRequest& request,
                                 const ClaimRules& rules, uint64_t no) {
  CARILLON_TRY(LockFence(session, rules.fence));
  CARILLON_ASSIGN_OR_RETURN(auto known,
                            ReadWorkflowOf(session, request.key, WorkflowLock::kUpdate));
  CARILLON_ASSIGN_OR_RETURN(const auto own, ReadOwn(session, request.key, rules.incarnations));
  const bool may_begin =
      own && own->row.state == RunState::kPending && own->row.def_version == request.def_version;
  if (!may_begin) {
    CARILLON_ASSIGN_OR_RETURN(BeginReply reply, DecideBegin(session, request, rules));
    if (reply.verdict == ClaimVerdict::kAcceptedAgain && known) reply.run = known->id;
    if (reply.verdict != ClaimVerdict::kAccepted) return reply;
    return Error{ErrorCode::kConflict, "begin: the run has changed meanwhile"};
  }
  const BeginKind kind = KindOfBegin(own->row, known.has_value());
  const bool continues = kind == BeginKind::kContinued;
  const int64_t version = continues ? known->def_version : request.def_version;
  CARILLON_ASSIGN_OR_RETURN(const LoadedWorkflow loaded,
                            LoadWorkflow(session, {request.job_no, version}));
  NumbersById numbers;
  if (!continues) {
    CARILLON_ASSIGN_OR_RETURN(numbers, NumbersOfNodeJobs(session, loaded.graph));
  }
  std::vector<JobNo> job_nos;
  for (const auto& [id, job_no] : numbers) job_nos.push_back(job_no);
  if (!continues && AnyRunsNoJob(loaded.graph)) job_nos.push_back(TaskJobOf(request.job_no));
  LockedJobs jobs;
  CARILLON_TRY(LockJobs(session, std::move(job_nos), &jobs));
  CARILLON_ASSIGN_OR_RETURN(BeginReply reply, DecideBegin(session, request, rules));
  if (reply.verdict != ClaimVerdict::kAccepted) return reply;
  // It is locked only now.
  CARILLON_ASSIGN_OR_RETURN(const auto locked, ReadOwn(session, request.key, rules.incarnations));
  if (!locked || locked->row.flags != own->row.flags) {
    return Error{ErrorCode::kConflict, "begin: the run has changed meanwhile"};
  }
  const WallTime deadline = rules.now + TimeoutOf(loaded.record.definition, locked->row);
  if (continues) {
    known->open = true;
    known->timed_out = false;
    known->finally_since = {};
    known->deadline = deadline;
    CARILLON_TRY(UpdateWorkflow(session, *known));
  } else {
    if (known) CARILLON_TRY(Replace(session, *known, no, rules));
    known = WorkflowRow{.id = {.fire = request.key.fire, .no = no},
                        .own = request.key,
                        .job_no = request.job_no,
                        .segment = request.segment,
                        .def_version = version,
                        .deadline = deadline};
    CARILLON_ASSIGN_OR_RETURN(known->parameters, ParametersOfRun(session, loaded.record, request));
    CARILLON_TRY(InsertWorkflow(session, *known));
    CARILLON_TRY(
        InsertNodes(session, *known, {loaded.graph, numbers, jobs, locked->row, rules.now}));
  }
  const bool is_marked = (locked->row.flags & (run_flag::kAnew | run_flag::kParts)) != 0;
  if (is_marked) CARILLON_TRY(ClearAnew(session, request.key));
  CARILLON_TRY(WriteWakeUp(session, *known, rules.now));
  reply.run = known->id;
  reply.kind = kind;
  return reply;
}

}  // namespace carillon::mysql
