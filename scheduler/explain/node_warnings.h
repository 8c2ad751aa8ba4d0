// Warnings about nodes of a workflow that a person who writes it should read. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/domain/job/job.h"

namespace carillon::scheduler {

// [{node, code, detail}]: ends_first for each approval and wait that is to last longer than the
// time of the workflow, or of its finally nodes, allows.
nlohmann::json NodeWarnings(const JobDefinition& job);

}  // namespace carillon::scheduler
