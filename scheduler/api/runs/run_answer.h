// Answers to writes that let a run go on, and who may make them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "common/ports/store/idempotency_store.h"
#include "common/ports/store/run_store.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// The answer that is stored with an Idempotency-Key. It is made in the transaction of the write, in
// which nothing else can be read. The output of the attempts is left out. With the output, the
// answers of one day would take gigabytes.
StoredAnswer KeptRunAnswer(const RunDetail& run, const nlohmann::json& allowed_actions);

// Nudges the owner of the run, and answers with the run.
HttpResponse AcceptedRun(const Call& call, const RunDetail& run,
                         const nlohmann::json& allowed_actions);

// After the run of a node, its workflow goes on. So the caller must be permitted to do the same
// with the workflow's run.
Outcome<bool> CheckWorkflowOf(const Call& call, const RunDetail& run, std::string_view action);

}  // namespace carillon::scheduler
