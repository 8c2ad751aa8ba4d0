// The limit of the schedules of kind event in a namespace, in the terms of the API. It keeps the
// work of an event bounded; two writes at the same time may exceed it a little.
#pragma once

#include <optional>

#include "scheduler/api/workflows/node_job_check.h"

namespace carillon::scheduler {

// Counts the triggers that a namespace has more than before with the definition. `before` is the
// stored definition, or null.
size_t AddedTriggers(const JobDefinition* before, const JobDefinition& definition);

// The position of the first schedule for which its namespace has no room (kTriggersPerNamespace). A
// definition that adds no trigger is not checked.
Outcome<std::optional<size_t>> FindTriggerWithoutRoom(const Call& call, const JobId& id,
                                                      const JobDefinition* before,
                                                      const JobDefinition& definition,
                                                      const ComingJobs& coming);

// 422 too_many_triggers.
Problem TooManyTriggers(size_t position, const std::string& name_space);

}  // namespace carillon::scheduler
