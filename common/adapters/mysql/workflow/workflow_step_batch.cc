#include "common/adapters/mysql/workflow/workflow_step_batch.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "common/adapters/mysql/client/segment_merge.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/job_rows/schedule_of.h"
#include "common/adapters/mysql/run_rows/completion_rows.h"
#include "common/adapters/mysql/workflow/loaded_versions.h"
#include "common/adapters/mysql/workflow/step_writer.h"
#include "common/base/cluster_settings.h"
#include "common/base/failpoint.h"
#include "common/domain/job/fire_zone.h"
#include "common/domain/workflow/node_key.h"
#include "common/wire/json/job/given_parameters.h"

namespace carillon::mysql {
namespace {

// So that no transaction reads and locks too many rows.
constexpr size_t kNodesPerWrite = 2'000;

WorkflowCause CauseOf(const StoredRun& own, const WorkflowRow& row) {
  if (own.row.cancel_requested || IsFinal(own.row.state)) return WorkflowCause::kCancel;
  return row.timed_out ? WorkflowCause::kDeadline : WorkflowCause::kNone;
}

Result<bool> IsClusterPaused(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query("SELECT 1 FROM system_config WHERE name = ?",
                                                     {std::string(kPauseSince)}));
  return rows.Next();
}

// True if an approval would expire now.
bool AnyExpires(const NodeRows& rows, WallTime now) {
  return std::ranges::any_of(rows, [&](const NodeRow& row) {
    return row.opened && row.until != WallTime{} && row.until <= now;
  });
}

// True if the time of the finally nodes is over.
bool IsFinallyOver(const StepReads& reads, WallTime now) {
  return reads.row.finally_since != WallTime{} &&
         now - reads.row.finally_since >= reads.graph().finally_timeout();
}

// Reads what the step decides by, besides the rows. Writes that the run is over its deadline.
Status ReadStepFacts(Session& session, const StoredRun& own, const StepWrite& rules,
                     StepReads& reads) {
  const bool late =
      rules.now >= reads.row.deadline && !HasMainEnded(reads.graph(), reads.nodes.rows);
  bool times_out = late && !reads.row.timed_out;
  StepFacts& facts = reads.facts;
  if (times_out || IsFinallyOver(reads, rules.now) || AnyExpires(reads.nodes.rows, rules.now)) {
    // Its nodes cannot start. The resume moves these times.
    CARILLON_ASSIGN_OR_RETURN(facts.paused, IsClusterPaused(session));
    times_out = times_out && !facts.paused;
  }
  if (times_out) {
    reads.row.timed_out = true;
    CARILLON_TRY(UpdateWorkflow(session, reads.row));
  }
  CARILLON_ASSIGN_OR_RETURN(RenderedParameters given, GivenFromText(reads.row.parameters));
  reads.workflow = {.run = reads.row.own,
                    .parameters = std::move(given.values),
                    .untrusted = std::move(given.untrusted),
                    .time_zone = std::move(given.time_zone)};
  facts.cause = CauseOf(own, reads.row);
  facts.now = rules.now;
  facts.killed = IsFinal(own.row.state) || own.row.cancel_requested == CancelMode::kKill;
  facts.fire = reads.row.own.fire;
  facts.time_zone = reads.workflow.time_zone;
  if (facts.time_zone.empty()) {
    const JobVersionRecord& record = reads.version->record;
    facts.time_zone = FireZone(record.definition, ScheduleOf(record, reads.row.own.schedule_id));
  }
  facts.parameters = &reads.workflow.parameters;
  if (reads.row.finally_since != WallTime{}) facts.finally_since = reads.row.finally_since;
  return {};
}

// Notes that only finally nodes are left.
void BeginFinally(WallTime now, StepReads& reads) {
  reads.row.finally_since = now;
  reads.facts.finally_since = now;
}

// A run of which a step is taken. It stays where it is: its facts refer to it.
struct OneStep {
  size_t index = 0;  // of its request and effect
  StoredRun own;
  StepReads reads;
  WorkflowStep step = {};
  bool row_changed = false;

  bool acts() const { return !step.decisions.empty() || step.end || step.finally_begins; }
};

// Locks all that the steps change.
Status LockFor(const std::vector<OneStep>& steps, StepShare& share) {
  std::vector<JobNo> job_nos;
  std::vector<RunKey> keys;
  std::set<JobNo> workflows;
  for (const OneStep& one : steps) {
    if (!one.acts()) continue;
    keys.push_back(one.reads.row.own);
    for (const NodeDecision& decision : one.step.decisions) {
      const RunRow& row = one.reads.nodes.runs[decision.position].row;
      keys.push_back(row.key);
      if (decision.action != NodeAction::kRelease) continue;
      job_nos.push_back(row.job_no);
      workflows.insert(one.reads.row.job_no);
    }
  }
  return share.Lock(std::move(job_nos), std::move(keys), workflows);
}

Status WriteStep(OneStep& one, StepShare& share, StepEffect* effect) {
  StepReads& reads = one.reads;
  const bool finally_before = reads.row.finally_since != WallTime{};
  const auto own = share.runs.find(reads.row.own);
  if (own == share.runs.end()) {
    return {ErrorCode::kCorrupt, "workflow: the own run is gone"};
  }
  if (one.step.finally_begins) BeginFinally(share.rules.now, reads);
  StepWriter writer(share, reads, own->second.row.cancel_requested.value_or(CancelMode::kGraceful));
  reads.workflow.state = one.step.state;
  for (const NodeDecision& decision : one.step.decisions) {
    CARILLON_TRY(writer.Apply(decision, effect));
    // A person has ended the node otherwise meanwhile. What follows was decided by this end.
    const bool ended = IsFinal(reads.nodes.rows[decision.position].state);
    if (decision.action == NodeAction::kFinish && !ended) break;
  }
  // The decisions may have come out otherwise, and have consequences of their own.
  const WorkflowStep next = StepWorkflow(reads.graph(), reads.nodes.rows, reads.facts);
  if (next.finally_begins) BeginFinally(share.rules.now, reads);
  effect->again = std::ranges::any_of(next.decisions, [&](const NodeDecision& decision) {
    return !writer.WaitsForItsJob(decision.position);
  });
  if (next.end && next.decisions.empty()) {
    reads.row.open = false;
    reads.workflow.state = next.state;
    if (own->second.row.state == RunState::kRunning) {
      CARILLON_TRY(writer.EndOwn(own->second, *next.end, effect));
    }
  }
  const bool finally_after = reads.row.finally_since != WallTime{};
  one.row_changed = !reads.row.open || finally_after != finally_before;
  return {};
}

// The runs of the requests that have begun and are open, in this order, without their nodes.
Result<std::vector<OneStep>> ReadOpenRuns(Session& session,
                                          const std::vector<StepRequest>& requests,
                                          const StepWrite& rules) {
  std::set<uint64_t> numbers;
  for (const StepRequest& request : requests) numbers.insert(request.run.no);
  const WorkflowLock lock =
      failpoint::Broken("step.no_lock") ? WorkflowLock::kNone : WorkflowLock::kUpdate;
  CARILLON_ASSIGN_OR_RETURN(auto rows, ReadWorkflows(session, numbers, lock));
  std::erase_if(rows, [](const auto& entry) { return !entry.second.open; });
  std::vector<RunKey> keys;
  for (const auto& [no, row] : rows) keys.push_back(row.own);
  CARILLON_ASSIGN_OR_RETURN(auto owns, ReadOwns(session, keys, rules.incarnations));
  std::vector<OneStep> open;
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto row = rows.find(requests[i].run.no);
    if (row == rows.end() || row->second.segment != requests[i].segment) continue;
    const auto own = owns.find(row->second.own);
    // PENDING: it was retried and has not begun again.
    if (own == owns.end() || own->second.row.state == RunState::kPending) continue;
    open.push_back({.index = i,
                    .own = std::move(own->second),
                    .reads = {.row = std::move(row->second), .version = {}, .nodes = {}}});
  }
  return open;
}
// Leaves out runs of which another one is a node, and those without room in this transaction.
void LeaveOut(const std::vector<StepRequest>& requests, std::vector<OneStep>& open,
              std::vector<StepEffect>* effects) {
  std::set<uint64_t> outer;
  for (const OneStep& one : open) {
    if (const auto place = NodePlaceOf(one.reads.row.own)) outer.insert(place->workflow_run_no);
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    (*effects)[i].again = outer.contains(requests[i].run.no);
  }
  size_t nodes = 0;
  for (const OneStep& one : open) {
    StepEffect& effect = (*effects)[one.index];
    if (effect.again) continue;
    effect.again = nodes >= kNodesPerWrite;
    if (!effect.again) nodes += one.reads.graph().size();
  }
  std::erase_if(open, [&](const OneStep& one) { return (*effects)[one.index].again; });
}

Status LoadGraphs(Session& session, const StepWrite& rules, std::vector<OneStep>& open) {
  std::vector<JobVersionKey> keys;
  for (const OneStep& one : open) {
    keys.push_back({one.reads.row.job_no, one.reads.row.def_version});
  }
  if (keys.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(auto versions, LoadVersions(session, keys, rules.versions));
  for (size_t i = 0; i < open.size(); ++i) {
    CARILLON_ASSIGN_OR_RETURN(open[i].reads.version, WithGraph(versions, keys[i]));
  }
  return {};
}

// Reads the nodes and decides the steps, before anything but the workflow runs is locked.
Status DecideSteps(Session& session, const StepWrite& rules, std::vector<OneStep>& steps) {
  std::vector<NodesWanted> wanted;
  for (const OneStep& one : steps) {
    wanted.push_back({.row = &one.reads.row, .count = one.reads.graph().size()});
  }
  CARILLON_ASSIGN_OR_RETURN(auto nodes, ReadNodesOf(session, wanted, rules.incarnations));
  for (size_t i = 0; i < steps.size(); ++i) {
    OneStep& one = steps[i];
    one.reads.nodes = std::move(nodes[i]);
    CARILLON_TRY(ReadStepFacts(session, one.own, rules, one.reads));
    one.step = StepWorkflow(one.reads.graph(), one.reads.nodes.rows, one.reads.facts);
  }
  return {};
}

Status WriteSteps(Session& session, const StepWrite& rules, std::vector<OneStep>& steps,
                  std::vector<StepEffect>* effects) {
  StepShare share(session, rules);
  CARILLON_TRY(LockFor(steps, share));
  for (OneStep& one : steps) {
    if (one.acts()) CARILLON_TRY(WriteStep(one, share, &(*effects)[one.index]));
  }
  CARILLON_TRY(share.Flush());
  for (const OneStep& one : steps) {
    if (one.row_changed) CARILLON_TRY(UpdateWorkflow(session, one.reads.row));
  }
  return {};
}

Params ParamsOf(const std::vector<SegmentId>& segments, std::optional<uint64_t> after,
                size_t limit) {
  Params params;
  for (const SegmentId segment : segments) {
    params.emplace_back(static_cast<uint64_t>(segment.value()));
    if (after) params.emplace_back(*after);
    params.emplace_back(static_cast<uint64_t>(limit));
  }
  return params;
}

}  // namespace

Result<std::vector<StepEffect>> StepRuns(Session& session, const std::vector<StepRequest>& requests,
                                         const StepWrite& rules) {
  CARILLON_TRY(LockFence(session, rules.fence));
  std::vector<StepEffect> effects(requests.size());
  CARILLON_ASSIGN_OR_RETURN(std::vector<OneStep> steps, ReadOpenRuns(session, requests, rules));
  CARILLON_TRY(LoadGraphs(session, rules, steps));
  LeaveOut(requests, steps, &effects);
  std::vector<uint64_t> told;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (effects[i].again) continue;
    told.insert(told.end(), requests[i].wake_ups.begin(), requests[i].wake_ups.end());
  }
  CARILLON_TRY(DecideSteps(session, rules, steps));
  const bool any = std::ranges::any_of(steps, [](const OneStep& one) { return one.acts(); });
  if (any) CARILLON_TRY(WriteSteps(session, rules, steps, &effects));
  CARILLON_TRY(DeleteCompletions(session, told));
  return effects;
}

Result<std::vector<WakeUp>> ReadWakeUps(Session& session, const std::vector<SegmentId>& segments,
                                        size_t limit) {
  static const std::string branch =
      "SELECT c.id, c.segment, c.fire_us, c.schedule_id, c.shard, c.ended_us FROM run_completions "
      "c FORCE INDEX (by_segment) WHERE c.segment = ? AND c.target = 'workflow' ORDER BY c.id "
      "LIMIT ?";
  const auto fetch = [&](size_t share) -> Result<std::vector<WakeUp>> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(UnionOf(branch, segments.size()),
                                                       ParamsOf(segments, std::nullopt, share)));
    std::vector<WakeUp> found;
    while (rows.Next()) {
      const auto place = NodePlaceOf(
          {rows.Time(3), ScheduleId(rows.Unsigned(4)), static_cast<uint32_t>(rows.Unsigned(5))});
      found.push_back({.id = rows.Unsigned(1),
                       .segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(2))),
                       .run = {.fire = rows.Time(3), .no = place ? place->workflow_run_no : 0},
                       .ended = rows.Time(6)});
    }
    return found;
  };
  return MergeSegments<WakeUp>(
      segments.size(), limit, fetch, [](const WakeUp& one) { return one.segment; },
      [](const WakeUp& one) { return one.id; });
}

Result<std::vector<OpenWorkflowRun>> ReadOpenWorkflows(Session& session,
                                                       const std::vector<SegmentId>& segments,
                                                       uint64_t after, size_t limit) {
  static const std::string branch =
      "SELECT w.no, w.fire_us, w.segment FROM workflow_runs w FORCE INDEX (by_open) WHERE "
      "w.open_segment = ? AND w.no > ? ORDER BY w.no LIMIT ?";
  const auto fetch = [&](size_t share) -> Result<std::vector<OpenWorkflowRun>> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(UnionOf(branch, segments.size()),
                                                       ParamsOf(segments, after, share)));
    std::vector<OpenWorkflowRun> found;
    while (rows.Next()) {
      found.push_back({.run = {.fire = rows.Time(2), .no = rows.Unsigned(1)},
                       .segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(3)))});
    }
    return found;
  };
  return MergeSegments<OpenWorkflowRun>(
      segments.size(), limit, fetch, [](const OpenWorkflowRun& one) { return one.segment; },
      [](const OpenWorkflowRun& one) { return one.run.no; });
}

}  // namespace carillon::mysql
