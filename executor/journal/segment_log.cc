#include "executor/journal/segment_log.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

namespace carillon::executor {
namespace {

constexpr size_t kLogBytesMax = 64u << 10;

}  // namespace

SegmentLog::~SegmentLog() {
  if (active_order_) device_->Wait();
  // Losing this line loses no state.
  if (!log_.empty()) static_cast<void>(!write(STDERR_FILENO, log_.data(), log_.size()));
  for (const std::string& spare : spares_) unlink(spare.c_str());
  if (active_.open() && !segments_.empty()) {
    // Frees the unused rest of the file; a failure only wastes space until the next Open.
    static_cast<void>(!ftruncate(active_.get(), static_cast<off_t>(segments_.back().used)));
  }
}

std::string SegmentLog::PathOf(uint64_t number) const {
  return fmt::format("{}/{:012}.log", options_.directory, number);
}

SegmentLog::Segment* SegmentLog::Find(uint64_t number) {
  const auto found = std::lower_bound(
      segments_.begin(), segments_.end(), number,
      [](const Segment& segment, uint64_t wanted) { return segment.number < wanted; });
  return found == segments_.end() || found->number != number ? nullptr : &*found;
}

void SegmentLog::Queue(Change change) {
  change.position = ++last_;
  queued_bytes_ += kRecordHeaderBytes + change.payload.size();
  pending_.push_back(std::move(change));
}

void SegmentLog::Forget(RecordId id, Position by) {
  const auto found = index_.find(id);
  if (found == index_.end()) return;
  if (Segment* segment = Find(found->second.segment)) {
    --segment->live;
    segment->emptied_by = std::max(segment->emptied_by, by);
  }
  live_bytes_ -= found->second.payload_size;
  index_.erase(found);
}

void SegmentLog::Settle(const Change& change) {
  if (change.kind != RecordKind::kPut) Forget(change.id, change.position);
  if (change.kind == RecordKind::kRemove) return;
  index_[change.id] = change.place;
  live_bytes_ += change.place.payload_size;
  Segment* segment = Find(change.place.segment);
  ++segment->live;
  segment->ids.push_back(change.id);
}

const SegmentLog::Change* SegmentLog::FindQueued(RecordId id) const {
  const auto is_it = [id](const Change& change) {
    return change.id == id && change.kind != RecordKind::kRemove;
  };
  const auto writing = std::find_if(writing_.begin(), writing_.end(), is_it);
  if (writing != writing_.end()) return &*writing;
  const auto pending = std::find_if(pending_.begin(), pending_.end(), is_it);
  return pending != pending_.end() ? &*pending : nullptr;
}

Result<SegmentLog::RecordId> SegmentLog::Append(std::string payload) {
  if (payload.size() > kRecordBytesMax) {
    return {ErrorCode::kExhausted, fmt::format("journal: record of {} bytes", payload.size())};
  }
  const size_t held = live_bytes_ + pending_bytes_ + payload.size();
  if (held > options_.bytes_max) {
    return {ErrorCode::kExhausted,
            fmt::format("journal {}: {} bytes live", options_.directory, live_bytes_)};
  }
  const RecordId id = next_id_++;
  pending_bytes_ += payload.size();
  Queue({.id = id, .payload = std::move(payload)});
  return id;
}

void SegmentLog::Remove(RecordId id) {
  if (index_.count(id) > 0) {
    Queue({.id = id, .kind = RecordKind::kRemove});
    Forget(id, last_);
    return;
  }
  const Change* queued = FindQueued(id);
  if (queued == nullptr) return;
  const auto pending = std::find_if(pending_.begin(), pending_.end(),
                                    [&](const Change& change) { return &change == queued; });
  if (pending == pending_.end()) {  // it is being written at the moment
    Queue({.id = id, .kind = RecordKind::kRemove});
    return;
  }
  if (pending->kind == RecordKind::kPut) pending_bytes_ -= pending->payload.size();
  if (pending->kind == RecordKind::kMove) --moving_;
  queued_bytes_ -= pending->payload.size();
  if (pending->on_disk) {
    pending->kind = RecordKind::kRemove;
    pending->payload.clear();
  } else {
    queued_bytes_ -= kRecordHeaderBytes;
    pending_.erase(pending);
  }
}

SegmentLog::Position SegmentLog::written() const {
  if (!writing_.empty()) return writing_.front().position - 1;
  return pending_.empty() ? last_ : pending_.front().position - 1;
}

SegmentLog::Position SegmentLog::synced() const {
  return unsynced_.empty() ? written() : unsynced_.front().position - 1;
}

void SegmentLog::WantSync(Position position) {
  if (position <= synced()) return;
  if (wanted_ <= synced() || position < wanted_) wanted_ = position;
}

Status SegmentLog::Commit() {
  const Position target = last_;
  while (synced() < target) {
    WantSync(target);
    CARILLON_TRY(Step());
    if (active_order_) device_->Wait();
  }
  return {};
}

// The bytes that certainly fit into the active segment and the spares. A record never straddles two
// segments, so the end of each may stay unused.
size_t SegmentLog::Capacity() const {
  size_t capacity = spares_.size() * (options_.segment_bytes - kRecordBytesMax);
  if (active_.open() && !broken_) {
    const size_t left = segments_.back().allocated - segments_.back().used;
    capacity += left > kRecordBytesMax ? left - kRecordBytesMax : 0;
  }
  return capacity;
}

Result<bool> SegmentLog::Reserve(size_t bytes) {
  while (Capacity() < reserved_bytes_ + queued_bytes_ + bytes) {
    if (create_error_) {
      wanted_room_ = 0;
      const Error error = *std::exchange(create_error_, std::nullopt);
      return error;
    }
    wanted_room_ = std::max(wanted_room_, bytes);
    if (active_order_) return false;
    Begin({Order::kCreate, false});
    if (!device_->Done()) return false;
    static_cast<void>(Finish().ok());  // a failure is kept in create_error_
  }
  wanted_room_ = 0;
  reserved_bytes_ += bytes;
  return true;
}

void SegmentLog::Unreserve(size_t bytes) { reserved_bytes_ -= std::min(bytes, reserved_bytes_); }

bool SegmentLog::InWindow(const Place& place) const {
  const size_t end = place.offset + kRecordHeaderBytes + place.payload_size;
  return window_.segment == place.segment && place.offset >= window_.offset &&
         end <= window_.offset + window_.bytes.size();
}

std::optional<Result<std::string>> SegmentLog::TryRead(RecordId id) {
  const auto found = index_.find(id);
  if (found == index_.end()) {
    if (const Change* queued = FindQueued(id)) return queued->payload;
    return Result<std::string>(ErrorCode::kNotFound, fmt::format("journal: record {}", id));
  }
  if (failed_read_ && failed_read_->first == id) {
    return Result<std::string>(std::exchange(failed_read_, std::nullopt)->second);
  }
  const Place& place = found->second;
  if (!InWindow(place)) {
    to_read_ = id;
    return std::nullopt;
  }
  RawRecord record;
  const auto bytes = std::string_view(window_.bytes).substr(place.offset - window_.offset);
  if (!ParseRecord(bytes, &record) || record.id != id) {
    return Result<std::string>(ErrorCode::kCorrupt,
                               fmt::format("journal: record {} in {}", id, PathOf(place.segment)));
  }
  return std::string(record.payload);
}

Result<std::string> SegmentLog::Read(RecordId id) {
  for (;;) {
    if (auto result = TryRead(id)) return *std::move(result);
    static_cast<void>(Step().ok());  // a failed write must not prevent reading
    if (active_order_) device_->Wait();
  }
}

Status SegmentLog::ForEach(const std::function<void(RecordId, std::string_view)>& visit) {
  std::vector<RecordId> ids;
  ids.reserve(index_.size());
  for (const auto& [id, place] : index_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const RecordId id : ids) {
    CARILLON_ASSIGN_OR_RETURN(const std::string payload, Read(id));
    visit(id, payload);
  }
  window_ = {};
  return {};
}

void SegmentLog::Log(std::string_view line) {
  if (log_.size() + line.size() + 1 > kLogBytesMax) return;
  log_.append(line);
  log_.push_back('\n');
}

}  // namespace carillon::executor
