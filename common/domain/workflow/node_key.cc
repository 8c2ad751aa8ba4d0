#include "common/domain/workflow/node_key.h"

#include <fmt/format.h>

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

Result<NodeKeyRange> NodeKeysOf(WallTime fire, uint64_t workflow_run_no) {
  CARILLON_ASSIGN_OR_RETURN(const RunKey first,
                            NodeKey(fire, {.workflow_run_no = workflow_run_no, .position = 0}));
  CARILLON_ASSIGN_OR_RETURN(const RunKey last, NodeKey(fire, {.workflow_run_no = workflow_run_no,
                                                              .position = kNodePositionsMax - 1}));
  return NodeKeyRange{first, last};
}

}  // namespace carillon
