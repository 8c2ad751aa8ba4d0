#include "tests/twins/memory_workflow_store.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "common/domain/job/fire_zone.h"
#include "common/domain/nodes/run_definition.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/run/dependents.h"
#include "common/domain/template/template.h"
#include "common/domain/workflow/node_key.h"
#include "common/wire/json/job/given_parameters.h"
#include "tests/twins/memory_claims.h"
#include "tests/twins/memory_node_jobs.h"
#include "tests/twins/memory_parts.h"
#include "tests/twins/memory_run_writes.h"
#include "tests/twins/memory_workflow_runs.h"
#include "tests/twins/memory_workflow_step.h"

namespace carillon::memory {
namespace {

using WorkflowState = WorkflowEntry::State;

Status CheckInFence(SegmentId segment, const Fence& fence, std::string_view what) {
  const bool covered =
      std::any_of(fence.begin(), fence.end(),
                  [segment](const FencedSegment& held) { return held.segment == segment; });
  if (covered) return {};
  return {ErrorCode::kInvalid, std::string(what) + ": the workflow run is outside the fence"};
}

bool IsOneOf(const std::vector<SegmentId>& segments, SegmentId segment) {
  return std::find(segments.begin(), segments.end(), segment) != segments.end();
}

Error NoWorkflowRun(const RunKey& key) {
  return {ErrorCode::kNotFound,
          "run " + EncodeRunId(key) + " is not of a workflow, or has never begun"};
}

// The defaults of the workflow's job, overridden by its schedule and by the request.
Result<RenderedParameters> ParametersOf(const RunEntry& own, const JobEntry& job,
                                        const JobDefinition& definition, bool keep_zone) {
  Parameters merged = definition.parameters;
  const ScheduleSpec* spec = nullptr;
  const auto schedule =
      std::find(job.schedules.begin(), job.schedules.end(), own.row.key.schedule_id);
  if (own.row.def_version == job.version && schedule != job.schedules.end()) {
    const auto place = static_cast<size_t>(schedule - job.schedules.begin());
    spec = &definition.schedules[place];
    const Parameters& fixed = FixedParametersOf(*spec);
    merged =
        MergeParameters(std::move(merged), own.trigger ? FillTrigger(fixed, *own.trigger) : fixed);
  }
  CARILLON_ASSIGN_OR_RETURN(RenderedParameters given, GivenFromText(own.parameters_json));
  given.values = MergeParameters(std::move(merged), given.values);
  if (keep_zone && given.time_zone.empty()) given.time_zone = FireZone(definition, spec);
  return given;
}

// Writes the run of a node, blocked.
void InsertNode(MemoryTables& tables, const WorkflowEntry& workflow, const RunRow& own,
                size_t position, const WorkflowNode& node, WallTime now) REQUIRES(tables.mu) {
  const JobEntry& job =
      RunsNoJob(node) ? *tables.FindJob(TaskJobOf(workflow.job_no)) : *tables.FindJob(node.job);
  RunEntry entry{.row = {.key = NodeKeyOf(workflow, position),
                         .job_no = job.job_no,
                         .segment = job.segment,
                         .kind = RunKind::kWorkflow,
                         .due = WaitsForOthers(job.definition) ? kAwaiting : kBlocked,
                         .priority = job.definition.priority,
                         .def_version = RunsNoJob(node) ? workflow.def_version : job.version,
                         .flags = FlagsOfNode(own, job.has_dependents)},
                 .planned = now,
                 .node = NodeOrigin{.workflow_run = workflow.own, .node = node.id}};
  if (job.deleted) {
    entry.row.state = RunState::kSkipped;
    entry.result.reason = reason::kDeleted;
    entry.result.ended = now;
  }
  tables.PutRun(std::move(entry));
}

// The facts about a run that begins.
struct Beginning {
  BeginKind kind = BeginKind::kFirst;
  int64_t def_version = 0;
  WorkflowGraph graph;
  RenderedParameters parameters;
};

// Checks all that could refuse the nodes.
Result<Beginning> PrepareBegin(MemoryTables& tables, const RunEntry& own,
                               const WorkflowEntry* workflow, bool keep_zone) REQUIRES(tables.mu) {
  const RunRow& row = own.row;
  const BeginKind kind = KindOfBegin(row, workflow != nullptr);
  const int64_t version = kind == BeginKind::kContinued ? workflow->def_version : row.def_version;
  CARILLON_ASSIGN_OR_RETURN(const JobDefinition* definition,
                            WorkflowVersion(tables, row.job_no, version));
  CARILLON_ASSIGN_OR_RETURN(WorkflowGraph graph, WorkflowGraph::Compile(*definition->workflow));
  for (size_t i = 0; i < graph.size(); ++i) {
    const JobId& job = graph.node(i).job;
    if (RunsNoJob(graph.node(i))) continue;
    if (tables.FindJob(job) == nullptr) return {ErrorCode::kCorrupt, "no job " + job.value()};
  }
  CARILLON_ASSIGN_OR_RETURN(RenderedParameters parameters,
                            ParametersOf(own, *tables.FindJob(row.job_no), *definition, keep_zone));
  return Beginning{.kind = kind,
                   .def_version = version,
                   .graph = std::move(graph),
                   .parameters = std::move(parameters)};
}

// Ends the workflow run from which its own run turns away.
void Replace(MemoryTables& tables, WorkflowEntry& before, WallTime now) REQUIRES(tables.mu) {
  const uint64_t last = tables.last_completion_id;
  for (const RunKey& key : NodeKeysOf(tables, before)) {
    CancelOne(tables, RunEntry(*tables.FindRun(key)), {.now = now});
  }
  DropWakeUpsSince(tables, before.run, last);
  tables.ended.clear();  // no user's request
  before.state = WorkflowState::kEnded;
}

// Makes the workflow run of an own run that was just claimed. `reserved`: its number
// (NumberSequence).
WorkflowEntry& AddWorkflowRun(MemoryTables& tables, const RunRow& own, Beginning beginning,
                              uint64_t reserved, WallTime now) REQUIRES(tables.mu) {
  const WorkflowGraph& graph = beginning.graph;
  const uint64_t no = tables.workflow_run_numbers.Take(reserved, 0);
  tables.workflow_numbers[own.key] = no;
  WorkflowEntry& workflow = tables.workflow_runs[no];
  workflow = {.run = {.fire = own.key.fire, .no = no},
              .own = own.key,
              .job_no = own.job_no,
              .segment = own.segment,
              .def_version = beginning.def_version,
              .parameters = std::move(beginning.parameters)};
  for (size_t i = 0; i < graph.size(); ++i) {
    InsertNode(tables, workflow, own, i, graph.node(i), now);
  }
  return workflow;
}

// An own run that waits, and whose begin has not to be refused for its version.
bool MayBegin(const RunEntry* found, const ClaimRequest& request) {
  return found != nullptr && found->row.state == RunState::kPending &&
         found->row.job_no == request.job_no && found->row.def_version == request.def_version;
}

}  // namespace

Result<BeginReply> MemoryWorkflowStore::Begin(const ClaimRequest& request, const Fence& fence,
                                              WallTime now) {
  CARILLON_TRY(CheckInFence(request.segment, fence, "begin"));
  MutexLock lock(tables_.mu);
  const uint64_t reserved = tables_.workflow_run_numbers.Reserve(1);
  CARILLON_TRY(tables_.CheckFence(fence));
  const RunEntry* found = tables_.FindRun(request.key);
  WorkflowEntry* workflow = tables_.FindWorkflow(request.key);
  std::optional<Beginning> beginning;
  if (MayBegin(found, request)) {
    CARILLON_ASSIGN_OR_RETURN(beginning,
                              PrepareBegin(tables_, *found, workflow, request.keep_zone));
  }
  const ClaimReply claimed = ClaimOne(tables_, request, now);
  BeginReply reply{.verdict = claimed.verdict, .reason = claimed.reason};
  if (reply.verdict == ClaimVerdict::kAccepted) {
    reply.kind = beginning->kind;
    RunEntry own = *tables_.FindRun(request.key);
    own.row.flags &= ~(run_flag::kAnew | run_flag::kParts);
    const RunRow row = own.row;
    tables_.PutRun(std::move(own));
    if (reply.kind == BeginKind::kAnew) Replace(tables_, *workflow, now);
    if (reply.kind != BeginKind::kContinued) {
      workflow = &AddWorkflowRun(tables_, row, *std::move(beginning), reserved, now);
    }
    const JobDefinition& definition =
        *WorkflowVersion(tables_, workflow->job_no, workflow->def_version).value();
    workflow->state = WorkflowState::kRunning;
    workflow->deadline = now + TimeoutOf(definition, row);
    workflow->is_late = false;
    tables_.WakeUpWorkflow(*workflow, now);
  }
  const bool runs =
      reply.verdict == ClaimVerdict::kAccepted || reply.verdict == ClaimVerdict::kAcceptedAgain;
  if (runs && workflow != nullptr) reply.run = workflow->run;
  return reply;
}

Result<PartsReply> MemoryWorkflowStore::BeginParts(const PartsRequest& request, const Fence& fence,
                                                   WallTime now) {
  CARILLON_TRY(CheckInFence(request.claim.segment, fence, "begin"));
  MutexLock lock(tables_.mu);
  CARILLON_TRY(tables_.CheckFence(fence));
  return BeginPartsOf(tables_, request, now);
}

Result<std::vector<WakeUp>> MemoryWorkflowStore::ScanWakeUps(const std::vector<SegmentId>& segments,
                                                             size_t limit) {
  MutexLock lock(tables_.mu);
  std::vector<WakeUp> found;
  for (const auto& [id, end] : tables_.completions) {
    if (found.size() == limit) break;
    if (end.target != CompletionTarget::kWorkflow || !IsOneOf(segments, end.segment)) continue;
    found.push_back({.id = id,
                     .segment = end.segment,
                     .run = {.fire = end.key.fire, .no = NodePlaceOf(end.key)->workflow_run_no},
                     .ended = end.ended});
  }
  return found;
}

Result<std::vector<OpenWorkflowRun>> MemoryWorkflowStore::ScanOpen(
    const std::vector<SegmentId>& segments, uint64_t after, size_t limit) {
  MutexLock lock(tables_.mu);
  std::vector<OpenWorkflowRun> found;
  for (auto it = tables_.workflow_runs.upper_bound(after); it != tables_.workflow_runs.end();
       ++it) {
    if (found.size() == limit) break;
    const WorkflowEntry& workflow = it->second;
    if (workflow.state == WorkflowState::kEnded || !IsOneOf(segments, workflow.segment)) continue;
    found.push_back({.run = workflow.run, .segment = workflow.segment});
  }
  return found;
}

// Deletes the wake-ups of the run for which `is_told` holds.
template <typename IsTold>
void MemoryWorkflowStore::DropWakeUps(const WorkflowRunId& run, IsTold is_told) {
  std::erase_if(tables_.completions, [&](const auto& entry) {
    const RunCompletion& end = entry.second;
    return end.target == CompletionTarget::kWorkflow && end.key.fire == run.fire &&
           NodePlaceOf(end.key)->workflow_run_no == run.no && is_told(entry.first);
  });
}

Result<std::vector<StepEffect>> MemoryWorkflowStore::Step(const std::vector<StepRequest>& requests,
                                                          const Fence& fence, WallTime now) {
  for (const StepRequest& request : requests) {
    CARILLON_TRY(CheckInFence(request.segment, fence, "step"));
  }
  MutexLock lock(tables_.mu);
  CARILLON_TRY(tables_.CheckFence(fence));
  const std::set<uint64_t> outer = OuterRunsOf(requests);
  // All graphs first: if one cannot be read, nothing is changed.
  std::map<uint64_t, WorkflowGraph> graphs;
  for (const StepRequest& request : requests) {
    const WorkflowEntry* const workflow = OpenOf(request);
    if (workflow == nullptr || outer.contains(request.run.no)) continue;
    CARILLON_ASSIGN_OR_RETURN(WorkflowGraph graph, GraphOf(tables_, *workflow));
    graphs.emplace(request.run.no, std::move(graph));
  }
  std::vector<StepEffect> effects;
  for (const StepRequest& request : requests) {
    if (outer.contains(request.run.no)) {
      effects.push_back({.again = true});
      continue;
    }
    const auto graph = graphs.find(request.run.no);
    effects.push_back(graph == graphs.end() ? StepEffect{}
                                            : StepOne(request.run, graph->second, now));
    const std::vector<uint64_t>& told = request.wake_ups;
    DropWakeUps(request.run, [&told](uint64_t id) {
      return std::find(told.begin(), told.end(), id) != told.end();
    });
  }
  return effects;
}

WorkflowEntry* MemoryWorkflowStore::OpenOf(const StepRequest& request) {
  const auto found = tables_.workflow_runs.find(request.run.no);
  if (found == tables_.workflow_runs.end()) return nullptr;
  WorkflowEntry& workflow = found->second;
  const bool asked = workflow.run == request.run && workflow.segment == request.segment;
  const bool open = asked && workflow.state != WorkflowState::kEnded &&
                    tables_.FindRun(workflow.own)->row.state != RunState::kPending;
  return open ? &workflow : nullptr;
}

std::set<uint64_t> MemoryWorkflowStore::OuterRunsOf(const std::vector<StepRequest>& requests) {
  std::set<uint64_t> outer;
  for (const StepRequest& request : requests) {
    const WorkflowEntry* const workflow = OpenOf(request);
    if (workflow == nullptr) continue;
    if (const auto place = NodePlaceOf(workflow->own)) outer.insert(place->workflow_run_no);
  }
  return outer;
}

StepEffect MemoryWorkflowStore::StepOne(const WorkflowRunId& run, const WorkflowGraph& graph,
                                        WallTime now) {
  const uint64_t last = tables_.last_completion_id;
  StepEffect effect = TakeStep(tables_, tables_.workflow_runs.at(run.no), graph, now);
  // The step has seen what it has written itself.
  DropWakeUpsSince(tables_, run, last);
  tables_.ended.clear();  // no user's request
  return effect;
}

Result<WorkflowRunView> MemoryWorkflowStore::ViewOf(const WorkflowEntry& workflow) {
  CARILLON_ASSIGN_OR_RETURN(const JobDefinition* definition,
                            WorkflowVersion(tables_, workflow.job_no, workflow.def_version));
  WorkflowRunView view{.own = ToDetail(tables_, *tables_.FindRun(workflow.own), true),
                       .run = workflow.run,
                       .def_version = workflow.def_version,
                       .definition = *definition->workflow,
                       .nodes = {}};
  view.own.saved = {};
  if (view.own.row.state != RunState::kPending) view.deadline = workflow.deadline;
  const std::vector<RunKey> keys = NodeKeysOf(tables_, workflow);
  NodeRows rows = NodeRowsOf(tables_, workflow);
  for (size_t i = 0; i < keys.size(); ++i) {
    RunDetail detail = ToDetail(tables_, *tables_.FindRun(keys[i]), false);
    detail.result.output.clear();
    view.nodes.push_back({.detail = std::move(detail), .row = std::move(rows[i])});
  }
  return view;
}

Result<WorkflowRunView> MemoryWorkflowStore::GetWorkflowRun(const RunKey& key) {
  MutexLock lock(tables_.mu);
  const WorkflowEntry* workflow = tables_.FindWorkflow(key);
  if (workflow == nullptr) return NoWorkflowRun(key);
  return ViewOf(*workflow);
}

Result<WorkflowRunView> MemoryWorkflowStore::DecideNode(const DecideNodeRequest& request,
                                                        const WriteContext& context) {
  MutexLock lock(tables_.mu);
  const WorkflowEntry* workflow = tables_.FindWorkflow(request.key);
  if (workflow == nullptr) return NoWorkflowRun(request.key);
  CARILLON_ASSIGN_OR_RETURN(const WorkflowGraph graph, GraphOf(tables_, *workflow));
  const auto position = graph.Find(request.node);
  if (!position) return Error{ErrorCode::kInvalid, "there is no node " + request.node, "/node"};
  const Error not_undecided{ErrorCode::kConflict,
                            "node " + request.node + " does not wait for a decision"};
  const auto& approval = graph.node(*position).approval;
  if (!approval) return not_undecided;
  RunEntry node = *tables_.FindRun(NodeKeyOf(*workflow, *position));
  if (node.row.state != RunState::kPending || node.row.due != kUndecided) return not_undecided;
  CARILLON_TRY(CheckMayDecide(*approval, context.decider));
  if (request.keyed) CARILLON_TRY(tables_.CheckUnsettled(request.keyed->scope, request.keyed->key));
  const AttemptResult end = EndOfApproval(*approval, request.decision, context.decider,
                                          context.reason, node.result.started, context.now);
  const uint64_t last = tables_.last_completion_id;
  FinishNode(tables_, std::move(node), end, context.now);
  DropWakeUpsSince(tables_, workflow->run, last);
  tables_.WakeUpWorkflow(*workflow, context.now);
  CARILLON_ASSIGN_OR_RETURN(WorkflowRunView view, ViewOf(*workflow));
  if (request.keyed) tables_.Settle(*request.keyed, view);
  return view;
}

Result<WorkflowRunView> MemoryWorkflowStore::SkipNode(const SkipNodeRequest& request,
                                                      const WriteContext& context) {
  MutexLock lock(tables_.mu);
  WorkflowEntry* workflow = tables_.FindWorkflow(request.key);
  if (workflow == nullptr) return NoWorkflowRun(request.key);
  CARILLON_TRY(CheckMaySkip(tables_.FindRun(workflow->own)->row, workflow->is_late));
  CARILLON_ASSIGN_OR_RETURN(const WorkflowGraph graph, GraphOf(tables_, *workflow));
  const NodeRows rows = NodeRowsOf(tables_, *workflow);
  CARILLON_ASSIGN_OR_RETURN(const RetryPlan plan,
                            PlanSkip(graph, rows, request.node, context.overlap()));
  if (plan.refused()) return RefusalOf("skip", graph, plan);
  CARILLON_TRY(CheckMaySkipNodes(graph, {request.node}, &rows, context.decider));
  if (request.keyed) CARILLON_TRY(tables_.CheckUnsettled(request.keyed->scope, request.keyed->key));
  WriteNodeChanges(tables_, *workflow, plan.changes, context.now);
  tables_.WakeUpWorkflow(*workflow, context.now);
  ReportEnds(tables_, context);
  CARILLON_ASSIGN_OR_RETURN(WorkflowRunView view, ViewOf(*workflow));
  if (request.keyed) tables_.Settle(*request.keyed, view);
  return view;
}

Result<RetryPlan> MemoryWorkflowStore::PreviewRetry(const RunKey& key, const WorkflowRetry& retry) {
  MutexLock lock(tables_.mu);
  if (tables_.FindRun(key) == nullptr) return NoWorkflowRun(key);
  if (auto waiting = WaitingNode(tables_, key)) {
    return RetryPlan{.run_again = {std::move(*waiting)}};
  }
  CARILLON_ASSIGN_OR_RETURN(auto planned, PlanWorkflowRetry(tables_, key, retry, nullptr));
  if (!planned) return NoWorkflowRun(key);
  return std::move(planned->plan);
}

}  // namespace carillon::memory
