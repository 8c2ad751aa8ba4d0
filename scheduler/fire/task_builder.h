// Builds the task message for an executor from a run and its definition. Pure.
//
// Place    Step 6 of docs/life-of-a-run.md.
// Errors   The caller then records the run as SKIPPED: kInvalid, bad_definition: a placeholder or
//          the given parameters cannot be rendered, or the result is too large for an executor;
//          kDenied, unsafe_parameter: a text from outside would become part of the command.
#pragma once

#include <optional>

#include "common/domain/parts/fan_out_places.h"
#include "common/wire/messages/task_codec.h"
#include "scheduler/definitions/definition_cache.h"
#include "scheduler/handover/run_queues.h"

namespace carillon::scheduler {

Result<TaskMessage> BuildTask(const PendingRun& run, const Definition& definition,
                              const MemberId& member, WallTime now);

// The place of the run on the ring of executors (hash_ring.h), by its routing key. Errors as
// BuildTask.
Result<uint64_t> RoutingPlace(const PendingRun& run, const Definition& definition);

// The places of a fire whose job has a template for the number of its parts, or of a mapped node;
// nullopt for others. If the template cannot be rendered, they are refused.
std::optional<Places> PlacesByTemplate(const PendingRun& run, const Definition& definition);

// Returns the approximate number of bytes that the task adds to a bundle.
size_t TaskBytes(const TaskMessage& task);

}  // namespace carillon::scheduler
