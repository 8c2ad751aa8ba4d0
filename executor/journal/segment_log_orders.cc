// Chooses the orders of a segment log to its device, and handles their outcomes.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include "executor/journal/segment_log.h"

namespace carillon::executor {
namespace {

// The oldest segment is copied once the disk holds more than this many bytes per live byte.
constexpr size_t kDiskPerLiveMax = 3;
constexpr size_t kChunkBytesMax = 4u << 20;

Error SystemError(const std::string& what, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return {full ? ErrorCode::kExhausted : ErrorCode::kUnavailable,
          what + ": " + std::strerror(error)};
}

const char* NameOf(DeviceOrder::Kind kind) {
  switch (kind) {
    case DeviceOrder::Kind::kWrite: return "write";
    case DeviceOrder::Kind::kSync: return "fdatasync";
    case DeviceOrder::Kind::kSeal: return "seal";
    case DeviceOrder::Kind::kCreate: return "preallocate";
    case DeviceOrder::Kind::kActivate: return "rename";
    case DeviceOrder::Kind::kDelete: return "delete";
    case DeviceOrder::Kind::kRead: return "read";
    case DeviceOrder::Kind::kLog: return "log";
    case DeviceOrder::Kind::kSpace: return "statvfs";
  }
  return "order";
}

}  // namespace

Status SegmentLog::Step() {
  for (;;) {
    if (active_order_) {
      if (!device_->Done()) return {};
      CARILLON_TRY(Finish());
    }
    const std::optional<Next> next = NextOrder();
    if (!next) return {};
    Begin(*next);
  }
}

// Use and upkeep alternate, so that neither starves.
std::optional<SegmentLog::Next> SegmentLog::NextOrder() const {
  const std::optional<Order> use = NextForUse();
  const std::optional<Order> upkeep = NextForUpkeep();
  if (use && !(upkeep && order_for_use_)) return Next{*use, true};
  if (upkeep) return Next{*upkeep, false};
  return std::nullopt;
}

std::optional<DeviceOrder::Kind> SegmentLog::NextForUse() const {
  if (broken_ || FailedIsRewritten()) return Order::kSeal;
  const bool sync_due = wanted_ > synced() && wanted_ <= written();
  if (sync_due && !unsynced_.empty()) return Order::kSync;
  if (pending_.empty()) return std::nullopt;
  const size_t bytes = kRecordHeaderBytes + pending_.front().payload.size();
  if (active_.open()) {
    if (segments_.back().used + bytes <= segments_.back().allocated) return Order::kWrite;
    return unsynced_.empty() ? Order::kSeal : Order::kSync;
  }
  if (!spares_.empty()) return Order::kActivate;
  return HasDeadSegment() ? Order::kDelete : Order::kCreate;
}

std::optional<DeviceOrder::Kind> SegmentLog::NextForUpkeep() const {
  if (HasDeadSegment()) return Order::kDelete;
  if (to_read_) return Order::kRead;
  if (!log_.empty()) return Order::kLog;
  if (!space_path_.empty()) return Order::kSpace;
  const bool to_move = NextToMove().has_value();
  if (WantsFile(to_move)) {
    return create_error_ ? std::nullopt : std::optional<Order>(Order::kCreate);
  }
  return to_move ? std::optional<Order>(Order::kRead) : std::nullopt;
}

// Copies must not use space that is reserved for ends.
bool SegmentLog::WantsFile(bool to_move) const {
  const size_t taken = reserved_bytes_ + queued_bytes_;
  if (wanted_room_ > 0 && Capacity() < taken + wanted_room_) return true;
  if (room_lost_ && Capacity() < taken) return true;
  return to_move && Capacity() < taken + 2 * kWindowBytes;
}

bool SegmentLog::HasDeadSegment() const {
  if (segments_.empty()) return false;
  const Segment& oldest = segments_.front();
  const bool in_use = active_.open() && segments_.size() == 1;
  return !in_use && oldest.live == 0 && oldest.emptied_by <= synced();
}

std::optional<SegmentLog::RecordId> SegmentLog::NextToMove() const {
  if (moving_ > 0 || segments_.size() < 3) return std::nullopt;
  if (disk_bytes_ <= kDiskPerLiveMax * live_bytes_ + 2 * options_.segment_bytes) {
    return std::nullopt;
  }
  const Segment& oldest = segments_.front();
  if (oldest.number == unmovable_segment_) return std::nullopt;
  for (const RecordId id : oldest.ids) {
    const auto found = index_.find(id);
    if (found != index_.end() && found->second.segment == oldest.number) return id;
  }
  return std::nullopt;
}

void SegmentLog::Begin(Next next) {
  order_.kind = next.kind;
  order_.error = 0;
  order_.opened = -1;
  order_.renamed = false;
  order_.done = 0;
  switch (next.kind) {
    case Order::kWrite: PrepareWrite(); break;
    case Order::kSync: order_.fd = active_.get(); break;
    case Order::kSeal: PrepareSeal(); break;
    case Order::kCreate:
      order_.path = fmt::format("{}/spare-{}", options_.directory, next_spare_++);
      order_.offset = options_.segment_bytes;
      break;
    case Order::kActivate:
      order_.path = spares_.back();
      order_.target = PathOf(next_segment_);
      order_.directory = options_.directory;
      break;
    case Order::kDelete:
      order_.path = PathOf(segments_.front().number);
      disk_bytes_ -= segments_.front().used;
      segments_.pop_front();
      break;
    case Order::kRead: PrepareRead(); break;
    case Order::kSpace: order_.path = std::exchange(space_path_, {}); break;
    case Order::kLog:
      order_.fd = STDERR_FILENO;
      order_.bytes = std::exchange(log_, {});
      break;
  }
  ++orders_;
  active_order_ = true;
  order_for_use_ = next.for_use;
  device_->Submit(&order_);
}

void SegmentLog::PrepareSeal() {
  if (FailedIsRewritten()) {
    order_.offset = failed_->synced;
    order_.fd = failed_->file.Release();
    failed_.reset();
    return;
  }
  order_.offset = segments_.back().used;
  order_.fd = active_.Release();
  broken_ = false;
}

// Takes as much as fits into the active segment, from the front of the pending changes.
void SegmentLog::PrepareWrite() {
  const Segment& segment = segments_.back();
  order_.fd = active_.get();
  order_.offset = segment.used;
  order_.bytes.clear();
  while (!pending_.empty() && order_.bytes.size() < kChunkBytesMax) {
    Change& change = pending_.front();
    const size_t offset = segment.used + order_.bytes.size();
    if (offset + kRecordHeaderBytes + change.payload.size() > segment.allocated) break;
    change.place = {segment.number, offset, change.payload.size()};
    AppendRecord(&order_.bytes, {change.id, change.kind, change.payload});
    writing_.push_back(std::move(change));
    pending_.pop_front();
  }
}

void SegmentLog::PrepareRead() {
  reading_to_move_ = !to_read_;
  reading_ = to_read_ ? *std::exchange(to_read_, std::nullopt) : *NextToMove();
  const auto found = index_.find(reading_);
  const Place place = found != index_.end() ? found->second : Place{};
  const Segment* segment = Find(place.segment);
  const size_t there = segment != nullptr ? segment->used - place.offset : 0;
  const size_t record = kRecordHeaderBytes + place.payload_size;
  order_.path = PathOf(place.segment);
  order_.offset = place.offset;
  order_.bytes.resize(std::max(record, std::min(there, kWindowBytes)));
  reading_from_ = place;
}

Status SegmentLog::Finish() {
  active_order_ = false;
  const bool failed = order_.error != 0;
  switch (order_.kind) {
    case Order::kWrite: failed ? TakeBackUnsynced() : SettleWritten(); break;
    case Order::kSync: failed ? TakeBackUnsynced() : SettleSynced(); break;
    case Order::kCreate:
      if (!failed) spares_.push_back(order_.path);
      if (failed) create_error_ = SystemError("journal: preallocate " + order_.path, order_.error);
      if (Capacity() >= reserved_bytes_ + queued_bytes_) room_lost_ = false;
      break;
    case Order::kActivate: FinishActivate(); break;
    case Order::kRead: FinishRead(); break;
    case Order::kSpace: space_ = Space{order_.error, order_.free_bytes, order_.free_inodes}; break;
    case Order::kSeal:
    case Order::kDelete:
    case Order::kLog: break;
  }
  if (!failed || !order_for_use_) return {};
  return SystemError(fmt::format("journal {}: {}", options_.directory, NameOf(order_.kind)),
                     order_.error);
}

void SegmentLog::SettleWritten() {
  Segment& segment = segments_.back();
  segment.used += order_.bytes.size();
  disk_bytes_ += order_.bytes.size();
  queued_bytes_ -= order_.bytes.size();
  for (Change& change : writing_) {
    Settle(change);
    if (change.kind == RecordKind::kPut) pending_bytes_ -= change.payload.size();
    unsynced_.push_back(std::move(change));
  }
  writing_.clear();
}

void SegmentLog::SettleSynced() {
  segments_.back().synced = segments_.back().used;
  for (const Change& change : unsynced_) moving_ -= change.kind == RecordKind::kMove ? 1 : 0;
  unsynced_.clear();
}

// Data around a failure cannot be trusted; everything unsynced is written again, elsewhere.
void SegmentLog::TakeBackUnsynced() {
  GiveUpActive();
  for (const Change& change : unsynced_) {
    queued_bytes_ += kRecordHeaderBytes + change.payload.size();
    if (change.kind == RecordKind::kRemove) continue;
    Forget(change.id, change.position);
    if (change.kind == RecordKind::kPut) pending_bytes_ += change.payload.size();
  }
  std::move(writing_.begin(), writing_.end(), std::back_inserter(unsynced_));
  writing_.clear();
  for (Change& change : unsynced_) change.on_disk = true;
  pending_.insert(pending_.begin(), std::make_move_iterator(unsynced_.begin()),
                  std::make_move_iterator(unsynced_.end()));
  unsynced_.clear();
}

// Changes reported as written have been acted on, so the next process must find them: the failed
// segment stays until they are written elsewhere. If an earlier failed segment is still waiting for
// that, it holds all of them already.
void SegmentLog::GiveUpActive() {
  Segment& segment = segments_.back();
  if (unsynced_.empty() || failed_) {
    broken_ = true;
  } else {
    failed_ = Failed{std::move(active_), segment.synced, unsynced_.back().position};
  }
  disk_bytes_ -= segment.used - segment.synced;
  segment.used = segment.synced;
  room_lost_ = true;
}

void SegmentLog::FinishActivate() {
  if (order_.renamed) spares_.back() = order_.target;  // still a spare until every step worked
  if (order_.error != 0) return;
  spares_.pop_back();
  active_ = FileDescriptor(order_.opened);
  segments_.push_back({.number = next_segment_++, .allocated = options_.segment_bytes});
}

void SegmentLog::FinishRead() {
  order_.bytes.resize(order_.done);
  const auto found = index_.find(reading_);
  const bool wanted = found != index_.end() && found->second.segment == reading_from_.segment;
  const size_t record = wanted ? kRecordHeaderBytes + found->second.payload_size : 0;
  if (order_.error != 0 || order_.done < record) {
    const Error error = order_.error != 0
                            ? SystemError("journal: read " + order_.path, order_.error)
                            : Error{ErrorCode::kCorrupt, "journal: " + order_.path + " is cut"};
    if (reading_to_move_) {
      unmovable_segment_ = reading_from_.segment;
    } else {
      failed_read_.emplace(reading_, error);
      // Requested again meanwhile: this is the answer.
      if (to_read_ == reading_) to_read_.reset();
    }
    return;
  }
  window_ = {reading_from_.segment, reading_from_.offset, std::move(order_.bytes)};
  // If the record was requested again meanwhile, do not read twice, or it would never be delivered.
  const auto asked = to_read_ ? index_.find(*to_read_) : index_.end();
  if (asked != index_.end() && InWindow(asked->second)) to_read_.reset();
  if (reading_to_move_) MoveFromWindow();
}

void SegmentLog::MoveFromWindow() {
  const Segment* segment = Find(window_.segment);
  if (segment == nullptr) return;
  const size_t end = window_.offset + window_.bytes.size();
  for (const RecordId id : segment->ids) {
    const auto found = index_.find(id);
    if (found == index_.end() || found->second.segment != segment->number) continue;
    const Place& place = found->second;
    if (place.offset < window_.offset) continue;
    if (place.offset + kRecordHeaderBytes + place.payload_size > end) continue;
    RawRecord record;
    const auto bytes = std::string_view(window_.bytes).substr(place.offset - window_.offset);
    if (!ParseRecord(bytes, &record) || record.id != id) {
      unmovable_segment_ = segment->number;
      continue;
    }
    ++moving_;
    Queue({.id = id,
           .kind = RecordKind::kMove,
           .on_disk = true,
           .payload = std::string(record.payload)});
  }
  WantSync(last_);
}

}  // namespace carillon::executor
