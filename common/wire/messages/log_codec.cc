#include "common/wire/messages/log_codec.h"

#include <google/protobuf/arena.h>

#include "carillon/v1/task.pb.h"
#include "common/domain/executor_state.h"
#include "common/domain/job_text.h"
#include "common/wire/messages/bundle_items.h"
#include "common/wire/messages/decode_checks.h"

namespace carillon {
namespace {

constexpr size_t kLogBundleBytesMax = 32u << 20;
constexpr uint32_t kLogAttemptMax = 1'000'000;

Error BadLog(std::string_view what) {
  return {ErrorCode::kCorrupt, "bus payload: log: " + std::string(what)};
}

Result<LogMessage> DecodeLog(const v1::LogChunk& from) {
  const auto key = DecodeRunId(from.task_id());
  const auto token = ParseClaimToken(from.claim_token());
  if (!key.ok()) return BadLog("task_id");
  if (!token.ok() || token->empty()) return BadLog("claim_token");
  if (!ValidateJobId(from.job_id()).ok()) return BadLog("job_id");
  if (!IsExecutorId(from.executor_id())) return BadLog("executor_id");
  if (from.segment() > wire::kSegmentMax) return BadLog("segment");
  if (from.attempt() < 1 || from.attempt() > kLogAttemptMax) return BadLog("attempt");
  if (from.job_no() > static_cast<uint64_t>(INT64_MAX)) return BadLog("job_no");
  if (from.first_seq() < 1 || from.first_seq() > static_cast<uint64_t>(INT64_MAX)) {
    return BadLog("first_seq");
  }
  if (from.count() == 0 && !from.last()) return BadLog("count");
  if (from.entries().size() > kLogChunkBytesMax) return BadLog("too long");
  // Validated here, because a later reader could not tell who sent invalid entries.
  CARILLON_TRY(DecodeEntries(from.entries(), from.count()));
  return LogMessage{.attempt = {.key = *key,
                                .segment = SegmentId(from.segment()),
                                .job_no = JobNo(from.job_no()),
                                .attempt = static_cast<int>(from.attempt()),
                                .token = *token},
                    .job_id = JobId(from.job_id()),
                    .executor = ExecutorId(from.executor_id()),
                    .chunk = {.first_seq = from.first_seq(),
                              .count = from.count(),
                              .last = from.last(),
                              .entries = from.entries()}};
}

}  // namespace

std::string EncodeLogs(const std::vector<LogMessage>& messages) {
  google::protobuf::Arena arena;
  auto* bundle = google::protobuf::Arena::CreateMessage<v1::LogBundle>(&arena);
  for (const LogMessage& from : messages) {
    v1::LogChunk& to = *bundle->add_chunks();
    to.set_task_id(EncodeRunId(from.attempt.key));
    to.set_job_id(from.job_id.value());
    to.set_executor_id(from.executor.value());
    to.set_attempt(static_cast<uint32_t>(from.attempt.attempt));
    to.set_job_no(from.attempt.job_no.value());
    to.set_segment(from.attempt.segment.value());
    to.set_claim_token(FormatClaimToken(from.attempt.token));
    to.set_first_seq(from.chunk.first_seq);
    to.set_count(from.chunk.count);
    to.set_last(from.chunk.last);
    to.set_entries(from.chunk.entries);
  }
  return bundle->SerializeAsString();
}

Result<std::vector<LogMessage>> DecodeLogs(std::string_view bytes,
                                           const std::function<bool(SegmentId)>& wanted) {
  if (bytes.size() > kLogBundleBytesMax) return BadLog("too long");
  wire::SilenceProtobuf();
  CARILLON_ASSIGN_OR_RETURN(const auto items,
                            wire::ItemsOfBundle(bytes, v1::LogChunk::kSegmentFieldNumber));
  if (items.size() > kBundleChunksMax) return BadLog("too many");
  google::protobuf::Arena arena;
  std::vector<LogMessage> messages;
  for (const wire::BundleItem& item : items) {
    if (item.segment && wanted && !wanted(*item.segment)) continue;
    auto* from = google::protobuf::Arena::CreateMessage<v1::LogChunk>(&arena);
    if (!from->ParseFromArray(item.bytes.data(), static_cast<int>(item.bytes.size()))) {
      return BadLog("a piece of a bundle");
    }
    CARILLON_ASSIGN_OR_RETURN(LogMessage message, DecodeLog(*from));
    messages.push_back(std::move(message));
  }
  return messages;
}

}  // namespace carillon
