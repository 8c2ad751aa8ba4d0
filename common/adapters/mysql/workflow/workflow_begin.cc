#include "common/adapters/mysql/workflow/workflow_begin.h"

#include <set>
#include <string>
#include <utility>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/firing/open_run_scans.h"
#include "common/adapters/mysql/rows/job_rows.h"
#include "common/adapters/mysql/workflow/retry_writer.h"
#include "common/adapters/mysql/workflow/workflow_rows.h"
#include "common/base/failpoint.h"
#include "common/domain/run/dependents.h"
#include "common/domain/workflow/node_key.h"
#include "common/wire/json/given_parameters.h"

namespace carillon::mysql {
namespace {

using NodeJobs = std::map<JobId, JobNo>;

Result<NodeJobs> NumbersOfNodeJobs(Session& session, const WorkflowGraph& graph) {
  std::set<std::string> names;
  for (size_t i = 0; i < graph.size(); ++i) names.insert(graph.node(i).job.value());
  JsonRows wanted;
  for (const std::string& name : names) wanted.Begin().Add(name);
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT j.job_no, j.job_id FROM JSON_TABLE(" CARILLON_JSON
                    ", '$[*]' COLUMNS (i VARCHAR(127) "
                    "CHARACTER SET ascii COLLATE ascii_bin PATH '$[0]')) k STRAIGHT_JOIN jobs j "
                    "FORCE INDEX (by_job_id) ON j.job_id = k.i",
                    {wanted.Take()}));
  NodeJobs numbers;
  while (rows.Next()) numbers[JobId(rows.Text(2))] = JobNo(rows.Unsigned(1));
  return numbers;
}

// The parameters of the run: the defaults of the job, those of its schedule, and those of the request.
Result<std::string> ParametersOfRun(Session& session, const JobVersionRecord& record,
                                    const RunKey& key) {
  CARILLON_ASSIGN_OR_RETURN(const RunRequest request, ReadRunRequest(session, key));
  CARILLON_ASSIGN_OR_RETURN(RenderedParameters given, GivenFromText(request.parameters_json));
  Parameters merged = record.definition.parameters;
  for (size_t i = 0; i < record.schedule_ids.size(); ++i) {
    if (record.schedule_ids[i] != key.schedule_id || i >= record.definition.schedules.size()) {
      continue;
    }
    const Parameters& own = record.definition.schedules[i].parameters;
    merged = MergeParameters(std::move(merged),
                             request.trigger ? FillTrigger(own, *request.trigger) : own);
  }
  given.values = MergeParameters(std::move(merged), given.values);
  return GivenToText(given);
}

Status InsertNodes(Session& session, const WorkflowRow& row, const WorkflowGraph& graph,
                   const NodeJobs& numbers, const LockedJobs& jobs, WallTime now) {
  // 1 is PENDING, 9 is SKIPPED.
  static const std::string statement =
      "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, open_segment, kind, "
      "state, reason, ended_as, ended_us, priority, due_us, def_version, flags, started_by, "
      "planned_us) SELECT k.f, k.s, k.h, k.j, k.g, IF(k.x, NULL, k.g), ?, IF(k.x, 9, 1), IF(k.x, "
      "'deleted', ''), IF(k.x, 9, NULL), IF(k.x, ?, 0), k.p, ?, k.v, k.l, k.t, ? FROM JSON_TABLE(" CARILLON_JSON
      ", "
      "'$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', h INT UNSIGNED PATH "
      "'$[2]', j BIGINT UNSIGNED PATH '$[3]', g INT UNSIGNED PATH '$[4]', p INT PATH '$[5]', "
      "v BIGINT PATH '$[6]', l INT UNSIGNED PATH '$[7]', t VARCHAR(400) PATH '$[8]', "
      "x INT PATH '$[9]')) k";
  JsonRows rows;
  for (size_t i = 0; i < graph.size(); ++i) {
    const WorkflowNode& node = graph.node(i);
    const auto number = numbers.find(node.job);
    const auto job = number == numbers.end() ? jobs.end() : jobs.find(number->second);
    if (job == jobs.end()) {
      return {ErrorCode::kCorrupt, "workflow: there was never a job " + node.job.value()};
    }
    CARILLON_ASSIGN_OR_RETURN(
        const RunKey key, NodeKey(row.id.fire, {.workflow_run_no = row.id.no, .position = i}));
    const uint32_t flags = run_flag::kNode | run_flag::kHasRequest |
                           EndFlags(RunKind::kWorkflow, 0, job->second.has_dependents);
    rows.Begin()
        .Add(key)
        .Add(job->first.value())
        .Add(job->second.segment.value())
        .Add(job->second.priority)
        .Add(job->second.version)
        .Add(flags)
        .Add(ToText(NodeOrigin{.workflow_run = row.own, .node = node.id}))
        .Add(job->second.deleted);
  }
  CARILLON_TRY(session.Execute(statement, {int64_t{NumberOf(RunKind::kWorkflow)},
                                           ToUnixMicros(now), ToUnixMicros(kBlocked),
                                           ToUnixMicros(now), rows.Take()}));
  return {};
}

// A run that has begun before: it was retried, or it is a nested one that is run again.
Status BeginAgain(Session& session, WorkflowRow row, const LoadedWorkflow& loaded,
                  const ClaimRules& rules) {
  CARILLON_ASSIGN_OR_RETURN(
      const NodeStates nodes, ReadNodes(session, row, loaded.graph.size(), rules.incarnations));
  const bool ended = std::all_of(nodes.rows.begin(), nodes.rows.end(),
                                 [](const NodeRow& node) { return IsFinal(node.state); });
  if (ended) {
    CARILLON_ASSIGN_OR_RETURN(const RetryPlan plan, PlanNestedAgain(loaded.graph, nodes.rows));
    CARILLON_TRY(WriteRetryPlan(session, nodes, plan, {rules.incarnations, rules.now}));
  }
  row.open = true;
  row.timed_out = false;
  row.deadline = rules.now + std::chrono::seconds(loaded.record.definition.timeout_s);
  return UpdateWorkflow(session, row);
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
  const bool may_begin = own && own->row.state == RunState::kPending &&
                         own->row.def_version == request.def_version;
  if (!may_begin) {
    CARILLON_ASSIGN_OR_RETURN(BeginReply reply, DecideBegin(session, request, rules));
    if (reply.verdict == ClaimVerdict::kAcceptedAgain && known) reply.run = known->id;
    if (reply.verdict != ClaimVerdict::kAccepted) return reply;
    return Error{ErrorCode::kConflict, "begin: the run has changed meanwhile"};
  }
  const int64_t version = known ? known->def_version : request.def_version;
  CARILLON_ASSIGN_OR_RETURN(const LoadedWorkflow loaded,
                            LoadWorkflow(session, {request.job_no, version}));
  CARILLON_ASSIGN_OR_RETURN(const NodeJobs numbers, NumbersOfNodeJobs(session, loaded.graph));
  std::vector<JobNo> job_nos;
  for (const auto& [id, job_no] : numbers) job_nos.push_back(job_no);
  LockedJobs jobs;
  CARILLON_TRY(LockJobs(session, std::move(job_nos), &jobs));
  CARILLON_ASSIGN_OR_RETURN(BeginReply reply, DecideBegin(session, request, rules));
  if (reply.verdict != ClaimVerdict::kAccepted) return reply;
  if (known) {
    CARILLON_TRY(BeginAgain(session, *known, loaded, rules));
  } else {
    known = WorkflowRow{
        .id = {.fire = request.key.fire, .no = no},
        .own = request.key,
        .job_no = request.job_no,
        .segment = request.segment,
        .def_version = version,
        .deadline = rules.now + std::chrono::seconds(loaded.record.definition.timeout_s)};
    CARILLON_ASSIGN_OR_RETURN(known->parameters,
                              ParametersOfRun(session, loaded.record, request.key));
    CARILLON_TRY(InsertWorkflow(session, *known));
    CARILLON_TRY(InsertNodes(session, *known, loaded.graph, numbers, jobs, rules.now));
  }
  CARILLON_TRY(WriteWakeUp(session, *known, rules.now));
  reply.run = known->id;
  return reply;
}

}  // namespace carillon::mysql
