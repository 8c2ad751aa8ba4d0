// Encodes and decodes chunks of logs as payloads of the bus. Protobuf is used only in this folder.
//
// Errors   Decode: kCorrupt for bytes that are not a bundle, an invalid id, a number out of its
//          range, invalid entries, or a bundle above kBundleChunksMax.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/run/run_log.h"
#include "common/ports/executor_link.h"

namespace carillon {

inline constexpr size_t kBundleChunksMax = 1024;

// A chunk of a log with its origin.
struct LogMessage {
  HeldAttempt attempt;
  JobId job_id;
  ExecutorId executor;
  LogChunk chunk;
};

std::string EncodeLogs(const std::vector<LogMessage>& messages);
// Chunks of segments for which `wanted` is false are skipped without being decoded.
Result<std::vector<LogMessage>> DecodeLogs(std::string_view bytes,
                                           const std::function<bool(SegmentId)>& wanted = {});

}  // namespace carillon
