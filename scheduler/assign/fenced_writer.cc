#include "scheduler/assign/fenced_writer.h"

#include <string>

#include "common/base/log.h"

namespace carillon::scheduler {

Status FencedWriter::Check(const Fence& fence) {
  if (fence.empty()) return {};
  std::vector<SegmentId> segments;
  segments.reserve(fence.size());
  for (const FencedSegment& item : fence) segments.push_back(item.segment);
  const SteadyTime sent = clock_.Steady();
  auto records = segments_.ReadEpochs(segments);
  if (!records.ok()) {
    metrics_.counter("carillon_store_errors_total", ErrorCodeName(records.code())).Add();
    return records.error();
  }
  std::map<SegmentId, Epoch> stored;
  for (const SegmentRecord& record : *records) stored[record.segment] = record.epoch;
  Fence held;
  Fence lost;
  for (const FencedSegment& item : fence) {
    const auto found = stored.find(item.segment);
    if (found == stored.end()) {
      metrics_.counter("carillon_store_errors_total", ErrorCodeName(ErrorCode::kBrokenStore)).Add();
      return {ErrorCode::kBrokenStore,
              "epochs: no row of segment " + std::to_string(item.segment.value())};
    }
    (found->second == item.epoch ? held : lost).push_back(item);
  }
  Succeeded(held, sent);
  table_.Drop(lost, DropCause::kFenced);
  return {};
}

void FencedWriter::Succeeded(const Fence& fence, SteadyTime sent) {
  // The proof counts from the time of the request. Another owner may have taken the segment before
  // the reply arrived.
  const bool from_receipt = failpoint::Broken("proof.from_receipt");
  table_.Proved(fence, from_receipt ? clock_.Steady() : sent);
}

void FencedWriter::Failed(std::string_view op, const Fence& fence, const Error& error) {
  if (error.code == ErrorCode::kFenced) {
    metrics_.counter("carillon_fenced_writes_total", op).Add();
    log::Warn("assign", "{}: fenced: {}", op, error.message);
    const Status checked = Check(fence);
    // If the epochs could not be read, the next write is refused as fenced as well. The epochs are
    // then read again.
    if (!checked.ok())
      log::Warn("assign", "{}: cannot read epochs: {}", op, checked.error().message);
    return;
  }
  if (error.code == ErrorCode::kConflict) return;  // the caller handles and reports it
  metrics_.counter("carillon_store_errors_total", ErrorCodeName(error.code)).Add();
  log::Warn("assign", "{}: {}: {}", op, ErrorCodeName(error.code), error.message);
}

}  // namespace carillon::scheduler
