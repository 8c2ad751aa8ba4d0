// Trace ids of W3C Trace Context. A trace id follows a run from the request that made it, or from
// its planning, into its process. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/domain/run_id.h"

namespace carillon {

// 32 lower-case hex digits, not all 0.
bool IsTraceId(std::string_view text);
// The trace id of a `traceparent`; nullopt unless it is a valid one of version 00.
std::optional<std::string> TraceIdOfParent(std::string_view traceparent);
// The trace id of a run that was not created by a request: the 128 bits of its run id.
std::string TraceIdOf(const RunKey& key);
// Returns `given`; if it is empty, the trace id that is derived from `key`.
std::string TraceIdOf(const RunKey& key, const std::string& given);
// The `traceparent` for calls that an attempt makes; the parent is the attempt.
std::string TraceParentOf(const std::string& trace_id, const RunKey& key, int attempt);

}  // namespace carillon
