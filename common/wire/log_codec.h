// Pieces of logs as payloads of the bus and back. Protobuf stays in here.
//
// Errors   Decode: kCorrupt for bytes that are not a bundle, an id that does not parse, a number
//          out of its range, entries that do not parse, a bundle above kBundleChunksMax.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/run_log.h"
#include "common/ports/executor_link.h"

namespace carillon {

inline constexpr size_t kBundleChunksMax = 1024;

struct LogMessage {
  HeldAttempt attempt;
  JobId job_id;
  ExecutorId executor;
  LogChunk chunk;
};

std::string EncodeLogs(const std::vector<LogMessage>& messages);
// With `wanted`, a piece of a segment for which it is false is left out without being decoded.
Result<std::vector<LogMessage>> DecodeLogs(std::string_view bytes,
                                           const std::function<bool(SegmentId)>& wanted = {});

}  // namespace carillon
