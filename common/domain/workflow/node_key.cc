#include "common/domain/workflow/node_key.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/run/run_kind.h"
#include "common/domain/workflow/workflow_spec.h"

namespace carillon {

static_assert(kWorkflowNodesMax <= kNodePositionsMax);

Result<RunKey> NodeKey(WallTime fire, const NodePlace& place) {
  if (place.workflow_run_no >= kWorkflowRunNoMax || place.position >= kNodePositionsMax) {
    return {
        ErrorCode::kExhausted,
        fmt::format("no key for node {} of workflow run {}: numbers of workflow runs are below "
                    "{}, positions below {}",
                    place.position, place.workflow_run_no, kWorkflowRunNoMax, kNodePositionsMax)};
  }
  return RunKey{
      .fire = fire,
      .schedule_id = ScheduleId(kFirstNodeSchedule + place.workflow_run_no * kNodePositionsMax +
                                place.position),
      .shard = 0};
}

std::optional<NodePlace> NodePlaceOf(const RunKey& key) {
  const uint64_t id = key.schedule_id.value();
  if (id < kFirstNodeSchedule || id >= 2 * kFirstNodeSchedule || key.shard != 0) {
    return std::nullopt;
  }
  const uint64_t offset = id - kFirstNodeSchedule;
  return NodePlace{.workflow_run_no = offset / kNodePositionsMax,
                   .position = offset % kNodePositionsMax};
}

bool LeavesDeadLetter(const RunRow& row) {
  return TellsFailure(row.kind) && !NodePlaceOf(row.key).has_value();
}

int PriorityOfNode(int of_job, const RunRow& own) { return std::max(of_job, own.priority); }

int NextPriority(const RunRow& row, int of_job) {
  if (KeepsPriority(row.kind)) return row.priority;
  return NodePlaceOf(row.key) ? std::max(row.priority, of_job) : of_job;
}

bool IsRunningWorkflow(const RunRow& row) {
  return (row.state == RunState::kRunning) && row.executor.empty();
}

std::string ToText(const NodeOrigin& origin) {
  return "node " + EncodeRunId(origin.workflow_run) + " " + origin.node;
}

std::optional<NodeOrigin> NodeOriginFromText(std::string_view text) {
  constexpr std::string_view kPrefix = "node ";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  const size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto run = DecodeRunId(text.substr(0, blank));
  if (!run.ok()) return std::nullopt;
  return NodeOrigin{.workflow_run = *run, .node = std::string(text.substr(blank + 1))};
}

Result<NodeKeyRange> NodeKeysOf(WallTime fire, uint64_t workflow_run_no) {
  CARILLON_ASSIGN_OR_RETURN(const RunKey first,
                            NodeKey(fire, {.workflow_run_no = workflow_run_no, .position = 0}));
  CARILLON_ASSIGN_OR_RETURN(const RunKey last, NodeKey(fire, {.workflow_run_no = workflow_run_no,
                                                              .position = kNodePositionsMax - 1}));
  return NodeKeyRange{first, last};
}

}  // namespace carillon
