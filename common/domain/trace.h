// Trace ids as W3C Trace Context has them: one follows a run from the request that made it, or from
// its plan, into its process. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/domain/run_id.h"

namespace carillon {

// 32 lower-case hex digits that are not all 0.
bool IsTraceId(std::string_view text);
// That of a `traceparent`; nullopt: it is none of version 00.
std::optional<std::string> TraceIdOfParent(std::string_view traceparent);
// Of a run that no request made: the 128 bits of its run id.
std::string TraceIdOf(const RunKey& key);
// `given`, or where it is empty the run's own.
std::string TraceIdOf(const RunKey& key, const std::string& given);
// A `traceparent` for what an attempt calls; the parent is the attempt.
std::string TraceParentOf(const std::string& trace_id, const RunKey& key, int attempt);

}  // namespace carillon
