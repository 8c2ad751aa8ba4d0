#include "executor/journal/record_reads.h"

#include <algorithm>

#include <fmt/format.h>

namespace carillon::executor {

bool RecordReads::InWindow(const RecordPlace& place) const {
  return window_.segment == place.segment && place.offset >= window_.offset &&
         place.end() <= window_.offset + window_.bytes.size();
}

std::optional<std::string> RecordReads::Parse(RecordId id, const RecordPlace& place) const {
  RawRecord record;
  const auto bytes = std::string_view(window_.bytes).substr(place.offset - window_.offset);
  if (!ParseRecord(bytes, &record) || record.id != id) return std::nullopt;
  return std::string(record.payload);
}

std::optional<Result<std::string>> RecordReads::Take(RecordId id, const RecordPlace& place) {
  if (failed_ && failed_->first == id) {
    return Result<std::string>(std::exchange(failed_, std::nullopt)->second);
  }
  if (!InWindow(place)) {
    requested_ = id;
    return std::nullopt;
  }
  if (std::optional<std::string> payload = Parse(id, place)) return *std::move(payload);
  return Result<std::string>(
      ErrorCode::kCorrupt,
      fmt::format("journal: record {} in {}", id, SegmentPath(directory_, place.segment)));
}

void RecordReads::Begin(DeviceOrder& order, std::optional<RecordId> to_move) {
  reading_to_move_ = !requested_;
  reading_ = requested_ ? *std::exchange(requested_, std::nullopt) : *to_move;
  const RecordPlace* found = index_.Find(reading_);
  const RecordPlace place = found != nullptr ? *found : RecordPlace{};
  const SegmentIndex::Segment* segment = index_.FindSegment(place.segment);
  const size_t there = segment != nullptr ? segment->used - place.offset : 0;
  order.path = SegmentPath(directory_, place.segment);
  order.offset = place.offset;
  order.bytes.resize(std::max(place.record_bytes(), std::min(there, kWindowBytes)));
  reading_from_ = place;
}

std::optional<std::vector<RecordReads::Moved>> RecordReads::Finish(DeviceOrder& order) {
  order.bytes.resize(order.done);
  const RecordPlace* found = index_.Find(reading_);
  const bool wanted = found != nullptr && found->segment == reading_from_.segment;
  const size_t record = wanted ? found->record_bytes() : 0;
  if (order.error != 0 || order.done < record) {
    Fail(order.error != 0 ? DeviceError("journal: read " + order.path, order.error)
                          : Error{ErrorCode::kCorrupt, "journal: " + order.path + " is cut"});
    return std::nullopt;
  }
  window_ = {reading_from_.segment, reading_from_.offset, std::move(order.bytes)};
  // A record that was requested during this read and is in the new window needs no read of its own.
  const RecordPlace* asked = requested_ ? index_.Find(*requested_) : nullptr;
  if (asked != nullptr && InWindow(*asked)) requested_.reset();
  if (!reading_to_move_) return std::nullopt;
  return MoveFromWindow();
}

void RecordReads::Fail(Error error) {
  if (reading_to_move_) {
    unmovable_segment_ = reading_from_.segment;
    return;
  }
  failed_.emplace(reading_, std::move(error));
  // A request for the same record made during the read is answered by this error too.
  if (requested_ == reading_) requested_.reset();
}

std::vector<RecordReads::Moved> RecordReads::MoveFromWindow() {
  std::vector<Moved> moved;
  const SegmentIndex::Segment* segment = index_.FindSegment(window_.segment);
  if (segment == nullptr) return moved;
  for (const RecordId id : segment->ids) {
    const RecordPlace* place = index_.FindIn(*segment, id);
    if (place == nullptr || !InWindow(*place)) continue;
    if (std::optional<std::string> payload = Parse(id, *place)) {
      moved.push_back({id, *std::move(payload)});
    } else {
      unmovable_segment_ = segment->number;
    }
  }
  return moved;
}

}  // namespace carillon::executor
