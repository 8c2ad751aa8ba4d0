#include "tests/twins/memory_workflow_step.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "common/base/check.h"
#include "common/domain/job/fire_zone.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/run/dependents.h"
#include "common/domain/workflow/node_key.h"
#include "common/domain/workflow/workflow_end.h"
#include "common/domain/workflow/workflow_release.h"
#include "common/wire/json/job/given_parameters.h"
#include "tests/twins/memory_backers.h"
#include "tests/twins/memory_node_jobs.h"
#include "tests/twins/memory_run_writes.h"
#include "tests/twins/memory_workflow_runs.h"

namespace carillon::memory {
namespace {

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
    StepFacts facts = FactsOf(own);
    const WorkflowStep step = StepWorkflow(graph_, rows_, facts);
    facts_.state = step.state;
    if (step.finally_begins) facts.finally_since = workflow_.finally_since = now_;
    for (const NodeDecision& decision : step.decisions) Write(decision, own);
    // The decisions may have come out otherwise, and have consequences of their own.
    const WorkflowStep next = StepWorkflow(graph_, rows_, facts);
    effect_.again =
        next.finally_begins || std::ranges::any_of(next.decisions, [&](const NodeDecision& one) {
          return !unreadable_.contains(one.position);
        });
    facts_.state = next.state;
    if (next.end && next.decisions.empty()) End(*next.end);
    return std::move(effect_);
  }

 private:
  StepFacts FactsOf(const RunRow& own) REQUIRES(tables_.mu) {
    StepFacts facts{.now = now_,
                    .paused = PauseOf(tables_.settings).has_value(),
                    .killed = IsFinal(own.state) || own.cancel_requested == CancelMode::kKill,
                    .fire = workflow_.run.fire,
                    .parameters = &facts_.parameters,
                    .finally_since = workflow_.finally_since};
    facts.cause = CauseOf(own, facts.paused);
    facts.time_zone = ZoneOf(own);
    return facts;
  }

  WorkflowCause CauseOf(const RunRow& own, bool paused) {
    if (IsFinal(own.state) || own.cancel_requested) return WorkflowCause::kCancel;
    // Finally nodes have a time of their own.
    const bool over = now_ >= workflow_.deadline && !paused;
    if (over && !HasMainEnded(graph_, rows_)) workflow_.is_late = true;
    return workflow_.is_late ? WorkflowCause::kDeadline : WorkflowCause::kNone;
  }

  // That of the fire, also if the run does not keep it.
  std::string ZoneOf(const RunRow& own) REQUIRES(tables_.mu) {
    if (!facts_.time_zone.empty()) return facts_.time_zone;
    const JobEntry& job = *tables_.FindJob(workflow_.job_no);
    const JobDefinition* definition = VersionOf(tables_, workflow_.job_no, workflow_.def_version);
    const auto schedule =
        std::find(job.schedules.begin(), job.schedules.end(), own.key.schedule_id);
    const ScheduleSpec* spec =
        schedule == job.schedules.end() ? nullptr : &tables_.FindSchedule(*schedule)->spec;
    return FireZone(*definition, spec);
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
      case NodeAction::kOpen: Open(decision, std::move(node)); break;
      case NodeAction::kFinish: Finish(decision, std::move(node)); break;
    }
  }

  // A nested workflow run stops its own nodes in its next step.
  void Stop(size_t position, const RunKey& key, const WriteContext& cancel) REQUIRES(tables_.mu) {
    CancelOne(tables_, RunEntry(*tables_.FindRun(key)), cancel);
    const RunEntry& after = *tables_.FindRun(key);
    ++(IsFinal(after.row.state) ? effect_.cancelled : effect_.stopping);
    Refresh(position);
    const WorkflowEntry* nested = tables_.FindWorkflow(key);
    if (IsRunningWorkflow(after.row) && nested != nullptr) tables_.WakeUpWorkflow(*nested, now_);
  }

  void Refresh(size_t position) REQUIRES(tables_.mu) {
    const RunEntry& node = *tables_.FindRun(NodeKeyOf(workflow_, position));
    rows_[position] = NodeRowOf(node.row, node.result, UntilOf(node));
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

  static void TakeRelease(const NodeRelease& release, RunRow* row) {
    row->flags = (row->flags & ~(run_flag::kOnBehalf | run_flag::kRules)) | release.flags;
    row->rules = release.rules;
    if (!row->rules.empty()) row->flags |= run_flag::kRules;
  }

  NodeRelease ReleaseOf(size_t position, const JobEntry& job) REQUIRES(tables_.mu) {
    JobDefinition definition = job.definition;
    if (job.hidden) {
      const JobDefinition& graph = *VersionOf(tables_, workflow_.job_no, workflow_.def_version);
      definition = TaskAt(graph, position).value();
    }
    return DecideRelease(graph_, position, rows_, facts_, ToJobRow(job), definition);
  }

  void Release(size_t position, RunEntry node) REQUIRES(tables_.mu) {
    if (released_bytes_ >= kReleasedBytesPerStep) return;
    const JobEntry& job = *tables_.FindJob(node.row.job_no);
    if (!job.hidden && !IsReadable(job) && !job.deleted) {  // it waits until it can be read
      unreadable_.insert(position);
      return;
    }
    NodeRelease release = ReleaseOf(position, job);
    const RunRow& own = tables_.FindRun(workflow_.own)->row;
    if (!release.skip.empty()) {
      node.result.error = std::move(release.error);
      Skip(position, std::move(node), release.skip);
      return;
    }
    node.row.due = job.definition.enabled ? now_ : kNever;
    node.row.def_version = job.hidden ? workflow_.def_version : job.version;
    TakeRelease(release, &node.row);
    node.row.flags |= EndFlags(node.row.kind, node.row.flags, job.has_dependents);
    node.row.priority = PriorityOfNode(JobOf(tables_, node.row).priority, own);
    node.parameters_json = GivenToText(release.parameters);
    released_bytes_ += node.parameters_json.size() + node.row.rules.size();
    rows_[position].blocked = false;
    if (job.definition.enabled) effect_.released.push_back(node.row);
    tables_.PutRun(std::move(node));
  }

  void Open(const NodeDecision& decision, RunEntry node) REQUIRES(tables_.mu) {
    if (released_bytes_ >= kReleasedBytesPerStep) return;
    const size_t position = decision.position;
    NodeRelease opening = DecideOpening(graph_, position, rows_, facts_);
    if (!opening.skip.empty()) {
      node.result.error = std::move(opening.error);
      return Skip(position, std::move(node), opening.skip);
    }
    TakeRelease(opening, &node.row);
    node.parameters_json = GivenToText(opening.parameters);
    released_bytes_ += node.parameters_json.size() + node.row.rules.size();
    node.row.due = decision.due;
    node.until = decision.until;
    node.result.started = now_;
    const RunRow row = node.row;
    tables_.PutRun(std::move(node));
    Refresh(position);
    if (decision.due != kUndecided) return;
    // By the rules of the workflow.
    AddNotice(tables_, {.kind = NoticeKind::kApproval,
                        .segment = workflow_.segment,
                        .job_no = workflow_.job_no,
                        .key = row.key,
                        .attempt = row.attempt,
                        .state = row.state,
                        .created = now_});
  }

  void Finish(const NodeDecision& decision, RunEntry node) REQUIRES(tables_.mu) {
    FinishNode(tables_, std::move(node), decision.result, now_);
    Refresh(decision.position);
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
    effect_.ended = ending.change.state;
    effect_.freed_slot = held_slot || held_group;
    effect_.completed = IsAwaited(tables_.FindRun(key)->row);
  }

  MemoryTables& tables_;
  WorkflowEntry& workflow_;
  const WorkflowGraph& graph_;
  WorkflowFacts facts_;
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
