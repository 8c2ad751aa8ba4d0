#include "common/wire/messages/control_parts.h"

#include "common/wire/messages/decode_checks.h"

namespace carillon::wire {
namespace {

constexpr size_t kTopicBytesMax = 64;
constexpr int kRecordHeadersMax = 16;

}  // namespace

Error BadMessage(std::string_view what) {
  return {ErrorCode::kCorrupt, "control link: " + std::string(what)};
}

void Encode(const HeldAttempt& from, v1::Attempt& to) {
  to.set_task_id(EncodeRunId(from.key));
  to.set_segment(from.segment.value());
  to.set_job_no(from.job_no.value());
  to.set_attempt(static_cast<uint32_t>(from.attempt));
  to.set_claim_token(FormatClaimToken(from.token));
}

Result<HeldAttempt> Decode(const v1::Attempt& from) {
  const auto key = DecodeRunId(from.task_id());
  const auto token = ParseClaimToken(from.claim_token());
  if (!key.ok()) return BadMessage("task_id");
  if (!token.ok() || token->empty()) return BadMessage("claim_token");
  if (from.segment() > kSegmentMax) return BadMessage("segment");
  if (from.attempt() < 1 || from.attempt() > kCountMax) return BadMessage("attempt");
  if (from.job_no() > static_cast<uint64_t>(INT64_MAX)) return BadMessage("job_no");
  return HeldAttempt{.key = *key,
                     .segment = SegmentId(from.segment()),
                     .job_no = JobNo(from.job_no()),
                     .attempt = static_cast<int>(from.attempt()),
                     .token = *token};
}

void Encode(const std::vector<HeldAttempt>& from, Attempts& to) {
  for (const HeldAttempt& attempt : from) Encode(attempt, *to.Add());
}

Result<std::vector<HeldAttempt>> Decode(const Attempts& from) {
  if (from.size() > kAttemptsMax) return BadMessage("too many attempts");
  std::vector<HeldAttempt> attempts;
  attempts.reserve(static_cast<size_t>(from.size()));
  for (const v1::Attempt& attempt : from) {
    CARILLON_ASSIGN_OR_RETURN(const HeldAttempt held, Decode(attempt));
    attempts.push_back(held);
  }
  return attempts;
}

void Encode(const CarriedRecord& from, v1::Record& to) {
  to.set_topic(from.topic);
  to.set_partition_key(from.partition_key);
  to.set_payload(from.record.payload);
  to.mutable_headers()->insert(from.record.headers.begin(), from.record.headers.end());
}

Result<CarriedRecord> Decode(const v1::Record& from) {
  if (from.topic().empty() || from.topic().size() > kTopicBytesMax) return BadMessage("topic");
  if (from.headers_size() > kRecordHeadersMax) return BadMessage("too many headers");
  CarriedRecord record{.topic = from.topic(), .partition_key = from.partition_key()};
  record.record.payload = from.payload();
  for (const auto& [name, value] : from.headers()) {
    if (name.size() > kTextBytesMax || value.size() > kTextBytesMax) return BadMessage("a header");
    record.record.headers.emplace(name, value);
  }
  return record;
}

}  // namespace carillon::wire
