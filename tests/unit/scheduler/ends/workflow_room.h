// A member's loops of workflows over stores in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/adapters/memory/memory_coordinator.h"
#include "scheduler/ends/begin_loop.h"
#include "scheduler/ends/workflow_loop.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {

// Has other wake-ups and steps than the store.
class OddWorkflows final : public test::FaultWorkflowStore {
 public:
  using FaultWorkflowStore::FaultWorkflowStore;
  Result<std::vector<WakeUp>> ScanWakeUps(const std::vector<SegmentId>& segments,
                                          size_t limit) override {
    if (hides_wake_ups) return std::vector<WakeUp>();
    auto others = FaultWorkflowStore::ScanWakeUps(segments, limit);
    if (crowd.no == 0 || !others.ok()) return others;
    // Older wake-ups than those of the store.
    std::vector<WakeUp> found(std::min(limit, crowd_size),
                              WakeUp{.id = 1, .segment = segments.front(), .run = crowd});
    for (const WakeUp& one : *others) {
      if (found.size() < limit) found.push_back(one);
    }
    return found;
  }
  Result<std::vector<StepEffect>> Step(const std::vector<StepRequest>& requests, const Fence& fence,
                                       WallTime now) override {
    if (again == 0) return FaultWorkflowStore::Step(requests, fence, now);
    --again;
    return std::vector<StepEffect>(requests.size(), {.again = true});
  }

  bool hides_wake_ups = false;
  int again = 0;             // so many steps say that more is to be done
  WorkflowRunId crowd = {};  // has many wake-ups
  size_t crowd_size = 0;
};

class WorkflowRoomTest : public test::RoomTest {
 protected:
  WorkflowRoomTest() {
    signals_.slot_freed.Connect([this] { ++freed_; });
    signals_.due.Connect([this](const ChangedWork& work) { started_.push_back(work); });
  }
  StoredJob CreateFlow(const std::string& id, OverlapPolicy policy = OverlapPolicy::kAllow) {
    JobDefinition node;
    node.type = JobType::kNoop;
    for (const char* name : {"a", "b"}) {
      if (!stores_.jobs.GetJob(JobId(name)).ok()) CreateJob(name, node);
    }
    JobDefinition flow;
    flow.type = JobType::kWorkflow;
    flow.timeout_s = 60;
    flow.overlap_policy = policy;
    flow.workflow =
        WorkflowDefinition{.nodes = {{.id = "a", .job = JobId("a")},
                                     {.id = "b", .job = JobId("b"), .after = {{.node = "a"}}}}};
    return CreateJob(id, flow);
  }
  // A run by hand that is due, as the firing loop hands it over.
  DueWorkflow Due(const StoredJob& flow) {
    const auto created = stores_.runs.ExecuteJob({.job_id = flow.job_id}, {.now = clock_.Wall()});
    EXPECT_TRUE(created.ok());
    clock_.Advance(1ms);
    const RunRow row = stores_.runs.GetRun(created->key)->row;
    const OwnedSegment* owned = table_.View()->Find(row.segment);
    EXPECT_NE(owned, nullptr);
    return {ToPendingRun(row, owned->epoch), OverlapRulesOf(flow.definition)};
  }
  RunKey Begun(const StoredJob& flow) {
    const DueWorkflow due = Due(flow);
    EXPECT_TRUE(begins_.Add(due).ok());
    Step();
    return due.run.key;
  }
  SteadyTime Step() {
    clock_.Advance(20ms);
    SampleClock();
    begins_.Step(clock_.Steady());
    return loop_.Step(clock_.Steady());
  }
  void StepFor(Duration time) {
    for (Duration passed{}; passed < time; passed += 520ms) {
      clock_.Advance(500ms);
      Step();
    }
  }
  WorkflowRunView View(const RunKey& key) {
    auto view = stores_.workflows.GetWorkflowRun(key);
    EXPECT_TRUE(view.ok()) << (view.ok() ? "" : view.error().message);
    return *std::move(view);
  }
  RunState StateOf(const RunKey& key) { return stores_.runs.GetRun(key)->row.state; }
  RunRow NodeRowOf(const RunKey& key, size_t position) {
    return View(key).nodes[position].detail.row;
  }
  // Starts and ends the run of a node.
  void Finish(const RunKey& key, size_t position, RunState state = RunState::kCompleted) {
    const RunRow row = NodeRowOf(key, position);
    ClaimRequest claim{.key = row.key,
                       .segment = row.segment,
                       .job_no = row.job_no,
                       .attempt = row.attempt,
                       .def_version = row.def_version,
                       .token = {1, row.key.schedule_id.value()},
                       .executor = ExecutorId("x"),
                       .incarnation = {}};
    const Fence fence = table_.View()->FenceFor({row.segment});
    const auto claimed = stores_.firing.Claim({claim}, fence, clock_.Wall());
    ASSERT_TRUE(claimed.ok());
    ASSERT_EQ(claimed->front().verdict, ClaimVerdict::kAccepted) << Name(claimed->front().reason);
    const ResultReport report{.key = row.key,
                              .segment = row.segment,
                              .job_no = row.job_no,
                              .attempt = row.attempt,
                              .token = claim.token,
                              .executor = claim.executor,
                              .result = {.state = state, .ended = clock_.Wall()}};
    ASSERT_TRUE(stores_.firing.ApplyResults({report}, fence, clock_.Wall()).ok());
  }

  // Makes each step of this run fail.
  void FailSteps(WorkflowRunId run, ErrorCode code) {
    faults_.plan.Refuse<StepRequest>(
        [this, run](const StepRequest& request) {
          const bool fails = request.run.no == run.no;
          failed_steps_ += fails ? 1 : 0;
          return fails;
        },
        code);
  }

  int freed_ = 0;
  std::vector<ChangedWork> started_;
  std::vector<RunKey> begun_;
  std::vector<RunKey> not_begun_;
  OddWorkflows store_{stores_.workflows, faults_.plan};
  int failed_steps_ = 0;
  memory::MemoryEnsemble ensemble_;
  std::unique_ptr<Coordinator> coordinator_ = ensemble_.NewClient();
  UpgradeWatch upgrade_{{.coordinator = *coordinator_, .store = stores_.schema}};
  WorkflowLoop loop_{
      {.owner = {cluster_, table_, fences_, settings_, signals_, metrics_}, .store = store_}};
  BeginLoop begins_{{.owner = {cluster_, table_, fences_, settings_, signals_, metrics_},
                     .store = store_,
                     .upgrade = upgrade_,
                     .has_step = [this] { loop_.Nudge(); },
                     .begun = [this](const RunKey& key) { begun_.push_back(key); },
                     .not_begun = [this](const RunKey& key) { not_begun_.push_back(key); }}};
};

}  // namespace carillon::scheduler
