#include "executor/journal/segment_index.h"

#include <algorithm>

#include <fmt/format.h>

namespace carillon::executor {
namespace {

// nullptr: no such segment.
template <typename Segments>
auto Locate(Segments& segments, uint64_t number) -> decltype(&segments.front()) {
  const auto found = std::lower_bound(
      segments.begin(), segments.end(), number,
      [](const auto& segment, uint64_t wanted) { return segment.number < wanted; });
  return found == segments.end() || found->number != number ? nullptr : &*found;
}

}  // namespace

std::string SegmentPath(const std::string& directory, uint64_t number) {
  return fmt::format("{}/{:012}.log", directory, number);
}

const SegmentIndex::Segment* SegmentIndex::FindSegment(uint64_t number) const {
  return Locate(segments_, number);
}

void SegmentIndex::Begin(uint64_t number, size_t allocated) {
  segments_.push_back({.number = number, .allocated = allocated});
  next_number_ = number + 1;
}

void SegmentIndex::DropOldest() {
  disk_bytes_ -= segments_.front().used;
  segments_.pop_front();
}

void SegmentIndex::Grow(size_t bytes) {
  segments_.back().used += bytes;
  disk_bytes_ += bytes;
}

void SegmentIndex::CutUnsynced() {
  Segment& segment = segments_.back();
  disk_bytes_ -= segment.used - segment.synced;
  segment.used = segment.synced;
}

const RecordPlace* SegmentIndex::Find(RecordId id) const {
  const auto found = places_.find(id);
  return found == places_.end() ? nullptr : &found->second;
}

const RecordPlace* SegmentIndex::FindIn(const Segment& segment, RecordId id) const {
  const RecordPlace* place = Find(id);
  return place != nullptr && place->segment == segment.number ? place : nullptr;
}

void SegmentIndex::Put(RecordId id, const RecordPlace& place) {
  places_[id] = place;
  live_bytes_ += place.payload_size;
  Segment* segment = Locate(segments_, place.segment);
  ++segment->live;
  segment->ids.push_back(id);
}

void SegmentIndex::Forget(RecordId id, ChangePosition by) {
  const auto found = places_.find(id);
  if (found == places_.end()) return;
  if (Segment* segment = Locate(segments_, found->second.segment)) {
    --segment->live;
    segment->emptied_by = std::max(segment->emptied_by, by);
  }
  live_bytes_ -= found->second.payload_size;
  places_.erase(found);
}

std::vector<RecordId> SegmentIndex::Ids() const {
  std::vector<RecordId> ids;
  ids.reserve(places_.size());
  for (const auto& [id, place] : places_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace carillon::executor
