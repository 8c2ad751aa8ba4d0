#include "tests/twins/memory_workflow_step.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "common/base/check.h"
#include "common/domain/run/dependents.h"
#include "common/domain/workflow/node_key.h"
#include "common/domain/workflow/workflow_end.h"
#include "common/domain/workflow/workflow_release.h"
#include "common/wire/json/job/given_parameters.h"
#include "tests/twins/memory_backers.h"
#include "tests/twins/memory_run_writes.h"
#include "tests/twins/memory_workflow_runs.h"

namespace carillon::memory {
namespace {

bool AllFinal(const NodeRows& rows) {
  return std::all_of(rows.begin(), rows.end(),
                     [](const NodeRow& row) { return IsFinal(row.state); });
}

class Step {
 public:
  Step(MemoryTables& tables, WorkflowEntry& workflow, const WorkflowGraph& graph, WallTime now)
      REQUIRES(tables.mu)
      : tables_(tables),
        workflow_(workflow),
        graph_(graph),
        facts_{.run = workflow.own,
               .parameters = workflow.parameters.values,
               .untrusted = workflow.parameters.untrusted,
               .backers = BackersOf(tables, workflow),
               .time_zone = workflow.parameters.time_zone},
        now_(now) {}

  StepEffect Take() REQUIRES(tables_.mu) {
    const RunRow own = tables_.FindRun(workflow_.own)->row;
    rows_ = NodeRowsOf(tables_, workflow_);
    const WorkflowCause cause = CauseOf(own);
    for (const NodeDecision& decision : StepWorkflow(graph_, rows_, {.cause = cause}).decisions) {
      Write(decision, own);
    }
    // The decisions may have come out otherwise, and have consequences of their own.
    const WorkflowStep next = StepWorkflow(graph_, rows_, {.cause = cause});
    effect_.again = std::ranges::any_of(next.decisions, [&](const NodeDecision& one) {
      return !unreadable_.contains(one.position);
    });
    if (next.end && next.decisions.empty()) End(*next.end);
    return std::move(effect_);
  }

 private:
  WorkflowCause CauseOf(const RunRow& own) REQUIRES(tables_.mu) {
    if (IsFinal(own.state) || own.cancel_requested) return WorkflowCause::kCancel;
    const bool over = now_ >= workflow_.deadline && !PauseOf(tables_.settings);
    if (over && !AllFinal(rows_)) workflow_.is_late = true;
    return workflow_.is_late ? WorkflowCause::kDeadline : WorkflowCause::kNone;
  }

  void Write(const NodeDecision& decision, const RunRow& own) REQUIRES(tables_.mu) {
    RunEntry node = *tables_.FindRun(NodeKeyOf(workflow_, decision.position));
    const WriteContext cancel{.now = now_,
                              .cancel_mode = own.cancel_requested.value_or(CancelMode::kGraceful)};
    switch (decision.action) {
      case NodeAction::kRelease: Release(decision.position, node); break;
      case NodeAction::kSkip:
        node.result.error = decision.error;
        Skip(decision.position, node, decision.reason);
        break;
      case NodeAction::kCancel:
      case NodeAction::kStop: Stop(decision.position, node.row.key, cancel); break;
      case NodeAction::kOpen:
      case NodeAction::kFinish: break;
    }
  }

  // A nested workflow run stops its own nodes in its next step.
  void Stop(size_t position, const RunKey& key, const WriteContext& cancel) REQUIRES(tables_.mu) {
    CancelOne(tables_, RunEntry(*tables_.FindRun(key)), cancel);
    const RunEntry& after = *tables_.FindRun(key);
    ++(IsFinal(after.row.state) ? effect_.cancelled : effect_.stopping);
    rows_[position] = NodeRowOf(after.row, after.result, WallTime{});
    const WorkflowEntry* nested = tables_.FindWorkflow(key);
    if (IsRunningWorkflow(after.row) && nested != nullptr) tables_.WakeUpWorkflow(*nested, now_);
  }

  void Skip(size_t position, RunEntry node, std::string_view why) REQUIRES(tables_.mu) {
    // It leaves no dead letter: that of the workflow run stands for it.
    node.row.state = RunState::kSkipped;
    node.result.reason = std::string(why);
    node.result.ended = now_;
    tables_.PutRun(std::move(node));
    rows_[position].state = RunState::kSkipped;
    rows_[position].blocked = false;
    rows_[position].reason = why;
    ++effect_.skipped;
  }

  void Release(size_t position, RunEntry node) REQUIRES(tables_.mu) {
    if (released_bytes_ >= kReleasedBytesPerStep) return;
    const JobEntry& job = *tables_.FindJob(node.row.job_no);
    if (!IsReadable(job) && !job.deleted) {  // it waits until it can be read
      unreadable_.insert(position);
      return;
    }
    NodeRelease release =
        DecideRelease(graph_, position, rows_, facts_, ToJobRow(job), job.definition);
    const RunRow& own = tables_.FindRun(workflow_.own)->row;
    if (!release.skip.empty()) {
      node.result.error = std::move(release.error);
      Skip(position, std::move(node), release.skip);
      return;
    }
    node.row.due = job.definition.enabled ? now_ : kNever;
    node.row.def_version = job.version;
    node.row.priority = PriorityOfNode(job.definition.priority, own);
    node.row.flags = (node.row.flags & ~run_flag::kOnBehalf) | release.flags;
    node.row.flags |= EndFlags(node.row.kind, node.row.flags, job.has_dependents);
    node.parameters_json = GivenToText(release.parameters);
    released_bytes_ += node.parameters_json.size();
    rows_[position].blocked = false;
    if (job.definition.enabled) effect_.released.push_back(node.row);
    tables_.PutRun(std::move(node));
  }

  void End(const WorkflowEnd& end) REQUIRES(tables_.mu) {
    workflow_.state = WorkflowEntry::State::kEnded;
    RunEntry own = *tables_.FindRun(workflow_.own);
    if (IsFinal(own.row.state))
      return;  // it was cancelled, or skipped, while it waited for its begin
    const RunKey key = own.row.key;
    const JobEntry& job = *tables_.FindJob(own.row.job_no);
    const bool held_slot = job.slots.contains(key);
    const bool held_group = own.row.group != GroupNo{};
    const WorkflowEnding ending = EndingOf(own.row, end, graph_, rows_, facts_, now_);
    own.row.flags |= EndFlags(own.row.kind, own.row.flags, job.has_dependents);
    CARILLON_CHECK(WriteChange(tables_, std::move(own), ending.change, ending.result, now_).ok(),
                   "a workflow ends its own run");
    effect_.ended = end.state;
    effect_.freed_slot = held_slot || held_group;
    effect_.completed = IsAwaited(tables_.FindRun(key)->row);
  }

  MemoryTables& tables_;
  WorkflowEntry& workflow_;
  const WorkflowGraph& graph_;
  const WorkflowFacts facts_;
  const WallTime now_;
  NodeRows rows_;  // as written so far
  size_t released_bytes_ = 0;
  std::set<size_t> unreadable_;  // positions of nodes whose job cannot be read
  StepEffect effect_;
};

}  // namespace

StepEffect TakeStep(MemoryTables& tables, WorkflowEntry& workflow, const WorkflowGraph& graph,
                    WallTime now) {
  return Step(tables, workflow, graph, now).Take();
}

}  // namespace carillon::memory
